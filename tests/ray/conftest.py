import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bed import Bed, NotAllowed

_SOURCE = Path(__file__).resolve().parents[2]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "core: start, one run, one killed worker, one error of submission")


@pytest.fixture(scope="session")
def cluster() -> Iterator[Bed]:
    """The nodes, up once for all tests."""
    bed = Bed(Path(os.environ["LOCKSTEP_RAY_BED"]), Path(os.environ["LOCKSTEP_BIN_DIR"]))
    try:
        bed.up()
        yield bed
    except NotAllowed as error:
        pytest.skip(str(error))  # its words are those that CMakeLists.txt looks for
    finally:
        bed.cluster("down")


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `lockstep submit` uploads of this build."""
    folder = tmp_path_factory.mktemp("deploy") / "package"
    build = Path(os.environ["LOCKSTEP_BIN_DIR"]).parent
    subprocess.run([_SOURCE / "deploy/package", "--build", build, "--output", folder], check=True)
    return folder


@pytest.fixture
def bed(cluster: Bed) -> Iterator[Bed]:
    """With all nodes there before a test, and nothing left on any after it."""
    yield cluster
    cluster.expect_nothing_left()
