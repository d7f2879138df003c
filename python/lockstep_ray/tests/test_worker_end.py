import signal

import pytest

from lockstep_ray.worker_end import WorkerEnd, find_cause


def end(rank: int, **how: object) -> WorkerEnd:
    return WorkerEnd(rank, f"node-{rank}", pid=100 + rank, log_path=f"rank-{rank}.log", **how)


def test_the_first_that_failed_by_itself_is_the_cause():
    ends = [end(0, code=10), end(1, signal=signal.SIGKILL), end(2, code=3)]
    assert find_cause(ends).rank == 1


def test_a_lost_peer_is_the_cause_only_when_no_other_is():
    assert find_cause([end(0, code=10), end(1, code=10)]).rank == 0
    assert find_cause([end(0), end(1)]) is None


@pytest.mark.parametrize("how", [{"signal": signal.SIGTERM}, {"code": 12}, {"code": 10}, {"code": 11}])
def test_one_that_was_told_to_stop_and_did_is_no_failure(how):
    assert not end(0, told_to_stop=True, **how).failed
    assert end(0, **how).failed


def test_a_crash_after_it_was_told_to_stop_is_a_failure():
    assert end(0, told_to_stop=True, signal=signal.SIGSEGV).failed
    assert end(0, told_to_stop=True, code=7).failed


def test_death_by_a_signal_counts_as_a_lost_peer_for_the_job():
    assert end(0, signal=signal.SIGKILL).exit_code == 10
    assert not end(0, signal=signal.SIGKILL).lost_a_peer


def test_what_the_worker_said_is_said_in_one_line():
    text = end(3, code=3, log_tail=("reading", "lockstep: error: data: no row trains anything")).describe()
    assert text == "rank 3 on node node-3: data: no row trains anything (log: rank-3.log)"


def test_one_that_said_nothing_is_named_with_its_signal_and_the_end_of_its_log():
    text = end(3, signal=signal.SIGKILL, log_tail=("step 4", "step 5")).describe()
    assert text.startswith("rank 3 on node node-3: killed by SIGKILL; if nobody sent it")
    assert text.endswith("rank-3.log ends:\n  | step 4\n  | step 5")


def test_an_adapter_that_is_gone_is_named_with_what_ray_saw():
    lost = WorkerEnd(2, "w2", lost="ActorDiedError: the node died")
    assert lost.failed and lost.exit_code == 10
    assert lost.describe() == "rank 2 on node w2: its Ray worker is gone: ActorDiedError: the node died"
