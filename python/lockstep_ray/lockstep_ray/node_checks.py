"""Checks that only a node can make of itself, run on every alive node before anything starts."""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from .cluster import Node
from .errors import Refused
from .exit_codes import ExitCode
from .job import Job
from .libraries import check_program

# A node's first task also fetches the job's working directory.
_TIMEOUT_S = 120.0


@dataclass(frozen=True)
class Finding:
    """Of one node. `words` is empty when all is well."""

    node_name: str
    exit_code: int = 0
    words: str = ""


def check_nodes(job: Job, storage: Path, nodes: Sequence[Node], training: set[str]) -> None:
    """Makes sure that every node reads and writes `storage`, where the run's folder will lie, and that the program
    starts on those with ids in `training`. `storage` is made where it is absent.

    Takes about the start of a Ray worker, all nodes at once. Throws Refused with the first failure.
    """
    token = uuid.uuid4().hex
    ours = storage / f".lockstep-storage-check-{token}"
    try:
        storage.mkdir(parents=True, exist_ok=True)
        ours.write_text(token)
    except OSError as error:
        raise Refused(
            ExitCode.STORAGE,
            f"run.dir: the driver's node {socket.gethostname()} cannot write to {storage}: {error.strerror}",
        ) from error
    try:
        _ask_all(job, storage, token, nodes, training)
    finally:
        ours.unlink(missing_ok=True)


def _ask_all(job: Job, storage: Path, token: str, nodes: Sequence[Node], training: set[str]) -> None:
    names = {}
    for node in nodes:
        place = NodeAffinitySchedulingStrategy(node_id=node.node_id, soft=False)
        look = _look.options(scheduling_strategy=place)
        names[look.remote(job, str(storage), token, node.node_id in training)] = node.name
    done, silent = ray.wait(list(names), num_returns=len(names), timeout=_TIMEOUT_S)
    for call in done:
        try:
            finding = ray.get(call)
        except ray.exceptions.RayError as error:
            words = str(error).strip().splitlines()[0]
            raise Refused(ExitCode.COMMAND, f"node {names[call]}: Ray cannot run a task there: {words}") from error
        if finding.words:
            raise Refused(finding.exit_code, f"node {finding.node_name}: {finding.words}")
    if silent:
        raise Refused(
            ExitCode.COMMAND,
            f"node {names[silent[0]]} has not run a task within {_TIMEOUT_S:.0f} s; see its raylet.log",
        )


@ray.remote(num_cpus=0, max_retries=0)
def _look(job: Job, storage: str, token: str, trains: bool) -> Finding:
    name = socket.gethostname()
    if words := _storage_fault(Path(storage), token):
        return Finding(name, ExitCode.STORAGE, words)
    if trains:
        try:
            check_program(job, Path(os.getcwd()))
        except Refused as refused:
            return Finding(name, refused.exit_code, refused.words)
    return Finding(name)


def _storage_fault(storage: Path, token: str) -> str:
    """What is wrong with it on this node, or nothing."""
    advice = "All nodes of a run share its folder: mount it on each of them, or choose another run.dir"
    theirs = storage / f".lockstep-storage-check-{token}"
    try:
        if theirs.read_text() != token:
            return f"{theirs} holds something else than the driver wrote. {advice}"
    except OSError as error:
        return f"it does not see in {storage} what the driver wrote there: {error.strerror}. {advice}"
    ours = storage / f".lockstep-storage-check-{token}-{os.getpid()}-{socket.gethostname()}"
    try:
        ours.write_text(token)
        ours.unlink()
    except OSError as error:
        return f"it cannot write to {storage}: {error.strerror}. {advice}"
    return ""
