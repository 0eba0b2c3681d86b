from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.classified_chunk import ClassifiedChunk
from processors.diagnose import FailureHandler, HandlerState
from processors.grammar.extractor import templates
from schedmate_records import Component, ErrorType, Position

from .jobs import BUG, CHILD, FALLEN, PROGRESS, REMOTE, ending, letters, run, view

HANDLER = FailureHandler()


def test_a_bug_is_the_users_and_named_at_once(handler: FailureHandler) -> None:
    state = HandlerState()
    (first,) = handler.observe(view([*PROGRESS, *BUG]), state)
    assert (first.error_type, first.restartable, first.final) == (ErrorType.USER_SCRIPT, False, False)
    assert first.signature == "KeyError"
    assert first.root is not None
    assert first.root.line == len(PROGRESS) + len(BUG)
    assert first.id.startswith(f"failure/j/0/job-logs/0/1/{first.root.line}/")
    assert [one.line for one in first.evidence] == [first.root.line, len(PROGRESS) + 1]
    (last,) = handler.conclude(ending(exit_code=1), state)
    assert (last.final, last.revision, last.exit_code, last.root) == (True, 2, 1, first.root)


def test_a_lost_gpu_wins_over_what_followed(handler: FailureHandler) -> None:
    said, _ = run(handler, [*PROGRESS, FALLEN, REMOTE, *CHILD], ending(exit_code=1))
    assert all(one.signature == "xid_fallen_off_bus" for one in said)
    assert said[-1].error_type is ErrorType.INFRASTRUCTURE
    assert said[-1].faulty_component is Component.GPU
    assert said[-1].restartable is True
    assert said[-1].node == "n0"


def test_a_cause_printed_after_its_consequence_betters_the_verdict(handler: FailureHandler) -> None:
    state = HandlerState()
    (first,) = handler.observe(view([*PROGRESS, REMOTE]), state)
    (second,) = handler.observe(view([FALLEN], first=70), state)
    assert (first.signature, second.signature) == ("nccl_remote_error", "xid_fallen_off_bus")
    assert second.revision == 2


def test_the_earliest_rank_is_the_root(handler: FailureHandler) -> None:
    state = HandlerState()
    handler.observe(view([*BUG[:-1], "ValueError: bad batch"], rank=0, time=1009.0), state)
    handler.observe(view(BUG, rank=3, time=1003.0), state)
    (last,) = handler.conclude(ending(exit_code=1), state)
    assert (last.rank, last.signature, last.node) == (3, "KeyError", "n3")


def test_an_error_that_the_job_survives_is_taken_back(handler: FailureHandler) -> None:
    said, state = run(handler, [*BUG, *PROGRESS], size=10)
    assert [one.error_type for one in said] == [ErrorType.USER_SCRIPT, ErrorType.NONE]
    assert [one.revision for one in said] == [1, 2]
    assert handler.conclude(ending(exit_code=0), state) == []


QUIET = [f"flushing item {number} of the queue" for number in range(520)]


def test_quiet_lines_of_a_job_that_reports_show_no_survival(handler: FailureHandler) -> None:
    said, _ = run(handler, [*PROGRESS, *BUG, *QUIET])
    assert said[-1].signature == "KeyError"
    assert run(handler, [*PROGRESS, *BUG, *QUIET], ending(exit_code=1))[0][-1].signature == "KeyError"


def test_quiet_lines_count_where_nobody_can_read_the_progress_until_the_attempt_ends_badly(
    handler: FailureHandler,
) -> None:
    said, state = run(handler, [*BUG, *QUIET])
    assert said[-1].error_type is ErrorType.NONE
    (last,) = handler.conclude(ending(exit_code=1), state)
    assert (last.signature, last.final) == ("KeyError", True)
    assert run(handler, [*BUG, *QUIET], ending(state="TIMEOUT"))[0][-1].signature == "timeout"


@pytest.mark.parametrize("reports", [5, 45])
def test_progress_of_another_rank_does_not_show_that_this_one_lived(handler: FailureHandler, reports: int) -> None:
    state = HandlerState()
    handler.observe(view([*PROGRESS, *BUG], rank=1), state)
    assert handler.observe(view(PROGRESS[:reports], rank=0, time=1100.0), state) == []
    (last,) = handler.conclude(ending(exit_code=1), state)
    assert (last.signature, last.rank) == ("KeyError", 1)


