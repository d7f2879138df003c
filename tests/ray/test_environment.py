"""What the recipe's ray.runtime_env gives to a run: packages, and variables such as those that choose a network."""

import json
import zipfile
from pathlib import Path

from bed import Bed
from submitting import TORCH, lockstep, recipe


def make_wheel(folder: Path, version: str) -> None:
    """Of a package "probed" without anything in it."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"probed-{version}.dist-info"
    files = {
        "METADATA": f"Metadata-Version: 2.1\nName: probed\nVersion: {version}\n",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": f"{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n",
    }
    with zipfile.ZipFile(folder / f"probed-{version}-py3-none-any.whl", "w") as wheel:
        for name, text in files.items():
            wheel.writestr(f"{info}/{name}", text)


def test_the_record_has_the_versions_that_pip_resolved(bed: Bed):
    wheels = bed.shared / "wheels"
    for version in ("1.0", "1.3", "2.0"):
        make_wheel(wheels, version)
    pip = {"packages": ["--no-index", f"--find-links={wheels}", "probed>=1,<2"], "pip_check": False}
    job = bed.submit("scaling.num_workers=2", "train.steps=3", runtime_env={"pip": pip})
    assert job.wait() == 0, job.log()
    packages = json.loads((job.run_dir / "record.json").read_text())["python_packages"]
    assert packages["probed"] == "1.3"
    assert "warning: " not in job.log()


def bench(bed: Bed, package: Path, name: str, *words: str):
    networks = ("--set", "eth:GLOO_SOCKET_IFNAME=eth0", "--rounds", "1", "--steps", "4", "--skip", "1", "--json")
    placing = ("scaling.num_workers=2", "ray.resources_per_worker={CPU: 2}", f"run.dir={bed.shared}/{name}")
    address = ("--ray-address", "http://127.0.0.1:8265", "--package", str(package))
    return lockstep(bed, "bench", "transport", recipe(bed, name), TORCH, *placing, *address, *networks, *words)


def test_networks_are_compared_between_two_nodes(bed: Bed, package: Path):
    done = bench(bed, package, "compared", "--compare", "asis,eth")
    assert done.returncode == 0, done.stderr
    networks = json.loads(done.stdout)["networks"]
    assert [network["name"] for network in networks] == ["asis", "eth"]
    assert all(network["step_ms"]["median"] > 0 for network in networks)
    assert not (bed.shared / "compared").exists()


def test_a_network_that_training_cannot_use_is_named_with_its_error(bed: Bed, package: Path):
    none = ("--set", "none:GLOO_SOCKET_IFNAME=no-such-interface")
    done = bench(bed, package, "unusable", "--compare", "none,eth", *none)
    assert done.returncode == 8, done.stdout + done.stderr
    assert "training over none (GLOO_SOCKET_IFNAME=no-such-interface), job " in done.stderr
    assert "no-such-interface" in done.stderr.split(": ", 3)[-1], done.stderr
    assert (bed.shared / "unusable/none-1/logs").is_dir()
