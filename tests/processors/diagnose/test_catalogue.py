from importlib import resources
from pathlib import Path

import pytest

from processors.diagnose.catalogue import InvalidSignature, Signature, families, load, parse
from processors.diagnose.kinds import AFTER, BEFORE, Kind
from processors.diagnose.matcher import Matcher
from processors.grammar.extractor import LONGEST

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


def test_every_entry_matches_its_example_alone_and_in_the_set(matcher: Matcher) -> None:
    assert [entry.name for entry in ENTRIES if not entry.matches(entry.example) or entry.matches(entry.counter)] == []
    assert [entry.name for entry in ENTRIES if not _found(entry, matcher)] == []


def _found(entry: Signature, matcher: Matcher) -> bool:
    numbers, _ = matcher.find([entry.example, entry.counter])
    one = matcher.signature(numbers, entry.example)
    known = entry in [matcher.signatures[number] for number in numbers]
    return known and one is not None and one.confidence >= entry.confidence


def test_lines_are_told_apart_by_what_comes_after_their_template(matcher: Matcher) -> None:
    example = next(entry.example for entry in ENTRIES if entry.name == "xid_fallen_off_bus")
    for length in (LONGEST - 1, LONGEST, LONGEST + 1, 1500):
        start = "." * length + " "
        for line, known in [(start, False), (start + example, True), (start + "all is well", False)] * 2:
            assert bool(matcher.find([line])[0]) == known


@pytest.mark.parametrize(
    "prefix",
    [
        "2024-01-02T03:04:05.678901234Z stderr F ",
        "trainer-1  | ",
        "trainer    | ",
        "[pod/train-0/main] ",
        "[2031-02-03T04:05:06.789+0000] {subprocess.py:93} INFO - ",
        "train-0 trainer ",
        "2024-01-02T03:04:05.678901Z 01E ",
        "123.4s 17 ",
        "Jan 02 03:04:05 n1 train[4242]: ",
        "[1,3]<stderr>:",
        "[default3]:",
        "(TrainWorker pid=4242, ip=10.0.0.7) ",
        "2024-01-02 03:04:05,678 ERROR ",
        "\x1b[31m",
    ],
)
def test_every_entry_matches_behind_what_launchers_and_loggers_put_in_front(prefix: str, matcher: Matcher) -> None:
    lost = []
    for entry in ENTRIES:
        line = prefix + entry.example.lstrip()
        one = matcher.signature(matcher.find([line])[0], line)
        if one is None or one.confidence < entry.confidence:
            lost.append(entry.name)
    assert lost == []


def test_what_ships_would_be_taken_from_an_operator() -> None:
    here = resources.files("processors.diagnose.catalogue")
    files = [one for one in here.iterdir() if one.name.endswith(".toml")]
    assert {one.name[:-5]: tuple(parse(one.read_text(), one.name)) for one in files} == families()


def test_names_and_families_are_there() -> None:
    names = [entry.name for entry in ENTRIES]
    assert len(names) == len(set(names)) > 200


NVRM = "NVRM: Xid (PCI:0000:3b:00): {}, pid=1"


def test_every_number_of_the_xid_catalogue_in_use_has_a_meaning(matcher: Matcher) -> None:
    used = [
        8,
        11,
        13,
        25,
        31,
        32,
        *range(37, 42),
        *range(43, 47),
        48,
        54,
        *range(60, 65),
        *range(66, 81),
        *range(82, 87),
    ]
    used += [88, 89, *range(92, 107), 109, 110, *range(119, 122), *range(126, 138), *range(139, 173)]
    groups: dict[str, set[int]] = {}
    for number in used:
        line = NVRM.format(number)
        one = matcher.signature(matcher.find([line])[0], line)
        assert one is not None
        groups.setdefault(one.name, set()).add(number)
    assert groups.pop("xid_unlisted", set()) <= {151, 152, 153, 158, 159, 165, 108}
    assert len(groups) > 12


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 10003, Fatal, Host_unhandled_interrupt", "sxid_fatal"),
        (
            "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 24007, Non-fatal, Link 44 sourcetrack timeout",
            "sxid_interrupting",
        ),
        ("nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20001, Non-fatal, Link 44 TX Replay Error", "sxid_passing"),
        ("mce: [Hardware Error]: Corrected error, no action required.", "memory_corrected"),
        ("EDAC MC1: 1 UE memory scrubbing error on CPU_SrcID#1", "machine_check"),
        ("OSError: [Errno 116] Stale file handle: '/data/x'", "stale_handle"),
        ("OSError: [Errno 5] Input/output error", "io_error"),
        ("torch.AcceleratorError: CUDA error: uncorrectable ECC error encountered", "gpu_ecc_text"),
    ],
)
def test_lines_of_vendors_documents(line: str, name: str, matcher: Matcher) -> None:
    one = matcher.signature(matcher.find([line])[0], line)
    assert one is not None
    assert one.name == name


