"""What a worker is told: torchrun's environment and Lockstep's own variables (docs/worker_protocol.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from .roster import Place

_NOT_INHERITED = ("LOCKSTEP_CONTINUE_FROM", "LOCKSTEP_EVENT_FD", "LOCKSTEP_STORE_FD", "LOCKSTEP_PYTHON_PACKAGES")


@dataclass(frozen=True)
class WorkerSettings:
    place: Place
    master_address: str
    master_port: int
    run_dir: str
    generation: int
    num_cpus: float  # that Ray assigned to the worker
    use_gpu: bool
    continue_from: str = ""
    libraries: str = ""  # LD_LIBRARY_PATH
    event_fd: int | None = None  # rank 0
    store_fd: int | None = None  # rank 0
    python_packages: Mapping[str, str] = field(default_factory=dict)  # name -> version

    def environment(self, inherited: Mapping[str, str]) -> dict[str, str]:
        place = self.place
        variables = {name: value for name, value in inherited.items() if name not in _NOT_INHERITED}
        variables |= {
            "LOCKSTEP_ROLE": "worker",
            "RANK": str(place.rank),
            "WORLD_SIZE": str(place.world_size),
            "LOCAL_RANK": str(place.local_rank),
            "LOCAL_WORLD_SIZE": str(place.local_world_size),
            "MASTER_ADDR": self.master_address,
            "MASTER_PORT": str(self.master_port),
            "LOCKSTEP_RUN_DIR": self.run_dir,
            "LOCKSTEP_GENERATION": str(self.generation),
            # Ray has set it for its own worker; ours is the one that computes.
            "OMP_NUM_THREADS": str(max(1, int(self.num_cpus))),
        }
        if self.use_gpu:
            # Ray shows each rank its own GPU alone; LOCAL_RANK picks among those of the node's workers.
            variables["CUDA_VISIBLE_DEVICES"] = ",".join(place.gpu_ids)
        if self.libraries:
            variables["LD_LIBRARY_PATH"] = self.libraries
        if self.continue_from:
            variables["LOCKSTEP_CONTINUE_FROM"] = self.continue_from
        if self.event_fd is not None:
            variables["LOCKSTEP_EVENT_FD"] = str(self.event_fd)
        if self.store_fd is not None:
            variables["LOCKSTEP_STORE_FD"] = str(self.store_fd)
        if self.python_packages:
            variables["LOCKSTEP_PYTHON_PACKAGES"] = json.dumps(dict(self.python_packages))
        return variables
