"""The driver of a Ray job: checks, opens the run, has Ray Train place the adapters, and says how it ended."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from pathlib import Path
from typing import Any

import ray
from ray.train import CheckpointConfig, FailureConfig, LoggingConfig, RunConfig, ScalingConfig
from ray.train.v2.api.data_parallel_trainer import DataParallelTrainer
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from .adapter import AdapterSettings, run_rank
from .cluster import alive_nodes, check_room, num_gpus, resources_per_worker
from .errors import Refused
from .exit_codes import ExitCode
from .job import Job
from .job_log import JobLog, complain
from .libraries import check_program
from .lost_workers import LostWorkers
from .messages import Settings, Summary
from .node_checks import check_nodes
from .run_lock import lock_run
from .run_program import Beginning, begin
from .supervisor import Supervisor

# How often Ray looks whether an elastic run could have more workers; unset: Ray's own default, a minute.
_RESIZE_VARIABLE = "LOCKSTEP_RAY_RESIZE_INTERVAL_S"
# Ray Train's list of the checkpoints that it was told of.
_RAY_REGISTRY = "checkpoint_manager_snapshot.json"


def run_job(job: Job) -> int:
    """Runs it in the current folder, the job's working directory, and returns its exit code. Throws Refused for what
    does not hold before the workers start; nothing is left behind then.

    From the main thread: SIGTERM (`ray job stop`) then has the workers save and stop.
    """
    started = time.monotonic()
    folder = Path(os.getcwd())
    ray.init(address="auto", log_to_driver=True)
    nodes = alive_nodes(ray.nodes())
    libraries = check_program(job, folder)
    options = [f"--num-gpus={num_gpus(nodes)}"]
    planned = begin(job, folder, ["--dry-run", *options], libraries)
    if not os.path.isabs(planned.run_dir):
        raise Refused(
            ExitCode.USAGE,
            f"run.dir: {planned.run_dir} is not an absolute path: on a cluster it names storage that all nodes share",
        )
    per_worker = resources_per_worker(planned.recipe, planned.use_gpu)
    check_room(nodes, per_worker, min(planned.worker_counts))
    training = {node.node_id for node in nodes if node.room(per_worker) > 0}
    check_nodes(job, Path(planned.run_dir).parent, nodes, training)
    opened = begin(job, folder, options, libraries)
    with lock_run(opened.run_dir):
        return _Driver(job, opened, options, per_worker, libraries, started).run()


class _Driver:
    def __init__(
        self,
        job: Job,
        opened: Beginning,
        options: list[str],
        per_worker: dict[str, float],
        libraries: str,
        started: float,
    ) -> None:
        assert opened.run is not None  # it was no dry run
        self._job, self._opened, self._run = job, opened, opened.run
        self._options, self._per_worker, self._started = options, per_worker, started
        self._supervisor = _start_supervisor(
            Settings(
                worker_counts=tuple(opened.worker_counts),
                max_failures=opened.recipe["failure"]["max_failures"],
                continue_from=job.continue_from,
                driver_events=self._run.driver_events,
                plan=opened.plan,
                command=(job.program, *job.arguments),
            )
        )
        self._log = JobLog(self._supervisor, Path(os.getcwd()), libraries)
        self._stop = threading.Event()

    def run(self) -> int:
        if not self._run.is_new:
            complain(f"continuing the run in {self._run.path}")
        trainer = self._trainer()
        self._take_signals()
        ray_error = self._fit(trainer)
        summary: Summary = ray.get(self._supervisor.summary.remote())
        exit_code = self._exit_code(summary, ray_error)
        ray.get(self._supervisor.finish.remote(exit_code, time.monotonic() - self._started))
        self._log.finish()
        self._say_end(summary, exit_code, ray_error)
        return exit_code

    def _trainer(self) -> DataParallelTrainer:
        run_dir = Path(self._run.path)
        # Its own list outlives what our retention keeps; the workers find the newest checkpoint themselves.
        (run_dir / _RAY_REGISTRY).unlink(missing_ok=True)
        settings = AdapterSettings(
            job=self._job,
            supervisor=self._supervisor,
            run_dir=self._run.path,
            use_gpu=self._opened.use_gpu,
            begin_options=tuple(self._options),
            checkpoints_in_run_dir=not self._opened.recipe["checkpoint"].get("storage"),
        )
        return DataParallelTrainer(
            run_rank,
            train_loop_config={"settings": settings},
            scaling_config=_scaling(self._opened.worker_counts, self._opened.use_gpu, self._per_worker),
            run_config=RunConfig(
                name=run_dir.name,
                storage_path=str(run_dir.parent),
                failure_config=FailureConfig(max_failures=self._opened.recipe["failure"]["max_failures"]),
                checkpoint_config=CheckpointConfig(num_to_keep=None),  # retention is ours
                callbacks=[LostWorkers(self._supervisor)],
                logging_config=LoggingConfig(log_level="WARNING"),  # else several lines a rank for each checkpoint
            ),
        )

    def _fit(self, trainer: DataParallelTrainer) -> Exception | None:
        """Ray's own error, when it gave up."""
        try:
            trainer.fit()
        except ray.exceptions.RayError as error:
            return error
        except Exception as error:  # Ray Train's errors share no base class of their own
            if not type(error).__module__.startswith("ray."):
                raise
            return error
        return None

    def _exit_code(self, summary: Summary, ray_error: Exception | None) -> int:
        if summary.exit_code is not None and (ray_error is None or summary.exit_code != ExitCode.FINISHED):
            return summary.exit_code
        return ExitCode.PEER_LOST if ray_error else ExitCode.INTERNAL

    def _say_end(self, summary: Summary, exit_code: int, ray_error: Exception | None) -> None:
        if summary.exit_code is None and ray_error is not None:
            complain(f"error: Ray gave up: {str(ray_error).strip().splitlines()[0]}")
        if summary.stopped_after is not None:
            complain(f"stopped after step {summary.stopped_after}; the same command goes on from there")
        elif exit_code == ExitCode.FINISHED:
            print(f"done in {time.monotonic() - self._started:.0f} s; the run's record is in {self._run.path}", flush=True)
        if summary.was_refused and self._run.is_new:
            shutil.rmtree(self._run.path, ignore_errors=True)  # there never was a run; a corrected recipe begins anew

    def _take_signals(self) -> None:
        """The handler only leaves word: it runs wherever the main thread is, in the midst of Ray's code."""

        def handle(number: int, frame: Any) -> None:
            self._stop.set()

        def pass_on() -> None:
            self._stop.wait()
            if not ray.get(self._supervisor.stop.remote(signal.SIGTERM)):
                self._leave_at_once()

        threading.Thread(target=pass_on, name="stop", daemon=True).start()
        signal.signal(signal.SIGTERM, handle)

    def _leave_at_once(self) -> None:
        """No group of workers runs that could save anything. Ray may wait for nodes without end: the job's end ends
        that too."""
        complain("stopped while no workers ran")
        ray.get(self._supervisor.finish.remote(ExitCode.PREEMPTED, time.monotonic() - self._started))
        os._exit(ExitCode.PREEMPTED)


def _start_supervisor(settings: Settings) -> Any:
    here = NodeAffinitySchedulingStrategy(node_id=ray.get_runtime_context().get_node_id(), soft=False)
    # A thousand adapters may wait for orders at once.
    actor = ray.remote(num_cpus=0, max_concurrency=4096, scheduling_strategy=here)(Supervisor)
    return actor.remote(settings)


def _scaling(worker_counts: list[int], use_gpu: bool, per_worker: dict[str, float]) -> ScalingConfig:
    most, fewest = max(worker_counts), min(worker_counts)
    resize = os.environ.get(_RESIZE_VARIABLE)
    return ScalingConfig(
        num_workers=(fewest, most) if fewest < most else most,
        use_gpu=use_gpu,
        resources_per_worker=per_worker,
        **({"elastic_resize_monitor_interval_s": float(resize)} if resize else {}),
    )

