"""The same save and load as checkpoint_throughput, by torch.distributed.checkpoint:

    python bench/dcp_throughput.py FOLDER [ranks=2] [MiB a rank=512] [rounds=5]

Processes over Gloo, 64 float32 tensors each, every file synced (its default); it does not hash.
"""

import json
import os
import shutil
import sys
import time

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.multiprocessing as mp

TENSORS = 64


def main(rank, folder, ranks, mib, rounds):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29631")
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    numel = (mib << 20) // TENSORS // 4
    state = {f"rank{rank}.t{t}": torch.full((numel,), float(rank * TENSORS + t + 1)) for t in range(TENSORS)}
    saves, loads = [], []
    for turn in range(1, rounds + 1):
        path = f"{folder}/dcp/step-{turn}"
        dist.barrier()
        start = time.perf_counter()
        dcp.save(state, checkpoint_id=path)
        if rank == 0:
            shutil.rmtree(f"{folder}/dcp/step-{turn - 1}", ignore_errors=True)
        dist.barrier()
        saves.append(time.perf_counter() - start)
        start = time.perf_counter()
        dcp.load(state, checkpoint_id=path)
        dist.barrier()
        loads.append(time.perf_counter() - start)
    if rank == 0:
        print(json.dumps({"system": "torch.distributed.checkpoint " + torch.__version__, "ranks": ranks,
                          "bytes": ranks * (mib << 20), "save_s": [round(s, 3) for s in saves],
                          "load_s": [round(s, 3) for s in loads]}))
    dist.destroy_process_group()


if __name__ == "__main__":
    folder = sys.argv[1]
    ranks, mib, rounds = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((2, 2), (3, 512), (4, 5)))
    mp.spawn(main, args=(folder, ranks, mib, rounds), nprocs=ranks)
