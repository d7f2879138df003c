"""What is settled before a worker starts: the job, the cluster, the worker's environment, the program's libraries."""

import json
import os
import stat
from pathlib import Path

import pytest

from lockstep_ray import libraries, run_program
from lockstep_ray.cluster import Node, alive_nodes, check_room, num_gpus, resources_per_worker
from lockstep_ray.errors import Refused
from lockstep_ray.job import Job
from lockstep_ray.libraries import InstalledTorch
from lockstep_ray.run_lock import lock_run
from lockstep_ray.roster import Place
from lockstep_ray.worker_environment import WorkerSettings

JOB = Job("bin/lockstep", ["train", "recipe.yaml"], "recipe.yaml", torch_version="2.13.0")


def program(folder: Path, script: str) -> Path:
    path = folder / "bin/lockstep"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return folder


def test_a_job_is_read_as_submit_writes_it(tmp_path):
    text = {
        "version": 1,
        "program": "bin/mine",
        "arguments": ["recipe.yaml", "train.steps=5"],
        "recipe": "recipe.yaml",
        "overrides": ["train.steps=5"],
        "from": "best",
        "torch_version": "2.13.0",
    }
    (tmp_path / "job.json").write_text(json.dumps(text))
    job = Job.read(tmp_path / "job.json")
    assert (job.program, job.overrides, job.continue_from) == ("bin/mine", ["train.steps=5"], "best")


@pytest.mark.parametrize("text", ["{", "{}", '{"version": 2}', '{"version": 1}'])
def test_another_file_is_refused(tmp_path, text):
    (tmp_path / "job.json").write_text(text)
    with pytest.raises(Refused) as refused:
        Job.read(tmp_path / "job.json")
    assert refused.value.exit_code == 2 and "job.json" in refused.value.words


def nodes() -> list[Node]:
    return [
        Node("a", "head", {"CPU": 0.0}),
        Node("b", "w1", {"CPU": 2.0, "GPU": 4.0}),
        Node("c", "w2", {"CPU": 2.0, "GPU": 4.0}),
    ]


def test_dead_nodes_count_for_nothing():
    described = {"NodeID": "a", "NodeManagerHostname": "w1", "Resources": {"GPU": 4.0}, "Alive": False}
    assert alive_nodes([described]) == []
    assert num_gpus(alive_nodes([described | {"Alive": True}])) == 4


def test_too_little_room_is_said_with_what_each_node_has():
    check_room(nodes(), {"CPU": 1.0}, 4)
    with pytest.raises(Refused) as refused:
        check_room(nodes(), {"CPU": 1.0, "GPU": 1.0}, 5)
    assert refused.value.exit_code == 2
    assert "room for 4 workers of 1 CPU, 1 GPU each, and the run needs 5" in refused.value.words
    assert "head: 0 CPU, 0 GPU; w1: 2 CPU, 4 GPU" in refused.value.words


def test_nodes_of_one_host_name_are_counted_each():
    twins = [Node("1", "vm", {"CPU": 2.0}), Node("2", "vm", {"CPU": 2.0})]
    check_room(twins, {"CPU": 2.0}, 2)
    with pytest.raises(Refused):
        check_room(twins, {"CPU": 2.0}, 3)


def test_the_recipe_may_ask_for_other_resources():
    recipe = {"ray": {"resources_per_worker": {"CPU": 4, "fast_disk": 0.5}}}
    assert resources_per_worker(recipe, use_gpu=True) == {"CPU": 4.0, "GPU": 1.0, "fast_disk": 0.5}
    assert resources_per_worker({}, use_gpu=False) == {"CPU": 1.0}


def settings(**more) -> WorkerSettings:
    place = Place(5, 8, 1, 4, ("2", "3", "0", "1"))
    return WorkerSettings(place, "10.0.0.2", 4711, "/fsx/runs/x", 3, num_cpus=2.0, **{"use_gpu": False, **more})