def test_much_progress_of_another_rank_takes_a_verdict_back_until_the_attempt_ends_badly(
    handler: FailureHandler,
) -> None:
    state = HandlerState()
    handler.observe(view([*PROGRESS, *BUG], rank=1), state)
    (back,) = handler.observe(view(PROGRESS, rank=0, time=1100.0), state)
    assert back.error_type is ErrorType.NONE
    (last,) = handler.conclude(ending(exit_code=1), state)
    assert (last.signature, last.rank, last.final) == ("KeyError", 1, True)


def test_labels_tell_whose_progress_it_is(handler: FailureHandler) -> None:
    theirs = [f"[rank0]: {line}" for line in PROGRESS[:6]]
    own = [f"[rank1]: {line}" for line in PROGRESS[:6]]
    bug = [f"[rank1]: {line}" for line in BUG]
    assert run(handler, [*bug, *theirs])[0][-1].signature == "KeyError"
    assert run(handler, [*bug, *own])[0] == []


def test_progress_on_the_other_stream_of_its_rank_shows_survival(handler: FailureHandler) -> None:
    state = HandlerState()
    handler.observe(replace(view(BUG, rank=1), stream="stderr"), state)
    (back,) = handler.observe(view(PROGRESS[:10], rank=1, time=1100.0), state)
    assert back.error_type is ErrorType.NONE


def test_a_survived_error_does_not_hide_the_later_one(handler: FailureHandler) -> None:
    said, _ = run(handler, [*BUG, *PROGRESS, *BUG], ending(exit_code=1), size=10)
    assert said[-1].root is not None
    assert said[-1].root.line == 2 * len(BUG) + len(PROGRESS)


def test_exit_code_0_is_no_failure_and_takes_back(handler: FailureHandler) -> None:
    said, _ = run(handler, [*PROGRESS, *BUG], ending(exit_code=0, state="COMPLETED"))
    assert [one.error_type for one in said] == [ErrorType.USER_SCRIPT, ErrorType.NONE]
    assert said[-1].final
    assert run(handler, PROGRESS, ending(exit_code=0))[0] == []


@pytest.mark.parametrize(
    ("facts", "kind", "component", "restartable"),
    [
        ({"exit_code": 0, "signal": 9}, ErrorType.OTHER, Component.NONE, None),
        ({"exit_code": 137}, ErrorType.OTHER, Component.NONE, None),
        ({"exit_code": -15}, ErrorType.OTHER, Component.NONE, True),
        ({"exit_code": 139}, ErrorType.UNKNOWN, Component.NONE, None),
        ({"exit_code": 3}, ErrorType.UNKNOWN, Component.NONE, None),
        ({"state": "TIMEOUT", "exit_code": 0}, ErrorType.OTHER, Component.NONE, None),
        ({"state": "PREEMPTED"}, ErrorType.OTHER, Component.NONE, True),
        ({"state": "NODE_FAIL", "exit_code": 1}, ErrorType.INFRASTRUCTURE, Component.NODE, True),
        ({"state": "OUT_OF_MEMORY", "exit_code": 0, "signal": 9}, ErrorType.INFRASTRUCTURE, Component.NODE, False),
        ({"state": "FAILED"}, ErrorType.UNKNOWN, Component.NONE, None),
    ],
)
def test_an_ending_without_any_error_line(
    handler: FailureHandler, facts: dict[str, object], kind: ErrorType, component: Component, restartable: bool | None
) -> None:
    ((one,), _) = run(handler, PROGRESS, ending(nodes=["n9"], **facts))
    assert (one.error_type, one.faulty_component, one.restartable) == (kind, component, restartable)
    assert (one.root, one.source, one.final, one.node) == (None, "exit", True, "n9")
    assert one.id.startswith(f"failure/j/0/{one.signature}/")


