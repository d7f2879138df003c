"""Nodes that die, are cut off and come back, and runs that go on with those that there are."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from bed import Bed, Job, wait_for
from fault_times import measure
from runs import train_here

ELASTIC = (
    "scaling.num_workers=[2, 4]",
    "determinism=elastic",
    "train.steps=800",
    "checkpoint.interval_steps=10",
    "failure.max_failures=3",
)


@pytest.fixture
def nodes(bed: Bed) -> Iterator[Nodes]:
    """All are back after the test."""
    nodes = Nodes(bed)
    yield nodes
    nodes.bring_all_back()


class Nodes:
    def __init__(self, bed: Bed) -> None:
        self._bed = bed
        self._lost: set[str] = set()

    def lose(self, how: str, node: str) -> float:
        """`how`: kill or cut. Returns when it began (time.time())."""
        self._lost.add(node)
        began = time.time()
        self._bed.must(how, node)
        return began

    def bring_back(self, node: str) -> None:
        """As a new machine: Ray ends on a node that it has declared dead."""
        self._lost.discard(node)
        self._bed.must("start", node)

    def bring_all_back(self) -> None:
        for node in list(self._lost):
            self.bring_back(node)


def other_node(bed: Bed) -> str:
    """The one without rank 0, whose adapter holds the store."""
    return "w2" if bed.worker(0).node == "w1" else "w1"


def expect_same_losses(job: Job, before: int, after: int) -> None:
    """In the steps that generation `after` did again, to the last bit: it saw the same samples on other ranks."""
    first = {line["step"]: line["loss"] for line in job.metrics(before)}
    again = {line["step"]: line["loss"] for line in job.metrics(after)}
    common = first.keys() & again.keys()
    assert {step: first[step] for step in common} == {step: again[step] for step in common}


def test_a_killed_node_is_done_without_and_taken_back_and_the_run_ends_with_the_bits_of_an_undisturbed_one(bed, nodes):
    job = bed.submit(*ELASTIC)
    job.wait_for_step(25)
    lost = other_node(bed)
    began = nodes.lose("kill", lost)
    measure("node killed; 4 workers become 2", bed, job, began)
    assert job.events("started")[-1]["world_size"] == 2
    assert job.wait_for_event("restored")["step"] >= 20
    nodes.bring_back(lost)
    began = time.time()
    again = wait_for("four workers", lambda: [e for e in job.events("started")[2:] if e["world_size"] == 4])[0]
    measure("node back; 2 workers become 4", bed, job, began, generation=again["generation"] - 1)
    expect_same_losses(job, 1, 2)
    expect_same_losses(job, again["generation"] - 1, again["generation"])
    assert job.wait(600) == 0, job.log()
    undisturbed = train_here(bed.folder / "undisturbed", *ELASTIC, "scaling.num_workers=1", "checkpoint.interval_steps=1000")
    assert job.weights_sha256() == undisturbed.weights_sha256()


def test_a_node_that_is_cut_off_cannot_commit_when_it_is_back(bed, nodes):
    job = bed.submit(*ELASTIC, "failure.hang_timeout=20s")
    job.wait_for_step(25)
    lost = other_node(bed)
    began = nodes.lose("cut", lost)
    measure("node's cable cut; 4 workers become 2", bed, job, began)
    bed.must("join", lost)
    wait_for("the old workers to be gone", lambda: not [w for w in bed.workers() if w.node == lost], 90)
    expect_same_losses(job, 1, 2)
    # Not one commit of the old group came after the new one had begun.
    begun = job.events("restored")[0]["time"]
    assert not [e for e in job.events("checkpoint") if e["generation"] == 1 and e["time"] > begun]
    job.end()
