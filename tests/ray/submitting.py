"""`lockstep` as on the head's own shell."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from bed import Bed
from runs import TINY_ON_RAY, tiny_recipe

_LOCKSTEP = os.environ["LOCKSTEP_BIN_DIR"] + "/lockstep"
# The nodes' Python has no torch, and no test installs it: what the package needs of it is found by this.
TORCH = "ray.runtime_env={env_vars: {LD_LIBRARY_PATH: " + os.environ.get("LOCKSTEP_TORCH_LIB", "") + "}}"


def lockstep(bed: Bed, *words: str, environment: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    """`environment`: as env(1) takes it: "A=b", "-u", "C"."""
    return bed.cluster("exec", "head", "env", *environment, _LOCKSTEP, *words)


def submit(
    bed: Bed, package: Path, name: str, *words: str, environment: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """The tiny recipe with the run's folder `name`; `words`: more of the command line."""
    words = ("submit", recipe(bed, name), *TINY_ON_RAY, f"run.dir={bed.shared}/{name}", "--package", str(package), *words)
    return lockstep(bed, *words, environment=environment)


def recipe(bed: Bed, name: str) -> str:
    """The path of the tiny recipe as a file, with paths that every node sees."""
    file = bed.shared / f"{name}.yaml"
    file.write_text(tiny_recipe())
    return str(file)


def the_error(done: subprocess.CompletedProcess[str]) -> str:
    """Of a command that said one line and nothing else."""
    assert done.stderr.startswith("lockstep: error: ") and done.stderr.count("\n") == 1, done.stdout + done.stderr
    return done.stderr
