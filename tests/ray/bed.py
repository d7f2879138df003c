"""A real Ray cluster for tests (the script `cluster`), jobs on it, and what its nodes run."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
import time
import uuid
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from runs import TINY_ON_RAY, Run, tiny_recipe

_HERE = Path(__file__).resolve().parent
_SOURCE = _HERE.parent.parent
NODES = ("head", "w1", "w2")
_JOB_ENVIRONMENT = {
    "RAY_TRAIN_V2_ENABLED": "1",
    "RAY_DEDUP_LOGS": "0",
    "RAY_TRAIN_ENABLE_PRINT_PATCH": "0",
    "RAY_TRAIN_HEALTH_CHECK_INTERVAL_S": "0.5",
    "RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S": "10",
    "RAY_TRAIN_ENABLE_PREEMPTION_WATCHER": "0",
    "RAY_JOB_STOP_WAIT_TIME_S": "120",
    "LOCKSTEP_RAY_RESIZE_INTERVAL_S": "3",
    "PYTHONUNBUFFERED": "1",
}
T = TypeVar("T")


def wait_for(what: str, look: Callable[[], T | None], seconds: float = 240.0) -> T:
    """The first answer that is neither None nor false."""
    deadline = time.monotonic() + seconds
    while True:
        if answer := look():
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds:.0f} s in vain for {what}")
        time.sleep(0.05)


class NotAllowed(Exception):
    """This machine cannot be made into several."""


@dataclass(frozen=True)
class NodeProcess:
    pid: int  # here, outside the nodes
    node: str
    rank: int | None  # of a worker; None for an adapter


class Bed:
    """`folder`: for all that is written. `bin_dir`: of the build whose programs run. `variables`: more environment for
    every process on the nodes, without blanks. `gpus`: that each node pretends to have."""

    def __init__(
        self,
        folder: Path,
        bin_dir: Path,
        nodes: Sequence[str] = NODES,
        variables: Mapping[str, str] | None = None,
        gpus: int = 0,
    ) -> None:
        self.folder, self.bin_dir, self._nodes = folder, bin_dir, nodes
        self.shared = folder / "shared"  # the storage that all nodes share
        more = " ".join(f"{name}={value}" for name, value in (variables or {}).items())
        self._environment = {
            **os.environ,
            "BED": str(folder),
            "RAY_PYTHON": sys.executable,
            "NODE_ENVIRONMENT": more,
            "GPUS": str(gpus),
        }

    def up(self) -> None:
        up = self.cluster("up", *self._nodes)
        if up.returncode == 77:
            raise NotAllowed("namespaces are not allowed here: run as root, in a container with CAP_SYS_ADMIN")
        assert up.returncode == 0, up.stderr

    def cluster(self, *arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [_HERE / "cluster", *arguments], env=self._environment, capture_output=True, text=True, check=False, **more
        )

    def must(self, *arguments: str, **more: Any) -> str:
        done = self.cluster(*arguments, **more)
        assert done.returncode == 0, f"cluster {' '.join(arguments)}: {done.stderr}"
        return done.stdout

    def rest(self, method: str, path: str, body: bytes = b"") -> Any:
        """A request to the head's Jobs API."""
        script = [_HERE / "cluster", "exec", "head", sys.executable, str(_HERE / "rest.py"), method, path]
        done = subprocess.run(script, env=self._environment, input=body, capture_output=True, check=False)
        assert done.returncode == 0, f"{method} {path}: {done.stderr.decode()}"
        return json.loads(done.stdout) if done.stdout else None

    # Jobs.

    def submit(
        self, *overrides: str, name: str = "", script: str = "", runtime_env: Mapping[str, Any] | None = None
    ) -> Job:
        """The tiny recipe with these changes, as a job on the cluster. `name`: of the run, the test's unless it is given.
        `script`: what a worker runs before it trains, in shell. `runtime_env`: more of the job's."""
        test = os.environ.get("PYTEST_CURRENT_TEST", "").split("::")[-1].split(" ")[0].removeprefix("test_")
        name = f"{name or test}-{uuid.uuid4().hex[:6]}"
        run_dir = self.shared / name
        changes = [*TINY_ON_RAY, f"run.dir={run_dir}", *overrides]
        package = self._package(changes, script)
        uri = f"_ray_pkg_{hashlib.sha256(package).hexdigest()[:16]}.zip"
        self.rest("PUT", f"/api/packages/gcs/{uri}", package)
        runtime = {"working_dir": f"gcs://{uri}", "env_vars": _JOB_ENVIRONMENT} | (runtime_env or {})
        request = {"entrypoint": "python -m lockstep_ray job.json", "submission_id": name, "runtime_env": runtime}
        self.rest("POST", "/api/jobs/", json.dumps(request).encode())
        return Job(self, name, run_dir)

    def _package(self, overrides: list[str], script: str) -> bytes:
        """A working directory as `lockstep submit` packs it, but that its programs start those of this machine."""
        start = f'exec {self.bin_dir / "lockstep"} "$@"\n'
        programs = {"lockstep": start} | ({"worker": f"{script}\n{start}"} if script else {})
        arguments = ["train", "recipe.yaml", *overrides]
        job = {"version": 1, "program": "bin/worker" if script else "bin/lockstep", "arguments": arguments}
        job |= {"recipe": "recipe.yaml", "overrides": overrides, "from": "", "torch_version": ""}
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("job.json", json.dumps(job))
            archive.writestr("recipe.yaml", tiny_recipe())
            for file in sorted((_SOURCE / "python/lockstep_ray/lockstep_ray").glob("*.py")):
                archive.write(file, f"lockstep_ray/{file.name}")
            for name, text in programs.items():
                entry = zipfile.ZipInfo(f"bin/{name}")
                entry.external_attr = 0o100755 << 16
                archive.writestr(entry, f"#!/bin/sh\n{text}")
        return packed.getvalue()

    # What runs on the nodes.

    def workers(self) -> list[NodeProcess]:
        """The C++ workers that run now."""
        return [process for process in self._of_runs() if process.rank is not None]

    def driver(self) -> int:
        """The process id of the only job's driver."""
        (driver,) = [int(entry.name) for entry, _ in self.processes() if _command(entry)[-2:] == [b"lockstep_ray", b"job.json"]]
        return driver

    def worker(self, rank: int) -> NodeProcess:
        return wait_for(f"rank {rank}", lambda: next((w for w in self.workers() if w.rank == rank), None))

    def adapter_of(self, worker: NodeProcess) -> int:
        """The process id of the Ray worker that spawned it."""
        return int(_stat(Path(f"/proc/{worker.pid}"))[1])

    def expect_nothing_left(self, seconds: float = 60.0) -> None:
        """No worker and no adapter of any run, on any node."""
        wait_for("all workers to be gone", lambda: not list(self._of_runs()), seconds)

    def _of_runs(self) -> Iterator[NodeProcess]:
        """Workers and adapters."""
        for entry, node in self.processes():
            command = _command(entry)
            if command[0].startswith((b"ray::RayTrainWorker", b"ray::_RayTrainWorker")):
                yield NodeProcess(int(entry.name), node, None)
                continue
            environment = _environment(entry)
            is_on_its_way = any(part.endswith(b"become_worker.py") for part in command)
            if environment.get(b"LOCKSTEP_ROLE") == b"worker" and not is_on_its_way:
                yield NodeProcess(int(entry.name), node, int(environment[b"RANK"]))

    def processes(self) -> Iterator[tuple[Path, str]]:
        """The folders in /proc of all processes on nodes, with the node; not of those that only wait to be collected."""
        nodes = {}
        for name in self._nodes:
            try:
                first = (self.folder / name / "pid").read_text().strip()
                nodes[os.readlink(f"/proc/{first}/ns/pid")] = name
            except OSError:
                continue  # a node that was killed
        for entry in Path("/proc").iterdir():
            try:
                node = nodes.get(os.readlink(entry / "ns/pid")) if entry.name.isdigit() else None
                if node is not None and _stat(entry)[0] != "Z":
                    yield entry, node
            except OSError:
                continue  # it has just ended


