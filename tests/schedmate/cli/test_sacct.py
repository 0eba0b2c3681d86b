"""One command of sacct prints the file that several commands read, and the documentation shows no other."""

import csv
import re
from pathlib import Path

from typer.testing import CliRunner

from processors.advise.predictors.sacct import COLUMNS, COMMAND
from schedmate.cli import app
from tests.docs.pages import ROOT

from .test_help import help_of


def accounting(file: Path, jobs: int) -> Path:
    """Write what `COMMAND` prints of `jobs` jobs that ended, of one that runs, and of one that waits."""
    values = {"User": "ada", "State": "COMPLETED", "WorkDir": "/home/ada", "Partition": "gpu", "ReqTRES": "billing=8,gres/gpu=4,node=1",
              "ReqNodes": "1", "TimelimitRaw": "120", "JobName": "train"}  # fmt: skip
    rows = [
        values | {"JobID": str(job), "Submit": f"2026-11-{job % 28 + 1:02}T10:00:00", "Start": f"2026-11-{job % 28 + 1:02}T10:01:00",
                  "End": f"2026-11-{job % 28 + 1:02}T11:{job % 60:02}:00", "SubmitLine": f"sbatch --gres=gpu:4 train.sh --seed {job}"}
        for job in range(jobs)
    ]  # fmt: skip
    rows.append(rows[27] | {"JobID": "running", "State": "RUNNING", "End": "Unknown"})
    rows.append(rows[27] | {"JobID": "waiting", "State": "PENDING", "Start": "Unknown", "End": "Unknown"})
    lines = ["|".join(COLUMNS), *("|".join(row[name] for name in COLUMNS) for row in rows)]
    file.write_text("\n".join(lines) + "\n")
    return file


def test_one_file_serves_all_commands(tmp_path: Path) -> None:
    file = accounting(tmp_path / "jobs.txt", 400)
    settings = [f"--set=advisor.history={tmp_path / 'history.db'}", f"--set=advisor.models={tmp_path / 'models'}"]
    done = {
        " ".join(command[:2]): CliRunner().invoke(app, [*settings, *command])
        for command in (
            ["import", "sacct", str(file)],
            ["advise", "train", str(file)],
            ["simulate", str(file), "--nodes", "2x8", "--csv"],
            ["starts", "--sacct", str(file), "--nodes", "1x4", "--csv"],
        )
    }
    assert {name: each.exit_code for name, each in done.items()} == dict.fromkeys(done, 0), [
        each.output for each in done.values()
    ]
    (row,) = csv.DictReader(done[f"simulate {file}"].stdout.splitlines())
    assert row["jobs"] == "400"
    (waits,) = csv.DictReader(done["starts --sacct"].stdout.splitlines())
    assert (waits["job"], waits["user"], waits["gpus_a_node"], waits["chance"]) == ("waiting", "ada", "4.0", "1.0")
    assert "400 new jobs" in done["import sacct"].output


def test_the_documentation_shows_one_command() -> None:
    texts = [page.read_text(encoding="utf-8") for page in (*(ROOT / "docs").glob("*.md"), ROOT / "README.md")]
    texts += [help_of(*command) for command in (("import", "sacct"), ("advise", "train"), ("simulate",), ("starts",))]
    shown = {each for text in texts for each in re.findall(r"TZ=UTC sacct [^>`\n]+?(?= *[>`\n])", text)}
    assert shown == {COMMAND}
