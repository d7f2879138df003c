"""How workers end, which end is the cause when several have, and how to say so.

The rules are those of one machine (lockstep/launch/worker_failure.h), with the node added.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .exit_codes import ExitCode

_ERROR_PREFIX = "lockstep: error: "
_STOPPING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGUSR2)
_STOPPED_CODES = (ExitCode.PREEMPTED, ExitCode.INTERRUPTED, ExitCode.PEER_LOST, ExitCode.HANG)
_LIKELY_REASONS = {
    signal.SIGKILL: "; if nobody sent it, the machine ran out of memory: see dmesg",
    signal.SIGABRT: "; a check in the program failed",
    signal.SIGBUS: "; a file mapped into memory was cut, or /dev/shm is full",
}


@dataclass(frozen=True)
class WorkerEnd:
    """The end of a worker; or of its adapter, when `lost` says what Ray saw."""

    rank: int
    node_name: str
    pid: int = 0
    code: int = 0  # that it returned, when `signal` is 0
    signal: int = 0
    told_to_stop: bool = False  # its adapter had sent it a signal before
    log_path: str = ""
    log_tail: tuple[str, ...] = ()
    lost: str = ""  # the adapter is gone: Ray's words

    @property
    def exit_code(self) -> int:
        """What the job ends with when this is the cause."""
        return ExitCode.PEER_LOST if self.signal or self.lost else self.code

    @property
    def lost_a_peer(self) -> bool:
        return not self.lost and self.signal == 0 and self.code == ExitCode.PEER_LOST

    @property
    def failed(self) -> bool:
        """Neither finished nor stopped as it was told to."""
        if self.lost:
            return True
        if self.signal == 0 and self.code == 0:
            return False
        if not self.told_to_stop:
            return True
        return self.signal not in _STOPPING_SIGNALS if self.signal else self.code not in _STOPPED_CODES

    def own_error(self) -> str:
        """What the worker said of its end, as the last line of its log; empty when it said nothing."""
        if self.signal or not self.log_tail or not self.log_tail[-1].startswith(_ERROR_PREFIX):
            return ""
        return self.log_tail[-1][len(_ERROR_PREFIX) :]

    def describe(self) -> str:
        """One line when the worker said what was wrong; else how it ended, and below it its log's last lines."""
        who = f"rank {self.rank} on node {self.node_name}"
        if self.lost:
            return f"{who}: its Ray worker is gone: {self.lost}"
        if error := self.own_error():
            return f"{who}: {error} (log: {self.log_path})"
        tail = "".join(f"\n  | {line}" for line in self.log_tail)
        return f"{who}: {self._how()}. Its log {self.log_path} ends:{tail}"

    def to_event(self) -> dict[str, Any]:
        """The fields of the event `fault` (docs/run_directory.md)."""
        fields: dict[str, Any] = {"rank": self.rank, "node": self.node_name}
        if self.lost:
            return fields | {"lost": self.lost}
        how = {"signal": self.signal} if self.signal else {"exit_code": self.code}
        return fields | {"pid": self.pid} | how | {"log": self.log_path, "log_tail": list(self.log_tail)}

    def _how(self) -> str:
        if not self.signal:
            return f"ended with exit code {self.code}" + (" (lost a peer)" if self.lost_a_peer else "")
        try:
            name = signal.Signals(self.signal).name
        except ValueError:
            name = f"signal {self.signal}"
        return f"killed by {name}{_LIKELY_REASONS.get(self.signal, '')}"


def find_cause(ends: Sequence[WorkerEnd]) -> WorkerEnd | None:
    """The cause among `ends`, given in the order in which they were seen: the first that failed by itself. One that
    ended with "peer lost" saw another fail, so it is the cause only when no other is."""
    failed = [end for end in ends if end.failed]
    by_itself = (end for end in failed if not end.lost_a_peer)
    return next(by_itself, failed[0] if failed else None)