def test_a_worker_is_told_its_place():
    environment = settings().environment({"HOME": "/root", "LOCKSTEP_EVENT_FD": "9", "OMP_NUM_THREADS": "1"})
    assert environment["RANK"] == "5" and environment["LOCAL_WORLD_SIZE"] == "4"
    assert environment["MASTER_ADDR"] == "10.0.0.2" and environment["LOCKSTEP_GENERATION"] == "3"
    assert environment["OMP_NUM_THREADS"] == "2" and environment["HOME"] == "/root"
    assert "LOCKSTEP_EVENT_FD" not in environment and "CUDA_VISIBLE_DEVICES" not in environment
    assert "LOCKSTEP_PYTHON_PACKAGES" not in environment


def test_a_worker_is_told_the_packages_for_its_record():
    environment = settings(python_packages={"numpy": "2.1"}).environment({})
    assert json.loads(environment["LOCKSTEP_PYTHON_PACKAGES"]) == {"numpy": "2.1"}


def test_on_gpus_the_local_rank_counts_among_the_nodes_workers():
    assert settings(use_gpu=True).environment({})["CUDA_VISIBLE_DEVICES"] == "2,3,0,1"


def test_begin_hands_on_the_programs_own_words(tmp_path):
    folder = program(tmp_path, 'echo noise >&2; echo "lockstep: error: train.steps must be positive" >&2; exit 2')
    with pytest.raises(Refused) as refused:
        run_program.begin(JOB, folder, [])
    assert (refused.value.exit_code, refused.value.words) == (2, "train.steps must be positive")


def test_begin_is_read(tmp_path):
    plan = {"run_dir": "/fsx/x", "num_workers": 4, "worker_counts": [4, 2], "use_gpu": False}
    answer = {"version": 1, "recipe": {"failure": {"max_failures": 3}}, "plan": plan}
    answer["run"] = {"path": "/fsx/x", "generation": 3, "is_new": True, "driver_events": "/fsx/x/events/driver-001.jsonl"}
    beginning = run_program.begin(JOB, program(tmp_path, f"echo '{json.dumps(answer)}'"), ["--next"])
    assert beginning.worker_counts == [4, 2] and beginning.run.generation == 3


def test_the_nodes_torch_is_used_when_it_is_the_jobs(tmp_path, monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", "/before")
    (tmp_path / "lib").mkdir()
    right, wrong = InstalledTorch("2.13.0", Path("/torch/lib")), InstalledTorch("2.11.0", Path("/torch/lib"))
    assert libraries.library_path(JOB, tmp_path, right) == f"{tmp_path}/lib:/torch/lib:/before"
    assert libraries.library_path(JOB, tmp_path, wrong) == f"{tmp_path}/lib:/before"


@pytest.mark.parametrize(("torch", "words"), [(None, "has no torch"), (InstalledTorch("2.11.0", Path("/t")), "has torch 2.11.0")])
def test_another_torch_than_the_jobs_is_refused(tmp_path, monkeypatch, torch, words):
    monkeypatch.setattr(libraries, "installed_torch", lambda: torch)
    with pytest.raises(Refused) as refused:
        libraries.check_program(JOB, program(tmp_path, "exit 127"))
    assert refused.value.exit_code == 2 and "built for torch 2.13.0" in refused.value.words
    assert words in refused.value.words


def test_a_program_that_brings_its_own_torch_is_left_to_it(tmp_path, monkeypatch):
    monkeypatch.setattr(libraries, "installed_torch", lambda: None)
    libraries.check_program(JOB, program(tmp_path, "exit 0"))


def test_one_job_at_a_time_trains_a_run(tmp_path):
    (tmp_path / "recipe.yaml").write_text("name: x")
    with lock_run(str(tmp_path)):
        with pytest.raises(Refused, match="trained by another job"):
            lock_run(str(tmp_path))
    lock_run(str(tmp_path)).close()


def test_nothing_heavy_is_imported_to_find_torch():
    import sys

    libraries.installed_torch()
    assert "torch" not in sys.modules and os.environ.get("CUDA_VISIBLE_DEVICES") is None
