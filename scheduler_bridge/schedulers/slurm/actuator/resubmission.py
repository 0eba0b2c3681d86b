"""Submits jobs again that Slurm cannot start again, because it forgot them or their users set `--no-requeue`.

The new job's comment names the job that it continues and the act, so that a bridge that was killed right after finds it. It has
an id of its own; asked for the old one, the bridge sees the new one, in the next attempt.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import msgspec

from ....checkpoint_note import add_note, is_tellable
from ....opt_out import opts_out
from ...errors import ActuatorError
from ...views import JobView, SchedulerJobState
from ..client import SlurmClient, SlurmJob, UnknownSlurmJob
from ..client.kept_jobs import KeptJob, KeptJobs
from ..client.submission import options, submit
from .dependents import carry_over
from .jobs import STOPPED, state_of, view

Submit = Callable[[bytes, Sequence[str], str], str]

_WORD = "schedmate-continues="
_DIGEST = 16
"""Hexadecimal digits behind the name of the job that went before: of the key of the act."""


class Resubmission:
    """Submits kept jobs again.

    Args:
        submit: Submits a script with options for a user.
    """

    def __init__(self, client: SlurmClient, kept: KeptJobs, submit: Submit = submit) -> None:
        self._client = client
        self._kept = kept
        self._submit = submit

    def view(self, name: str) -> JobView | None:
        """Return the job that continues one, or else the one as Slurm showed it last, where it was over then; None for neither."""
        if (kept := self._kept.get(name)) is None:
            return None
        if number := self._successor(name, kept):
            return self._continued(name, kept, number)
        if state_of(kept.job) not in STOPPED:
            return None
        seen = view(name, kept.job, 0, (), opted_out=opts_out(kept.columns.get("comment", "")))
        return replace(seen, word=f"{seen.word}, as Slurm reported last")

    def is_continued(self, name: str) -> bool:
        """True where a job was submitted in its place."""
        kept = self._kept.get(name)
        return kept is not None and bool(self._successor(name, kept))

    def submit(self, name: str, exclude_nodes: tuple[str, ...], key: str, checkpoint: str = "") -> JobView:
        """Submit a job again, away from some nodes. One that was submitted by the same act already is returned as it is.

        Raises:
            ActuatorError: It is not kept, or asks for a suspect node by name.
            SlurmError: Slurm refuses, or does not answer.
        """
        kept = self._kept.get(name)
        if kept is None:
            came = f"{name}, which Slurm no longer knows (MinJobAge) or which has --no-requeue, and whose script was not kept"
            raise ActuatorError("a job that can start again", came, "submit it again by hand, with --requeue")
        number = self._successor(name, kept)
        if not number:
            for node in exclude_nodes:
                self._client.check_node(node)
            if wanted := set(exclude_nodes) & set(kept.job.required_nodes):
                came = f"{name} asks for {sorted(wanted)} by name"
                raise ActuatorError("a job that can run elsewhere", came, "nothing was done; submit it again without")
            excluded = ",".join((*kept.job.excluded_nodes, *exclude_nodes))
            words = [*options(kept.job, kept.columns), f"--comment={_comment(name, kept, key, checkpoint)}"]
            words += [f"--exclude={excluded}"] if excluded else []
            number = self._submit(kept.script, words, kept.job.user)
        _, array, task = name.partition("_")
        number = number if "_" in number else f"{number}{array}{task}"
        self._kept.put(msgspec.structs.replace(kept, successor=number))
        dependents = carry_over(self._client, name, number)
        return replace(self._continued(name, kept, number), dependents=dependents)

    def _continued(self, name: str, kept: KeptJob, number: str) -> JobView:
        before = kept.job.restarts + 1
        try:
            seen = self._client.job(number)
        except UnknownSlurmJob:
            word = f"it continued as {number}, which Slurm no longer knows"
            return JobView(name, SchedulerJobState.OTHER, before, word=word, user=kept.job.user, successor=number)
        return replace(view(name, seen, 0, ()), attempt=before + seen.restarts, successor=number)

    def _successor(self, name: str, kept: KeptJob) -> str:
        if kept.successor:
            return kept.successor
        for number, comment in self._client.comments_of(kept.job.user).items():
            # A row of that list may be a text of the user; what is asked of one job is not.
            if (
                _continues(name, comment)
                and _continues(name, self._client.comment(number))
                and self._is_of(number, kept.job)
            ):
                return number
        return ""

    def _is_of(self, number: str, job: SlurmJob) -> bool:
        return self._client.job(number).user == job.user


def _continues(name: str, comment: str) -> bool:
    """Return whether a comment states that its job continues the job `name`."""
    beginning = f"{_WORD}{name}:"
    return any(
        word.startswith(beginning)
        and len(word) == len(beginning) + _DIGEST
        and set(word[-_DIGEST:]) <= frozenset("0123456789abcdef")
        for word in comment.split()
    )


def _comment(name: str, kept: KeptJob, key: str, checkpoint: str) -> str:
    comment = " ".join(kept.columns.get("comment", "").split())
    comment = add_note(comment, checkpoint) if is_tellable(checkpoint) else comment
    word = f"{_WORD}{name}:{key.rpartition('/')[2]}"
    # A comment of Slurm is cut to 4,000 characters.
    return f"{word} {comment}".strip()[:4000]
