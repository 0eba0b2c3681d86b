"""One function states what every screen, command and message shows of an attempt."""

from typing import Any

import pytest

from schedmate.job_state import StateAlarm, StateWord, job_state

NOW = 100_000.0
NAN = StateAlarm("loss_not_finite", "Loss NaN since step 125", NOW - 900)
HANG = StateAlarm("hang", "no report since step 150; one came every 2 s before", NOW - 21 * 60)


@pytest.mark.parametrize(
    ("ending", "sentence", "is_failure"),
    [
        ({"scheduler_state": "COMPLETED", "exit_code": 0}, "completed", False),
        ({"exit_code": 0, "signal": 0}, "completed", False),
        ({"exit_code": 0, "alarms": [NAN]}, "completed, loss NaN since step 125", False),
        ({"exit_code": 0, "alarms": [NAN._replace(over=NOW - 10)]}, "completed, loss NaN since step 125", False),
        ({"exit_code": 0, "alarms": [NAN._replace(over=NOW - 11)]}, "completed", False),
        ({"exit_code": 0, "alarms": [HANG._replace(over=NOW - 10)]}, "completed", False),
        ({"scheduler_state": "CANCELLED by 1000", "signal": 15}, "cancelled", False),
        ({"scheduler_state": "CANCELLED+", "cause": "cancelled"}, "cancelled", False),
        ({"cause": "keyboard_interrupt", "exit_code": 130}, "cancelled", False),
        ({"scheduler_state": "FAILED", "exit_code": 1}, "failed (exit code 1)", True),
        ({"exit_code": 1}, "failed (exit code 1)", True),
        ({"exit_code": 1, "cause": "exit_1"}, "failed (exit code 1)", True),
        ({"signal": 9, "cause": "sigkill"}, "failed (signal 9)", True),
        ({"exit_code": 1, "cause": "cuda_out_of_memory"}, "failed (cuda out of memory)", True),
        ({"exit_code": 1, "cause": "unknown"}, "failed (exit code 1)", True),
        ({"scheduler_state": "FAILED"}, "failed", True),
        ({"scheduler_state": "TIMEOUT", "cause": "time_limit"}, "time limit", True),
        ({"exit_code": 1, "cause": "time_limit"}, "time limit", True),
        ({"scheduler_state": "OUT_OF_MEMORY", "cause": "oom_killer"}, "out of memory", True),
        ({"scheduler_state": "NODE_FAIL", "cause": "xid_fallen_off_bus"}, "node failure (xid fallen off bus)", True),
        ({"scheduler_state": "PREEMPTED", "cause": "preempted"}, "preempted", False),
        ({"scheduler_state": "REQUEUED"}, "requeued", False),
        ({"scheduler_state": "REQUEUED", "cause": "preempted"}, "preempted", False),
        ({}, "ended, outcome unknown", False),
        ({"scheduler_state": "COMPLETED"}, "completed", False),
    ],
)
def test_the_end_of_an_attempt_has_a_word_and_a_reason(ending: dict[str, Any], sentence: str, is_failure: bool) -> None:
    state = job_state("ended", started=NOW - 1000, ended=NOW - 10, now=NOW, **ending)
    assert (state.sentence(NOW), state.word.is_failure, state.since) == (sentence, is_failure, NOW - 10)


def test_a_job_with_a_hang_is_silent_since_its_last_report() -> None:
    state = job_state("running", started=NOW - 5000, alarms=[HANG], now=NOW)
    assert (state.word, state.sentence(NOW)) == (StateWord.SILENT, "silent for 21 min")
    assert state.sentence(NOW + 3600) == "silent for 1 h 21 min"
    over = job_state("running", started=NOW - 5000, alarms=[HANG._replace(over=NOW - 5)], now=NOW)
    assert over.sentence(NOW) == "running"


def test_a_job_that_runs_states_its_alarm() -> None:
    slow = StateAlarm("slower", "Step time is 2 s, usually 1 s", NOW - 950)
    state = job_state("running", started=NOW - 5000, alarms=[slow, NAN], now=NOW)
    assert state.sentence(NOW) == "running, loss NaN since step 125"


def test_a_job_that_waits_has_no_alarm_of_before() -> None:
    assert job_state("queued", changed=NOW - 5, alarms=[NAN], now=NOW).sentence(NOW) == "queued"


def test_a_job_whose_end_nobody_reported_is_no_success() -> None:
    assert job_state("unknown", changed=NOW - 60, now=NOW).word is StateWord.RUNNING
    assert job_state("unknown", changed=NOW - 7200, now=NOW).word is StateWord.OUTCOME_UNKNOWN
    assert job_state("unknown", changed=NOW - 7200, alarms=[HANG], now=NOW).word is StateWord.OUTCOME_UNKNOWN
