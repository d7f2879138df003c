"""An adapter's line to the supervisor. Calls that must not block the adapter are begun here, and wake it when they are
answered."""

from __future__ import annotations

import os
import time
from concurrent.futures import Future
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
    def answer_fd(self) -> int: ...
    @property
    def silent_s(self) -> float: ...


class RayLink:
    """At most one call for orders and one for events are under way: so events stay in order, and a slow supervisor
    makes larger batches instead of a queue of calls. From one thread."""

    def __init__(self, supervisor: Any, generation: int) -> None:
        self._supervisor = supervisor
        self._generation = generation
        self._lines: list[str] = []
        self._sending: Future[None] | None = None
        self._asking: Future[Orders] | None = None
        self._answered = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)  # never closed: an answer may come at any time
        self._num_commits = 0
        self._stop_signal = 0
        self._heard_at = time.monotonic()

    @property
    def answer_fd(self) -> int:
        """Readable once a call was answered: time for send_events() and take_orders()."""
        return self._answered

    @property
    def silent_s(self) -> float:
        """For how long the supervisor has not answered. It answers a call for orders within a few seconds."""
        return time.monotonic() - self._heard_at

    def send_events(self, lines: list[str]) -> None:
        """Never blocks. Also called without lines, to send what has gathered."""
        self._lines += lines
        if self._lines and (self._sending is None or self._sending.done()):
            self._sending = self._begin(self._supervisor.add_events.remote(self._generation, self._lines))
            self._lines = []

    def flush_events(self) -> None:
        """Returns when the supervisor has them all. Throws ray.exceptions.RayError when it is gone."""
        while self._lines or self._sending is not None:
            if self._sending is not None:
                self._sending.result()
                self._sending = None
            self.send_events([])

    def send_end(self, end: WorkerEnd) -> None:
        """Returns when the supervisor knows. Throws ray.exceptions.RayError when it is gone."""
        ray.get(self._supervisor.ended.remote(self._generation, end))

    def take_orders(self) -> Orders | None:
        """What came since the last call, or None. Never blocks. Throws ray.exceptions.RayError when it is gone."""
        try:
            os.eventfd_read(self._answered)
        except BlockingIOError:
            pass
        if self._asking is None:
            call = self._supervisor.orders.remote(self._generation, self._num_commits, self._stop_signal)
            self._asking = self._begin(call)
        if not self._asking.done():
            return None
        orders = self._asking.result()
        self._asking = None
        self._heard_at = time.monotonic()
        self._num_commits += len(orders.commits)
        self._stop_signal = orders.stop_signal
        return orders

    def _begin(self, call: ray.ObjectRef) -> Future[Any]:
        future = call.future()
        future.add_done_callback(lambda _: os.eventfd_write(self._answered, 1))
        return future
