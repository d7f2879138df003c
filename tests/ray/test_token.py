"""A cluster that asks for a token (RAY_AUTH_MODE=token), and counts one GPU."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bed import Bed
from submitting import TORCH, lockstep, submit, the_error

_TOKEN = "ab12" * 16
_WITHOUT = ("-u", "RAY_AUTH_MODE", "-u", "RAY_AUTH_TOKEN")


@pytest.fixture(scope="module")
def guarded(cluster: Bed) -> Iterator[Bed]:
    """A head and a node, beside the other cluster and apart from it. What its nodes run has the token."""
    bed = Bed(
        cluster.folder / "guarded",
        cluster.bin_dir,
        nodes=("head", "w1"),
        variables={"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": _TOKEN},
        gpus=1,
    )
    try:
        bed.up()
        yield bed
    finally:
        bed.cluster("down")


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        (_WITHOUT, "asks for a token: set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN"),
        (["RAY_AUTH_TOKEN=" + "cd34" * 16], "refused the token from RAY_AUTH_TOKEN: it is not this cluster's"),
    ],
)
def test_without_the_right_token_nothing_is_sent(guarded: Bed, package: Path, environment: list[str], words: str):
    began = time.monotonic()
    done = submit(guarded, package, "refused", "scaling.num_workers=1", environment=environment)
    print(f"refused after {time.monotonic() - began:.1f} s")
    assert done.returncode == 2 and words in the_error(done)
    assert lockstep(guarded, "jobs", "list").stdout == "no jobs\n"


def test_too_few_gpus_are_counted_in_seconds(guarded: Bed, package: Path):
    began = time.monotonic()
    done = submit(guarded, package, "refused", "scaling.num_workers=2", "scaling.use_gpu=true")
    print(f"refused after {time.monotonic() - began:.1f} s")
    assert done.returncode == 2 and "Ray counts 1 GPU, 2 wanted" in the_error(done)


def test_with_the_token_a_run_trains(guarded: Bed, package: Path):
    done = submit(guarded, package, "trained", TORCH, "scaling.num_workers=2", "train.steps=3")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "step 3/3" in done.stdout
    guarded.expect_nothing_left()
