"""The newest durable checkpoint of each job."""

from collections.abc import Iterator, Mapping

from schedmate_records import Checkpoint, CheckpointState, same_incarnation, same_job


class Saves(Mapping[str, Checkpoint]):
    """By job. Order and repeats do not matter."""

    def __init__(self) -> None:
        self._newest: dict[str, Checkpoint] = {}

    def remember(self, checkpoint: Checkpoint) -> None:
        """Take in one record; what is not durable, or older than what is known, changes nothing."""
        if checkpoint.state is not CheckpointState.DURABLE:
            return
        known = self._newest.pop(checkpoint.job, None)
        if known and not same_job(known, checkpoint):
            self._newest[checkpoint.job] = max(known, checkpoint, key=lambda each: each.time)
        else:
            self._newest[checkpoint.job] = max(known, checkpoint, key=_age) if known else checkpoint
        # Checkpoints are kept of the 20,000 jobs that saved last.
        if len(self._newest) > 20_000:
            del self._newest[next(iter(self._newest))]

    def newest(self, job: str, incarnation: str) -> Checkpoint | None:
        """Return the newest durable checkpoint of a job; None where none is known."""
        saved = self._newest.get(job)
        return saved if saved and same_incarnation(saved.incarnation, incarnation) else None

    def path(self, job: str, attempt: int, incarnation: str = "") -> str:
        """Return where a job saved last, in that attempt or before it; empty where that is not known."""
        saved = self.newest(job, incarnation)
        return saved.path if saved and saved.attempt <= attempt else ""

    def __getitem__(self, job: str) -> Checkpoint:
        return self._newest[job]

    def __iter__(self) -> Iterator[str]:
        return iter(self._newest)

    def __len__(self) -> int:
        return len(self._newest)


def _age(checkpoint: Checkpoint) -> tuple[int, float, float]:
    return checkpoint.attempt, checkpoint.since, checkpoint.time
