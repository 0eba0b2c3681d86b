"""How `scontrol show job -o` is read.

A user names a job, and may put anything into the name: blanks, newlines, text that reads as Slurm's own fields. What the
bridge acts on stands between `UserId=` and `Command=`, and only what cannot be mistaken is believed.
"""

import re
from dataclasses import dataclass

from scheduler_bridge.actuators.base import JobState, JobView

_STATES = {
    "RUNNING": JobState.RUNNING,
    "COMPLETING": JobState.STOPPING,
    "STAGE_OUT": JobState.STOPPING,
    "REQUEUED": JobState.STOPPING,
    "REQUEUE_HOLD": JobState.HELD,
    "SPECIAL_EXIT": JobState.HELD,
    "COMPLETED": JobState.COMPLETED,
    "CANCELLED": JobState.CANCELLED,
    "FAILED": JobState.FAILED,
    "NODE_FAIL": JobState.FAILED,
    "BOOT_FAIL": JobState.FAILED,
    "OUT_OF_MEMORY": JobState.FAILED,
    "TIMEOUT": JobState.FAILED,
}
_FIELD = re.compile(r" ([A-Z][A-Za-z]*)=(\S*)")
_NONE = {"", "(null)", "None", "N/A"}
_SHARDS = re.compile(r"(?:^|,)gres[:/]shard[:=]([0-9]+)")


@dataclass(frozen=True, slots=True)
class SlurmJob:
    """The fields of one job that the bridge uses, as Slurm writes them (nodes: host lists such as `n[1-3]`)."""

    job: str
    state: JobState
    word: str
    reason: str
    restarts: int
    requeue: bool
    node_list: str
    required: str
    excluded: str
    tres_per_node: str
    user: str

    @property
    def shards(self) -> int:
        """Shards that the job asks for on each node; 0 where it asks for none."""
        found = _SHARDS.search(self.tres_per_node)
        return int(found[1]) if found else 0

    def with_shards(self, shards: int) -> str:
        """Return `tres_per_node` with another number of shards, and all else as it was."""
        return _SHARDS.sub(lambda found: found[0][: -len(found[1])] + str(shards), self.tres_per_node)

    def view(self, nodes: tuple[str, ...], excluded: tuple[str, ...], whole_gpu: int) -> JobView:
        """Return the job as the bridge sees it. `whole_gpu`: the shards of a GPU; 0 where there are none."""
        return JobView(
            job=self.job,
            state=self.state,
            attempt=self.restarts,
            nodes=nodes,
            excluded=excluded,
            word=self.word + (f" ({self.reason})" if self.reason not in _NONE else ""),
            alone=0 < whole_gpu <= self.shards,
            user=self.user,
        )


def parse(job: str, text: str) -> SlurmJob | None:
    """Read the answer to `scontrol show job -o JOB`; None where it cannot be read beyond doubt."""
    line = text.split("\n", 1)[0]  # what follows a newline is a user's text, or another task of the array
    if not _is_about(job, line) or line.count(" UserId=") != 1:
        return None
    rest = line[line.index(" UserId=") :]
    fields: dict[str, str] = {}
    for found in _FIELD.finditer(rest.partition(" Command=")[0]):
        fields.setdefault(found[1], found[2])
    try:
        word, restarts = fields["JobState"], int(fields["Restarts"])
        node_list, required, excluded = fields["NodeList"], fields["ReqNodeList"], fields["ExcNodeList"]
        reason = fields["Reason"]
    except (KeyError, ValueError):
        return None
    state = _STATES.get(word, JobState.OTHER)
    if word == "PENDING":
        state = JobState.HELD if fields.get("Priority") == "0" or "Held" in reason else JobState.PENDING
    # The only field used that stands behind texts of the user (Comment): the last one is Slurm's.
    tres = rest.rpartition(" TresPerNode=")[2].split(" ", 1)[0] if " TresPerNode=" in rest else ""
    return SlurmJob(
        job=job,
        state=state,
        word=word,
        reason=reason,
        restarts=restarts,
        requeue=fields.get("Requeue") == "1",
        node_list="" if node_list in _NONE else node_list,
        required="" if required in _NONE else required,
        excluded="" if excluded in _NONE else excluded,
        tres_per_node=tres,
        user=fields.get("UserId", "").partition("(")[0],
    )


def _is_about(job: str, line: str) -> bool:
    """True where a line is the record of this very job, and not of an array of which it is the first task."""
    number, _, task = job.partition("_")
    if task:
        return re.match(rf"JobId=[0-9]+ ArrayJobId={number} ArrayTaskId={task} ", line) is not None
    return line.startswith(f"JobId={number} ") and not line.startswith(f"JobId={number} ArrayJobId={number} ")
