"""python -m lockstep_ray job.json: what `lockstep submit` gives to Ray as the entrypoint of a job.

Runs in the job's working directory. Exits with the run's exit code (docs/exit_codes.md); an error is one line on
standard error.
"""

import os
import sys
from pathlib import Path

from .errors import Refused
from .exit_codes import ExitCode
from .job import Job

# Before Ray Train is imported. A job of `lockstep submit` has most of them from its runtime environment already.
_RAY_SETTINGS = {
    "RAY_TRAIN_V2_ENABLED": "1",
    "RAY_CHDIR_TO_TRIAL_DIR": "0",  # train workers stay in the job's working directory
    "RAY_TRAIN_ENABLE_PRINT_PATCH": "0",  # which doubles every line
    "RAY_TRAIN_HEALTH_CHECK_INTERVAL_S": "0.5",  # a dead worker is seen within that
}


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python -m lockstep_ray JOB.json", file=sys.stderr)
        return ExitCode.USAGE
    for name, value in _RAY_SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        job = Job.read(Path(arguments[0]))
        from .driver import run_job

        return run_job(job)
    except Refused as refused:
        print(f"lockstep: error: {refused.words}", file=sys.stderr)
        return refused.exit_code


sys.exit(main(sys.argv[1:]))
