"""The Python packages of the environment that Ray made for a run: what pip resolved, not what was asked for."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping, Sequence
from typing import Any

from .roster import Member

_WAYS = ("pip", "uv", "conda")  # in which a runtime_env asks for packages


def installed_packages(runtime_env: Mapping[str, Any]) -> dict[str, str]:
    """Name -> version of all packages that this process sees, when `runtime_env` asked for any; else nothing."""
    if not any(runtime_env.get(way) for way in _WAYS):
        return {}
    versions: dict[str, str] = {}
    for distribution in importlib.metadata.distributions():
        if name := distribution.metadata["Name"]:  # absent when an installation was broken off
            versions.setdefault(name, distribution.version)  # an import finds the first
    return dict(sorted(versions.items()))


def differing_packages(members: Sequence[Member]) -> list[str]:
    """One line for each package whose version depends on the node: each resolves for itself."""
    versions: dict[str, dict[str, str]] = {}
    for member in members:
        for name, version in member.python_packages.items():
            versions.setdefault(name, {})[member.node_name] = version
    nodes = {member.node_name for member in members}
    lines = []
    for name, by_node in sorted(versions.items()):
        if len(set(by_node.values())) > 1 or by_node.keys() != nodes:
            on_nodes = ", ".join(f"{by_node.get(node, 'none')} on {node}" for node in sorted(nodes))
            lines.append(f"{name} is {on_nodes}")
    return lines
