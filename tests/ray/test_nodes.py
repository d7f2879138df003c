"""Nodes that die, are cut off and come back, and runs that go on with those that there are."""

import time

import pytest

from bed import Bed, wait_for
from fault_times import measure

ELASTIC = (
    "scaling.num_workers=[2, 4]",
    "determinism=elastic",
    "train.steps=1500",
    "checkpoint.interval_steps=10",
    "failure.max_failures=3",
)


@pytest.fixture
def whole_bed(bed: Bed):
    """Both worker nodes are back after the test."""
    yield bed
    for node in ("w1", "w2"):
        bed.cluster("join", node)
    for node in ("w1", "w2"):
        if bed.cluster("exec", node, "true").returncode != 0:
            bed.must("start", node)
    wait_for("all nodes to be alive", lambda: bed.nodes_alive() >= 3)


def other_node(bed: Bed) -> str:
    """The one without rank 0, whose adapter holds the store."""
    return "w2" if bed.worker(0).node == "w1" else "w1"


def test_a_killed_node_is_done_without_and_taken_back(whole_bed):
    bed = whole_bed
    job = bed.submit(*ELASTIC)
    job.wait_for_step(25)
    lost = other_node(bed)
    began = time.time()
    bed.must("kill", lost)
    measure("node killed; 4 workers become 2", bed, job, began)
    assert job.events("started")[-1]["world_size"] == 2
    assert job.wait_for_event("restored")["step"] >= 20
    bed.must("start", lost)
    began = time.time()
    again = wait_for("four workers", lambda: [e for e in job.events("started")[2:] if e["world_size"] == 4])[0]
    measure("node back; 2 workers become 4", bed, job, began, generation=again["generation"] - 1)
    job.end()


def test_a_node_that_is_cut_off_cannot_commit_when_it_is_back(whole_bed):
    bed = whole_bed
    job = bed.submit(*ELASTIC, "failure.hang_timeout=20s")
    job.wait_for_step(25)
    lost = other_node(bed)
    began = time.time()
    bed.must("cut", lost)
    measure("node's cable cut; 4 workers become 2", bed, job, began)
    bed.must("join", lost)
    wait_for("the old workers to be gone", lambda: not [w for w in bed.workers() if w.node == lost], 90)
    # Not one commit of the old group came after the new one had begun.
    begun = [event for event in job.events("restored")][0]["time"]
    assert not [e for e in job.events("checkpoint") if e["generation"] == 1 and e["time"] > begun]
    job.end()
