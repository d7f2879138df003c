#!/usr/bin/env python3
"""The silent fallback to TCP, made on two GPUs of one machine: the gate must refuse it.

    network_gate.py --lockstep bin/lockstep --examples examples

Two ranks with a host name and an NCCL_HOSTID of their own are two hosts for NCCL. The environment asks for EFA through a plugin
that is not there, as in an image with the wrong libraries. Exits 0 when all is as it must be, 1 when it is not, and 77 (skipped) without two GPUs or without the right to make
host-name namespaces.
"""

import argparse
import glob
import json
import os
import socket
import subprocess
import sys
import tempfile
import time

from tiny_losses import gpus

FALLBACK = {"NCCL_NET_PLUGIN": "ofi", "FI_PROVIDER": "efa"}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(arguments, folder, rank, port, overrides):
    environment = dict(os.environ, **FALLBACK)
    environment.update(RANK=str(rank), WORLD_SIZE="2", LOCAL_RANK="0", LOCAL_WORLD_SIZE="1",
                       MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), CUDA_VISIBLE_DEVICES=str(rank),
                       NCCL_HOSTID=f"node-{rank}")
    command = [arguments.lockstep, "train", f"{arguments.examples}/tiny.yaml", f"run.dir={folder}/run",
               f"model.source={arguments.examples}/tiny/model",
               f"data.sources=[{{path: {arguments.examples}/tiny/text.jsonl}}]", "scaling.use_gpu=true",
               "precision.compute=fp32", *overrides]
    namespace = ["unshare", "--uts", "sh", "-c", f'hostname node-{rank} && exec "$@"', "sh"]
    with open(f"{folder}/rank-{rank}.log", "w") as log:
        return subprocess.Popen(namespace + command, env=environment, stdout=log, stderr=subprocess.STDOUT)


def run(arguments, name, overrides):
    """Exit codes, seconds, both ranks' output, and the verdicts of the run."""
    with tempfile.TemporaryDirectory() as folder:
        port, begun = free_port(), time.monotonic()
        ranks = [start(arguments, folder, rank, port, overrides) for rank in (0, 1)]
        try:
            codes = [rank.wait(timeout=120) for rank in ranks]
        finally:
            for rank in ranks:
                rank.kill()
        seconds = time.monotonic() - begun
        output = "".join(open(path).read() for path in sorted(glob.glob(f"{folder}/rank-*.log")))
        events = [json.loads(line) for path in glob.glob(f"{folder}/run/events/g*.jsonl") for line in open(path)]
    verdicts = [event for event in events if event["event"] == "verdict"]
    print(f"{name}: exit codes {codes} after {seconds:.1f} s")
    for line in output.splitlines():
        if "transport:" in line:
            print("   ", line)
    return codes, seconds, output, verdicts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lockstep", required=True)
    parser.add_argument("--examples", required=True)
    arguments = parser.parse_args()
    if gpus() < 2 or subprocess.run(["unshare", "--uts", "true"], stderr=subprocess.DEVNULL).returncode != 0:
        print("skipped: needs two GPUs, and the right to make namespaces")
        return 77
    problems = []

    def expect(what, holds):
        if not holds:
            problems.append(what)

    codes, seconds, output, _ = run(arguments, "require efa", ["network.require=efa"])
    expect("efa is refused with exit code 5 on both ranks", codes == [5, 5])
    expect("within 30 s", seconds < 30)
    expect("the refusal names socket", "the transport is socket, required is efa" in output)

    codes, seconds, output, _ = run(arguments, "require efa, hard guard",
                                    ["network.require=efa", "network.hard_guard=true"])
    expect("the guard is refused with exit code 5", codes == [5, 5])
    expect("within 30 s, guarded", seconds < 30)

    codes, _, _, verdicts = run(arguments, "require any", ["network.require=any", "train.steps=25"])
    expect("any trains", codes == [0, 0])
    expect("and records socket, connected at least",
           verdicts and verdicts[0]["report"]["transport"] == "socket"
           and verdicts[0]["report"]["level"] in ("connected", "moved"))
    for verdict in verdicts:
        report = verdict["report"]
        print("   ", verdict["when"], report["transport"], report["level"], report.get("moved"),
              report.get("efficiency"), report.get("seconds"))

    for problem in problems:
        print("NOT SO:", problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
