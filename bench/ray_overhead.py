#!/usr/bin/env python3
"""What placing the workers by Ray costs a training step, against the local launcher.

    ray start --head --num-cpus 8
    bench/ray_overhead.py /path/to/recipe.yaml --bin build/release/bin --rounds 7 train.steps=200

Trains the recipe, whose paths are absolute, in turn as a job on the Ray cluster at --ray-address and by `lockstep train` on this machine, which is a
node of that cluster and the only one with room for the workers. So what is compared is the launcher: the same workers of
one thread (Ray gives each one CPU), cores and network, and Ray's own idle processes in both. Every other round goes the other way round. A run's step time is
the median over its steps but the first ten.

Prints a Markdown table with the median over the rounds, fastest and slowest, and the ratio round by round; and below it how
much of a core each part of the job used on this machine while it trained. Where the workers have all cores of a machine,
what the parts use is taken from the workers, and each time that one worker waits for its core the others wait for it. Needs
no package of Python but the standard library.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WARM_UP = 10
LOOK_S = 5.0
# Who a process is, by words of its command line; the first that fits.
PARTS = (
    ("supervisor of lockstep_ray", "ray::Supervisor"),
    ("driver of lockstep_ray", "-m lockstep_ray"),
    ("lockstep show-events", "show-events"),
    ("adapters of lockstep_ray, with Ray's worker around each", "RayTrainWorker"),
    ("Ray Train's controller", "ray::TrainController"),
    ("workers", "lockstep train"),
    ("Ray itself, busy or not", "ray::"),
    ("Ray itself, busy or not", "/ray/"),
)


def steps(run_dir: Path) -> list[float]:
    """Of the run's first group of workers, in ms."""
    file = run_dir / "metrics/g001.jsonl"
    text = file.read_text() if file.exists() else ""
    return [json.loads(line)["step_ms"] for line in text[: text.rfind("\n") + 1].splitlines()]


def median_step(run_dir: Path) -> float:
    times = steps(run_dir)[WARM_UP:]
    if not times:
        sys.exit(f"{run_dir} has no steps after the first {WARM_UP}: raise train.steps")
    return statistics.median(times)


def cpu_seconds() -> dict[str, float]:
    used = dict.fromkeys([name for name, _ in PARTS], 0.0)
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue  # it has just ended
        if part := next((name for name, words in PARTS if words in command), None):
            used[part] += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return used


class Runs:
    def __init__(self, program: Path, recipe: str, settings: list[str], address: str, folder: Path) -> None:
        self._program, self._recipe, self._settings = program, recipe, settings
        self._address, self._folder, self._count = address, folder, 0

    def on_ray(self) -> tuple[float, dict[str, float]]:
        """Step time, and the share of a core that each part used while it trained."""
        run_dir = self._next()
        argv = [self._program, "submit", *self._arguments(run_dir), "--ray-address", self._address]
        with (self._folder / "job.log").open("w+") as log:
            with subprocess.Popen(argv, stdout=log, stderr=subprocess.STDOUT) as job:
                while len(steps(run_dir)) < WARM_UP and job.poll() is None:
                    time.sleep(0.1)
                before, began = cpu_seconds(), time.monotonic()
                time.sleep(LOOK_S)
                after, seconds = cpu_seconds(), time.monotonic() - began
                if job.poll() == 0:
                    sys.exit(f"the run was over before it was looked at for {LOOK_S:.0f} s: raise train.steps")
            log.seek(0)
            if job.returncode != 0:
                sys.exit(log.read())
        return median_step(run_dir), {part: (after[part] - before[part]) / seconds for part in before}

    def alone(self) -> float:
        run_dir = self._next()
        argv = [self._program, "train", *self._arguments(run_dir), "--quiet"]
        subprocess.run(argv, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
        return median_step(run_dir)

    def _next(self) -> Path:
        self._count += 1
        return self._folder / f"run{self._count}"

    def _arguments(self, run_dir: Path) -> list[str]:
        return [self._recipe, f"run.dir={run_dir}", *self._settings]


def hardware() -> str:
    models = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return f"{len(models)} × {models[0]}" if models else platform.processor()


def row(name: str, times: list[float]) -> str:
    return f"| {name} | {statistics.median(times):.2f} ms | {min(times):.2f} to {max(times):.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe")
    parser.add_argument("settings", nargs="*", metavar="key=value", help="of the recipe")
    parser.add_argument("--bin", type=Path, default=Path("build/release/bin"), help="of a build")
    parser.add_argument("--ray-address", default="http://127.0.0.1:8265", help="of the dashboard")
    parser.add_argument("--rounds", type=int, default=7, help="of one job and one local run (default 7)")
    arguments = parser.parse_intermixed_args()
    program = arguments.bin.resolve() / "lockstep"

    load = os.getloadavg()[0]
    ray, here, shares = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(program, arguments.recipe, arguments.settings, arguments.ray_address, Path(folder))
        for i in range(arguments.rounds):
            if i % 2 == 1:
                here.append(runs.alone())
            time_on_ray, share = runs.on_ray()
            ray.append(time_on_ray)
            shares.append(share)
            if i % 2 == 0:
                here.append(runs.alone())
            print(f"round {i + 1}: {ray[-1]:.2f} ms on Ray, {here[-1]:.2f} ms alone", file=sys.stderr)

    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    print(f"{hardware()}, {version}, {arguments.recipe} {' '.join(arguments.settings)}, load {load:.1f} before\n")
    print("| launcher | a step, median of rounds | fastest to slowest |\n|---|---|---|")
    print(row("`lockstep submit`'s job on Ray", ray))
    print(row("`lockstep train`", here))
    ratios = [a / b for a, b in zip(ray, here)]
    print(f"\nratio {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})\n")
    print("| while the job trains | % of a core |\n|---|---|")
    for part in shares[0]:
        print(f"| {part} | {100 * statistics.median(share[part] for share in shares):.1f} |")


main()