class Job(Run):
    def __init__(self, bed: Bed, name: str, run_dir: Path) -> None:
        super().__init__(run_dir)
        self._bed, self.name = bed, name

    def status(self) -> dict[str, Any]:
        return self._bed.rest("GET", f"/api/jobs/{self.name}")

    def log(self) -> str:
        return self._bed.rest("GET", f"/api/jobs/{self.name}/logs")["logs"]

    def stop(self) -> None:
        self._bed.rest("POST", f"/api/jobs/{self.name}/stop", b"{}")

    def end(self) -> None:
        """Enough was seen."""
        self.stop()
        self.wait()

    def wait(self, seconds: float = 240.0) -> int | None:
        """The driver's exit code once the job has ended; None when it was stopped."""

        def ended() -> dict[str, Any] | None:
            status = self.status()
            return status if status["status"] in ("SUCCEEDED", "FAILED", "STOPPED") else None

        try:
            return wait_for(f"the end of {self.name}", ended, seconds)["driver_exit_code"]
        except AssertionError as error:
            raise AssertionError(f"{error}; its log:\n{self.log()}") from None

    def wait_for_step(self, step: int, generation: int = 1) -> None:
        def reached() -> bool:
            if self.last_step(generation) >= step:
                return True
            status = self.status() if self.last_step(generation) == 0 else {"status": "RUNNING"}
            assert status["status"] in ("PENDING", "RUNNING"), f"{status}\n{self.log()}"
            return False

        wait_for(f"step {step} of generation {generation} of {self.name}", reached)

    def wait_for_event(self, name: str, count: int = 1, seconds: float = 240.0) -> dict[str, Any]:
        def look() -> dict[str, Any] | None:
            events = self.events(name)
            return events[count - 1] if len(events) >= count else None

        return wait_for(f"{count} × {name} of {self.name}", look, seconds)


def _stat(entry: Path) -> list[str]:
    """Of a process: its state, its parent, and more (proc(5)), from the third field on."""
    return (entry / "stat").read_text().rsplit(")", 1)[1].split()


def _command(entry: Path) -> list[bytes]:
    try:
        return (entry / "cmdline").read_bytes().rstrip(b"\0").split(b"\0")
    except OSError:
        return [b""]


def _environment(entry: Path) -> dict[bytes, bytes]:
    try:
        lines = (entry / "environ").read_bytes().split(b"\0")
    except OSError:
        return {}
    return dict(line.split(b"=", 1) for line in lines if b"=" in line)

