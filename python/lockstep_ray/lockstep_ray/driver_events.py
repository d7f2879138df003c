"""The driver's events in the run's folder: events/driver-NNN.jsonl (docs/run_directory.md)."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any


class DriverEvents:
    """One writer a file. Each event is one line in one write, so a reader never sees half of one."""

    def __init__(self, path: str) -> None:
        """Throws OSError when its folder cannot be made."""
        self._path = Path(path)
        self._path.parent.mkdir(parents=True, exist_ok=True)

    def emit(self, generation: int, name: str, fields: dict[str, Any]) -> None:
        """Throws OSError when it cannot be written."""
        now = datetime.datetime.now(datetime.timezone.utc)
        time = now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{now.microsecond // 1000:03d}Z"
        line = json.dumps({"version": 1, "time": time, "generation": generation, "event": name} | fields)
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(line + "\n")
