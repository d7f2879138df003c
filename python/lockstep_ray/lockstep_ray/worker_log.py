"""A worker's log file: its standard output and error."""

from __future__ import annotations

import os
from pathlib import Path

_MAX_TAIL_BYTES = 16 << 10


def log_path(run_dir: str, generation: int, rank: int) -> Path:
    """As on one machine: docs/run_directory.md."""
    return Path(run_dir) / "logs" / f"g{generation:03d}-rank-{rank:03d}.log"


def begin_log(path: Path, heading: str) -> None:
    """Appends `heading` as a line, so that a full disk shows before anything starts. Throws OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="utf-8") as file:
        file.write(heading + "\n")


def last_lines(path: Path, max_lines: int) -> list[str]:
    """The last lines that say something, oldest first; of the last 16 KiB. Empty when the file cannot be read."""
    try:
        with open(path, "rb") as file:
            begin = max(0, file.seek(0, os.SEEK_END) - _MAX_TAIL_BYTES)
            file.seek(begin)
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return []
    if begin > 0:
        lines = lines[1:]  # the rest of a line that began before
    return [line for line in lines if line.strip()][-max_lines:]
