"""Exit codes of workers and jobs: docs/exit_codes.md, lockstep/base/error.h."""

import enum


class ExitCode(enum.IntEnum):
    FINISHED = 0
    INTERNAL = 1
    USAGE = 2
    DATA = 3
    DOES_NOT_FIT = 4
    TRANSPORT = 5
    GUARD = 6
    STORAGE = 7
    COMMAND = 8
    PEER_LOST = 10  # for a job also a worker that died by a signal
    HANG = 11
    PREEMPTED = 12
    INTERRUPTED = 130


def worth_a_retry(exit_code: int) -> bool:
    """Whether what ended so may go better another time; everything else would fail again."""
    return exit_code in (ExitCode.STORAGE, ExitCode.PEER_LOST, ExitCode.HANG, ExitCode.PREEMPTED)
