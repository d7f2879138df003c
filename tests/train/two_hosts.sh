#!/usr/bin/env bash
# Runs a command as two ranks on two hosts, with torchrun's variables: each rank in a network and a host name of
# its own, joined by a link that ends with them.
#
#   two_hosts.sh COMMAND [ARGUMENT]...
#
# Writes "exit codes: A B" at the end, and exits with rank 0's. Exits with 77 where namespaces are not allowed.
set -euo pipefail
trap 'echo "two_hosts.sh: line $LINENO failed: $BASH_COMMAND" >&2' ERR

if [[ $1 != --inside ]]; then
  unshare --net --uts --mount --pid --fork true 2>/dev/null || exit 77
  exec unshare --net --uts --mount --pid --fork --kill-child --mount-proc "${BASH_SOURCE[0]}" --inside "$@"
fi
shift

mount -t sysfs none /sys 2>/dev/null || true # this network's interfaces; without it their speed is not known
hostname node-0
exec {other_host}< <(exec unshare --net --uts sh -c 'echo $$; exec sleep 1000')
read -r -u $other_host other # it says its id only once it is in its own network
on_other() { nsenter --target "$other" --net --uts "$@"; }

ip link add link0 type veth peer name link0 netns "$other"
on_other hostname node-1
ip address add 10.7.0.1/24 dev link0
on_other ip address add 10.7.0.2/24 dev link0
for interface in lo link0; do
  ip link set $interface up
  on_other ip link set $interface up
done

export WORLD_SIZE=2 LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 MASTER_ADDR=10.7.0.1 MASTER_PORT=29500
RANK=1 on_other "$@" &
second=$!
codes=(0 0)
RANK=0 "$@" || codes[0]=$?
wait $second || codes[1]=$?
echo "exit codes: ${codes[*]}" >&2
exit "${codes[0]}"
