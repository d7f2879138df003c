"""Trains examples/tiny.yaml on CPU workers and on GPUs and compares the losses, step by step.
Each run on GPUs is done twice, with determinism: run, and must end with the same weights. So must a run whose layers are
replayed as CUDA graphs and one whose layers are not, and runs with determinism: elastic on one GPU and two, sharded in
several ways. And 200 steps in bfloat16 on one GPU must follow those in float32 on the CPU, with the same weights in a
second run.

  python3 tests/gpu/tiny_losses.py --lockstep build/default/bin/lockstep --examples examples

All but these is float32, with elastic bfloat16 too. Exits 0 when all agrees, 1 when it does not or a run fails, and 77
(skipped) where there is no GPU.
"""

import argparse
import ctypes
import json
import pathlib
import subprocess
import sys
import tempfile

# Products are summed in another order on the GPU, and training amplifies that over 20 steps.
RELATIVE_TOLERANCE = 1e-4
# Of bfloat16 against float32, where each step's loss is a mean of ten: a single batch's says more of its eight rows.
LONG_STEPS = 200
WINDOW_STEPS = 10
LONG_RELATIVE_TOLERANCE = 0.01
# At the recipe's 1e-2 training amplifies rounding: there bfloat16 parts from float32 by 0.8 to 2.5 % on the CPU too, by
# seed. At this rate it is 0.1 %, and the loss ends lower.
LONG_LR = 2e-3


def gpus() -> int:
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int(0)
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return 0
    return count.value


def train(lockstep: str, recipe: pathlib.Path, run: pathlib.Path, settings: list[str]) -> tuple[list[float], str]:
    """The loss of every step, and the hash of the weights at the end."""
    command = [lockstep, "train", str(recipe), f"run.dir={run}", "precision.compute=fp32", *settings]
    subprocess.run(command, check=True, cwd=recipe.parent.parent, stdout=subprocess.DEVNULL)
    steps = (run / "metrics" / "g001.jsonl").read_text().splitlines()
    finished = json.loads((run / "events" / "g001.jsonl").read_text().splitlines()[-1])
    return [json.loads(step)["loss"] for step in steps], finished["weights_sha256"]


def elastic_weights(lockstep: str, recipe: pathlib.Path, runs: pathlib.Path, precision: str, available: int) -> bool:
    """Whether all placements that the GPUs allow end with the same weights."""
    placements = [
        (1, ["sharding.strategy=none"]),
        (1, ["sharding.strategy=none", "sharding.wrap.min_parameters=1000000"]),
        (2, ["sharding.strategy=full"]),
        (2, ["sharding.strategy=none"]),
    ]
    weights = {}
    for i, (workers, placement) in enumerate(placements):
        if workers > available:
            continue
        settings = [f"scaling.num_workers={workers}", "scaling.use_gpu=true", "determinism=elastic"]
        run = runs / f"elastic-{precision}-{i}"
        _, weights[i] = train(lockstep, recipe, run, [*settings, *placement, f"precision.compute={precision}"])
    ok = len(set(weights.values())) == 1
    print(f"elastic, {precision}: {len(weights)} placements, weights {'the same: ok' if ok else 'NOT the same: WRONG'}")
    return ok


def windows(losses: list[float]) -> list[float]:
    return [sum(losses[i : i + WINDOW_STEPS]) / WINDOW_STEPS for i in range(0, len(losses) - WINDOW_STEPS + 1)]