@pytest.mark.parametrize("lines", [[], ["slurmstepd: error: *** STEP 17.0 ON n1 CANCELLED AT 2024-01-02T03:04:05 ***"]])
def test_a_cancelled_attempt_without_a_cause_of_its_own_did_not_fail(handler: FailureHandler, lines: list[str]) -> None:
    verdicts, _ = run(handler, [*PROGRESS, *lines], ending(state="CANCELLED by 1000", exit_code=0, signal=15))
    assert [one.error_type for one in verdicts[-1:]] in ([], [ErrorType.NONE])
    assert [one.message for one in verdicts if one.final] in ([], ["the attempt was cancelled"])


def test_a_node_failure_outdoes_the_noise_but_a_bug_before_a_cancel_stays(handler: FailureHandler) -> None:
    said, _ = run(handler, [*PROGRESS, REMOTE], ending(state="NODE_FAIL"))
    assert said[-1].signature == "node_fail"
    said, _ = run(handler, [*PROGRESS, *BUG], ending(state="CANCELLED"))
    assert said[-1].signature == "KeyError"


def test_the_ending_fills_what_the_line_leaves_unknown(handler: FailureHandler) -> None:
    said, _ = run(handler, [*PROGRESS, "ERROR something is off"], ending(signal=9))
    assert said[-1].error_type is ErrorType.OTHER
    said, _ = run(handler, [*PROGRESS, "ERROR something is off"], ending(exit_code=1))
    assert said[-1].root is not None
    assert said[-1].error_type is ErrorType.UNKNOWN


def test_words_and_helpers_alone_make_no_verdict_of_a_stored_file(handler: FailureHandler) -> None:
    lines = [*PROGRESS, "absolute error 0.07, mistakes 0", "Exception in thread Thread-3:", *BUG]
    assert run(handler, lines)[0] == []
    assert run(handler, lines, ending(exit_code=1))[0][-1].signature == "KeyError"


@pytest.mark.parametrize(
    "last", ["[trainer] ERROR: no entry", "Fatal Error: no entry", "E0102 03:04:05.678901 7 a.cc:7] Error: no entry"]
)
def test_last_words_that_are_an_error_count_where_a_stored_file_stops(handler: FailureHandler, last: str) -> None:
    (one,) = run(handler, [*PROGRESS, last])[0]
    assert one.root is not None
    assert (one.root.line, one.error_type, one.confidence) == (len(PROGRESS) + 1, ErrorType.USER_SCRIPT, 0.25)
    assert run(handler, [*PROGRESS, last, "step 61 | loss 0.1 | 12.5 it/s"])[0] == []
    assert run(handler, [*PROGRESS, last], ending(exit_code=0))[0] == []


def test_a_cut_traceback_counts_at_the_end(handler: FailureHandler) -> None:
    ((one,), _) = run(handler, [*PROGRESS, *BUG[:3]])
    assert one.root is not None
    assert (one.root.line, one.error_type) == (len(PROGRESS) + 1, ErrorType.USER_SCRIPT)


def test_a_loss_that_is_no_number_when_the_log_stops(handler: FailureHandler) -> None:
    broken = [f"step {number} | loss nan | 12.5 it/s" for number in range(60, 70)]
    ((one,), _) = run(handler, [*PROGRESS, *broken])
    assert one.root is not None
    assert (one.signature, one.root.line) == ("nan_loss", len(PROGRESS) + 1)
    assert run(handler, [*PROGRESS, *broken, PROGRESS[-1]])[0] == []
    assert run(handler, [*PROGRESS, *broken, "training finished"])[0] == []
    assert run(handler, [*PROGRESS, *(broken * 20)])[0] == []


def test_a_certain_signature_fires_on_a_line_of_any_class(handler: FailureHandler) -> None:
    for letter in "ewo":
        one = view([FALLEN])
        said = handler.observe(
            classed(one, letter),
            HandlerState(),
        )
        assert [found.signature for found in said] == ["xid_fallen_off_bus"]


def test_a_traceback_glued_to_a_progress_bar_is_seen(handler: FailureHandler) -> None:
    lines = [*PROGRESS, "step 60 |" + BUG[0], *BUG[1:]]
    said, _ = run(handler, lines, size=1)
    assert said[-1].signature == "KeyError"


