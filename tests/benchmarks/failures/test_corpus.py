"""The committed corpus of failures: every log has a label, every label's lines are where its case says, nothing of this machine shows."""

import getpass
import re
import socket

import pytest

from benchmarks.corpus.failures.case import INJECTED, MADE, Case, raised, user_script
from benchmarks.corpus.failures.generate import LOGS, labels, load
from benchmarks.corpus.failures.label import UnexpectedLog, development, label
from benchmarks.corpus.failures.longform import PRELUDES, lengthen, prelude
from benchmarks.corpus.failures.scrub import scrub

FAMILIES = load()
MOST_BYTES = 3_000_000


@pytest.mark.parametrize("family", FAMILIES)
def test_every_log_is_labelled_as_its_case_says(family):
    known = {one["file"]: one for one in labels(family)}
    assert set(known) == {path.name for path in (LOGS / family).glob("*.log")}
    cases = {f"{case.name}.log": case for case in FAMILIES[family]}
    assert set(known) == set(cases)
    for name, case in cases.items():
        text = (LOGS / family / name).read_bytes().decode()
        assert label(family, case, text) == known[name]


@pytest.mark.parametrize("family", FAMILIES)
def test_accepted_lines_lie_in_the_log_and_hold_the_root(family):
    for one in labels(family):
        assert one["lines"] == (LOGS / family / one["file"]).read_bytes().count(b"\n") + _unended(family, one["file"])
        if one["error_type"] == "none":
            assert one["acceptable_lines"] is None
            continue
        for low, high in [one["acceptable_lines"], *one.get("alt_ranges", [])]:
            assert 1 <= low <= high <= one["lines"]
        low, high = one["acceptable_lines"]
        assert low == one["root_line"] <= one["message_line"] <= high


def _unended(family, file):
    text = (LOGS / family / file).read_bytes()
    return bool(text) and not text.endswith(b"\n")


def test_the_corpus_holds_eighty_failures_of_real_programs_and_healthy_runs():
    found = [one for family in FAMILIES for one in labels(family)]
    real = [one for one in found if one["origin"] in {MADE, INJECTED} and one["error_type"] != "none"]
    healthy = [one for one in found if one["error_type"] == "none"]
    assert len(real) >= 80
    assert len(healthy) >= 15
    halves = [one["development"] for one in found]
    assert 0.3 < sum(halves) / len(halves) < 0.7


def test_written_logs_say_where_their_format_is_documented():
    written = [one for family in FAMILIES for one in labels(family) if one["origin"] == "written"]
    assert written
    assert all(one["source"].startswith("https://") for one in written)


def test_it_is_small_and_says_nothing_of_the_machine_that_made_it():
    files = [*LOGS.rglob("*"), *PRELUDES.glob("*")]
    assert sum(path.stat().st_size for path in files if path.is_file()) < MOST_BYTES
    host = re.compile(rf"(?<![\w.-]){re.escape(socket.gethostname())}(?![\w-])".encode())
    for path in LOGS.rglob("*.log"):
        text = path.read_bytes()
        assert not host.search(text), path
        assert b"/home/" + getpass.getuser().encode() not in text, path
        assert not re.search(rb"/tmp/run-\w+|/root/", text), path


@pytest.mark.parametrize("style", sorted({one["style"] for family in FAMILIES for one in labels(family)}))
def test_every_style_has_thousands_of_real_reports(style):
    assert len(prelude(style)) > 1000


def test_the_long_form_moves_the_root_by_the_lines_put_in():
    text, more = lengthen("start\nstep 1 loss 2\nTraceback\nKeyError: 'a'\n", "plain", 1)
    lines = text.split("\n")
    assert more == len(prelude("plain"))
    assert lines[0] == "start"
    assert lines[1:3] == list(prelude("plain")[:2])
    assert lines[3 - 1 + more] == "Traceback"


def _case(**more):
    return Case("one", "", user_script(why="", **(raised(r"^KeyError") | more)))


def test_a_label_spans_the_traceback_of_the_root():
    text = "step 1 loss 2\nTraceback (most recent call last):\n  File x\nKeyError: 'a'\nTraceback (most recent call last):\nOSError: b\n"
    one = label("f", _case(), text)
    assert one["acceptable_lines"] == [2, 4]
    assert (one["root_line"], one["message_line"], one["lines"], one["splice"]) == (2, 4, 6, 0)


def test_a_label_of_repeated_roots_accepts_each_block():
    block = "Traceback (most recent call last):\nKeyError: 'a'\n"
    one = label("f", _case(repeated=True), block * 3)
    assert one["acceptable_lines"] == [1, 2]
    assert one["alt_ranges"] == [[3, 4], [5, 6]]


def test_a_log_without_its_mark_is_refused():
    with pytest.raises(UnexpectedLog, match="KeyError"):
        label("f", _case(), "Traceback (most recent call last):\nOSError: b\n")
    with pytest.raises(UnexpectedLog, match="Traceback"):
        label("f", _case(), "KeyError: 'a'\n")


def test_halves_follow_from_the_name_alone():
    assert [development(name) for name in ("a.log", "a.log")] in ([True] * 2, [False] * 2)
    assert {development(f"{number}.log") for number in range(20)} == {True, False}


def test_scrubbing_takes_out_places_and_the_host(tmp_path):
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    text = f'File "{tmp_path}/run/a.py" on {socket.gethostname()}\nFile "{tmp_path}/venv/lib/b.py"\n'
    assert (
        scrub(text, tmp_path / "run", python) == 'File "/home/user/project/a.py" on node1\nFile "/opt/venv/lib/b.py"\n'
    )
