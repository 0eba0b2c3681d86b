"""The labelled lines that the line classifier's model is trained on, one a template, from the project's own corpora and exemplars."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.corpus.label import load_rules, rule_of, text_of
from benchmarks.corpus.plan import LOGS
from processors.classify.grams import normal
from processors.classify.kinds import Ground, kind_of
from processors.grammar.extractor import DIGITS, LONGEST
from processors.grammar.prefix import clean

HERE = Path(__file__).parent
FAILURES = HERE.parent / "corpus" / "failures" / "logs"
LETTERS = {"progress": "p", "warning": "w", "error": "e", "other": "o"}
UNLABELLED = 40
TURNS = 3
"""Things that each phrase is said of."""
COMPOSED = "composed"
"""Group and source of the phrases: they are trained on, but measure nothing."""


class Example(NamedTuple):
    """A line whose class is known.

    Attributes:
        letter: e, w, p or o.
        group: Framework, family of failures or tool: what is left out together.
        source: `corpus`, `unlabelled`, `failures`, `composed`, or the theme of an exemplar.
        template: The line, masked.
        known: A signature settles it.
    """

    letter: str
    group: str
    source: str
    template: str
    known: bool


def examples() -> list[Example]:
    """Return all examples: of lines of one group that differ only in what a model does not see, the first."""
    found: dict[tuple[str, str, str], Example] = {}
    for each in (*corpus(), *failures(), *written(), *composed()):
        found.setdefault((each.group, each.letter, normal(each.template)), each)
    return list(found.values())


def example(letter: str, group: str, source: str, line: str) -> Example:
    template = clean(line).translate(DIGITS)[:LONGEST]
    return Example(letter, group, source, template, kind_of(template)[1] is not Ground.NOTHING)


def corpus() -> Iterator[Example]:
    """Yield the lines of real runs that a rule covers, and of those that none covers some that no signature knows: these are `other`."""
    rules = load_rules()
    for path in sorted(LOGS.glob("*/*/truth.json")):
        framework = path.parent.parent.name
        known = rules.get(framework, rules[""])
        others: set[str] = set()
        for line in text_of(path.parent).split("\n"):
            at = rule_of(line, known)
            if at is not None:
                for part in line.split("\r"):
                    if clean(part).strip():
                        yield example(LETTERS[known[at][0]], framework, "corpus", part)
                continue
            each = example("o", framework, "unlabelled", line)
            if not each.known and len(others) < UNLABELLED and each.template.strip() and each.template not in others:
                others.add(each.template)
                yield each


def failures() -> Iterator[Example]:
    """Yield the root lines of failures that were provoked."""
    for path in sorted(FAILURES.glob("*/truth.jsonl")):
        for row in path.read_text().splitlines():
            truth = json.loads(row)
            lines = (path.parent / truth["file"]).read_text(errors="backslashreplace").split("\n")
            for number in {truth["root_line"], truth["message_line"]} - {None}:
                yield example("e", path.parent.name, "failures", lines[number - 1])


def written() -> Iterator[Example]:
    """Yield the exemplars, a theme a file."""
    for path in sorted((HERE / "exemplars").glob("*.tsv")):
        for letter, tool, text in rows_of(path, 3):
            yield example(letter, tool, path.stem, text)


def composed() -> Iterator[Example]:
    """Yield phrases, each said of some things. Every class speaks of all things equally often, so that these tell nothing."""
    things = (HERE / "things.txt").read_text().splitlines()
    for number, (letter, phrase) in enumerate(rows_of(HERE / "phrases.tsv", 2)):
        for turn in range(TURNS):
            thing = things[(number * TURNS + turn * len(things) // TURNS) % len(things)]
            yield example(letter, COMPOSED, COMPOSED, phrase.format(thing))


def rows_of(path: Path, columns: int) -> Iterator[list[str]]:
    """Yield the rows of a table without a header; lines that begin with `#` are comments."""
    for row in path.read_text().splitlines():
        if not row.startswith("#"):
            yield row.split("\t", columns - 1)
