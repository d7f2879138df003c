"""Writes a checkpoint of format version 1 by docs/checkpoint_format.md alone, without Lockstep:

    python scripts/references/checkpoint_v1.py tests/data/checkpoint/v1

Two ranks, an F32 tensor cut across them, a BF16 one on the second. tests/checkpoint/golden_test.cpp
reads it back: what was saved once must stay readable.
"""

import hashlib
import json
import pathlib
import struct
import sys

FOLDER = "step-00000200.g002"
A = [float(i) / 8 for i in range(21)]  # weights/a: [7, 3]
B = [1.0, -2.0, 0.5, 3.0, -0.25]  # weights/b: [5], bfloat16


def f32(values):
    return b"".join(struct.pack("<f", value) for value in values)


def bf16(values):
    return b"".join(struct.pack("<f", value)[2:] for value in values)


def seal(body):
    text = json.dumps(body, separators=(",", ":"))
    return f'{{"sha256":"{hashlib.sha256(text.encode()).hexdigest()}","body":{text}}}\n'


def shard(rank, slices):
    """`slices`: (tensor, first, end, dtype, shape of the tensor, bytes), wider dtypes first."""
    header = {"__metadata__": {"format": "lockstep-shard", "rank": str(rank)}}
    data = b""
    for name, first, end, dtype, _, values in slices:
        header[f"{name}[{first}:{end}]"] = {"dtype": dtype, "shape": [end - first],
                                            "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    start = 8 + len(text)
    info = {"file": f"shard-{rank:05}.safetensors", "bytes": start + len(data), "sha256": "",
            "tensors": [{"name": s[0], "dtype": s[3], "shape": s[4]} for s in slices], "slices": []}
    position = start
    for i, (_, first, end, _, _, values) in enumerate(slices):
        info["slices"].append([i, first, end - first, position])
        position += len(values)
    content = struct.pack("<Q", len(text)) + text + data
    info["sha256"] = hashlib.sha256(content).hexdigest()
    return info, content


def main():
    root = pathlib.Path(sys.argv[1])
    shards = [shard(0, [("weights/a", 0, 11, "F32", [7, 3], f32(A[:11]))]),
              shard(1, [("weights/a", 11, 21, "F32", [7, 3], f32(A[11:])),
                        ("weights/b", 0, 5, "BF16", [5], bf16(B))])]
    folder = root / "checkpoints" / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for info, content in shards:
        (folder / info["file"]).write_bytes(content)
    manifest = {"format": "lockstep-checkpoint", "version": 1, "step": 200, "generation": 2,
                "token": "8ad773a387419ffb", "time": "2026-01-02T03:04:05.678Z", "world_size": 2,
                "identity": {"optimizer.lr": 1e-05}, "state": {"rows": 1600, "updates": {"a": 200, "b": 200}},
                "metrics": {"loss": 2.5, "held_out_loss": None}, "shards": [info for info, _ in shards]}
    (folder / "manifest.json").write_text(seal(manifest))
    generations = root / "generations"
    generations.mkdir(exist_ok=True)
    for number, token in ((1, "82d9f51ec8d6186e"), (2, "8ad773a387419ffb")):
        continues = {"step": 100, "generation": 1, "token": "82d9f51ec8d6186e"} if number == 2 else None
        claim = {"version": 1, "generation": number, "token": token, "continues": continues,
                 "time": "2026-01-02T03:04:05.678Z"}
        (generations / f"{number}-{token}.json").write_text(seal(claim))


main()
