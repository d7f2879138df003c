"""What people read in the job's log: rank 0's events as `lockstep show-events` prints them, and words of our own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import ray

from .messages import Output


def complain(words: str) -> None:
    """A line on standard error, as the C++ programs write theirs."""
    print(f"lockstep: {words}", file=sys.stderr, flush=True)


class JobLog:
    """Follows the supervisor's output from a thread of its own, to the end."""

    def __init__(self, supervisor: Any, folder: Path, libraries: str) -> None:
        """`folder`: the job's working directory. Call it before handlers for SIGTERM are installed: a job that is
        stopped signals all its processes, and the one that prints must see the end of the run."""
        self._supervisor = supervisor
        before = signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the child inherits that it is ignored
        try:
            self._printer = subprocess.Popen(
                [str(folder / "bin/lockstep"), "show-events"],
                env=_with_libraries(libraries),
                stdin=subprocess.PIPE,
                text=True,
            )
        finally:
            signal.signal(signal.SIGTERM, before)
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="job log", daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Returns when all that came before is printed."""
        self._is_over.set()
        self._thread.join()
        assert self._printer.stdin is not None
        try:
            self._printer.stdin.close()
        except BrokenPipeError:
            pass
        self._printer.wait()

    def _follow(self) -> None:
        while True:
            was_over = self._is_over.is_set()
            try:
                output: list[Output] = ray.get(self._supervisor.next_output.remote())
            except ray.exceptions.RayError as error:
                complain(f"error: the run's supervisor is gone: {error}")
                return
            for item in output:
                self._print(item)
            if was_over and not output:
                return

    def _print(self, item: Output) -> None:
        if not item.is_event:
            complain(item.text)
            return
        assert self._printer.stdin is not None
        try:
            self._printer.stdin.write(item.text + "\n")
            self._printer.stdin.flush()
        except BrokenPipeError:
            print(item.text, flush=True)  # nobody words it any more: then as it came


def _with_libraries(libraries: str) -> dict[str, str] | None:
    return {**os.environ, "LD_LIBRARY_PATH": libraries} if libraries else None
