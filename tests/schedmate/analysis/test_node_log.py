"""`analyze` on a node's kernel or system log."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from processors.job import JobProcessor
from schedmate.analysis.analysis import analyze
from schedmate.analysis.node_log import is_node_log
from schedmate.report.report import report
from streams.producers.stored import read_chunks

PROCESSOR = JobProcessor()
WORDS = [
    "usb 1-1: new high-speed USB device number 7",
    "NVRM: Xid (PCI:0000:3b:00): 79, pid=4242, name=python, GPU has fallen off the bus.",
    "EXT4-fs (sda2): mounted filesystem with ordered data mode",
    "NVRM: Xid (PCI:0000:3b:00): 79, pid=4243, name=python, GPU has fallen off the bus.",
    "oom-kill:constraint=CONSTRAINT_MEMCG,task_memcg=/slurm/uid_1000/job_17/step_0,task=python,pid=4242,uid=1000",
]
FORMS = {
    "dmesg": "[ 8{number:03}.12345{number}] {text}",
    "dmesg -T": "[Tue Mar  3 04:05:0{number} 2026] {text}",
    "dmesg -x": "kern  :err   : [ 8{number:03}.12345{number}] {text}",
    "kmsg": "3,142{number},81238712{number},-;{text}",
    "journal": "Mar 03 04:05:0{number} n7 kernel: {text}",
    "journal, ISO": "2026-03-03T04:05:0{number}+0100 n7 kernel: {text}",
    "syslog": "Mar  3 04:05:0{number} n7 kernel: [ 8{number:03}.12345{number}] {text}",
}


def write(path: Path, form: str, words: list[str]) -> Path:
    path.write_text("".join(FORMS[form].format(number=number, text=text) + "\n" for number, text in enumerate(words)))
    return path


def analyzed(file: Path) -> dict[str, Any]:
    return analyze(file, read_chunks(file), PROCESSOR).contract()


@pytest.mark.parametrize("form", sorted(FORMS))
def test_a_kernel_log_tells_of_its_node(tmp_path: Path, form: str) -> None:
    signs = analyzed(write(tmp_path / "kern.log", form, WORDS))["node"]
    assert [(one["signature"], one["line"], one["last_line"], one["times"]) for one in signs] == [
        ("xid_fallen_off_bus", 2, 4, 2),
        ("oom_killer", 5, 5, 1),
    ]
    assert (signs[0]["device"], signs[0]["severity"], signs[1]["jobs"]) == ("0000:3b:00", "fatal", ["17"])


def test_a_person_sees_the_worst_first(tmp_path: Path) -> None:
    file = write(tmp_path / "kern.log", "dmesg", WORDS)
    with Console(record=True, width=200) as console, console.capture() as shown:
        console.print(report(analyze(file, read_chunks(file), PROCESSOR)))
    lines = shown.get().splitlines()
    assert "xid_fallen_off_bus (gpu 0000:3b:00), 2 times, until line 4" in lines[1]
    assert WORDS[1] in lines[2]
    calm = write(tmp_path / "calm.log", "journal", WORDS[:1] * 3)
    assert analyzed(calm)["node"] == []
    with console.capture() as shown:
        console.print(report(analyze(calm, read_chunks(calm), PROCESSOR)))
    assert "no known sign of a fault" in shown.get()


@pytest.mark.parametrize(
    "lines",
    [
        ["step 1 loss 2.0", *WORDS],
        [f"[ {number}.25] step {number} loss 2.0" for number in range(9)],
        [f"Mar 03 04:05:0{number} n7 python[77]: step {number} loss 2.0" for number in range(9)],
        [f"2026-03-03T04:05:0{number}+0100 train INFO: step {number}" for number in range(9)],
        [],
        ["", " "],
    ],
)
def test_jobs_logs_are_none(lines: list[str]) -> None:
    assert not is_node_log(lines)


def test_a_log_of_progress_stays_a_jobs_whoever_collected_it(tmp_path: Path) -> None:
    words = [f"step {number}/9 | loss {1 / (number + 1):.3f} | step_time 0.25 s" for number in range(9)]
    contract = analyzed(write(tmp_path / "job.log", "dmesg", words))
    assert contract["node"] is None
    assert contract["progress"]["last_step"] == 8


@given(st.lists(st.text(), max_size=20))
def test_any_lines_are_looked_at(lines: list[str]) -> None:
    assert is_node_log(lines) in {True, False}
