#!/usr/bin/env python3
"""The loss of a training by Lockstep and by FSDP2 with torch.compile, from the same weights on the same rows of text.

  bench/loss_curves.py --lockstep build/gpu-package/bin/lockstep --model FOLDER --text train.jsonl --out curves.json

One GPU, bfloat16 computing with float32 weights and AdamW in both. FOLDER: config.json and tokenizer.json of a model, whose
weights are drawn at random, once: a run at a learning rate of 0 writes them, and both read them from there. The rows are
`train.jsonl`'s texts joined to about --seq tokens each, in the order that Lockstep gives them (docs/data.md), so a step is the
same rows in both. Prints the largest difference of the means of ten steps, and how long a step took. Wants a Python with
torch and transformers.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SEED = 11
WINDOW = 10
MASK = 2**64 - 1


def mix(x):  # lockstep/data/keyed_random.h
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


def keyed_random(key):
    state = 0
    for part in key:
        state = mix(state ^ mix(part))
    return state


def order_of_rows(count):
    """As lockstep/data/permutation.cpp, of the first epoch."""
    order = list(range(count))
    for i in range(count - 1, 0, -1):
        j = keyed_random((SEED, 0, i)) * (i + 1) >> 64
        order[i], order[j] = order[j], order[i]
    return order


def texts(args):
    """One for each row: as many records of --text as fit, joined, and over again from where the last row ended."""
    from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(str(args.model / "tokenizer.json"))
    pieces = [json.loads(line) for line in args.text.read_text().splitlines()]
    pieces = [" ".join(m["content"] for m in p["messages"]) if "messages" in p else p["text"] for p in pieces]
    lengths = [len(e.ids) for e in tokenizer.encode_batch(pieces)]
    rows, i = [], 0
    while len(rows) < args.steps * args.batch:
        row, tokens = [], 0
        while tokens + lengths[i % len(pieces)] + 2 < args.seq:
            row.append(pieces[i % len(pieces)])
            tokens += lengths[i % len(pieces)] + 1
            i += 1
        rows.append("\n".join(row))
    return rows


def train_ours(args, folder, model, run, *more):
    # Every text is a row; none is held out.
    settings = [f"model.source={model}", f"data.sources=[{{path: {folder / 'rows.jsonl'}}}]", "data.shape=text",
                "data.packing=none", f"data.sequence_length={args.seq}", f"train.global_batch={args.batch}",
                f"train.micro_batch={args.batch}", f"train.seed={SEED}", "schedule.name=constant",
                "scaling.use_gpu=true", "scaling.num_workers=1", "checkpoint.interval_steps=100000", f"run.dir={run}"]
    (folder / "recipe.yaml").write_text("name: curves\n")
    subprocess.run([args.lockstep, "train", folder / "recipe.yaml", *settings, *more, "--quiet"], check=True)
    lines = (run / "metrics/g001.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def fsdp2(args):
    """Prints one JSON document: losses and times of the steps. Started by torchrun's module in a process of its own."""
    import torch
    import torch.distributed as dist
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
    from torch.nn.functional import cross_entropy
    from tokenizers import Tokenizer
    from transformers import AutoModelForCausalLM

    dist.init_process_group("nccl", device_id=torch.device("cuda", 0))
    model = AutoModelForCausalLM.from_pretrained(args.model, dtype=torch.float32, attn_implementation="sdpa").cuda()
    model.config.use_cache = False
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for layer in model.model.layers:
        layer.compile()
        fully_shard(layer, mp_policy=policy)
    fully_shard(model, mp_policy=policy)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, betas=(0.9, 0.95), weight_decay=0.1, fused=True)

    @torch.compile
    def loss_of(logits, targets):
        return cross_entropy(logits.flatten(0, 1).float(), targets.flatten(), ignore_index=-100)

    rows = [json.loads(line)["text"] for line in args.rows.read_text().splitlines()]
    tokenizer = Tokenizer.from_file(str(args.model / "tokenizer.json"))
    eos = model.config.eos_token_id
    encoded = [e.ids + [eos] for e in tokenizer.encode_batch(rows)]
    order = order_of_rows(len(rows))
    losses, times = [], []
    for step in range(args.steps):
        ids = torch.zeros(args.batch, args.seq, dtype=torch.long)
        targets = torch.full((args.batch, args.seq), -100)
        for r, row in enumerate(order[step * args.batch : (step + 1) * args.batch]):
            tokens = torch.tensor(encoded[row])
            ids[r, : len(tokens)] = tokens
            targets[r, : len(tokens) - 1] = tokens[1:]
        torch.cuda.synchronize()
        start = time.perf_counter()
        loss = loss_of(model(input_ids=ids.cuda()).logits, targets.cuda())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        times.append((time.perf_counter() - start) * 1000)
    print(json.dumps({"losses": losses, "step_ms": times, "torch": torch.__version__}))
    dist.destroy_process_group()


