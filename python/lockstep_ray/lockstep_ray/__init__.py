"""Lockstep on a Ray cluster.

`python -m lockstep_ray job.json` is the driver of a Ray job (driver.py). It lets Ray Train place one adapter for each
worker (adapter.py); the adapter spawns the C++ worker of its rank and owns its life. All adapters of a run meet in one
small actor, the supervisor (supervisor.py), which learns of every worker's end and alone decides what follows.

Nothing here imports torch, CUDA or NCCL: the GPU belongs to the worker. docs/ray.md explains the whole.
"""
