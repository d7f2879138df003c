"""One start of the worker group, as the supervisor knows it."""

from __future__ import annotations

from collections.abc import Sequence

from .messages import Commit
from .roster import Member, Place, places, settled_count
from .verdict import Verdict
from .worker_end import WorkerEnd


class Group:
    def __init__(self, generation: int, world_size: int) -> None:
        self.generation = generation
        self.world_size = world_size  # of Ray's train workers; those that train may be fewer
        self.members: dict[int, Member] = {}  # by rank
        self.num_workers = 0  # once all have joined
        self.ends: list[WorkerEnd] = []  # in the order in which they were seen
        self.commits: list[Commit] = []
        self.verdict: Verdict | None = None
        self._places: list[Place] = []

    def add(self, member: Member, worker_counts: Sequence[int]) -> bool:
        """True when it was the last that was missing: now places are settled."""
        self.members[member.rank] = member
        if not self.is_complete:
            return False
        self.num_workers = settled_count(self.world_size, worker_counts)
        self._places = places(list(self.members.values()), self.num_workers)
        return True

    @property
    def is_complete(self) -> bool:
        return len(self.members) == self.world_size

    @property
    def all_ended(self) -> bool:
        return self.is_complete and len({end.rank for end in self.ends}) >= self.num_workers

    def place(self, rank: int) -> Place | None:
        return self._places[rank] if rank < len(self._places) else None

    def node_name(self, rank: int) -> str:
        member = self.members.get(rank)
        return member.node_name if member else "(unknown)"

    def workers_by_node(self) -> dict[str, int]:
        count: dict[str, int] = {}
        for rank in range(self.num_workers):
            name = self.node_name(rank)
            count[name] = count.get(name, 0) + 1
        return count
