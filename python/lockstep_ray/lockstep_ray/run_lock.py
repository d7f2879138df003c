"""One job at a time trains a run: the lock that every other driver looks for (lockstep/train/run_start.cpp)."""

from __future__ import annotations

import errno
import fcntl
from pathlib import Path
from typing import IO

from .errors import Refused
from .exit_codes import ExitCode

_WITHOUT_LOCKS = (errno.ENOTSUP, errno.ENOLCK, errno.ENOSYS, errno.EINVAL)


def lock_run(run_dir: str) -> IO[bytes]:
    """Held until the file that it returns is closed, or this process ends. Throws Refused (usage) when another holds it.

    On a file system without locks there is none; what an older group of workers commits is not read there either.
    """
    file = open(Path(run_dir) / "recipe.yaml", "rb")  # is there as long as the run, and nobody writes to it again
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Refused(
            ExitCode.USAGE, f"run.dir: {run_dir} is being trained by another job; wait until it has ended, or stop it"
        ) from None
    except OSError as error:
        if error.errno not in _WITHOUT_LOCKS:
            raise
    return file
