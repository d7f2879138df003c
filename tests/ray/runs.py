"""A run's folder, and the tiny recipe that the tests train: on the cluster, or by the local launcher to compare."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_SOURCE = Path(__file__).resolve().parent.parent.parent

# The tiny recipe on two nodes of two CPU workers each.
TINY_ON_RAY = ("scaling.num_workers=4", "determinism=run", "checkpoint.interval_steps=5")


def tiny_recipe() -> str:
    """examples/tiny.yaml, with the paths that every node sees."""
    text = (_SOURCE / "examples/tiny.yaml").read_text()
    return text.replace("examples/tiny/", f"{_SOURCE}/examples/tiny/")


class Run:
    def __init__(self, run_dir: Path) -> None:
        self.run_dir = run_dir

    def events(self, name: str = "") -> list[dict[str, Any]]:
        """Of all generations and the driver, by time; with `name` only those."""
        found = []
        for file in (self.run_dir / "events").glob("*.jsonl"):
            found += [event for event in _lines(file) if not name or event["event"] == name]
        return sorted(found, key=lambda event: event["time"])

    def metrics(self, generation: int) -> list[dict[str, Any]]:
        return _lines(self.run_dir / f"metrics/g{generation:03d}.jsonl")

    def last_step(self, generation: int) -> int:
        return max((line["step"] for line in self.metrics(generation)), default=0)

    def weights_sha256(self) -> str:
        """Of a run that has finished."""
        return self.events("finished")[-1]["weights_sha256"]


def train_here(folder: Path, *overrides: str, program: Sequence[str] = ()) -> Run:
    """Trains the tiny recipe by the local launcher, in a new `folder`. `program`: in place of `lockstep train`."""
    subprocess.run(["rm", "-rf", folder], check=True)
    folder.mkdir(parents=True)
    (folder / "recipe.yaml").write_text(tiny_recipe())
    command = program or (os.environ["LOCKSTEP_BIN_DIR"] + "/lockstep", "train")
    argv = [*command, "recipe.yaml", *TINY_ON_RAY, f"run.dir={folder}/run", *overrides]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run(argv, cwd=folder, check=True, env=environment, stdout=subprocess.DEVNULL)
    return Run(folder / "run")


def _lines(file: Path) -> list[dict[str, Any]]:
    """Those that are whole."""
    try:
        text = file.read_text()
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
