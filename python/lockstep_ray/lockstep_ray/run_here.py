"""python -m lockstep_ray.run_here ARGUMENT...: the package's own `lockstep` on this node, with the node's torch.

For `lockstep cluster submit`, which brings the package into the head's container and works from there.
"""

import os
import sys
from pathlib import Path

from .errors import Refused
from .job import Job
from .libraries import check_program


def main(arguments: list[str]) -> int:
    folder = Path(__file__).resolve().parents[1]
    try:
        libraries = check_program(Job.read(folder / "job.json"), folder)
    except Refused as refused:
        print(f"lockstep: error: {refused.words}", file=sys.stderr)
        return refused.exit_code
    os.execve(folder / "bin/lockstep", ["lockstep", *arguments], {**os.environ, "LD_LIBRARY_PATH": libraries})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