def test_numbers_tell_entries_of_one_pattern_apart(matcher: Matcher) -> None:
    lines = [f"NVRM: Xid (PCI:0000:3b:00): {number}, pid=1" for number in (79, 31, 74, 4444)]
    matches = zip(matcher.find(lines), lines, strict=True)
    found = [matcher.signature(numbers, line) for numbers, line in matches]
    assert [one and one.name for one in found] == [
        "xid_fallen_off_bus",
        "xid_program_fault",
        "xid_nvlink",
        "xid_unlisted",
    ]


def test_an_operators_file_is_added_and_replaces_by_name(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(ENTRY + ENTRY.replace("pump_lost", "oom_killer"))
    entries = load([own])
    assert "pump_lost" in {entry.name for entry in entries}
    assert [entry.source for entry in entries if entry.name == "oom_killer"] == ["our own"]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("lost'", "(lost'", "expected an RE2 pattern, got 'coolant pump \\\\d+ (lost': missing"),
        ('kind = "node"', 'kind = "pump"', "expected a kind among"),
        ('component = "node"', 'component = "none"', "needs the component"),
        ('error_type = "infrastructure"', 'error_type = "other"', "only an infrastructure failure"),
        ("confidence = 0.9", "confidence = 2", "confidence"),
        ("confidence = 0.9", 'confidence = "high"', "Expected `float`"),
        ("found", "lost", "matches `counter`, "),
        ('example = "coolant pump 7 lost"', 'example = "pump 7"', r"searched in 'pump 0': write \d"),
        ('error_type = "infrastructure"', 'error_type = "infra"', "among infrastructure, framework, user_script"),
        ('component = "node"', 'component = "fan"', "expected `component` among gpu, nvlink"),
        ("pump \\d+", "pump 7", "digit other than 0"),
        ('source = "our own"\n', "", "lacks source; expected the fields name, pattern, kind, "),
        ('source = "our own"\n', 'source = ""\ncolour = "red"\n', "has colour; expected the fields name, pattern, "),
        ('source = "our own"\n', 'sauce = ""\n', "lacks source and has sauce; "),
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
    with pytest.raises(
        InvalidSignature, match=r"own.toml: signature 'pump_lost': 2 entries .* 'coolant pump .*; keep one"
    ):
        load([own])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "expected [[signature]] tables, found none; leave the file out"),
        (b"# nothing yet\n", "expected [[signature]] tables, found none"),
        (b"signature = []\n", "expected [[signature]] tables, found none"),
        (b"[[signature]]\nname = '\xdd'\n", "expected TOML in UTF-8, got byte 0xdd at 22"),
    ],
)
def test_a_file_that_is_no_catalogue_is_refused_by_its_name(tmp_path: Path, content: bytes, reason: str) -> None:
    (own := tmp_path / "own.toml").write_bytes(content)
    with pytest.raises(InvalidSignature) as caught:
        load([own])
    assert str(caught.value).startswith(f"{own}: {reason}")


def test_the_graph_knows_every_kind() -> None:
    assert set(AFTER) == set(BEFORE) == set(Kind)
    for other in (*AFTER.values(), *BEFORE.values()):
        assert other <= set(Kind)
