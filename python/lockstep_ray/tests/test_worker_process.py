import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lockstep_ray.worker_process import WorkerProcess


def start(tmp_path: Path, script: str, **more) -> WorkerProcess:
    return WorkerProcess(["/bin/bash", "-c", script], os.environ, tmp_path / "w.log", "heading", tmp_path, **more)


def wait_until(condition, seconds=20.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX"
    except FileNotFoundError:
        return True


def test_output_goes_to_the_log_under_a_heading(tmp_path):
    worker = start(tmp_path, "echo out; echo err >&2; exit 3")
    assert worker.reap() == 3
    assert worker.log_tail() == ("heading", "out", "err")


def test_only_named_descriptors_stay_open(tmp_path):
    read, write = os.pipe()
    other = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(other, True)
    worker = start(tmp_path, f"echo seen >&{write}; ls /proc/self/fd", descriptors=[write])
    assert worker.reap() == 0
    os.close(write)
    assert os.read(read, 100) == b"seen\n"
    assert str(other) not in worker.log_tail()


def test_a_signal_is_told_from_an_exit_code(tmp_path):
    worker = start(tmp_path, "kill -9 $$")
    assert worker.reap() == -signal.SIGKILL


def test_what_it_started_ends_with_it(tmp_path):
    worker = start(tmp_path, "sleep 1000 & echo $! > child; wait")
    child = tmp_path / "child"
    wait_until(lambda: child.exists() and child.read_text().strip())
    worker.end(grace_s=5.0)
    wait_until(lambda: is_gone(int(child.read_text())))


def test_one_that_ignores_the_request_is_killed(tmp_path):
    worker = start(tmp_path, "trap '' TERM; echo ready; while :; do sleep 0.05; done")
    wait_until(lambda: "ready" in worker.log_tail())
    worker.end(grace_s=0.1)
    assert worker.has_ended and worker.told_to_stop


def test_one_that_was_stopped_is_ended_too(tmp_path):
    worker = start(tmp_path, "kill -STOP $$")
    worker.end(grace_s=0.2)
    assert worker.has_ended


def test_a_program_that_cannot_be_started_says_so_in_its_log(tmp_path):
    worker = WorkerProcess(["/no/such"], os.environ, tmp_path / "w.log", "heading", tmp_path)
    assert worker.reap() == 8
    assert worker.log_tail()[-1] == "lockstep: error: cannot start /no/such: No such file or directory"


def test_a_log_that_cannot_be_written_shows_before_anything_starts(tmp_path):
    (tmp_path / "w.log").mkdir()
    with pytest.raises(OSError):
        start(tmp_path, "true")


@pytest.mark.parametrize("how", ["SIGKILL", "SIGTERM"])
def test_the_worker_dies_with_its_adapter(tmp_path, how):
    code = f"""
import os, sys, threading, time
sys.path.insert(0, {str(Path(__file__).resolve().parent.parent)!r})
from pathlib import Path
from lockstep_ray.worker_process import WorkerProcess
def adapter():
    worker = WorkerProcess(["/bin/sleep", "1000"], os.environ, Path("w.log"), "heading", Path("."))
    print(worker.pid, flush=True)
    time.sleep(1000)
threading.Thread(target=adapter, daemon=True).start()
time.sleep(1000)
"""
    with subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as adapter:
        worker = int(adapter.stdout.readline())
        wait_until(lambda: Path(f"/proc/{worker}/comm").read_text().strip() == "sleep")
        adapter.send_signal(getattr(signal, how))
    wait_until(lambda: is_gone(worker))
