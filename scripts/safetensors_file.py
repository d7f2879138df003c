"""Writes a safetensors file in bfloat16, one tensor in memory at a time.

The safetensors package writes from NumPy arrays, which have no bfloat16. The format: the
header's length (8 bytes, little-endian), a JSON header {name: dtype, shape, data_offsets}
padded with spaces to 8 bytes, then the tensors without gaps.
"""

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np


def to_bfloat16(values: np.ndarray) -> np.ndarray:
    """Rounds finite float32 to the nearest bfloat16, ties to even; gives its bits as uint16."""
    bits = np.ascontiguousarray(values, dtype="<f4").view("<u4")
    round_up = 0x7FFF + ((bits >> 16) & 1)
    return ((bits + round_up) >> 16).astype("<u2")


def write_safetensors(path: Path, tensors: list[tuple[str, list[int], Callable[[], np.ndarray]]]) -> None:
    """`tensors`: (name, shape, function that gives float32 values of that shape)."""
    header = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, shape, _ in tensors:
        begin, end = end, end + 2 * math.prod(shape)
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        for name, shape, values in tensors:
            array = values()
            if list(array.shape) != shape:
                raise ValueError(f"{path}: {name} has shape {list(array.shape)}, announced as {shape}")
            file.write(to_bfloat16(array).tobytes())
