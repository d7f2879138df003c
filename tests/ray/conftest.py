import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bed import Bed


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "core: start, one run, one killed worker, one error of submission")


@pytest.fixture(scope="session")
def cluster() -> Iterator[Bed]:
    """The nodes, up once for all tests."""
    bed = Bed(Path(os.environ["LOCKSTEP_RAY_BED"]), Path(os.environ["LOCKSTEP_BIN_DIR"]))
    up = bed.cluster("up")
    if up.returncode == 77:
        pytest.skip(  # the words that CMakeLists.txt looks for
            "namespaces are not allowed here: run as root, in a container with CAP_SYS_ADMIN"
        )
    try:
        assert up.returncode == 0, up.stderr
        yield bed
    finally:
        bed.cluster("down")


@pytest.fixture
def bed(cluster: Bed) -> Iterator[Bed]:
    """With all nodes there before a test, and nothing left on any after it."""
    yield cluster
    cluster.expect_nothing_left()
