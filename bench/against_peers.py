#!/usr/bin/env python3
"""Lockstep's training step beside its peers', one after the other on the same GPUs, in rounds.

  bench/against_peers.py --lockstep build/gpu-package/bin/lockstep --out results.json

Prints a table of each step's time and the ratio of the peer's to Lockstep's in the same round, and writes all figures with
versions and commit. Wants a Python with torch and transformers (bench/peer_step.py says what the peers are).
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
WORK = [(8, 2048), (4, 4096), (2, 2048)]


def last_json(command, environment=None):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    start = done.stdout.find("{")
    if done.returncode != 0 or start < 0:
        sys.exit(f"against_peers: {' '.join(command)} ended with {done.returncode}: {done.stderr[-2000:]}")
    return json.loads(done.stdout[start:])


def steps_of(who, args, batch, seq):
    shape = ["--model", args.model, "--batch", str(batch), "--seq", str(seq), "--steps", str(args.steps),
             "--warmup", str(args.warmup)]
    if who == "lockstep":
        return last_json([args.lockstep, "bench", "train", "--num-workers", str(args.num_workers), "--json", *shape])
    if who == "llmq":
        return last_json([sys.executable, os.path.join(HERE, "llmq_step.py"), args.llmq, *shape])
    clean = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    return last_json([sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node",
                      str(args.num_workers), os.path.join(HERE, "peer_step.py"), who, *shape], clean)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lockstep", required=True, help="the program")
    parser.add_argument("--model", default=os.path.join(HERE, "qwen2.5-1.5b"))
    parser.add_argument("--peers", default="compiled,sample")
    parser.add_argument("--llmq", help="LLM.Q's train, for the peer llmq, on one GPU")
    parser.add_argument("--work", default=",".join(f"{batch}x{seq}" for batch, seq in WORK), help="BATCHxTOKENS,...")
    parser.add_argument("--num-workers", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--warmup", type=int, default=5)
    parser.add_argument("--out", help="file for all figures")
    args = parser.parse_args()
    everyone = ["lockstep", *args.peers.split(",")]
    if "llmq" in everyone and (args.llmq is None or args.num_workers != 1):
        parser.error("the peer llmq wants --llmq PROGRAM and --num-workers 1")
    results = []
    for work in args.work.split(","):
        batch, seq = map(int, work.split("x"))
        rounds = [{who: steps_of(who, args, batch, seq) for who in everyone} for _ in range(args.rounds)]
        results.append({"batch": batch, "sequence_length": seq, "rounds": rounds})
        for who in everyone:
            median = statistics.median(r[who]["step_ms"]["median"] for r in rounds)
            ratios = [r[who]["step_ms"]["median"] / r["lockstep"]["step_ms"]["median"] for r in rounds]
            peak = max(r[who].get("peak_bytes", 0) for r in rounds) / 2**30  # LLM.Q does not tell
            print(f"{work:>8} {who:<9} {median:8.1f} ms  {batch * seq / median * 1000:8.0f} tokens/s a GPU  {peak:5.1f} GiB  "
                  f"{statistics.median(ratios):.3f} x lockstep's time ({min(ratios):.3f} to {max(ratios):.3f})", flush=True)
    if args.out:
        with open(args.out, "w") as file:
            json.dump({"command": sys.argv, "results": results}, file, indent=1)


main()
