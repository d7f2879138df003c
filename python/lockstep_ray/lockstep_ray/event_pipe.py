"""Rank 0's events on their way to the supervisor: out of the worker's pipe as whole lines."""

from __future__ import annotations

import os


class EventPipe:
    """The worker holds the writing end. Reading never blocks, and the pipe is read whether or not the supervisor
    keeps up: a worker must not wait for Ray."""

    def __init__(self) -> None:
        self.read_fd, self.write_fd = os.pipe()
        os.set_blocking(self.read_fd, False)
        self.is_open = True
        self._partial = b""

    def close_writing_end(self) -> None:
        """Ours, once the worker has its own: so the pipe ends when the worker does."""
        os.close(self.write_fd)

    def read_lines(self) -> list[str]:
        """All whole lines that are there. `is_open` turns false at the end."""
        while self.is_open:
            try:
                chunk = os.read(self.read_fd, 1 << 16)
            except BlockingIOError:
                break
            if not chunk:
                self.is_open = False
                os.close(self.read_fd)
            self._partial += chunk
        *lines, self._partial = self._partial.split(b"\n")
        return [line.decode("utf-8", "replace") for line in lines if line]
