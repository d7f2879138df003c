"""An adapter's watch over its worker: from its start to the verdict on the whole group."""

from __future__ import annotations

import select
import signal
import time
from collections.abc import Callable

from .errors import WorkersFailed
from .event_pipe import EventPipe
from .link import Link
from .messages import Commit
from .verdict import Verdict
from .worker_end import WorkerEnd
from .worker_process import WorkerProcess

# The worker's end and orders are seen at once; deadlines are looked at so often.
_TICK_S = 1.0
# Events are passed on so often: each batch costs every process on its way some work, which a step need not.
_EVENTS_EVERY_S = 0.25
# After another worker has failed, so long to end by itself; after a stop signal, so long for a last checkpoint.
FAILURE_GRACE_S = 5.0
STOP_GRACE_S = 60.0
# A supervisor that says nothing for so long is gone, or we are cut off: then this worker belongs to no group any more.
_LONGEST_SILENCE_S = 30.0


class Watch:
    """Of rank `rank`, on `node_name`. `worker` and `events` are None for a spare rank; `events` but for rank 0."""

    def __init__(
        self,
        link: Link,
        rank: int,
        node_name: str,
        worker: WorkerProcess | None,
        events: EventPipe | None,
        on_commit: Callable[[Commit], None],
        on_events: Callable[[list[str]], None],
        clock: Callable[[], float],
    ) -> None:
        self._link, self._rank, self._node_name = link, rank, node_name
        self._worker, self._events = worker, events
        self._on_commit, self._on_events = on_commit, on_events
        self._clock = clock
        self._reported_end = worker is None
        self._passed_on = 0  # the stop signal that the worker has had
        self._kill_at: float | None = None
        self._events_due_at = 0.0  # time.monotonic()

    def run(self) -> Verdict:
        """Returns the group's verdict, with no worker left. Throws WorkersFailed when the supervisor falls silent, and
        ray.exceptions.RayError when it is gone; the worker is killed then too."""
        try:
            while True:
                self._pass_events_on()
                self._note_end()
                if verdict := self._follow_orders():
                    if self._worker is not None:
                        self._worker.end(FAILURE_GRACE_S, ask_for_stack=verdict.was_hang)
                    return verdict
                self._keep_deadlines()
                self._wait()
        finally:
            if self._worker is not None:
                self._worker.end(0.0)

    def _wait(self) -> None:
        """For an answer of the supervisor's, the worker's end, events that are due, or a deadline."""
        fds, timeout = [self._link.answer_fd], _TICK_S
        if not self._reported_end and self._worker is not None:
            fds.append(self._worker.end_fd)
        if self._events is not None and self._events.is_open:
            rest = self._events_due_at - time.monotonic()
            if rest > 0:
                timeout = min(timeout, rest)
            else:
                fds.append(self._events.read_fd)
        select.select(fds, [], [], timeout)

    def _pass_events_on(self) -> None:
        if self._events is None:
            return
        lines = self._events.read_lines()
        if lines:
            self._events_due_at = time.monotonic() + _EVENTS_EVERY_S
        self._on_events(lines)
        self._link.send_events(lines)

    def _note_end(self) -> None:
        if self._reported_end or self._worker is None or not select.select([self._worker.end_fd], [], [], 0)[0]:
            return
        told_to_stop = self._worker.told_to_stop
        code = self._worker.reap()
        self._pass_events_on()  # the last ones, written before the end
        self._link.flush_events()
        self._link.send_end(
            WorkerEnd(
                rank=self._rank,
                node_name=self._node_name,
                pid=self._worker.pid,
                code=max(code, 0),
                signal=max(-code, 0),
                told_to_stop=told_to_stop,
                log_path=str(self._worker.log_path),
                log_tail=self._worker.log_tail(),
            )
        )
        self._reported_end = True

    def _follow_orders(self) -> Verdict | None:
        orders = self._link.take_orders()
        if orders is None:
            return None
        for commit in orders.commits:
            self._on_commit(commit)
        if orders.stop_signal != self._passed_on and not self._reported_end and self._worker is not None:
            self._passed_on = orders.stop_signal
            self._worker.stop(orders.stop_signal)
            self._kill_at = self._clock() + STOP_GRACE_S
        return orders.verdict

    def _keep_deadlines(self) -> None:
        if self._kill_at is not None and self._clock() >= self._kill_at and self._worker is not None:
            self._kill_at = None
            self._worker.stop(signal.SIGKILL)
        if self._link.silent_s > _LONGEST_SILENCE_S:
            raise WorkersFailed(
                f"rank {self._rank} on node {self._node_name}: the run's driver has not answered for "
                f"{_LONGEST_SILENCE_S:.0f} s; is this node cut off?"
            )

