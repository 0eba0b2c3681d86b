"""Commands of job scripts, with variables replaced."""

import pytest

from processors.advise.metadata.shell import commands


def words(text: str, *given: str, **environment: str) -> list[list[str]]:
    return [each for each, _, _ in commands(text, ".", environment, list(given))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A=1\npython x.py --a $A ${A}", ["python", "x.py", "--a", "1", "1"]),
        ("python x.py ${B:-2} ${B:-$A}", ["python", "x.py", "2", "3"]),
        ('ARGS="--a 1 --b 2"\npython x.py $ARGS', ["python", "x.py", "--a", "1", "--b", "2"]),
        ("ARGS=(--a 1 # first\n  --b 2)\npython x.py ${ARGS[@]}", ["python", "x.py", "--a", "1", "--b", "2"]),
        ("ARGS='--a 1'\nARGS+=' --b'\npython x.py $ARGS", ["python", "x.py", "--a", "1", "--b"]),
        ("python x.py \\\n  --a 1 # a comment", ["python", "x.py", "--a", "1"]),
        ("python x.py '--name=a b' \"c\nd\"", ["python", "x.py", "--name=a b", "c\nd"]),
        ("for n in 4 5; do python x.py $n; done", ["python", "x.py", "4"]),
        ("export A=7 && python x.py $A", ["python", "x.py", "7"]),
        ("python x.py $1 $@", ["python", "x.py", "first", "first", "second"]),
        ("python x.py $(date +%s) `hostname`", ["python", "x.py", "?", "?"]),
        ("python x.py $UNSET", ["python", "x.py", "$UNSET"]),
    ],
)
def test_variables_are_replaced(text: str, expected: list[str]) -> None:
    assert words(text, "first", "second", A="3")[-1 if "done" not in text else 0] == expected


def test_working_directory_and_variables_of_a_command() -> None:
    (found,) = commands("cd a\nLR=2 python x.py", ".", {}, [])
    assert found[:2] == (["python", "x.py"], "./a")
    assert found[2]["LR"] == "2"


@pytest.mark.parametrize("text", ["echo 'open", "$" * 9_000, "((" * 9_000, "A=$A$A\n" * 60, "`" * 9_000, "${" * 9_000])
def test_hostile_text_ends(text: str) -> None:
    for each in words(f"{text}\npython x.py"):
        assert sum(map(len, each)) < 10_000_000
