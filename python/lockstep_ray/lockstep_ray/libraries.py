"""Where the worker's program finds its libraries on a node: its own beside it, libtorch in the node's Python.

torch is found, never imported: importing it takes seconds and may make a CUDA context in the wrong process.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .errors import Refused
from .exit_codes import ExitCode
from .job import Job


@dataclass(frozen=True)
class InstalledTorch:
    version: str  # without what stands behind a plus: "2.13.0"
    library_folder: Path


def installed_torch() -> InstalledTorch | None:
    """The torch of this Python, or None."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    try:
        version = importlib.metadata.version("torch").split("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return None
    return InstalledTorch(version, Path(spec.origin).parent / "lib")


def library_path(job: Job, folder: Path, torch: InstalledTorch | None) -> str:
    """LD_LIBRARY_PATH for the program in `folder`. Another torch than the job's is left out: loading it would only
    turn a clear refusal into a crash."""
    folders = [str(folder / "lib")] if (folder / "lib").is_dir() else []
    if torch is not None and torch.version == job.torch_version:
        folders.append(str(torch.library_folder))
    before = os.environ.get("LD_LIBRARY_PATH", "")
    return ":".join(folders + ([before] if before else []))


def check_program(job: Job, folder: Path) -> str:
    """Makes sure that the program starts on this node, and returns its LD_LIBRARY_PATH.

    Costs one start of the program. Throws Refused (usage) when it cannot load its libraries.
    """
    torch = installed_torch()
    libraries = library_path(job, folder, torch)
    program = folder / "bin/lockstep"
    try:
        environment = {**os.environ, "LD_LIBRARY_PATH": libraries}
        started = subprocess.run([program, "--version"], env=environment, capture_output=True, text=True, check=False)
    except OSError as error:
        raise Refused(ExitCode.USAGE, f"{program} cannot be started: {error.strerror}") from error
    if started.returncode == 0:
        return libraries
    if job.torch_version and (torch is None or torch.version != job.torch_version):
        found = "no torch" if torch is None else f"torch {torch.version}"
        raise Refused(
            ExitCode.USAGE,
            f"the job was built for torch {job.torch_version}, and this node's Python has {found}: use an image with "
            f"that version, or build Lockstep against the node's",
        )
    lines = started.stderr.strip().splitlines() or [f"exit code {started.returncode}"]
    raise Refused(ExitCode.USAGE, f"{program} does not start: {lines[-1]}")
