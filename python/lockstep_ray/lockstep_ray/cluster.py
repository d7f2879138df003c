"""What the cluster has, against what the run needs: said in seconds, where Ray would wait without end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import Refused
from .exit_codes import ExitCode


@dataclass(frozen=True)
class Node:
    node_id: str
    name: str
    resources: Mapping[str, float]

    def room(self, per_worker: Mapping[str, float]) -> int:
        """How many workers fit that need `per_worker` each."""
        wanted = {name: amount for name, amount in per_worker.items() if amount > 0}
        if not wanted:
            return 1
        # Ray counts in ten-thousandths; a fraction must not cost a worker by rounding.
        return min(int(self.resources.get(name, 0.0) / amount + 1e-6) for name, amount in wanted.items())


def alive_nodes(ray_nodes: Sequence[Mapping[str, Any]]) -> list[Node]:
    """Those of `ray.nodes()` that are alive."""
    return [
        Node(node["NodeID"], node["NodeManagerHostname"], node["Resources"]) for node in ray_nodes if node["Alive"]
    ]


def num_gpus(nodes: Sequence[Node]) -> int:
    return sum(int(node.resources.get("GPU", 0)) for node in nodes)


def resources_per_worker(recipe: Mapping[str, Any], use_gpu: bool) -> dict[str, float]:
    """`ray.resources_per_worker` of the recipe, over one CPU, and one GPU where the run trains on GPUs."""
    asked = (recipe.get("ray") or {}).get("resources_per_worker") or {}
    return {"CPU": 1.0} | ({"GPU": 1.0} if use_gpu else {}) | {name: float(value) for name, value in asked.items()}


def check_room(nodes: Sequence[Node], per_worker: Mapping[str, float], fewest: int) -> None:
    """Throws Refused (usage) when fewer than `fewest` workers would fit on all nodes together."""
    room = sum(node.room(per_worker) for node in nodes)
    if room >= fewest:
        return
    each = ", ".join(f"{amount:g} {name}" for name, amount in per_worker.items() if amount > 0)
    have = "; ".join(
        f"{node.name}: " + ", ".join(f"{node.resources.get(name, 0):g} {name}" for name in per_worker) for node in nodes
    )
    raise Refused(
        ExitCode.USAGE,
        f"the cluster has room for {room} workers of {each} each, and the run needs {fewest} ({have}). Add "
        "nodes, lower scaling.num_workers, or set ray.resources_per_worker",
    )
