"""One run, one killed worker, one error of submission: what every change is tested with."""

import os
import re
import signal
import time

import pytest

from fault_times import measure
from runs import train_here

pytestmark = pytest.mark.core


def test_a_run_on_two_nodes_ends_with_the_bits_of_one_machine(bed):
    job = bed.submit()
    assert job.wait() == 0, job.log()
    assert job.weights_sha256() == train_here(bed.folder / "one_machine").weights_sha256()
    assert [event["nodes"] for event in job.events("launched")] == [{"w1": 2, "w2": 2}]
    assert sorted(log.name for log in (job.run_dir / "logs").iterdir()) == [f"g001-rank-00{r}.log" for r in range(4)]
    assert "step 20/20" in job.log() and "done in" in job.log()
    assert job.events("ended")[-1]["exit_code"] == 0
    bed.expect_nothing_left()


def test_a_killed_worker_is_named_and_the_run_goes_on_from_its_newest_checkpoint(bed):
    job = bed.submit("train.steps=400", "checkpoint.interval_steps=10", "failure.max_failures=3")
    job.wait_for_step(35)
    began = time.time()
    os.kill(bed.worker(3).pid, signal.SIGKILL)
    times = measure("native worker killed (SIGKILL)", bed, job, began)
    assert job.events("fault")[0]["rank"] == 3 and job.events("fault")[0]["signal"] == signal.SIGKILL
    assert re.search(r"rank 3 on node w[12]: killed by SIGKILL", job.log())
    restored = job.wait_for_event("restored")
    assert restored["step"] >= 30 and times.steps_lost is not None
    job.end()


def test_a_bad_recipe_is_refused_before_anything_starts(bed):
    began = time.monotonic()
    job = bed.submit("train.global_batch=7", "failure.max_failures=3")
    assert job.wait() == 2
    errors = [line for line in job.log().splitlines() if "lockstep: error:" in line]
    assert len(errors) == 1 and "global_batch" in errors[0], job.log()
    assert not job.run_dir.exists()
    assert time.monotonic() - began < 60
