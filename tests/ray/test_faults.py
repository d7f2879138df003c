"""What breaks on a cluster, one test a fault; nothing is left on any node after each (the fixture `bed`)."""

import os
import re
import signal
import time

from fault_times import FaultTimes, measure

LONG = ("train.steps=2000", "checkpoint.interval_steps=10", "failure.max_failures=3")


def test_data_that_trains_nothing_stops_at_once(bed):
    empty = bed.shared / "empty.jsonl"
    empty.write_text("")
    job = bed.submit(f"data.sources=[{{path: {empty}}}]", "failure.max_failures=3")
    assert job.wait() == 3, job.log()
    assert len(job.log().split("lockstep: error: rank")) == 2, job.log()
    assert "generation 2" not in job.log()


def test_a_ray_worker_killed_after_a_report_never_restarts_from_the_beginning(bed):
    job = bed.submit(*LONG)
    job.wait_for_event("checkpoint", count=2)
    time.sleep(0.2)
    began = time.time()
    os.kill(bed.adapter_of(bed.worker(1)), signal.SIGKILL)
    measure("Ray worker killed 0.2 s after a report", bed, job, began)
    assert job.wait_for_event("restored")["step"] >= 20
    job.end()


def test_a_stopped_job_saves_first(bed):
    job = bed.submit(*LONG)
    job.wait_for_step(13)
    job.stop()
    job.wait()
    assert job.status()["status"] == "STOPPED"
    stopped = job.events("stopped")[-1]
    assert job.events("checkpoint")[-1]["step"] == stopped["step"]
    assert job.events("ended")[-1]["exit_code"] == 12, job.log()
    assert f"stopped after step {stopped['step']}" in job.log()


def test_a_worker_that_hangs_is_found_by_its_peers(bed):
    job = bed.submit(*LONG, "failure.hang_timeout=5s")
    job.wait_for_step(15)
    began = time.time()
    os.kill(bed.worker(2).pid, signal.SIGSTOP)
    measure("worker stopped (SIGSTOP), hang_timeout 5 s", bed, job, began)
    assert job.events("fault")[0]["exit_code"] == 11
    job.end()


def test_a_killed_driver_takes_all_with_it_and_a_second_job_goes_on(bed):
    job = bed.submit(*LONG)
    job.wait_for_step(25)
    began = time.time()
    os.kill(bed.driver(), signal.SIGKILL)
    bed.expect_nothing_left()
    FaultTimes("driver killed", round(time.time() - began, 1), None, None).keep(bed)
    again = bed.submit(*LONG, f"run.dir={job.run_dir}")
    again.run_dir = job.run_dir
    assert again.wait_for_event("restored")["step"] >= 20
    again.end()


def test_every_line_of_eight_workers_is_in_its_file(bed):
    script = (
        'i=0; while [ $i -lt 200 ]; do echo "$(hostname):$$:7 [0] NCCL INFO NET/OFI channel $i of rank $RANK"; '
        "i=$((i+1)); done"
    )
    job = bed.submit(
        "scaling.num_workers=8",
        "train.global_batch=16",
        "train.steps=3",
        "ray.resources_per_worker={CPU: 0.5}",
        script=script,
    )
    assert job.wait() == 0, job.log()
    for rank in range(8):
        log = (job.run_dir / f"logs/g001-rank-{rank:03d}.log").read_text()
        assert re.findall(rf"NCCL INFO NET/OFI channel (\d+) of rank {rank}\n", log) == [str(i) for i in range(200)]