def windows(losses):
    return [statistics.mean(losses[i : i + WINDOW]) for i in range(0, len(losses) - WINDOW + 1, WINDOW)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lockstep", help="the program")
    parser.add_argument("--model", type=Path, required=True, help="a folder with config.json and tokenizer.json")
    parser.add_argument("--text", type=Path, help="JSON lines with text or messages")
    parser.add_argument("--rows", type=Path, help=argparse.SUPPRESS)  # of the process that runs FSDP2
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--batch", type=int, default=16, help="rows a step")
    parser.add_argument("--seq", type=int, default=256, help="tokens a row")
    parser.add_argument("--lr", type=float, default=3e-4)
    parser.add_argument("--out", type=Path, help="file for both curves")
    args = parser.parse_args()
    if args.rows:
        return fsdp2(args)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (folder / "rows.jsonl").open("w") as file:
            file.writelines(json.dumps({"text": text}) + "\n" for text in texts(args))
        train_ours(args, folder, args.model, folder / "start", "model.init=random", "train.steps=1", "optimizer.lr=0")
        start = folder / "start/model"
        adamw = [f"optimizer.lr={args.lr}", "optimizer.betas=[0.9, 0.95]", "optimizer.weight_decay=0.1"]
        ours = train_ours(args, folder, start, folder / "ours", "model.init=pretrained", f"train.steps={args.steps}",
                          "optimizer.max_grad_norm=1.0", *adamw)
        clean = {key: value for key, value in os.environ.items() if key != "LD_LIBRARY_PATH"}
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "1", __file__,
                   "--model", start, "--rows", folder / "rows.jsonl", "--steps", args.steps, "--batch", args.batch,
                   "--seq", args.seq, "--lr", args.lr]
        done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, check=True, env=clean)
        peer = json.loads(done.stdout[done.stdout.index("{") :])

    losses = [line["loss"] for line in ours]
    worst = max(abs(a - b) / b for a, b in zip(windows(losses), windows(peer["losses"])))
    our_ms = statistics.median(line["step_ms"] for line in ours[20:])
    peer_ms = statistics.median(peer["step_ms"][20:])
    print(f"{len(losses)} steps of {args.batch} x {args.seq} tokens: loss {losses[0]:.4f} to {windows(losses)[-1]:.4f}, FSDP2 "
          f"{peer['losses'][0]:.4f} to {windows(peer['losses'])[-1]:.4f}; largest relative difference of means of {WINDOW} "
          f"steps {worst:.2e}; a step {our_ms:.1f} ms, FSDP2 {peer_ms:.1f} ms, ratio {peer_ms / our_ms:.2f}")
    if args.out:
        args.out.write_text(json.dumps({"lockstep": losses, "fsdp2": peer["losses"], "lockstep_ms": our_ms,
                                        "fsdp2_ms": peer_ms, "torch": peer["torch"], "steps": args.steps}) + "\n")


main()
