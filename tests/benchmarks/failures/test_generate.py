"""Failures made anew: the program fails again, and its truth is found on the lines that the committed label names."""

import shutil
from dataclasses import replace

import pytest

from benchmarks.corpus.failures.case import Case, UnexpectedEnd, user_script
from benchmarks.corpus.failures.environments import HOW, TORCH
from benchmarks.corpus.failures.generate import labels, load
from benchmarks.corpus.failures.label import label
from benchmarks.corpus.failures.run import run

AGAIN = {
    "python": "key_error_config",
    "files": "missing_shard",
    "host": "sigterm",
    "network": "refused",
    "hardware": "xid_79_off_the_bus",
    "healthy": "metrics_named_error",
}
FAMILIES = load()


def _again(family, name):
    case = next(case for case in FAMILIES[family] if case.name == name)
    return label(family, case, run(case)), next(one for one in labels(family) if one["kind"] == name)


@pytest.mark.parametrize(("family", "name"), AGAIN.items())
def test_a_case_made_again_shows_the_same_truth(family, name):
    new, old = _again(family, name)
    # How long a traceback is depends on the version of Python; where it begins and what it means does not.
    for each in ("root_line", "error_type", "faulty_component", "restartable", "splice", "development"):
        assert new[each] == old[each]


@pytest.mark.parametrize(("family", "name"), [("files", "quota"), ("versions", "undefined_symbol")])
def test_a_case_that_compiles_something_is_made_again(family, name):
    if not shutil.which("gcc"):
        pytest.skip("gcc is not here: apt-get install gcc")
    new, old = _again(family, name)
    assert new["root_line"] == old["root_line"]


@pytest.mark.slow
def test_a_killed_rank_of_torchrun_is_made_again():
    if not (TORCH / "bin" / "python").exists():
        pytest.skip(HOW)
    new, old = _again("torchrun", "exit_code")
    assert new["error_type"] == old["error_type"]
    assert new["root_line"]


def test_a_case_that_does_not_end_as_it_must_is_refused():
    fails = Case("ends", "exit 3", None)
    with pytest.raises(UnexpectedEnd, match="exit code 3"):
        run(fails)
    with pytest.raises(UnexpectedEnd, match="expected a failure"):
        run(replace(fails, run="true", truth=user_script("x", "never")))
    with pytest.raises(UnexpectedEnd, match=r"within 0\.5 s"):
        run(replace(fails, run="sleep 30", seconds=0.5))
    with pytest.raises(FileNotFoundError, match="no-such-command"):
        run(replace(fails, needs=("no-such-command",)))
