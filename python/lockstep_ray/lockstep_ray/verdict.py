"""What follows from the end of a worker group, for all its adapters alike."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from .exit_codes import worth_a_retry


class Outcome(enum.Enum):
    DONE = "done"  # finished, or stopped as it was told to: adapters return
    STOP = "stop"  # failed in a way that would come again: adapters return, so that Ray starts nothing
    RETRY = "retry"  # failed in a way that may pass: adapters raise, and Ray starts the workers again


@dataclass(frozen=True)
class Verdict:
    outcome: Outcome
    exit_code: int  # of the job, if nothing comes after it
    words: str = ""  # the cause
    was_hang: bool = False


class RestartPolicy:
    """Whether workers that failed are started again.

    Ray would count failures alone. Which of them would come again it cannot know, nor that the second one without
    progress between is one of those.
    """

    def __init__(self, max_failures: int) -> None:
        self._max_failures = max_failures
        self._failures = 0
        self._before: tuple[int | None, int] | None = None  # step and number of workers of the failure before

    def reason_to_stop(self, exit_code: int, step: int | None, num_workers: int) -> str | None:
        """Of a failure after `step` (None: before the first) of so many workers. None: start again. An empty reason:
        restarts were never asked for."""
        if self._max_failures == 0:
            return ""
        if not worth_a_retry(exit_code):
            return f"not started again: what ends with exit code {exit_code} would fail again"
        self._failures += 1
        if self._failures > self._max_failures:
            return f"not started again: failure.max_failures ({self._max_failures}) restarts are used up"
        before, self._before = self._before, (step, num_workers)
        if before == self._before:
            where = "before the first step" if step is None else f"after step {step}"
            return f"not started again: it failed twice {where} without getting further"
        return None