ODD = [
    "ERROR odd",
    "",
    "step 9 | loss nan",
    "Exception in thread T:",
    "all well",
    "During handling of the above exception, another exception occurred:",
    "[rank1]: " + BUG[0],
    "[rank1]: " + BUG[-1],
]
LINE = st.sampled_from([*BUG, *CHILD, *PROGRESS[:4], FALLEN, REMOTE, *ODD])


@given(st.lists(LINE, max_size=60), st.lists(st.integers(1, 60), min_size=1, max_size=8), st.sampled_from([None, 1]))
def test_the_final_verdict_does_not_depend_on_the_cuts(lines: list[str], cuts: list[int], code: int | None) -> None:
    end = ending(exit_code=code)
    classes = letters(lines)
    verdicts = []
    for sizes in ([len(lines) or 1], [1], cuts):
        state, start, turn = HandlerState(), 0, 0
        said = []
        while start < len(lines):
            stop = start + sizes[turn % len(sizes)]
            whole = view(lines[start:stop], start + 1)
            said += HANDLER.observe(classed(whole, classes[start:stop]), state)
            start, turn = stop, turn + 1
        said += HANDLER.conclude(end, state)
        last = said[-1] if said and said[-1].error_type is not ErrorType.NONE else None
        verdicts.append(
            last and (last.root and last.root.line, last.signature, last.error_type, last.message, last.time)
        )
        assert [one.revision for one in said] == list(range(1, len(said) + 1))
    assert verdicts[0] == verdicts[1] == verdicts[2]


def classed(one: ClassifiedChunk, classes: str) -> ClassifiedChunk:
    return replace(one, classes=classes)


@given(st.lists(st.tuples(st.text() | LINE, st.sampled_from("ewpo")), max_size=40), st.integers(-300, 300) | st.none())
def test_nothing_raises_and_the_state_stays_small(pieces: list[tuple[str, str]], code: int | None) -> None:
    state = HandlerState()
    lines = [text for text, _ in pieces]
    where = Position("job-logs", 0, 1)
    one = ClassifiedChunk(
        "j",
        0,
        "n",
        0,
        "stdout",
        where,
        0.0,
        lines,
        [0] * len(lines),
        [0.0] * len(lines),
        "".join(c for _, c in pieces),
        templates(lines),
    )
    HANDLER.observe(one, state)
    again = msgspec.json.decode(msgspec.json.encode(state), type=HandlerState)
    assert again == state
    assert HANDLER.conclude(ending(exit_code=code), again) == HANDLER.conclude(ending(exit_code=code), state)


def test_the_state_is_bounded_whatever_comes(handler: FailureHandler) -> None:
    state = HandlerState()
    for number, entry in enumerate(handler.signatures):
        long = entry.example + " " + "x" * 5000
        handler.observe(
            view([long, f"Custom{number}Error: {long}", f"[rank{number}]: " + BUG[0] + "y" * 5000], number * 3), state
        )
    assert len(msgspec.json.encode(state)) < 25_000


def test_giant_lines_are_read_in_bounded_time(handler: FailureHandler) -> None:
    for line in (
        "A" * 1_000_000 + "Error",
        "ValueError" * 100_000,
        "a." * 500_000,
        " " * 500_000,
        "\x00\ud800" * 100_000,
    ):
        run(handler, [BUG[0], line, line, "step 1 | loss nan" + line])


def test_progress_leaves_nothing_behind(handler: FailureHandler) -> None:
    _, state = run(handler, PROGRESS * 20)
    assert state == HandlerState(reported=True)


def test_a_line_that_calls_itself_information_makes_no_failure(handler: FailureHandler) -> None:
    said, _ = run(
        handler,
        ["[2024-01-01 00:00:00,1] [INFO] retry after Connection reset by peer", "INFO: bash: x: command not found"],
    )
    assert said == []


def test_a_message_that_goes_on_over_lines_is_read_on(handler: FailureHandler) -> None:
    lines = [
        *PROGRESS,
        *BUG[:-1],
        "RuntimeError: saving failed:",
        "reason follows",
        "[Errno 28] No space left on device",
    ]
    said, _ = run(handler, lines)
    assert said[-1].signature == "no_space"
    assert said[-1].faulty_component is Component.STORAGE


