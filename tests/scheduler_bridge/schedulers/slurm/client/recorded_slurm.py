"""Slurm as it answered once: recorded output of the real commands."""

import json
import re
from pathlib import Path

from scheduler_bridge.schedulers.slurm.client import SlurmRefused, UnknownSlurmJob

_RECORDED = Path(__file__).with_name("recorded")
SCONTROL = (_RECORDED / "scontrol-22.05.txt").read_text()
SQUEUE = (_RECORDED / "squeue-22.05.json").read_text()


class Recorded:
    """Answers with what Slurm 22.05 printed of fourteen jobs; one of them has a newline and a number in its name.

    Args:
        json: What `squeue --json` prints; empty for a build without it.
    """

    def __init__(self, json: str = SQUEUE) -> None:
        self.json = json
        self.commands: list[tuple[str, ...]] = []

    def __call__(self, *command: str) -> str:
        self.commands.append(command)
        match command:
            case ("scontrol", "show", "job", "-d", "-o"):
                return SCONTROL
            case ("scontrol", "show", "job", "-d", "-o", number):
                array, _, task = number.partition("_")
                head = (
                    re.escape(f"JobId={number} ") if not task else rf"JobId=\d+ ArrayJobId={array} ArrayTaskId={task} "
                )
                if not (found := re.search(rf"^{head}", SCONTROL, re.MULTILINE)):
                    raise UnknownSlurmJob("a job", "Invalid job id specified", "")
                return SCONTROL[found.start() :]
            case ("scontrol", "show", "job", "-d", "--json", *_):
                raise SlurmRefused("`scontrol --json`", "scontrol: unrecognized option '--json'", "")
            case ("squeue", "--json"):
                if not self.json:
                    raise SlurmRefused("`squeue --json`", "unrecognized option '--json'", "")
                return self.json
            case ("squeue", "--noheader", "--states=all", "--format=%A"):
                return "\n".join(str(job["job_id"]) for job in json.loads(SQUEUE)["jobs"])
        raise AssertionError(command)
