from pathlib import Path

import pytest

from processors.diagnose.catalogue import InvalidSignature, Signature, load, parse
from processors.diagnose.kinds import AFTER, BEFORE, KINDS
from processors.diagnose.matcher import Matcher

ENTRIES = load()

ENTRY = """
[[signature]]
name = "pump_lost"
pattern = 'coolant pump \\d+ lost'
kind = "node"
error_type = "infrastructure"
component = "node"
restartable = true
confidence = 0.9
action = "Mend the pump."
source = "our own"
example = "coolant pump 7 lost"
counter = "coolant pump 7 found"
"""


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    return Matcher(ENTRIES)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_entry_matches_its_example_alone_and_in_the_set(entry: Signature, matcher: Matcher) -> None:
    assert entry.matches(entry.example)
    assert not entry.matches(entry.counter)
    found = matcher.find([entry.example, entry.counter])
    assert entry in [matcher.signatures[number] for number in found[0]]
    one = matcher.signature(found[0], entry.example)
    assert one is not None
    assert one.confidence >= entry.confidence


def test_names_and_families_are_there() -> None:
    names = [entry.name for entry in ENTRIES]
    assert len(names) == len(set(names)) > 100


def test_numbers_tell_entries_of_one_pattern_apart(matcher: Matcher) -> None:
    lines = [f"NVRM: Xid (PCI:0000:3b:00): {number}, pid=1" for number in (79, 31, 74, 4444)]
    matches = zip(matcher.find(lines), lines, strict=True)
    found = [matcher.signature(numbers, line) for numbers, line in matches]
    assert [one and one.name for one in found] == ["xid_fallen_off_bus", "xid_program_fault", "xid_nvlink", None]


def test_an_operators_file_is_added_and_replaces_by_name(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(ENTRY + ENTRY.replace("pump_lost", "oom_killer"))
    entries = load([own])
    assert "pump_lost" in {entry.name for entry in entries}
    assert [entry.source for entry in entries if entry.name == "oom_killer"] == ["our own"]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("lost'", "(lost'", "expected an RE2 pattern"),
        ('kind = "node"', 'kind = "pump"', "expected a kind among"),
        ('component = "node"', 'component = "none"', "needs the component"),
        ('error_type = "infrastructure"', 'error_type = "other"', "only an infrastructure failure"),
        ("confidence = 0.9", "confidence = 2", "confidence"),
        ("confidence = 0.9", 'confidence = "high"', "Expected `float`"),
        ("found", "lost", "`counter` matches"),
        ('example = "coolant pump 7 lost"', 'example = "pump"', "does not match"),
        ("pump \\d+", "pump 7", "digit other than 0"),
        ('source = "our own"\n', "", "missing required field"),
        ('source = "our own"\n', 'source = ""\ncolour = "red"\n', "unknown field"),
        ("[[signature]]", "[[signatures]]", "expected only [[signature]] tables"),
        ("[[signature]]", "[[signature]", "expected TOML"),
        ("confidence = 0.9", "confidence = 0.9\nnumbers = [7]", "first group"),
    ],
)
def test_a_bad_entry_is_refused_with_its_reason(old: str, new: str, reason: str) -> None:
    assert old in ENTRY
    with pytest.raises(InvalidSignature) as caught:
        parse(ENTRY.replace(old, new), "own.toml")
    assert "own.toml" in str(caught.value)
    assert reason in str(caught.value)


def test_two_entries_of_one_name_and_pattern_are_refused(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(ENTRY + ENTRY)
    with pytest.raises(InvalidSignature, match="two entries"):
        load([own])


def test_the_graph_knows_every_kind() -> None:
    assert set(AFTER) == set(BEFORE) == set(KINDS)
    for other in (*AFTER.values(), *BEFORE.values()):
        assert other <= set(KINDS)
