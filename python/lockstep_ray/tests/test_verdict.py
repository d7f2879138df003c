from lockstep_ray.verdict import RestartPolicy


def test_nothing_is_started_again_unless_asked_for():
    assert RestartPolicy(max_failures=0).reason_to_stop(10, 5, 4) == ""


def test_what_would_fail_again_is_not_tried_again():
    assert "exit code 2 would fail again" in RestartPolicy(3).reason_to_stop(2, None, 4)


def test_a_second_failure_at_the_same_step_is_one_too_many():
    policy = RestartPolicy(3)
    assert policy.reason_to_stop(10, 5, 4) is None
    assert policy.reason_to_stop(10, 9, 4) is None
    assert policy.reason_to_stop(10, 9, 4) == "not started again: it failed twice after step 9 without getting further"


def test_fewer_workers_are_another_try():
    policy = RestartPolicy(3)
    assert policy.reason_to_stop(10, None, 4) is None
    assert policy.reason_to_stop(10, None, 2) is None
    assert "before the first step" in policy.reason_to_stop(10, None, 2)


def test_restarts_are_used_up():
    policy = RestartPolicy(1)
    assert policy.reason_to_stop(10, 1, 4) is None
    assert "failure.max_failures (1) restarts are used up" in policy.reason_to_stop(10, 2, 4)