def long_run(lockstep: str, recipe: pathlib.Path, runs: pathlib.Path) -> bool:
    """Whether bfloat16 on a GPU learns as float32 on the CPU does."""
    settings = [f"train.steps={LONG_STEPS}", "determinism=run", f"optimizer.lr={LONG_LR}"]
    on_cpu, _ = train(lockstep, recipe, runs / "long-cpu", [*settings, "scaling.num_workers=2", "scaling.use_gpu=false"])
    settings += ["scaling.num_workers=1", "scaling.use_gpu=true", "precision.compute=bf16"]
    on_gpu, weights = train(lockstep, recipe, runs / "long-gpu", settings)
    _, weights_again = train(lockstep, recipe, runs / "long-again", settings)
    worst = max(abs(a - b) / b for a, b in zip(windows(on_gpu), windows(on_cpu)))
    single = max(abs(a - b) / b for a, b in zip(on_gpu, on_cpu))
    ok = len(on_gpu) == len(on_cpu) and worst <= LONG_RELATIVE_TOLERANCE and weights == weights_again
    print(
        f"{len(on_gpu)} steps in bf16: last loss {on_gpu[-1]:.4f} (CPU in fp32 {on_cpu[-1]:.4f}), largest relative "
        f"difference {worst:.1e} of means of {WINDOW_STEPS}, {single:.1e} of single steps, weights "
        f"{'the same' if weights == weights_again else 'NOT the same'} in a second run: {'ok' if ok else 'WRONG'}"
    )
    return ok


def same_weights(lockstep: str, recipe: pathlib.Path, runs: pathlib.Path, workers: int, what: str, key: str, refusal: str) -> bool:
    """Whether a run ends with the same weights with `key` as without, and no worker's log holds the words that say it went
    without all the same. Rows are one document each, so that layers are recorded."""
    settings = [f"scaling.num_workers={workers}", "scaling.use_gpu=true", "determinism=run", "data.packing=none"]
    settings += ["precision.compute=bf16", "train.steps=40"]
    weights = {
        on: train(lockstep, recipe, runs / f"{key}-{workers}-{on}", [*settings, f"{key}={on}"])[1]
        for on in ("true", "false")
    }
    logs = "".join(log.read_text() for log in (runs / f"{key}-{workers}-true" / "logs").iterdir())
    same, used = len(set(weights.values())) == 1, refusal not in logs
    ok = same and used
    print(
        f"{what}, {workers} GPU{'s' if workers > 1 else ''}: {'used' if used else 'NOT used'}, weights "
        f"{'as' if same else 'NOT as'} without: {'ok' if ok else 'WRONG'}"
    )
    return ok


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lockstep", required=True, help="the lockstep program")
    parser.add_argument("--examples", required=True, type=pathlib.Path, help="the folder with tiny.yaml")
    arguments = parser.parse_args()
    available = gpus()
    if available == 0:
        print("skipped: no GPU")
        return 77

    lockstep = str(pathlib.Path(arguments.lockstep).resolve())
    recipe = arguments.examples.resolve() / "tiny.yaml"
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        runs = pathlib.Path(folder)
        on_cpu, _ = train(lockstep, recipe, runs / "cpu", ["scaling.num_workers=2", "scaling.use_gpu=false"])
        for workers in range(1, min(available, 2) + 1):
            settings = [f"scaling.num_workers={workers}", "scaling.use_gpu=true", "determinism=run"]
            on_gpu, weights = train(lockstep, recipe, runs / f"gpu{workers}", settings)
            _, weights_again = train(lockstep, recipe, runs / f"gpu{workers}again", settings)
            worst = max(abs(a - b) / abs(b) for a, b in zip(on_gpu, on_cpu))
            ok = len(on_gpu) == len(on_cpu) and worst <= RELATIVE_TOLERANCE and weights == weights_again
            wrong += not ok
            print(
                f"{workers} GPU{'s' if workers > 1 else ''}: {len(on_gpu)} of {len(on_cpu)} steps, last loss "
                f"{on_gpu[-1]:.6f} (CPU {on_cpu[-1]:.6f}), largest relative difference {worst:.1e}, "
                f"weights {'the same' if weights == weights_again else 'NOT the same'} in a second run: "
                f"{'ok' if ok else 'WRONG'}"
            )
        for precision in ("fp32", "bf16"):
            wrong += not elastic_weights(lockstep, recipe, runs, precision, available)
        for workers in range(1, min(available, 2) + 1):
            wrong += not same_weights(lockstep, recipe, runs, workers, "CUDA graphs", "train.cuda_graphs", "without CUDA graphs")
        if available > 1:
            wrong += not same_weights(lockstep, recipe, runs, 2, "copies from the other GPU", "sharding.peer_copies", "not by copies")
        wrong += not long_run(lockstep, recipe, runs)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
