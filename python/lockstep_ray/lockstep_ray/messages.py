"""What adapters and the driver get from the supervisor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .roster import Place
from .verdict import Verdict


@dataclass(frozen=True)
class Settings:
    """What the supervisor knows of the run when it starts."""

    worker_counts: tuple[int, ...]
    max_failures: int
    continue_from: str  # Job.continue_from
    driver_events: str  # path
    plan: dict[str, Any]  # for the event `launched`
    command: tuple[str, ...]  # of a worker, for the same


@dataclass(frozen=True)
class Assignment:
    """Of one adapter, once all of its group have joined."""

    place: Place | None  # None: a spare rank, which has no worker and waits with the others
    continue_from: str  # LOCKSTEP_CONTINUE_FROM; empty: the run's newest checkpoint


@dataclass(frozen=True)
class Commit:
    """A checkpoint that the workers committed."""

    step: int
    folder: str  # its name below the run's checkpoints


@dataclass(frozen=True)
class Orders:
    """What is new for an adapter."""

    commits: tuple[Commit, ...] = ()  # after those that it knew
    stop_signal: int = 0  # to pass on to its worker, once
    verdict: Verdict | None = None  # then nothing comes after it


@dataclass(frozen=True)
class Output:
    """For the job's log: a line of rank 0's events, or words of the supervisor's own."""

    text: str
    is_event: bool


@dataclass(frozen=True)
class Summary:
    """How the run ended, as far as the supervisor saw."""

    exit_code: int | None  # None: no group of workers has come to an end
    was_refused: bool  # a worker refused recipe, model or data before the first step: there never was a run
    stopped_after: int | None  # the step after which the workers stopped as they were told to
