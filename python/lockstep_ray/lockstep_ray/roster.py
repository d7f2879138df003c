"""Who trains: ranks and their places on nodes, for one start of the worker group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Member:
    """One of Ray's train workers, as its adapter announces itself."""

    rank: int  # Ray's world rank: those of one node follow each other
    world_size: int
    node_id: str  # Ray's
    node_name: str  # for people: its host name
    gpu_ids: tuple[str, ...] = ()  # that Ray gave it
    python_packages: Mapping[str, str] = field(default_factory=dict)  # python_packages.py


@dataclass(frozen=True)
class Place:
    """What a worker is told of its place (torchrun's meaning)."""

    rank: int
    world_size: int
    local_rank: int
    local_world_size: int
    gpu_ids: tuple[str, ...]  # of all workers of its node, by local rank; empty on the CPU


def settled_count(world_size: int, worker_counts: Sequence[int]) -> int:
    """The most workers among `worker_counts` for which `world_size` places are enough; 0 when there are too few."""
    return max((count for count in worker_counts if count <= world_size), default=0)


def places(members: Sequence[Member], num_workers: int) -> list[Place]:
    """Places of the first `num_workers` ranks. Members beyond them are spare, and their GPUs are nobody's."""
    used = sorted(members, key=lambda member: member.rank)[:num_workers]
    by_node: dict[str, list[Member]] = {}
    for member in used:
        by_node.setdefault(member.node_id, []).append(member)
    result = []
    for member in used:
        neighbours = by_node[member.node_id]
        result.append(
            Place(
                rank=member.rank,
                world_size=num_workers,
                local_rank=neighbours.index(member),
                local_world_size=len(neighbours),
                gpu_ids=tuple(gpu for neighbour in neighbours for gpu in neighbour.gpu_ids[:1]),
            )
        )
    return result
