#!/usr/bin/env python3
"""Times the training step of LLM.Q (github.com/IST-DASLab/llmq, commit b77d969) on a model's shape with random weights
and tokens, on one GPU; prints one JSON document.

  bench/llmq_step.py /path/to/llmq/train --model bench/qwen2.5-1.5b --batch 2

Its way: weights in bf16 alone, rounded stochastically by AdamW, with float32 moments; gradients in bf16; clipping; CUDA
graphs; logits in 4 chunks. It reads the clock after each step's work is done, in whole milliseconds.
"""
import argparse
import array
import json
import os
import random
import re
import statistics
import struct
import subprocess
import sys
import tempfile


def write_tokens(path, count, vocab_size, seed):
    """Its token file: 1024 bytes of header, then int32 tokens."""
    words = random.Random(seed)
    with open(path, "wb") as file:
        file.write((b"BIN.TOK\n" + struct.pack("<5i", 2, 4, count, vocab_size, 0)).ljust(1024, b"\0"))
        array.array("i", (words.randrange(vocab_size) for _ in range(count))).tofile(file)


def step_times(printed):
    return [int(ms) for ms in re.findall(r"^\[T\] step +\d+ .*?time: +(\d+) ms", printed, re.MULTILINE)]


def run(args, folder):
    with open(os.path.join(args.model, "config.json")) as file:
        vocab_size = json.load(file)["vocab_size"]
    steps, batch_tokens = args.warmup + args.steps, args.batch * args.seq
    write_tokens(f"{folder}/train.bin", (steps + 2) * batch_tokens + 1, vocab_size, 1)
    write_tokens(f"{folder}/eval.bin", batch_tokens + args.seq + 1, vocab_size, 2)
    done = subprocess.run(
        [args.program, f"--model={args.model}", "--from-scratch", "--gpus=1", f"--batch-size={args.batch}",
         f"--seq-len={args.seq}", "--grad-accumulation=1", f"--steps={steps}", "--lmhead-chunks=4", "--model-dtype=bf16",
         "--matmul-dtype=bf16", "--gradient-dtype=bf16", "--opt-m-dtype=fp32", "--opt-v-dtype=fp32", "--use-cuda-graphs",
         "--grad-clip=1.0", f"--train-file={folder}/train.bin", f"--eval-file={folder}/eval.bin",
         "--eval-every-n-steps=0", "--eval-num-steps=1", "--ckpt-interval=0", "--save-training-state=false",
         "--log-gpu-util=0", f"--log-file={folder}/log.json", f"--out-dir={folder}/out",
         f"--checkpoint-dir={folder}/checkpoints"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    times = step_times(done.stdout)
    if len(times) < steps:
        sys.exit(f"llmq_step: {args.program} ended with {done.returncode} after {len(times)} of {steps} steps:\n"
                 f"{done.stdout[-2000:]}")
    return times[args.warmup:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="LLM.Q's train")
    parser.add_argument("--model", required=True, help="a folder with config.json")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--seq", type=int, default=2048)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--warmup", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        times = run(args, folder)
    print(json.dumps({"peer": "llmq", "num_workers": 1, "step_ms": {"median": statistics.median(times), "least": min(times),
                                                                    "most": max(times)}}))


if __name__ == "__main__":
    main()
