#!/usr/bin/env python3
"""What placing the workers by Ray costs a training step, against the local launcher.

    $HOME/.cache/lockstep/ray/bin/python bench/ray_overhead.py --bin build/release/bin --rounds 7

Brings up the Ray cluster of the tests (tests/ray: three nodes as network namespaces on this machine, as root) and trains
the tiny recipe on one node of it in turn: as a Ray job, and by `lockstep train` on the same node, with the cluster idle
beside it. So what is compared is the launcher: the same workers, cores and network, and Ray's own idle processes in both.
Every other round goes the other way round. A run's step time is the median over its steps but the first ten.

Prints a Markdown table with the median over the rounds, fastest and slowest, and the ratio round by round; and below it
how much of a core each part used while the job trained. The ratio wants a quiet machine. What a part uses hardly depends
on what else runs, and bounds the ratio where workers share their cores with it. Everything after the options that has a
`=` is a setting of the recipe.
"""

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/ray"))

from bed import Bed, Job  # noqa: E402
from runs import Run, tiny_recipe  # noqa: E402

WARM_UP = 10
LOOK_S = 8.0
# Who a process is, by words of its command line; the first that fits.
PARTS = (
    ("supervisor of lockstep_ray", "ray::Supervisor"),
    ("driver of lockstep_ray", "-m lockstep_ray"),
    ("lockstep show-events", "show-events"),
    ("adapters of lockstep_ray, with Ray's worker around each", "RayTrainWorker"),
    ("Ray Train's controller", "ray::TrainController"),
    ("workers", "lockstep train"),
)
RAY_ITSELF = "Ray itself: head and nodes, idle or not"


def step_ms(run: Run) -> float:
    times = [line["step_ms"] for line in run.metrics(1)][WARM_UP:]
    if not times:
        sys.exit(f"{run.run_dir} has no steps after the first {WARM_UP}: raise train.steps")
    return statistics.median(times)


def cpu_seconds(bed: Bed) -> dict[str, float]:
    used = dict.fromkeys([name for name, _ in PARTS] + [RAY_ITSELF], 0.0)
    for entry, _ in bed.processes():
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue  # it has just ended
        part = next((name for name, words in PARTS if words in command), RAY_ITSELF)
        used[part] += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return used


def on_ray(bed: Bed, settings: list[str]) -> tuple[float, dict[str, float]]:
    """Step time, and the share of a core that each part used while it trained."""
    job: Job = bed.submit(*settings, name="overhead")
    job.wait_for_step(WARM_UP)
    before, began = cpu_seconds(bed), time.monotonic()
    time.sleep(LOOK_S)
    after, seconds = cpu_seconds(bed), time.monotonic() - began
    if job.events("finished"):
        sys.exit(f"the run was over before it was looked at for {LOOK_S:.0f} s: raise train.steps")
    if job.wait() != 0:
        sys.exit(job.log())
    return step_ms(job), {part: (after[part] - before[part]) / seconds for part in before}


def alone(bed: Bed, settings: list[str]) -> float:
    with tempfile.TemporaryDirectory(dir=bed.shared) as folder:
        recipe = Path(folder) / "recipe.yaml"
        recipe.write_text(tiny_recipe())
        program = str(bed.bin_dir / "lockstep")
        bed.must("exec", "w1", program, "train", str(recipe), f"run.dir={folder}/run", *settings, "--quiet")
        return step_ms(Run(Path(folder) / "run"))


def hardware() -> str:
    models = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return f"{len(models)} × {models[0]}" if models else platform.processor()


def row(name: str, times: list[float]) -> str:
    return f"| {name} | {statistics.median(times):.1f} ms | {min(times):.1f} to {max(times):.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("settings", nargs="*", metavar="key=value")
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin", help="of a build")
    parser.add_argument("--rounds", type=int, default=7, help="of one job and one local run (default 7)")
    arguments = parser.parse_intermixed_args()
    settings = ["scaling.num_workers=2", "train.global_batch=64", "train.steps=80", "checkpoint.interval_steps=1000"]
    settings += arguments.settings

    load = os.getloadavg()[0]
    ray, here, shares = [], [], []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        bed = Bed(Path(folder), arguments.bin.resolve())
        try:
            bed.up()
            for i in range(arguments.rounds):
                if i % 2 == 1:
                    here.append(alone(bed, settings))
                time_on_ray, share = on_ray(bed, settings)
                ray.append(time_on_ray)
                shares.append(share)
                if i % 2 == 0:
                    here.append(alone(bed, settings))
                print(f"round {i + 1}: {ray[-1]:.1f} ms on Ray, {here[-1]:.1f} ms alone", file=sys.stderr)
        finally:
            bed.cluster("down")

    version = subprocess.run([arguments.bin / "lockstep", "--version"], capture_output=True, text=True, check=True)
    print(f"{hardware()}, {version.stdout.strip()}, {' '.join(settings)}, load {load:.1f} before\n")
    print("| launcher | a step, median of rounds | fastest to slowest |\n|---|---|---|")
    print(row("`lockstep submit`'s job on Ray", ray))
    print(row("`lockstep train`", here))
    ratios = [a / b for a, b in zip(ray, here)]
    print(f"\nratio {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})\n")
    print("| while the job trains | % of a core |\n|---|---|")
    for part in shares[0]:
        print(f"| {part} | {100 * statistics.median(share[part] for share in shares):.1f} |")


main()
