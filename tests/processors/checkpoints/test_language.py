r"""Which lines tell of a save, what they tell, where and at which step: lines as many programs print them, and those that look alike.

lines.tsv holds what each tells (a `+`: in the background; a `-`: nothing), the path, the step and the line, its tabs as `\t`.
"""

from pathlib import Path

import pytest

from processors.checkpoints import language, places
from processors.grammar.extractor import templates
from processors.grammar.prefix import strip_prefix

LINES = [tuple(line.split("\t", 3)) for line in (Path(__file__).parent / "lines.tsv").read_text("utf-8").splitlines()]


@pytest.mark.parametrize(("what", "path", "step", "printed"), LINES)
def test_what_a_line_tells(what: str, path: str, step: str, printed: str) -> None:
    line = printed.replace(r"\t", "\t")
    said = language.read(strip_prefix(templates([line])[0]).body)
    assert (said.what.value + "+" * said.asynchronous if said is not language.NOTHING else "-") == what
    if said is not language.NOTHING:
        body = strip_prefix(line).body
        found = places.path(body)
        assert (found, places.step(body, found)) == (path, int(step) if step else None)


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        ("Saved checkpoint to a.pt (writing took 2.31 seconds)", 2.31),
        ("Finished saving the checkpoint in 12.5 seconds.", 12.5),
        ("checkpoint saved, took: 250 ms", 0.25),
        ("Saved checkpoint in run/a.pt at step 12", None),
    ],
)
def test_how_long_a_save_took(line: str, seconds: float | None) -> None:
    assert places.seconds(line) == seconds


def test_a_path_that_is_too_long_or_holds_marks_of_control_is_left_out() -> None:
    assert not places.path(f"Saved checkpoint to /{'a' * 2000}.pt")
    assert not places.path("Saved checkpoint to /run/\x07a.pt")


@pytest.mark.parametrize(
    ("inner", "outer"),
    [("/run/step10/model.pt", "/run/step10"), ("/run/step10/a/b.pt", "step10"), ("a.pt", "a.pt")],
)
def test_what_stands_within_a_path(inner: str, outer: str) -> None:
    assert places.is_within(inner, outer)


def test_a_longer_name_is_another_place() -> None:
    assert not places.is_within("/run/step100/model.pt", "/run/step10")
