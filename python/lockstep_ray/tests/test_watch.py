import os
import signal
import time

import pytest

from lockstep_ray.errors import WorkersFailed
from lockstep_ray.event_pipe import EventPipe
from lockstep_ray.messages import Commit, Orders
from lockstep_ray.verdict import Outcome, Verdict
from lockstep_ray.watch import Watch
from lockstep_ray.worker_process import WorkerProcess

DONE = Verdict(Outcome.DONE, 0)


class ScriptedLink:
    """Hands out `orders` one by one; with the worker's end comes the verdict, if `ends_with` is given."""

    def __init__(self, orders=(), ends_with=None):
        self.orders, self.ends_with = list(orders), ends_with
        self.lines, self.ends, self.silent_s, self.batches = [], [], 0.0, 0
        self.answer_fd = os.eventfd(len(self.orders), os.EFD_SEMAPHORE)  # an answer for each

    def send_events(self, lines):
        self.lines += lines
        self.batches += bool(lines)

    def flush_events(self):
        pass

    def send_end(self, end):
        self.ends.append(end)
        if self.ends_with:
            self.orders.append(Orders(verdict=self.ends_with))
            os.eventfd_write(self.answer_fd, 1)

    def take_orders(self):
        if not self.orders:
            return None
        os.eventfd_read(self.answer_fd)
        return self.orders.pop(0)


def watch(tmp_path, link, script, events=None, commits=None, clock=time.monotonic):
    worker = None
    if script is not None:
        argv = ["/bin/bash", "-c", script]
        fds = [events.write_fd] if events else []
        worker = WorkerProcess(argv, os.environ, tmp_path / "w.log", "heading", tmp_path, fds)
        if events:
            events.close_writing_end()
    seen = commits if commits is not None else []
    return Watch(link, 2, "w1", worker, events, seen.append, lambda lines: None, clock)


def test_the_end_is_reported_after_the_last_events(tmp_path):
    link, events = ScriptedLink(ends_with=DONE), EventPipe()
    fd = events.write_fd
    verdict = watch(tmp_path, link, f"echo one >&{fd}; printf two >&{fd}; echo >&{fd}; echo words; exit 7", events).run()
    assert verdict == DONE
    assert link.lines == ["one", "two"]
    (end,) = link.ends
    assert (end.rank, end.node_name, end.code, end.signal, end.told_to_stop) == (2, "w1", 7, 0, False)
    assert end.log_tail[-1] == "words"


def test_events_of_many_steps_go_on_in_few_batches(tmp_path):
    link, events = ScriptedLink(ends_with=DONE), EventPipe()
    fd = events.write_fd
    script = f"for i in $(seq 50); do echo $i >&{fd}; sleep 0.01; done"
    began = time.monotonic()
    watch(tmp_path, link, script, events).run()
    assert link.lines == [str(i) for i in range(1, 51)]
    assert link.batches <= (time.monotonic() - began) / 0.25 + 2


def test_a_stop_signal_is_passed_on_once(tmp_path):
    stop = Orders(stop_signal=signal.SIGTERM)
    link = ScriptedLink([stop, stop, stop], ends_with=Verdict(Outcome.DONE, 12))
    script = "n=0; trap 'n=$((n+1))' TERM; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1; done; echo $n; exit 12"
    # The shell may get the signal before its trap is set; then it dies by it, which is a stop all the same.
    assert watch(tmp_path, link, script).run().exit_code == 12
    assert link.ends[0].told_to_stop and not link.ends[0].failed
    assert link.ends[0].log_tail[-1] in ("heading", "1")


def test_a_verdict_ends_a_worker_that_runs(tmp_path):
    retry = Verdict(Outcome.RETRY, 10, "rank 0 on node w2: killed")
    link = ScriptedLink([Orders(verdict=retry)])
    watched = watch(tmp_path, link, "exec sleep 1000")
    assert watched.run() == retry
    assert watched._worker.has_ended


def test_commits_are_handed_on_in_order(tmp_path):
    commits, seen = (Commit(5, "a"), Commit(10, "b")), []
    link = ScriptedLink([Orders(commits[:1]), Orders(commits[1:]), Orders(verdict=DONE)])
    watch(tmp_path, link, None, commits=seen).run()
    assert tuple(seen) == commits


def test_a_spare_rank_waits_for_the_verdict(tmp_path):
    link = ScriptedLink([Orders(), Orders(stop_signal=signal.SIGTERM), Orders(verdict=DONE)])
    assert watch(tmp_path, link, None).run() == DONE
    assert link.ends == []


def test_a_silent_supervisor_ends_the_worker(tmp_path):
    link = ScriptedLink()
    link.silent_s = 31.0
    watched = watch(tmp_path, link, "exec sleep 1000")
    with pytest.raises(WorkersFailed, match="cut off"):
        watched.run()
    assert watched._worker.has_ended


def test_a_worker_that_does_not_stop_is_killed_after_its_time(tmp_path):
    now = [0.0]
    link = ScriptedLink([Orders(stop_signal=signal.SIGTERM)], ends_with=Verdict(Outcome.DONE, 12))

    def clock():
        now[0] += 30.0
        return now[0]

    watch(tmp_path, link, "trap '' TERM; while :; do sleep 0.05; done", clock=clock).run()
    assert link.ends[0].signal in (signal.SIGKILL, signal.SIGTERM) and not link.ends[0].failed