def test_a_line_that_says_that_it_goes_on_is_harmless(handler: FailureHandler) -> None:
    lines = [
        "WARN Connection reset by peer, will retry in 3 s",
        "wandb: Network error (ReadTimeout), entering retry loop.",
    ]
    assert run(handler, lines)[0] == []
    assert run(handler, [*lines, *BUG])[0][-1].signature == "KeyError"


def test_text_in_quotation_marks_is_data_but_a_message_field_is_not(handler: FailureHandler) -> None:
    quoted = [
        'sample: "the disk was full: No space left on device"',
        'sample: "Traceback (most recent call last): is what it prints"',
    ]
    assert run(handler, [*PROGRESS, *quoted])[0] == []
    said, _ = run(handler, [*PROGRESS, 'message: "write failed: No space left on device"'])
    assert said[-1].signature == "no_space"


@pytest.mark.parametrize(
    ("number", "component"),
    [(5, Component.STORAGE), (107, Component.STORAGE), (2, Component.NONE), (13, Component.NONE)],
)
def test_numbers_of_errors_are_told_apart(handler: FailureHandler, number: int, component: Component) -> None:
    said, _ = run(handler, [*PROGRESS, *BUG[:-1], f"OSError: [Errno {number}] 'ckpt/last.pt'"])
    assert said[-1].faulty_component is component


def test_a_helpers_error_counts_where_the_program_waited_for_it_in_vain(handler: FailureHandler) -> None:
    helper = ["Exception in thread Thread-3 (prefetch):", *BUG]
    assert run(handler, [*PROGRESS, *helper])[0] == []
    said, _ = run(handler, [*PROGRESS, *helper, *BUG[:-1], "_queue.Empty"])
    assert said[-1].signature == "KeyError"
    said, _ = run(handler, [*PROGRESS, *BUG[:-1], "_queue.Empty"])
    assert said[-1].signature == "Empty"


def test_a_threads_error_counts_where_a_launcher_tells_of_a_failure_after_it(handler: FailureHandler) -> None:
    said, _ = run(handler, [*PROGRESS, "Exception in thread Thread-3 (prefetch):", *BUG, *CHILD])
    assert said[-1].signature == "KeyError"
    said, _ = run(handler, [*PROGRESS, "Exception ignored in: <function Pool.__del__ at 0x7f>", *BUG, *CHILD])
    assert said[-1].signature == "child_failed"


def test_a_code_of_ones_own_shows_that_the_last_words_mattered(handler: FailureHandler) -> None:
    words = [*PROGRESS, "the planner met an ERROR at step 60"]
    reset = "RuntimeError: gloo: Connection closed by peer [10.0.0.7]:2345"
    assert run(handler, words)[0] == []
    said, _ = run(handler, [*words, reset, "failed (exitcode: 7) local_rank: 1 (pid: 4477) of binary: python", *CHILD])
    assert said[-1].root is not None
    assert (said[-1].root.line, said[-1].error_type, said[-1].restartable) == (60, ErrorType.USER_SCRIPT, False)
    said, _ = run(handler, [*words, reset, "failed (exitcode: 1) local_rank: 1 (pid: 4477) of binary: python", *CHILD])
    assert said[-1].error_type is ErrorType.INFRASTRUCTURE


def test_a_job_that_says_that_it_ended_well_did_not_fail_before(handler: FailureHandler) -> None:
    for words in ("training complete, model saved", "exit status 0", "Training finished in 3 s"):
        assert run(handler, [*PROGRESS, *BUG, words])[0] == []
        assert run(handler, [*BUG, words], size=6)[0][-1].error_type is ErrorType.NONE
        assert run(handler, [*PROGRESS, FALLEN, words])[0][-1].signature == "xid_fallen_off_bus"
    for words in ("training finished with 3 failed ranks", "exit status 1", "cleaning up"):
        assert run(handler, [*PROGRESS, *BUG, words])[0][-1].signature == "KeyError"
