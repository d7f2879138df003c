"""The workers' checkpoints as Ray Train knows them."""

from __future__ import annotations

import queue
import threading
from pathlib import Path

import ray.train
from ray.train import Checkpoint, CheckpointUploadMode

from .messages import Commit


class CheckpointReports:
    """Tells Ray Train of checkpoints that the workers have committed. Nothing is uploaded: they are in their place.

    ray.train.report waits for all ranks and for the controller, so a thread of its own calls it: no worker's end may
    wait behind it. Every rank reports the same commits in the same order, as the supervisor hands them out.
    """

    def __init__(self, run_dir: str, is_in_run_dir: bool) -> None:
        """`is_in_run_dir`: false when checkpoint.storage is elsewhere. Ray then learns of the step alone."""
        self._run_dir = run_dir
        self._is_in_run_dir = is_in_run_dir
        self._queue: queue.SimpleQueue[Commit | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._report_all, name="checkpoint reports", daemon=True)
        self._thread.start()

    def add(self, commit: Commit) -> None:
        self._queue.put(commit)

    def finish(self, timeout_s: float) -> None:
        """Waits until all are reported. Where another rank is gone that never happens: then not for longer."""
        self._queue.put(None)
        self._thread.join(timeout_s)

    def _report_all(self) -> None:
        while commit := self._queue.get():
            metrics = {"step": commit.step}
            if not self._is_in_run_dir:
                ray.train.report(metrics)
                continue
            name = f"checkpoints/{commit.folder}"
            ray.train.report(
                metrics,
                checkpoint=Checkpoint(str(Path(self._run_dir) / name)),
                checkpoint_dir_name=name,
                checkpoint_upload_mode=CheckpointUploadMode.NO_UPLOAD,
            )
