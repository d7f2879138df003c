#!/usr/bin/env python3
"""Step times of a recipe with determinism none, run and elastic.

    bench/determinism_cost.py examples/tiny.yaml --repeat 5 scaling.num_workers=2 train.steps=60

Trains the recipe with each of the three, in turn, so often that a machine whose speed drifts treats
them alike, and prints a Markdown table. A run's step time is the median over its steps but the
first few, which still allocate; the table has the median over the runs, the fastest and the slowest
of them, and the ratio to `run`. Everything after the recipe that has a `=` is a setting of the
recipe. Wants a quiet machine: the load that it found is printed beside the hardware.
"""

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile

MODES = ("none", "run", "elastic")
ROOT = pathlib.Path(__file__).resolve().parent.parent


def step_ms(lockstep: str, recipe: str, settings: list[str], mode: str, skip: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "run"
        command = [lockstep, "train", recipe, f"run.dir={run}", *settings, f"determinism={mode}"]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{done.stderr}")
        lines = (run / "metrics" / "g001.jsonl").read_text().splitlines()
    times = [json.loads(line)["step_ms"] for line in lines][skip:]
    if not times:
        sys.exit(f"the run has {len(lines)} steps, --skip leaves none: set train.steps")
    return statistics.median(times)


def hardware() -> str:
    models = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    words = f"{len(models)} × {models[0]}" if models else platform.processor()
    listed = subprocess.run(
        "nvidia-smi --query-gpu=name --format=csv,noheader", shell=True, capture_output=True, text=True
    )
    gpus = listed.stdout.split("\n")[:-1] if listed.returncode == 0 else []
    return words + (f", {len(gpus)} × {gpus[0]}" if gpus else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe")
    parser.add_argument("settings", nargs="*", metavar="key=value")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each (default 5)")
    parser.add_argument("--skip", type=int, default=3, help="first steps of a run left out (default 3)")
    parser.add_argument("--lockstep", default=str(ROOT / "build/release/bin/lockstep"), help="the program")
    arguments = parser.parse_intermixed_args()

    load = os.getloadavg()[0]
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    times: dict[str, list[float]] = {mode: [] for mode in MODES}
    for _ in range(arguments.repeat):
        for mode in MODES:
            times[mode].append(
                step_ms(arguments.lockstep, arguments.recipe, arguments.settings, mode, arguments.skip)
            )

    print(f"{hardware()}; load before {load:.1f}; commit {commit.stdout.strip() or 'unknown'}")
    print(f"`bench/determinism_cost.py {' '.join(sys.argv[1:])}`\n")
    print("| determinism | ms a step | fastest to slowest run | ratio to `run` |\n|---|---|---|---|")
    base = statistics.median(times["run"])
    for mode, values in times.items():
        middle = statistics.median(values)
        print(f"| `{mode}` | {middle:.1f} | {min(values):.1f} to {max(values):.1f} | {middle / base:.3f} |")


if __name__ == "__main__":
    main()
