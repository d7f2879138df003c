"""`lockstep submit` and `lockstep jobs` as on a head's own shell, with the package that deploy/package makes."""

import json
import os
import re
import time
from pathlib import Path

import pytest

from bed import Bed
from runs import Run, train_here
from submitting import TORCH, lockstep, submit, the_error


def test_a_submitted_run_prints_its_log_and_ends_as_the_run_does(bed: Bed, package: Path):
    done = submit(bed, package, "submitted", TORCH, "--submission-id", "submitted")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "step 20/20" in done.stdout and "uploaded _ray_pkg_" in done.stderr
    job = json.loads(lockstep(bed, "jobs", "status", "submitted", "--json").stdout)
    assert job["status"] == "SUCCEEDED" and job["metadata"]["run_dir"] == f"{bed.shared}/submitted"
    again = submit(bed, package, "submitted", TORCH)  # the same package; the run is finished
    assert again.returncode == 2 and "is on the cluster already" in again.stderr
    assert re.search("lockstep: error: .*holds a finished run", again.stdout), again.stdout


def test_a_program_of_ones_own_trains_on_two_nodes_with_the_bits_of_one_machine(bed: Bed, package: Path):
    program = os.environ["LOCKSTEP_TRAIN_FUNC"]
    done = submit(bed, package, "own", TORCH, "train.steps=10", "--program", program)
    assert done.returncode == 0, done.stdout + done.stderr
    run = Run(bed.shared / "own")
    assert [event["nodes"] for event in run.events("launched")] == [{"w1": 2, "w2": 2}]
    here = train_here(bed.folder / "own_here", "train.steps=10", program=[program])
    assert run.weights_sha256() == here.weights_sha256()


@pytest.mark.core
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("scaling.num_workers=8 train.micro_batch=1", "Ray counts 4 CPUs, 8 wanted"),
        ("scaling.use_gpu=true", "Ray counts no GPU, 4 wanted"),
        ("run.dir=runs/x", "is relative, and the cluster's nodes"),
    ],
)
def test_what_cannot_run_is_refused_in_seconds(bed: Bed, package: Path, change: str, words: str):
    began = time.monotonic()
    done = submit(bed, package, "refused", *change.split())
    print(f"refused after {time.monotonic() - began:.1f} s")
    assert done.returncode == 2 and words in the_error(done)


def test_a_package_of_another_torch_is_refused_by_name(bed: Bed, package: Path):
    done = submit(bed, package, "no_torch")  # the nodes' Python has none
    assert done.returncode == 2, done.stdout + done.stderr
    assert "built for torch" in done.stdout


def test_storage_that_one_node_has_not_is_refused_with_that_node(bed: Bed):
    bed.must("exec", "w2", "mount", "-t", "tmpfs", "none", str(bed.shared))
    try:
        began = time.monotonic()
        job = bed.submit()
        assert job.wait() == 7, job.log()
        print(f"refused after {time.monotonic() - began:.1f} s")
    finally:
        bed.must("exec", "w2", "umount", str(bed.shared))
    (error,) = [line for line in job.log().splitlines() if "lockstep: error:" in line]
    assert error.startswith(f"lockstep: error: node w2: it does not see in {bed.shared}")
    assert not job.run_dir.exists()
