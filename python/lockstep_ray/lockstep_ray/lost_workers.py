"""Tells the supervisor of train workers that Ray has lost: nobody else can."""

from __future__ import annotations

from typing import Any

from ray.train import UserCallback


class LostWorkers(UserCallback):
    """Runs in Ray's controller. What adapters raise themselves comes here too; by then the group has its verdict, and
    the supervisor passes over it."""

    def __init__(self, supervisor: Any) -> None:
        self._supervisor = supervisor

    def after_exception(self, run_context: Any, worker_exceptions: dict[int, Exception]) -> None:
        # Not waited for: the controller goes on, and the supervisor hears of it before a newer group can join.
        self._supervisor.lost.remote({rank: _words(error) for rank, error in worker_exceptions.items()})


def _words(error: Exception) -> str:
    """The first line that says something, with the type: Ray's own texts go over many lines."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
