"""The listening socket of rank 0's store, bound before the worker starts: the port is known to all and held, so no
other program can take it in between."""

from __future__ import annotations

import socket

_BACKLOG = 1024  # every rank of the group may come at once


def listen(address: str) -> socket.socket:
    """On a port that the kernel gives. Throws OSError."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.bind((address, 0))
    listening.listen(_BACKLOG)
    return listening
