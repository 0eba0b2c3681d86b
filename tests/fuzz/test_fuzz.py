"""Each fuzz target takes its seeds and some changed ones; the runner keeps what fails."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from .groups import TARGETS
from .mutations import inputs, mutated
from .running import run
from .seeds import MOST, seeds
from .targets import Target, TooSlow, target

FOREIGN = """
message_job_logs message_decisions job_log_message job_log_lines container_lines node_log_lines otlp_request pieces spool_entry
spool_segment
collector_socket journal_entries kernel_records collector_checkpoint stored_log slurm_commands slurm_lines slurm_json slurm_lists sacct
kubernetes_watch ray_answers settings_file signature_file signing_keys signed_decision trace_file model_answer stored_answers model_server
source_tree job_script configuration
"""


def test_every_kind_of_foreign_bytes_has_a_target() -> None:
    assert set(FOREIGN.split()) <= TARGETS.keys()


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_a_target_takes_seeds_and_changed_seeds(name: str) -> None:
    found = TARGETS[name]
    given_seeds = found.seeds()
    for data in given_seeds[:5]:
        found.check(data)
    for number in range(5):
        found.check(mutated(given_seeds, number % len(given_seeds), [(number, 7 * number, number, 11 * number)]))


@given(st.data())
def test_an_input_is_bytes_of_bounded_length(data: st.DataObject) -> None:
    assert len(data.draw(inputs([b"a", b'{"a": [1, 2]}', b"", b"1\n{}\n"]))) <= 200_000


def test_documents_stay_documents() -> None:
    assert mutated([b'{"a": 1}'], 0, [(7, 1, 0, 2)]) == b'{"a": null}'
    assert mutated([b'{"a": 1}'], 0, [(7, 1, 0, 0)]) == b"{}"
    assert mutated([b'x\n{"a": 1}\n'], 0, [(7, 1, 0, 2)]) == b'x\n{"a": null}\n'


def test_seeds_are_the_inputs_of_tests() -> None:
    found = seeds("streams/producers/test_kernel_log.py")
    assert any(b"Xid" in each for each in found)
    assert len(found) == len(set(found)) <= MOST
    with pytest.raises(FileNotFoundError):
        seeds("no/such/test.py")


def _failing(name: str, run_it: object) -> Target:
    return Target(name, run_it, (KeyError,), (), lambda: [b"abc", b"x"])  # type: ignore[arg-type]


def test_a_failing_input_is_kept_and_tried_first(tmp_path: Path) -> None:
    tried: list[bytes] = []

    def fail_on_long(data: bytes) -> None:
        tried.append(data)
        if len(data) > 2:
            raise IndexError(data)

    outcome = run(_failing("long", fail_on_long), 0.0, 1, tmp_path)
    assert "IndexError" in outcome.failure
    assert outcome.file is not None
    kept = outcome.file.read_bytes()
    tried.clear()
    again = run(_failing("long", fail_on_long), 0.0, 1, tmp_path)
    assert (tried, again.inputs, again.file) == ([kept], 1, outcome.file)


def test_an_error_that_the_parser_documents_is_none(tmp_path: Path) -> None:
    def refuse(data: bytes) -> None:
        raise KeyError(data)

    outcome = run(_failing("refuse", refuse), 0.0, 1, tmp_path)
    assert not outcome.failure
    assert outcome.inputs >= 100


def test_a_slow_input_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fuzz.targets.SLOWEST_S", 0.0)
    with pytest.raises(TooSlow):
        _failing("slow", lambda data: sum(range(10_000))).check(b"")


def test_one_seed_gives_the_same_inputs(tmp_path: Path) -> None:
    runs: list[list[bytes]] = [[], []]
    for tried in runs:
        run(_failing("same", tried.append), 0.0, 7, tmp_path)
    assert runs[0] == runs[1]


def test_two_targets_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="pieces"):
        target(name="pieces")(lambda data: None)
