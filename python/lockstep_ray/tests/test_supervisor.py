import asyncio
import json
import signal

import pytest

from lockstep_ray import supervisor as module
from lockstep_ray.messages import Settings
from lockstep_ray.roster import Member
from lockstep_ray.supervisor import Supervisor
from lockstep_ray.verdict import Outcome, Verdict
from lockstep_ray.worker_end import WorkerEnd


@pytest.fixture(autouse=True)
def _causes_settle_fast(monkeypatch):
    monkeypatch.setattr(module, "_CAUSE_SETTLES_S", 0.05)
    monkeypatch.setattr(module, "_ORDERS_EVERY_S", 0.05)
    monkeypatch.setattr(module, "_OUTPUT_EVERY_S", 0.05)


class Run:
    """A supervisor with a group of `world` ranks on two nodes."""

    def __init__(self, path, world=4, worker_counts=(4, 2), max_failures=3, continue_from=""):
        self.path, self.world = path / "events/driver-001.jsonl", world
        self.supervisor = Supervisor(
            Settings(worker_counts, max_failures, continue_from, str(self.path), {"strategy": "full"}, ("bin/lockstep",))
        )

    def member(self, rank, world=None):
        world = world or self.world
        node = "w1" if rank < world / 2 else "w2"
        return Member(rank, world, f"id-{node}", node)

    async def join_all(self, generation=1, world=None):
        world = world or self.world
        return await asyncio.gather(
            *(self.supervisor.join(generation, self.member(rank, world)) for rank in range(world))
        )

    async def end(self, rank, generation=1, **how):
        await self.supervisor.ended(generation, WorkerEnd(rank, self.member(rank).node_name, **how))

    async def verdict(self, generation=1):
        while True:
            orders = await self.supervisor.orders(generation, 0, 0)
            if orders.verdict:
                return orders.verdict

    async def emit(self, generation=1, **event):
        await self.supervisor.add_events(generation, [json.dumps(event)])

    async def words(self):
        return [item.text for item in await self.supervisor.next_output() if not item.is_event]

    def events(self):
        return [json.loads(line) for line in self.path.read_text().splitlines()]


def run(test):
    """Lets a test be a coroutine that gets a folder."""

    def wrapper(tmp_path):
        asyncio.run(asyncio.wait_for(test(tmp_path), 20))

    return wrapper


@run
async def test_all_get_their_places_once_the_last_has_joined(path):
    group = Run(path)
    first = asyncio.create_task(group.supervisor.join(1, group.member(0)))
    await asyncio.sleep(0.02)
    assert not first.done()
    rest = await asyncio.gather(*(group.supervisor.join(1, group.member(rank)) for rank in (1, 2, 3)))
    assert [answer.place.local_rank for answer in [await first, *rest]] == [0, 1, 0, 1]
    assert group.events()[0]["event"] == "launched"
    assert group.events()[0]["nodes"] == {"w1": 2, "w2": 2}


@run
async def test_ranks_over_the_largest_allowed_number_are_spare(path):
    answers = await Run(path, world=3).join_all()
    assert [answer.place is None for answer in answers] == [False, False, True]
    assert answers[0].place.world_size == 2


@run
async def test_a_run_is_done_when_all_have_finished(path):
    group = Run(path)
    await group.join_all()
    for rank in range(4):
        await group.end(rank)
    assert (await group.verdict()) == Verdict(Outcome.DONE, 0)


@run
async def test_the_cause_wins_over_those_that_lost_a_peer_before_it(path):
    group = Run(path)
    await group.join_all()
    await group.end(0, code=10)
    await group.end(1, code=10)
    await group.end(3, signal=signal.SIGKILL)
    verdict = await group.verdict()
    assert verdict.outcome is Outcome.RETRY and verdict.words.startswith("rank 3 on node w2: killed by SIGKILL")
    assert [event["rank"] for event in group.events() if event["event"] == "fault"] == [3]


@run
async def test_a_lost_peer_is_the_verdict_when_nobody_else_comes_forward(path):
    group = Run(path)
    await group.join_all()
    await group.end(2, code=10)
    assert "rank 2" in (await group.verdict()).words


@run
async def test_an_error_that_would_come_again_stops_the_run(path):
    group = Run(path)
    await group.join_all()
    await group.end(1, code=3, log_tail=("lockstep: error: data: nothing to train on",))
    assert (await group.verdict()) == Verdict(Outcome.STOP, 3, "rank 1 on node w1: data: nothing to train on (log: )")
    summary = await group.supervisor.summary()
    assert summary.exit_code == 3 and summary.was_refused
    assert (await group.join_all(generation=2))[0].outcome is Outcome.STOP


