#!/usr/bin/env python3
"""Compares `lockstep bench allreduce` with the same loop in PyTorch (torch.distributed over NCCL, or Gloo on
CPU): same sizes, calls, placements and way of timing, in alternating rounds. Prints a table with the ratio of
the times, its median over the rounds and its spread; exit code 1 when a median is more than --tolerance slower.

    bench/allreduce_vs_torch.py --lockstep build/gpu-package/bin/lockstep
    bench/allreduce_vs_torch.py --op all -b 1M -e 1G --rounds 9
    bench/allreduce_vs_torch.py --device cpu -e 16M             # Gloo on both sides

Needs a Python with torch; its libraries are also those that the program runs with.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
OPERATIONS = ["all_reduce", "all_gather", "reduce_scatter"]
PLACEMENTS = ["out_of_place", "in_place"]
ELEMENT_BYTES = 4
PART_ELEMENTS = 4  # parts of a gather or a scatter are multiples of 16 bytes, as in nccl-tests


def parse_size(text: str) -> int:
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    return int(text[:-1]) * units[text[-1].upper()] if text[-1].upper() in units else int(text)


# Elements of a rank's part (all_gather, reduce_scatter) or of the buffer (all_reduce).
def count_of(operation: str, size: int, ranks: int) -> int:
    elements = size // ELEMENT_BYTES
    return elements if operation == "all_reduce" else elements // ranks // PART_ELEMENTS * PART_ELEMENTS


# --- The side of PyTorch: a process a rank ---------------------------------------------------------------


def torch_rank(rank: int, arguments: argparse.Namespace, meeting_place: str, result_path: str) -> None:
    import torch
    import torch.distributed as dist

    ranks, on_gpu = arguments.num_workers, arguments.device == "gpu"
    device = torch.device("cuda", rank) if on_gpu else torch.device("cpu")
    if on_gpu:
        torch.cuda.set_device(device)
    dist.init_process_group(
        "nccl" if on_gpu else "gloo",
        init_method=f"file://{meeting_place}",
        rank=rank,
        world_size=ranks,
        device_id=device if on_gpu else None,
    )

    def finish() -> None:
        if on_gpu:
            torch.cuda.synchronize()

    def buffers(operation: str, placement: str, count: int):
        whole = torch.ones(count if operation == "all_reduce" else ranks * count, device=device)
        if operation == "all_reduce":
            return whole if placement == "in_place" else torch.empty_like(whole), whole
        part = whole[rank * count : (rank + 1) * count] if placement == "in_place" else torch.ones(count, device=device)
        return (whole, part) if operation == "all_gather" else (part, whole)

    def call(operation: str, out, source) -> None:
        if operation == "all_reduce":
            if out is not source:
                out.copy_(source)
            dist.all_reduce(out)
        elif operation == "all_gather":
            dist.all_gather_into_tensor(out, source)
        else:
            dist.reduce_scatter_tensor(out, source)

    def seconds_of(operation: str, placement: str, count: int) -> float:
        out, source = buffers(operation, placement, count)
        for _ in range(arguments.warmup_iters):
            call(operation, out, source)
        finish()
        dist.barrier()
        finish()
        start = time.perf_counter()
        for _ in range(arguments.iters):
            call(operation, out, source)
        finish()
        mean = torch.tensor([(time.perf_counter() - start) / arguments.iters], dtype=torch.float64, device=device)
        dist.all_reduce(mean)
        return mean.item() / ranks

    times = {}
    for operation in arguments.operations:
        size = parse_size(arguments.min_bytes)
        while size <= parse_size(arguments.max_bytes):
            count = count_of(operation, size, ranks)
            if count > 0:
                real = count * ELEMENT_BYTES * (1 if operation == "all_reduce" else ranks)
                for placement in PLACEMENTS:
                    times[f"{operation} {real} {placement}"] = seconds_of(operation, placement, count) * 1e6
            size *= arguments.factor
    if rank == 0:
        pathlib.Path(result_path).write_text(json.dumps(times))
    dist.barrier()
    dist.destroy_process_group()


# Microseconds by "operation size placement".
def torch_times(arguments: argparse.Namespace) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        result, request = pathlib.Path(folder) / "result", pathlib.Path(folder) / "request"
        request.write_text(json.dumps(vars(arguments)))
        command = [sys.executable, "-W", "ignore::FutureWarning", __file__, "--torch-side", str(request), f"{folder}/meet", str(result)]
        subprocess.run(command, check=True)
        return json.loads(result.read_text())


def torch_side(request: str, meeting_place: str, result: str) -> None:
    import torch.multiprocessing

    arguments = argparse.Namespace(**json.loads(pathlib.Path(request).read_text()))
    torch.multiprocessing.spawn(torch_rank, (arguments, meeting_place, result), nprocs=arguments.num_workers)


# --- The side of Lockstep ---------------------------------------------------------------------------------


# A package finds its own libraries beside the program, and torch's where this Python has it.
def program_environment(program: str) -> dict[str, str]:
    torch_lib = pathlib.Path(importlib.util.find_spec("torch").origin).parent / "lib"
    folders = [str(pathlib.Path(program).resolve().parent.parent / "lib"), str(torch_lib)]
    if os.environ.get("LD_LIBRARY_PATH"):
        folders.append(os.environ["LD_LIBRARY_PATH"])
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(folders)}


def lockstep_times(arguments: argparse.Namespace) -> dict[str, float]:
    command = [arguments.lockstep, "bench", "allreduce", "--json", "--algorithm", "library"]
    command += ["--device", arguments.device, "--num-workers", str(arguments.num_workers)]
    command += ["-b", arguments.min_bytes, "-e", arguments.max_bytes, "-f", str(arguments.factor)]
    command += ["-n", str(arguments.iters), "-w", str(arguments.warmup_iters), "--op", arguments.op]
    done = subprocess.run(command, env=program_environment(arguments.lockstep), stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}")
    times = {}
    for test in json.loads(done.stdout)["tests"]:
        for row in test["results"]:
            for placement in PLACEMENTS:
                times[f"{test['name'].removesuffix('_perf')} {row['size']} {placement}"] = row[placement]["time"]
    return times


# --- Rounds and table ---------------------------------------------------------------------------------------


def hardware(device: str) -> str:
    if device == "cpu":
        models = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
        return f"{len(models)} × {models[0]}" if models else "unknown processor"
    listed = subprocess.run(
        ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True
    )
    return "; ".join(listed.stdout.splitlines())


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def main() -> int:
    if sys.argv[1:2] == ["--torch-side"]:
        torch_side(*sys.argv[2:5])
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lockstep", default=str(ROOT / "build/release/bin/lockstep"), help="the program")
    parser.add_argument("--device", choices=["gpu", "cpu"], default="gpu")
    parser.add_argument("--num-workers", type=int, default=2)
    parser.add_argument("--op", choices=[*OPERATIONS, "all"], default="all_reduce")
    parser.add_argument("-b", "--min-bytes", default="1M")
    parser.add_argument("-e", "--max-bytes", default="1G")
    parser.add_argument("-f", "--factor", type=int, default=4)
    parser.add_argument("-n", "--iters", type=int, default=50)
    parser.add_argument("-w", "--warmup-iters", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--tolerance", type=float, default=0.03, help="a share of torch's time (default 0.03)")
    arguments = parser.parse_args()
    arguments.operations = OPERATIONS if arguments.op == "all" else [arguments.op]

    times: dict[str, dict[str, list[float]]] = {"lockstep": {}, "torch": {}}
    sides = [("lockstep", lockstep_times), ("torch", torch_times)]
    for number in range(arguments.rounds):
        for name, measure in sides if number % 2 == 0 else sides[::-1]:
            for key, microseconds in measure(arguments).items():
                times[name].setdefault(key, []).append(microseconds)

    import torch

    print(f"{hardware(arguments.device)}; torch {torch.__version__}; {arguments.rounds} rounds")
    print(f"`bench/allreduce_vs_torch.py {' '.join(sys.argv[1:])}`\n")
    print("| collective | bytes | placement | lockstep µs | torch µs | ratio, median (least to most) |\n" + "|---" * 6 + "|")
    slower = []
    for key, ours in times["lockstep"].items():
        theirs = times["torch"].get(key)
        if theirs is None:
            sys.exit(f"torch's side did not measure {key}: sizes differ, which is a fault of this script")
        ratios = [a / b for a, b in zip(ours, theirs)]
        operation, size, placement = key.split()
        print(
            f"| {operation} | {size} | {placement.replace('_', ' ')} | {statistics.median(ours):.1f} "
            f"| {statistics.median(theirs):.1f} | {spread(ratios)} |"
        )
        if statistics.median(ratios) > 1 + arguments.tolerance:
            slower.append(key)
    print(f"\n{len(slower)} of {len(times['lockstep'])} are more than {arguments.tolerance:.0%} slower than torch's")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
