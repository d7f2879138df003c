"""What can go wrong, as types. Words are for people: where, what, the values, the way out, in one line."""


class Refused(Exception):
    """Something that the job needs is not so. The job ends with `exit_code` and says `words`, and nothing is retried."""

    def __init__(self, exit_code: int, words: str) -> None:
        super().__init__(exit_code, words)  # both, so that a copy can be made in another process
        self.exit_code = exit_code
        self.words = words

    def __str__(self) -> str:
        return self.words


class WorkersFailed(Exception):
    """A failure that may pass: an adapter that raises it makes Ray start all workers again.

    Every adapter of a group raises the same words, those of the cause: Ray merges what the ranks raise, and shows one.
    """