@run
async def test_commits_reach_every_adapter_in_order(path):
    group = Run(path)
    await group.join_all()
    for step in (5, 10):
        await group.emit(event="checkpoint", step=step, folder=f"step-{step}")
    assert [c.step for c in (await group.supervisor.orders(1, 0, 0)).commits] == [5, 10]
    assert [c.step for c in (await group.supervisor.orders(1, 1, 0)).commits] == [10]


@run
async def test_from_counts_until_the_run_has_a_checkpoint_of_its_own(path):
    group = Run(path, continue_from="best")
    assert (await group.join_all())[0].continue_from == "best"
    await group.end(0, signal=signal.SIGKILL)
    await group.verdict()
    assert (await group.join_all(generation=2))[0].continue_from == "best"
    await group.emit(generation=2, event="metrics", step=3)
    await group.emit(generation=2, event="checkpoint", step=3, folder="step-3")
    await group.end(0, generation=2, signal=signal.SIGKILL)
    await group.verdict(2)
    assert (await group.join_all(generation=3))[0].continue_from == ""


@run
async def test_twice_at_the_same_step_stops_the_run(path):
    group = Run(path)
    for generation in (1, 2):
        await group.join_all(generation)
        await group.emit(generation, event="metrics", step=7)
        await group.end(0, generation, signal=signal.SIGKILL)
        verdict = await group.verdict(generation)
    assert verdict.outcome is Outcome.STOP
    assert any("failed twice after step 7" in words for words in await group.words())


@run
async def test_a_stop_reaches_all_and_ends_as_preempted(path):
    group = Run(path)
    await group.join_all()
    assert await group.supervisor.stop(signal.SIGTERM)
    assert (await group.supervisor.orders(1, 0, 0)).stop_signal == signal.SIGTERM
    for rank in range(4):
        await group.end(rank, code=12, told_to_stop=True)
    orders = await group.supervisor.orders(1, 0, signal.SIGTERM)
    assert orders.verdict == Verdict(Outcome.DONE, 12)


@run
async def test_a_stop_without_workers_has_nothing_to_wait_for(path):
    group = Run(path)
    assert not await group.supervisor.stop(signal.SIGTERM)
    assert (await group.join_all())[0] == Verdict(Outcome.DONE, 12)


@run
async def test_no_generation_is_given_twice(path):
    group = Run(path)
    assert await group.supervisor.reserve(3) == 3
    await group.join_all(3)
    assert await group.supervisor.reserve(3) == 4
    assert await group.supervisor.reserve(7) == 7


@run
async def test_an_older_group_changes_nothing(path):
    group = Run(path)
    await group.join_all(1)
    await group.end(0, signal=signal.SIGKILL)
    await group.verdict()
    await group.join_all(2, world=2)
    await group.emit(1, event="checkpoint", step=9, folder="step-9")
    await group.end(1, 1, code=3)
    orders = await group.supervisor.orders(2, 0, 0)
    assert orders.commits == () and orders.verdict is None
    assert (await group.supervisor.orders(1, 0, 0)).verdict.outcome is Outcome.RETRY
    assert (await group.supervisor.join(1, group.member(0))).outcome is Outcome.RETRY


@run
async def test_a_worker_that_ray_lost_is_the_cause(path):
    group = Run(path)
    await group.join_all()
    await group.end(0, code=10)
    await group.supervisor.lost({3: "ActorDiedError: its node died"})
    assert (await group.verdict()).words == "rank 3 on node w2: its Ray worker is gone: ActorDiedError: its node died"


@run
async def test_a_group_that_ray_replaces_is_no_failure(path):
    group = Run(path)
    await group.join_all(1, world=2)
    answers = await group.join_all(2, world=4)
    assert answers[0].place.world_size == 4
    assert not [event for event in group.events() if event["event"] == "fault"]
    assert [event["num_workers"] for event in group.events() if event["event"] == "restart"] == [4]


@run
async def test_a_run_that_rank_0_cannot_open_stops_with_its_words(path):
    group = Run(path)
    verdict = await group.supervisor.refuse(group.member(0), 2, "run.dir: holds a finished run")
    assert verdict.outcome is Outcome.STOP and verdict.exit_code == 2
    assert any("holds a finished run" in words for words in await group.words())
