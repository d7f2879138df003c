"""What was submitted: job.json in the job's working directory."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from .errors import Refused
from .exit_codes import ExitCode

_VERSION = 1


@dataclass(frozen=True)
class Job:
    """All paths are relative to the working directory, which is another one on each node."""

    program: str  # of the worker: "bin/lockstep", or the user's own beside it
    arguments: list[str]  # of a worker, without the program
    recipe: str
    overrides: list[str] = field(default_factory=list)
    continue_from: str = ""  # --from: a run's or checkpoint's folder, "latest" or "best"; empty: the run's newest
    torch_version: str = ""  # that the program was built with; empty: it brings its own

    @staticmethod
    def read(path: Path) -> Job:
        """Throws Refused (usage) for a file that cannot be read, or is of another version."""
        try:
            text = json.loads(path.read_text())
            if text["version"] != _VERSION:
                raise Refused(
                    ExitCode.USAGE,
                    f"{path}: version is {text['version']}, this program reads {_VERSION}: submit with the lockstep that "
                    "this package belongs to",
                )
            return Job(
                program=text["program"],
                arguments=list(text["arguments"]),
                recipe=text["recipe"],
                overrides=list(text.get("overrides", [])),
                continue_from=text.get("from", ""),
                torch_version=text.get("torch_version", ""),
            )
        except OSError as error:
            raise Refused(ExitCode.USAGE, f"cannot read {path}: {error.strerror}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise Refused(ExitCode.USAGE, f"{path} is not a job that `lockstep submit` wrote: {error!r}") from error
