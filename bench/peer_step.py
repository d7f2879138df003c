#!/usr/bin/env python3
"""Times the training step that a user of PyTorch would have, on a model's shape with random weights and tokens.

One process a GPU, as torchrun starts them; prints one JSON document. Wants torch and transformers.

  sample    FSDP units over 10 million parameters, bf16 weights, gradients and AdamW, eager: the published EKS sample
  fsdp2     FSDP2 with a unit a layer, float32 weights and AdamW (fused), bf16 computing, eager
  compiled  the same with torch.compile over each layer and the loss
"""
import argparse
import functools
import json
import os
import statistics

import torch
import torch.distributed as dist
from torch.nn.functional import cross_entropy


def make_model(args):
    from transformers import AutoConfig, AutoModelForCausalLM
    config = AutoConfig.from_pretrained(args.model)
    config.use_cache = False
    with torch.device("cuda"):
        model = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa")
    return model.to(torch.bfloat16 if args.peer == "sample" else torch.float32)


def sample(args):
    from torch.distributed.fsdp import FullyShardedDataParallel
    from torch.distributed.fsdp.wrap import size_based_auto_wrap_policy
    policy = functools.partial(size_based_auto_wrap_policy, min_num_params=10_000_000)
    model = FullyShardedDataParallel(make_model(args), auto_wrap_policy=policy, device_id=torch.cuda.current_device())
    return model, torch.optim.AdamW(model.parameters(), lr=1e-5), lambda ids: model(input_ids=ids, labels=ids).loss


def fsdp2(args):
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
    model = make_model(args)
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)

    def loss_of(logits, ids):
        return cross_entropy(logits[:, :-1].flatten(0, 1).float(), ids[:, 1:].flatten())

    for layer in model.model.layers:
        if args.peer == "compiled":
            layer.compile()
        fully_shard(layer, mp_policy=policy)
    fully_shard(model, mp_policy=policy)
    loss = torch.compile(loss_of) if args.peer == "compiled" else loss_of
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    return model, optimizer, lambda ids: loss(model(input_ids=ids).logits, ids)


def timed_steps(args, optimizer, loss_of, vocab_size):
    """Milliseconds from the end of each step to the end of the next, without waiting between them; and the last loss."""
    ends = []
    for step in range(args.warmup + args.steps):
        if step >= args.warmup:
            ends.append(torch.cuda.Event(enable_timing=True))
            ends[-1].record()
        ids = torch.randint(0, vocab_size, (args.batch, args.seq), device="cuda")
        optimizer.zero_grad()
        loss = loss_of(ids)
        loss.backward()
        optimizer.step()
    ends.append(torch.cuda.Event(enable_timing=True))
    ends[-1].record()
    torch.cuda.synchronize()
    return [begin.elapsed_time(end) for begin, end in zip(ends, ends[1:])], loss.item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=["sample", "fsdp2", "compiled"])
    parser.add_argument("--model", required=True, help="a folder with config.json")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--seq", type=int, default=2048)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--warmup", type=int, default=5)
    args = parser.parse_args()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    torch.manual_seed(0)
    model, optimizer, loss_of = (sample if args.peer == "sample" else fsdp2)(args)
    model.train()
    vocab_size = json.load(open(os.path.join(args.model, "config.json")))["vocab_size"]
    times, loss = timed_steps(args, optimizer, loss_of, vocab_size)
    if dist.get_rank() == 0:
        print(json.dumps({
            "peer": args.peer, "torch": torch.__version__, "num_workers": dist.get_world_size(),
            "step_ms": {"median": statistics.median(times), "least": min(times), "most": max(times)},
            "peak_bytes": torch.cuda.max_memory_allocated(), "loss": loss}), flush=True)
    dist.destroy_process_group()


main()
