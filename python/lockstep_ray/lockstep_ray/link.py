"""An adapter's line to the supervisor. Calls that must not block the adapter are begun here and looked at later."""

from __future__ import annotations

import time
from typing import Any, Protocol

import ray

from .messages import Orders
from .worker_end import WorkerEnd


class Link(Protocol):
    """What an adapter needs of it; tests have one of their own."""

    def send_events(self, lines: list[str]) -> None: ...
    def flush_events(self) -> None: ...
    def send_end(self, end: WorkerEnd) -> None: ...
    def take_orders(self) -> Orders | None: ...
    @property
    def silent_s(self) -> float: ...


class RayLink:
    """At most one call for orders and one for events are under way: so events stay in order, and a slow supervisor
    makes larger batches instead of a queue of calls. From one thread."""

    def __init__(self, supervisor: Any, generation: int) -> None:
        self._supervisor = supervisor
        self._generation = generation
        self._lines: list[str] = []
        self._sending: ray.ObjectRef | None = None
        self._asking: ray.ObjectRef | None = None
        self._num_commits = 0
        self._stop_signal = 0
        self._heard_at = time.monotonic()

    @property
    def silent_s(self) -> float:
        """For how long the supervisor has not answered. It answers a call for orders within about a second."""
        return time.monotonic() - self._heard_at

    def send_events(self, lines: list[str]) -> None:
        """Never blocks. Also called without lines, to send what has gathered."""
        self._lines += lines
        if self._lines and (self._sending is None or _is_done(self._sending)):
            self._sending = self._supervisor.add_events.remote(self._generation, self._lines)
            self._lines = []

    def flush_events(self) -> None:
        """Returns when the supervisor has them all. Throws ray.exceptions.RayError when it is gone."""
        while self._lines or self._sending is not None:
            if self._sending is not None:
                ray.get(self._sending)
                self._sending = None
            self.send_events([])

    def send_end(self, end: WorkerEnd) -> None:
        """Returns when the supervisor knows. Throws ray.exceptions.RayError when it is gone."""
        ray.get(self._supervisor.ended.remote(self._generation, end))

    def take_orders(self) -> Orders | None:
        """What came since the last call, or None. Never blocks. Throws ray.exceptions.RayError when it is gone."""
        if self._asking is None:
            self._asking = self._supervisor.orders.remote(self._generation, self._num_commits, self._stop_signal)
        if not _is_done(self._asking):
            return None
        orders: Orders = ray.get(self._asking)
        self._asking = None
        self._heard_at = time.monotonic()
        self._num_commits += len(orders.commits)
        self._stop_signal = orders.stop_signal
        return orders


def _is_done(call: ray.ObjectRef) -> bool:
    return bool(ray.wait([call], timeout=0)[0])
