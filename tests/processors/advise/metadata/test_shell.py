"""Launch scripts: what Bash would start, as far as it can be told without running anything."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from processors.advise.metadata.shell import commands
from processors.advise.metadata.shell.state import LONGEST_VALUE, MOST_COMMANDS, MOST_ITEMS
from processors.advise.metadata.tree import SourceTree


def _words(tmp_path: Path, script: str, *arguments: str, **environment: str) -> list[list[str]]:
    found = commands(script, SourceTree(tmp_path), ".", environment, list(arguments), "jobs/run.sh")
    return [each.words for each in found]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("A=(1 'x y')\nA+=(--z \"$B\")\nrun \"${A[@]}\" ${#A[@]} ${A[1]}", ["run", "1", "x y", "--z", "b", "4", "x", "y"]),
        ("N=$((26 * 1000 / (4 * 5)))\nrun $N $((N % 7)) $((2 ** 10))", ["run", "1300", "5", "1024"]),
        ("((I = 3)); ((I++)); let J=I*2\nrun $I $J", ["run", "4", "8"]),
        ("run ${X:-${Y:-7}} ${B:+set} ${B:-no} ${X-}", ["run", "7", "set", "b"]),
        ("P=a/b/c.tar.gz\nrun ${P##*/} ${P%.*} ${P%%.*} ${P#*/} ${P/b/z} ${P:0:3}",
         ["run", "c.tar.gz", "a/b/c.tar", "a/b/c", "b/c.tar.gz", "a/z/c.tar.gz", "a/b"]),
        ("U=abC\nrun ${U^^} ${U,,} ${#U} ${!REF}", ["run", "ABC", "abc", "3", "abC"]),
        ("run \"$(dirname \"$0\")\"/x.py $(basename a/b.yaml .yaml) $(echo hi) `echo ho`", ["run", "jobs/x.py", "b", "hi", "ho"]),
        ("ARGS='\n  --a 1\n  --b 2\n'\nrun $ARGS '$ARGS' \"$B  c\"", ["run", "--a", "1", "--b", "2", "$ARGS", "b  c"]),
        ("run --a \\\n#  --left-out \\\n  --b > log.txt 2>&1 &", ["run", "--a", "--b"]),
        ("f() { local n=$1; run $n \"${@:2}\"; }\nf 3 x y", ["run", "3", "x", "y"]),
        ("#SBATCH --array=2-5\nC=(a b c d)\nrun ${C[$SLURM_ARRAY_TASK_ID]}", ["run", "c"]),
        ("for s in {3..5}; do run $s; done", ["run", "3"]),
        ("eval \"run $B\"", ["run", "b"]),
        ("set -- p q\nshift\nrun $1 $#", ["run", "q", "1"]),
    ],
)  # fmt: skip
def test_words_are_expanded(script: str, expected: list[str], tmp_path: Path) -> None:
    assert _words(tmp_path, script, B="b", REF="U") == [expected]


@pytest.mark.parametrize(
    ("condition", "taken"),
    [
        ('[ -n "$B" ]', True),
        ('[ -z "$B" ]', False),
        ('[[ $B == b* && "$B" != c ]]', True),
        ("[[ -z $B || $# -gt 3 ]]", False),
        ("[ $# -eq 2 ]", True),
        ("! [ -z $NONE ]", False),
        ("(( $# > 1 ))", True),
        ("[ -f here.txt ]", True),
        ("test -d there", True),
        ("some_command --that prints", True),
    ],
)
def test_a_known_condition_chooses_its_branch(condition: str, taken: bool, tmp_path: Path) -> None:
    (tmp_path / "here.txt").touch()
    (tmp_path / "there").mkdir()
    found = _words(tmp_path, f"if {condition}; then run yes; else run no; fi", "p", "q", B="b")
    assert [each for each in found if each[0] == "run"] == [["run", "yes" if taken else "no"]]


def test_options_are_read_in_a_loop(tmp_path: Path) -> None:
    script = """
while [[ $# -gt 0 ]]; do
  case "$1" in
    --lr|-l) LR="$2"; shift 2 ;;
    --fast) FAST=1; shift ;;
    *) REST+=("$1"); shift ;;
  esac
done
run --lr $LR --fast ${FAST:-0} "${REST[@]}"
"""
    assert _words(tmp_path, script, "a", "--lr", "0.1", "--fast", "b") == [
        ["run", "--lr", "0.1", "--fast", "1", "a", "b"]
    ]


def test_what_cannot_run_is_not_found(tmp_path: Path) -> None:
    assert _words(tmp_path, 'if [ -z "$1" ]; then echo usage; exit 1; fi\nrun') == []
    assert _words(tmp_path, "false && run a\ntrue || run b\nrun c") == [["run", "c"]]


def test_a_subshell_leaves_the_directory(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    found = commands("(cd sub && run a)\nrun b", SourceTree(tmp_path), ".", {}, [])
    assert [(each.words[1], each.directory) for each in found] == [("a", "sub"), ("b", ".")]


@pytest.mark.parametrize(
    "script",
    [
        "f() { f; f; }\nf",
        "while true; do X=$X$X$X; run; done",
        "X=aaaaaaaa\n" + "X=$X$X$X$X\n" * 40 + "run $X",
        "A=(1 2)\n" + 'A=("${A[@]}" "${A[@]}")\n' * 40 + "run",
        "$((" * 2_000,
        "${" * 2_000,
        "$(" * 2_000,
        "(" * 3_000,
        "eval " * 500 + "run",
        'X=\'eval "$X"\'\neval "$X"',
        "run $((9 ** 9 ** 9 ** 9)) $((1 << 99999999))",
        "A[999999999]=1\nrun ${A[-5]}",
        "if " * 800,
    ],
)
def test_a_script_without_end_is_bounded(script: str, tmp_path: Path) -> None:
    found = _words(tmp_path, script)
    assert len(found) <= MOST_COMMANDS
    assert all(len(each) <= MOST_ITEMS * 2 and max(map(len, each), default=0) <= LONGEST_VALUE for each in found)


_SIGNS = [
    "$",
    "{",
    "}",
    "(",
    ")",
    "((",
    "))",
    '"',
    "'",
    "`",
    "\\",
    ";",
    "&&",
    "||",
    "[",
    "]",
    "[[",
    "]]",
    "@",
    "#",
    "\n",
    "\0",
    " ",
]
_WORDS = [
    "if",
    "then",
    "fi",
    "case",
    "in",
    "esac",
    "for",
    "do",
    "done",
    "while",
    "A=",
    "A+=",
    "##*/",
    ":-",
    "$(",
    "${A",
    "1",
    "x",
    "é",
]
_PIECES = st.sampled_from([*_SIGNS, *_WORDS])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_PIECES, max_size=60).map("".join))
def test_any_text_is_read(tmp_path: Path, script: str) -> None:
    for each in _words(tmp_path, script, "a"):
        assert all(isinstance(word, str) for word in each)
