"""`lockstep submit` and `lockstep jobs` as on a head's own shell, with the package that deploy/package makes."""

import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from bed import TINY_ON_RAY, Bed, tiny_recipe

_SOURCE = Path(__file__).resolve().parents[2]
_TORCH = "ray.runtime_env={env_vars: {LD_LIBRARY_PATH: " + os.environ.get("LOCKSTEP_TORCH_LIB", "") + "}}"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("deploy") / "package"
    build = Path(os.environ["LOCKSTEP_BIN_DIR"]).parent
    subprocess.run([_SOURCE / "deploy/package", "--build", build, "--output", folder], check=True)
    return folder


def submit(bed: Bed, package: Path, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    recipe = bed.shared / f"{name}.yaml"
    recipe.write_text(tiny_recipe())
    program = os.environ["LOCKSTEP_BIN_DIR"] + "/lockstep"
    words = [*TINY_ON_RAY, f"run.dir={bed.shared}/{name}", "--package", str(package), *arguments]
    return bed.cluster("exec", "head", program, "submit", str(recipe), *words)


def test_a_submitted_run_prints_its_log_and_ends_as_the_run_does(bed: Bed, package: Path):
    done = submit(bed, package, "submitted", _TORCH, "--submission-id", "submitted")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "step 20/20" in done.stdout and "uploaded _ray_pkg_" in done.stderr
    program = os.environ["LOCKSTEP_BIN_DIR"] + "/lockstep"
    job = json.loads(bed.must("exec", "head", program, "jobs", "status", "submitted", "--json"))
    assert job["status"] == "SUCCEEDED" and job["metadata"]["run_dir"] == f"{bed.shared}/submitted"
    again = submit(bed, package, "submitted", _TORCH)  # the same package; the run is finished
    assert again.returncode == 2 and "is on the cluster already" in again.stderr
    assert re.search("lockstep: error: .*holds a finished run", again.stdout), again.stdout


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
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and words in done.stderr, done.stderr


def test_a_package_of_another_torch_is_refused_by_name(bed: Bed, package: Path):
    done = submit(bed, package, "no_torch")  # the nodes' Python has none
    assert done.returncode == 2, done.stdout + done.stderr
    assert "built for torch" in done.stdout
