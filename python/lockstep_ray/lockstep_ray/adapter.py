"""The train function that Ray Train runs for each rank: spawns the C++ worker of the rank and owns its life."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray
import ray.train
from ray.train.collective import broadcast_from_rank_zero

from . import store_socket
from .checkpoint_reports import CheckpointReports
from .errors import Refused, WorkersFailed
from .event_pipe import EventPipe
from .exit_codes import ExitCode
from .gauges import Gauges
from .job import Job
from .libraries import installed_torch, library_path
from .link import RayLink
from .messages import Assignment
from .python_packages import installed_packages
from .roster import Member, Place
from .run_program import begin
from .verdict import Outcome, Verdict
from .watch import Watch
from .worker_environment import WorkerSettings
from .worker_log import log_path
from .worker_process import WorkerProcess

# All ranks report what was committed; one that is still busy with it has so long before it leaves.
_REPORTS_S = 30.0


@dataclass(frozen=True)
class AdapterSettings:
    """The same for every rank."""

    job: Job
    supervisor: Any  # handle of the Supervisor actor
    run_dir: str
    use_gpu: bool
    begin_options: tuple[str, ...]  # of `lockstep begin`: how large the cluster is
    checkpoints_in_run_dir: bool


@dataclass(frozen=True)
class _Start:
    """What rank 0 found and all others have to know."""

    generation: int = 0
    address: str = ""
    port: int = 0
    verdict: Verdict | None = None  # rank 0 could not open the run


def run_rank(config: dict[str, AdapterSettings]) -> None:
    """Returns when the run is over, finished or not: then the supervisor knows how. Throws WorkersFailed when Ray shall
    start the workers again.

    Call it from a thread that lives as long as the worker shall: the kernel ends the worker with it.
    """
    settings = config["settings"]
    verdict = _Rank(settings).run()
    if verdict.outcome is Outcome.RETRY:
        raise WorkersFailed(verdict.words)


class _Rank:
    def __init__(self, settings: AdapterSettings) -> None:
        self._settings = settings
        self._folder = Path(os.getcwd())  # the job's working directory on this node
        self._libraries = library_path(settings.job, self._folder, installed_torch())
        context, runtime = ray.train.get_context(), ray.get_runtime_context()
        self._num_cpus = runtime.get_assigned_resources().get("CPU", 1)
        self._member = Member(
            rank=context.get_world_rank(),
            world_size=context.get_world_size(),
            node_id=runtime.get_node_id(),
            node_name=socket.gethostname(),
            gpu_ids=tuple(str(gpu) for gpu in runtime.get_accelerator_ids().get("GPU", ())),
            python_packages=installed_packages(runtime.runtime_env),
        )
        self._listening: socket.socket | None = None

    def run(self) -> Verdict:
        start = self._start()
        if start.verdict:
            return start.verdict
        answer = ray.get(self._settings.supervisor.join.remote(start.generation, self._member))
        if isinstance(answer, Verdict):
            return answer
        return self._watch(start, answer)

    def _start(self) -> _Start:
        mine = self._open_run() if self._member.rank == 0 else None
        return broadcast_from_rank_zero(mine)

    def _open_run(self) -> _Start:
        address = ray.util.get_node_ip_address()
        try:
            options = ["--next", *self._settings.begin_options]
            run = begin(self._settings.job, self._folder, options, self._libraries).run
            self._listening = store_socket.listen(address)
        except (Refused, OSError) as error:
            code = error.exit_code if isinstance(error, Refused) else ExitCode.COMMAND
            return _Start(verdict=ray.get(self._settings.supervisor.refuse.remote(self._member, code, str(error))))
        assert run is not None  # --next always says it
        generation = ray.get(self._settings.supervisor.reserve.remote(run.generation))
        return _Start(generation, address, self._listening.getsockname()[1])

    def _watch(self, start: _Start, assignment: Assignment) -> Verdict:
        settings = self._settings
        events = EventPipe() if self._member.rank == 0 else None
        worker = self._spawn(start, assignment.place, assignment.continue_from, events) if assignment.place else None
        if events is not None:
            events.close_writing_end()
        if self._listening is not None:
            self._listening.close()
        reports = CheckpointReports(settings.run_dir, settings.checkpoints_in_run_dir)
        gauges = Gauges(Path(settings.run_dir).name) if events is not None else None
        verdict = Watch(
            RayLink(settings.supervisor, start.generation),
            self._member.rank,
            self._member.node_name,
            worker,
            events,
            on_commit=reports.add,
            on_events=gauges.update if gauges else lambda lines: None,
            clock=time.monotonic,
        ).run()
        if verdict.outcome is Outcome.DONE:
            reports.finish(_REPORTS_S)
        return verdict

    def _spawn(self, start: _Start, place: Place, continue_from: str, events: EventPipe | None) -> WorkerProcess:
        settings, job = self._settings, self._settings.job
        event_fd = events.write_fd if events is not None else None
        store_fd = self._listening.fileno() if self._listening is not None else None
        environment = WorkerSettings(
            place=place,
            master_address=start.address,
            master_port=start.port,
            run_dir=settings.run_dir,
            generation=start.generation,
            num_cpus=self._num_cpus,
            use_gpu=settings.use_gpu,
            continue_from=continue_from,
            libraries=self._libraries,
            event_fd=event_fd,
            store_fd=store_fd,
            python_packages=self._member.python_packages if place.rank == 0 else {},
        ).environment(os.environ)
        argv = [str(self._folder / job.program), *job.arguments]
        heading = (
            f"lockstep: rank {place.rank} of {place.world_size}, generation {start.generation}, "
            f"node {self._member.node_name}: {' '.join(argv)}"
        )
        return WorkerProcess(
            argv,
            environment,
            log_path(settings.run_dir, start.generation, place.rank),
            heading,
            self._folder,
            [fd for fd in (event_fd, store_fd) if fd is not None],
        )
