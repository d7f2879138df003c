"""Calls of the C++ program that plan and open a run: `lockstep begin`. Only this file knows its command line."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import Refused
from .exit_codes import ExitCode
from .job import Job

_PREFIX = "lockstep: error: "


@dataclass(frozen=True)
class Run:
    path: str
    generation: int  # of the next worker group
    is_new: bool  # its folder was made just now
    driver_events: str  # the file for this driver's events


@dataclass(frozen=True)
class Beginning:
    """What `lockstep begin` says."""

    recipe: dict[str, Any]  # effective: every key with the value that counts
    plan: dict[str, Any]
    run: Run | None  # None for a dry run

    @property
    def run_dir(self) -> str:
        return self.plan["run_dir"]

    @property
    def worker_counts(self) -> list[int]:
        """The numbers of workers that the run may have, falling."""
        return self.plan.get("worker_counts") or [self.plan["num_workers"]]

    @property
    def use_gpu(self) -> bool:
        return self.plan["use_gpu"]


def begin(job: Job, folder: Path, options: list[str], libraries: str = "") -> Beginning:
    """Runs `lockstep begin` with `options` in `folder`, the job's working directory on this node.

    `libraries`: LD_LIBRARY_PATH for it (libraries.py). Throws Refused with the program's own words and exit code.
    """
    argv = [str(folder / "bin/lockstep"), "begin", job.recipe, *job.overrides, *options]
    environment = dict(os.environ)
    if libraries:
        environment["LD_LIBRARY_PATH"] = libraries
    try:
        done = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    except OSError as error:
        raise Refused(ExitCode.COMMAND, f"cannot start {argv[0]}: {error.strerror}") from error
    if done.returncode != 0:
        raise Refused(_code(done.returncode), _words(done.stderr) or f"{argv[0]} begin ended with {done.returncode}")
    try:
        return _parse(json.loads(done.stdout))
    except (ValueError, KeyError) as error:
        raise Refused(ExitCode.INTERNAL, f"lockstep begin printed what this package cannot read: {error!r}") from error


def _parse(text: dict[str, Any]) -> Beginning:
    run = text.get("run")
    return Beginning(
        recipe=text["recipe"],
        plan=text["plan"],
        run=run and Run(run["path"], run["generation"], run.get("is_new", False), run.get("driver_events", "")),
    )


def _code(returncode: int) -> int:
    return returncode if returncode > 0 else ExitCode.COMMAND  # negative: died by a signal


def _words(stderr: str) -> str:
    """The error among what was printed; all of it when there is none by that name."""
    for line in reversed(stderr.splitlines()):
        if line.startswith(_PREFIX):
            return line[len(_PREFIX) :]
    return " ".join(stderr.split())
