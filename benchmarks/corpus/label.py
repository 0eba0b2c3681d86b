"""Writes the labels of lines: `python -m benchmarks.corpus.label`.

The rules in labels.toml say, framework by framework, which of its lines are which. They were written by hand with the logs in view; what
can be disputed has no rule. A sample of the lines that a rule covers goes to labels.tsv of each set-up.
"""

import re
import tomllib
from collections import defaultdict
from pathlib import Path

from . import capture
from .plan import BLIND_LOGS, HERE, LOGS

SAMPLE = 6
"""Lines of one rule that one log gives."""
SHOWN = 160
"""Characters of a line that stand beside its label, for a reader."""
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

Rule = tuple[str, re.Pattern[str]]


def load_rules() -> dict[str, list[Rule]]:
    """Return the rules by framework, those for all frameworks last."""
    content = tomllib.loads((HERE / "labels.toml").read_text())
    content |= tomllib.loads((BLIND_LOGS.parent / "labels.toml").read_text())
    common = content.pop("all")["rules"]
    return {
        name: [(label, re.compile(pattern)) for label, pattern in [*content.get(name, {"rules": []})["rules"], *common]]
        for name in [*content, ""]
    }


def rule_of(line: str, rules: list[Rule]) -> int | None:
    """Return which rule covers a line; None where none does, or where its redraws are of several classes."""
    found = set()
    for part in line.split("\r"):
        shown = _COLOURS.sub("", part)
        if shown.strip():
            found.add(next((at for at, (_, pattern) in enumerate(rules) if pattern.search(shown)), None))
    if not found or None in found or len({rules[at][0] for at in found if at is not None}) > 1:
        return None
    return min(at for at in found if at is not None)


def sample(text: str, rules: list[Rule]) -> list[tuple[int, str, str]]:
    """Return (line number, label, text) of some lines of each rule, spread over the log."""
    covered = defaultdict(list)
    for number, line in enumerate(text.split("\n"), 1):
        at = rule_of(line, rules)
        if at is not None:
            covered[at].append((number, rules[at][0], _COLOURS.sub("", line.strip("\r").split("\r")[-1])[:SHOWN]))
    chosen = []
    for lines in covered.values():
        last = len(lines) - 1
        places = {round(step * last / (SAMPLE - 1)) for step in range(SAMPLE)}
        chosen += [lines[place] for place in places]
    return sorted(chosen)


def text_of(folder: Path) -> str:
    """Return the log in `folder`."""
    return b"".join(piece for piece, _ in capture.read(folder).pieces).decode("utf-8", "backslashreplace")


def write(folder: Path, rules: dict[str, list[Rule]]) -> int:
    """Write the labels of the log in `folder`; return how many lines have one."""
    lines = sample(text_of(folder), rules.get(folder.parent.name, rules[""]))
    target = folder / "labels.tsv"
    target.unlink(missing_ok=True)
    if lines:
        rows = (f"{number}\t{label}\t{text.replace(chr(9), ' ')}" for number, label, text in lines)
        target.write_text("\n".join(["line\tlabel\ttext", *rows]) + "\n")
    return len(lines)


def main() -> None:
    rules = load_rules()
    found = sorted([*LOGS.glob("*/*/truth.json"), *BLIND_LOGS.glob("*/*/truth.json")])
    total = sum(write(path.parent, rules) for path in found)
    print(f"{total} lines labelled")


if __name__ == "__main__":
    main()
