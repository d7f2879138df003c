"""What a fault costs: to notice, until training goes on, and in steps that are done again."""

from __future__ import annotations

import datetime
import json
import time
from dataclasses import asdict, dataclass

from bed import Bed, Job, wait_for


@dataclass(frozen=True)
class FaultTimes:
    fault: str
    to_notice_s: float | None  # until the driver said so
    to_train_again_s: float | None  # until the first step of the next generation
    steps_lost: int | None  # done before the fault, and done again

    def keep(self, bed: Bed) -> FaultTimes:
        """Among the results of this bed, for the table in docs/ray.md."""
        with open(bed.folder / "fault_times.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(self)) + "\n")
        print(f"\n{self}")
        return self


def measure(fault: str, bed: Bed, job: Job, began: float, generation: int = 1, seconds: float = 240.0) -> FaultTimes:
    """Waits until generation `generation` + 1 trains after a fault at `began` (time.time())."""
    wait_for("training to go on", lambda: job.last_step(generation + 1), seconds)
    again = time.time()
    restored = [event for event in job.events("restored") if event["generation"] == generation + 1]
    lost = job.last_step(generation) - (restored[0]["step"] if restored else 0)
    said = [event for event in job.events() if event["event"] in ("fault", "restart") and _seconds(event["time"]) > began]
    noticed = _seconds(said[0]["time"]) - began if said else None
    return FaultTimes(fault, noticed and round(noticed, 1), round(again - began, 1), lost).keep(bed)


def _seconds(text: str) -> float:
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
