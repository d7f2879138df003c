"""Becomes the worker: python become_worker.py PARENT_PID PROGRAM ARGUMENT...

The step between two programs. The kernel shall kill the worker when the thread that spawned it ends, however it ends.
That must be asked for by the child itself, and code between fork and exec of a process with threads is not safe, so it
is asked for here. Standard library only: it runs before every worker.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    parent, argv = int(arguments[0]), arguments[1:]
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        sys.exit(f"lockstep: error: cannot tie the worker to its adapter: {os.strerror(ctypes.get_errno())}")
    if os.getppid() != parent:  # it died before the kernel knew what to do then
        os.kill(os.getpid(), signal.SIGKILL)
    try:
        os.execv(argv[0], argv)
    except OSError as error:
        print(f"lockstep: error: cannot start {argv[0]}: {error.strerror}", file=sys.stderr)
        sys.exit(8)  # an external command failed


main(sys.argv[1:])
