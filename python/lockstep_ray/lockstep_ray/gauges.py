"""The newest metrics as gauges that each Ray node serves to Prometheus."""

from __future__ import annotations

import json
import time

from ray.util.metrics import Gauge

_INTERVAL_S = 5.0
_GAUGES = {
    "step": "Optimizer steps that are done",
    "loss": "Mean loss over the trained tokens of the last step",
    "tokens_per_s": "Trained tokens a second, over all ranks",
    "grad_norm": "Norm of the gradients before clipping",
    "lr": "Learning rate",
    "step_ms": "Wall time of the last step in milliseconds",
    "peak_bytes": "Most memory that rank 0 has used so far",
}


class Gauges:
    """Set at an interval, from rank 0's adapter, never by the worker: no step waits for them. They appear as
    ray_lockstep_<name>{run=...}."""

    def __init__(self, run_name: str) -> None:
        self._tags = {"run": run_name}
        self._gauges = {
            name: Gauge(f"lockstep_{name}", description=text, tag_keys=("run",)) for name, text in _GAUGES.items()
        }
        self._due_at = 0.0

    def update(self, lines: list[str]) -> None:
        """`lines`: events as they came. Looks at them when the interval is over."""
        if not lines or time.monotonic() < self._due_at:
            return
        for line in reversed(lines):
            event = json.loads(line)
            if event.get("event") != "metrics":
                continue
            for name, gauge in self._gauges.items():
                value = event.get(name)
                if isinstance(value, int | float):
                    gauge.set(value, tags=self._tags)
            self._due_at = time.monotonic() + _INTERVAL_S
            return
