"""The meeting point of one run: all adapters and the driver talk to it, and it alone decides what follows.

It runs as an actor on the driver's node, without CPUs of its own, and lives as long as the driver. Its calls are short
or wait in asyncio, so one thread serves any number of adapters and no state needs a lock.

Of the workers of a group that ended it finds the cause (worker_end.py), says it once, in words, and gives every adapter
the same verdict. A group is known by its generation; what an older one still says changes nothing.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable

from .driver_events import DriverEvents
from .exit_codes import ExitCode
from .group import Group
from .messages import Assignment, Commit, Orders, Output, Settings, Summary
from .python_packages import differing_packages
from .roster import Member
from .verdict import Outcome, RestartPolicy, Verdict
from .worker_end import WorkerEnd, find_cause

# One that reports a lost peer, or a wait in vain, often ends before the peer does: so long do we wait for the real cause.
_CAUSE_SETTLES_S = 1.0
# An adapter that waits for orders hears at least so often: it knows by it that we are there.
_ORDERS_EVERY_S = 5.0
# The driver, which waits for output, at least so often: then it sees that the run is over.
_OUTPUT_EVERY_S = 1.0


class Supervisor:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._events = DriverEvents(settings.driver_events)
        self._policy = RestartPolicy(settings.max_failures)
        self._changed = asyncio.Condition()
        self._group: Group | None = None  # the newest
        self._final: Verdict | None = None  # of the run: no group starts after it
        self._failed_at: float | None = None  # when the group before failed
        self._stop_signal = 0
        self._output: list[Output] = []
        self._continue_from = settings.continue_from
        self._step: int | None = None  # the last that was done
        self._stopped_after: int | None = None
        self._was_refused = False
        self._tasks: set[asyncio.Task[None]] = set()  # a task that nobody holds may be dropped

    # Adapters.

    async def reserve(self, generation: int) -> int:
        """For rank 0 of a new group: `generation`, by what is in the run's folder, or a later one. A group that ended
        before it wrote anything has left no trace there."""
        return max(generation, self._group.generation + 1 if self._group else generation)

    async def join(self, generation: int, member: Member) -> Assignment | Verdict:
        """Returns once all members of the generation have joined, or with the verdict when there is nothing to do."""
        before = self._group
        if before is None or before.generation < generation:
            self._group = Group(generation, member.world_size)  # at once: others join while the one before is closed
            if before:
                await self._close(before)
        if self._final:
            return self._final
        group = self._group
        if group.generation > generation:
            return _outlived(generation, group.generation)
        if group.add(member, self._settings.worker_counts):
            self._launched(group)
        await self._notify()
        await self._wait_for(lambda: group.is_complete or self._end_of(group) is not None, None)
        return self._end_of(group) or Assignment(group.place(member.rank), self._continue_from)

    async def refuse(self, member: Member, exit_code: int, words: str) -> Verdict:
        """Rank 0 could not open the run for its group."""
        end = WorkerEnd(member.rank, member.node_name, code=exit_code, log_tail=(f"lockstep: error: {words}",))
        verdict = self._decide(end, member.world_size, self._group.generation if self._group else 0)
        await self._notify()
        return verdict

    async def orders(self, generation: int, num_commits: int, stop_signal: int) -> Orders:
        """What is new for an adapter that knows of `num_commits` and `stop_signal`; at the latest after a few seconds."""
        group = self._group
        if group is None or group.generation != generation:
            return Orders(verdict=_outlived(generation, group.generation if group else 0))
        await self._wait_for(
            lambda: group.verdict is not None
            or len(group.commits) > num_commits
            or self._stop_signal != stop_signal,
            _ORDERS_EVERY_S,
        )
        return Orders(tuple(group.commits[num_commits:]), self._stop_signal, group.verdict)

    async def add_events(self, generation: int, lines: list[str]) -> None:
        """Rank 0's events, in order."""
        group = self._group
        if group is None or group.generation != generation:
            return
        for line in lines:
            self._output.append(Output(line, is_event=True))
            self._note(group, line)
        await self._notify()

    async def ended(self, generation: int, end: WorkerEnd) -> None:
        group = self._group
        if group is None or group.generation != generation or group.verdict:
            return
        group.ends.append(end)
        if group.all_ended:
            await self._judge(group)
        elif end.failed:
            settles = end.lost_a_peer or end.exit_code == ExitCode.HANG
            self._judge_after(group, _CAUSE_SETTLES_S if settles else 0.0)

    # Ray's controller.

    async def lost(self, words_by_rank: dict[int, str]) -> None:
        """Train workers of the newest group that Ray has lost, adapter and all."""
        group = self._group
        if group is None or group.verdict:
            return
        for rank, words in words_by_rank.items():
            group.ends.append(WorkerEnd(rank, group.node_name(rank), lost=words))
        await self._judge(group)

    # The driver.

    async def stop(self, signal: int) -> bool:
        """Has every worker stop with `signal`. False when none runs: then there is nothing to wait for."""
        self._stop_signal = signal
        runs = self._group is not None and self._group.is_complete and self._group.verdict is None
        if not runs:
            self._final = self._stopped()
        await self._notify()
        return runs

    async def next_output(self) -> list[Output]:
        """All since the last call; empty after a second without any. One reader."""
        await self._wait_for(lambda: bool(self._output), _OUTPUT_EVERY_S)
        output, self._output = self._output, []
        return output

    async def summary(self) -> Summary:
        verdict = self._final or (self._group.verdict if self._group else None)
        return Summary(verdict.exit_code if verdict else None, self._was_refused, self._stopped_after)

    async def finish(self, exit_code: int, seconds: float) -> None:
        generation = self._group.generation if self._group else 0
        self._events.emit(generation, "ended", {"exit_code": exit_code, "seconds": round(seconds, 3)})

    # How a group comes to its verdict.

    def _judge_after(self, group: Group, seconds: float) -> None:
        async def later() -> None:
            await asyncio.sleep(seconds)
            await self._judge(group)

        task = asyncio.create_task(later())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _judge(self, group: Group) -> None:
        if group.verdict:
            return
        cause = find_cause(group.ends)
        if self._stop_signal:
            if cause:
                self._blame(cause, group.generation)
            group.verdict = self._final = self._stopped()
        elif cause:
            group.verdict = self._decide(cause, group.num_workers, group.generation)
        else:
            group.verdict = self._final = Verdict(Outcome.DONE, ExitCode.FINISHED)
        await self._notify()

    def _decide(self, cause: WorkerEnd, num_workers: int, generation: int) -> Verdict:
        self._blame(cause, generation)
        words, was_hang = cause.describe(), cause.exit_code == ExitCode.HANG
        reason = self._policy.reason_to_stop(cause.exit_code, self._step, num_workers)
        if reason is None:
            self._failed_at = time.monotonic()
            return Verdict(Outcome.RETRY, cause.exit_code, words, was_hang)
        if reason:
            self._say(reason)
        refusals = (ExitCode.USAGE, ExitCode.DATA)
        self._was_refused = self._step is None and bool(cause.own_error()) and cause.exit_code in refusals
        self._final = Verdict(Outcome.STOP, cause.exit_code, words, was_hang)
        return self._final

    async def _close(self, group: Group) -> None:
        """A newer group starts. Where nobody told us why, Ray lost this one with all its adapters, or resizes it."""
        if group.verdict:
            return
        if find_cause(group.ends):
            await self._judge(group)
            return
        self._failed_at = time.monotonic()
        group.verdict = Verdict(Outcome.RETRY, ExitCode.PEER_LOST, "Ray replaced this group of workers by a newer one")
        self._say("Ray starts the workers again, on the nodes that there are now")
        await self._notify()

    def _end_of(self, group: Group) -> Verdict | None:
        return group.verdict or self._final

    def _stopped(self) -> Verdict:
        return Verdict(Outcome.DONE, ExitCode.PREEMPTED)

    # What is seen and said.

    def _launched(self, group: Group) -> None:
        nodes = group.workers_by_node()
        spare = group.world_size - group.num_workers
        if self._failed_at is not None:
            seconds = round(time.monotonic() - self._failed_at, 3)
            self._events.emit(group.generation, "restart", {"num_workers": group.num_workers, "seconds": seconds})
        plan, command = self._settings.plan, list(self._settings.command)
        self._events.emit(group.generation, "launched", {"plan": plan, "command": command, "nodes": nodes, "spare": spare})
        on_nodes = ", ".join(f"{count} on {name}" for name, count in nodes.items())
        self._say(
            f"generation {group.generation}: {group.num_workers} workers ({on_nodes})"
            + (f"; {spare} more would not divide the global batch and wait" if spare else "")
        )
        for line in differing_packages(list(group.members.values())):
            self._say(f"warning: {line}: pin it in ray.runtime_env")

    def _blame(self, cause: WorkerEnd, generation: int) -> None:
        self._say("error: " + cause.describe())
        self._events.emit(generation, "fault", cause.to_event())

    def _note(self, group: Group, line: str) -> None:
        """What we have to know of an event ourselves."""
        try:
            event = json.loads(line)
        except ValueError:
            return  # shown as it is
        match event.get("event"):
            case "metrics":
                self._step = event.get("step")
            case "checkpoint":
                group.commits.append(Commit(event["step"], event["folder"]))
                self._continue_from = ""  # from here on the run's own chain goes further than what was asked for
            case "stopped":
                self._stopped_after = event.get("step")

    def _say(self, words: str) -> None:
        self._output.append(Output(words, is_event=False))

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def _wait_for(self, predicate: Callable[[], bool], timeout_s: float | None) -> None:
        """Returns when it holds, or after `timeout_s`."""
        async with self._changed:
            try:
                await asyncio.wait_for(self._changed.wait_for(predicate), timeout_s)
            except asyncio.TimeoutError:
                pass


def _outlived(generation: int, newest: int) -> Verdict:
    words = f"the workers of generation {generation} are outlived by those of generation {newest}"
    return Verdict(Outcome.RETRY, ExitCode.GUARD, words)
