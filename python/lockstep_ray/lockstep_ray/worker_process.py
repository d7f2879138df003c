"""A worker as a child of its adapter: spawned, signalled and reaped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from .worker_log import begin_log, last_lines

_BECOME_WORKER = Path(__file__).with_name("become_worker.py")
_LOG_TAIL_LINES = 10


class WorkerProcess:
    """The worker leads a process group of its own in our session, and the kernel kills it when the *thread* that made
    this object ends."""

    def __init__(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        log_path: Path,
        heading: str,
        folder: Path,
        descriptors: Sequence[int] = (),
    ) -> None:
        """`descriptors` keep their numbers in the worker; all others stay here. Standard output and error are appended
        to `log_path`, under `heading`. Throws OSError when it cannot be written."""
        begin_log(log_path, heading)
        self.log_path = log_path
        self.told_to_stop = False
        with open(log_path, "ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_BECOME_WORKER), str(os.getpid()), *argv],
                env=dict(environment),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=list(descriptors),
                process_group=0,
            )
        self.end_fd = os.pidfd_open(self._process.pid)  # readable when it has ended

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        return self._process.returncode is not None

    def send(self, number: int) -> None:
        """To it and all that it started."""
        if not self.has_ended:
            os.killpg(self._process.pid, number)

    def stop(self, number: int) -> None:
        """As `send`, for signals that ask it to end."""
        self.told_to_stop = True
        self.send(number)

    def reap(self) -> int:
        """Waits for the end of the worker and ends what it started. The exit code, or minus the signal."""
        os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        os.killpg(self._process.pid, signal.SIGKILL)  # until we have waited, the group's number is its own
        code = self._process.wait()
        os.close(self.end_fd)
        return code

    def end(self, grace_s: float, ask_for_stack: bool = False) -> None:
        """Ends it: SIGTERM, and SIGKILL when that has not helped within `grace_s`. `ask_for_stack`: first has it write
        where it is to its log; one that was stopped (SIGSTOP) goes on for that."""
        if self.has_ended:
            return
        if ask_for_stack:
            self.stop(signal.SIGUSR2)
            self.send(signal.SIGCONT)
        self.stop(signal.SIGTERM)
        deadline = time.monotonic() + grace_s
        while time.monotonic() < deadline and not self._is_dead():
            time.sleep(0.02)
        self.stop(signal.SIGKILL)
        self.reap()

    def log_tail(self) -> tuple[str, ...]:
        return tuple(last_lines(self.log_path, _LOG_TAIL_LINES))

    def _is_dead(self) -> bool:
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
