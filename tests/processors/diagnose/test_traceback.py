import pytest

from processors.diagnose.traceback import MAX_OPEN, Raised, TracebackState, read_exception, read_line
from schedmate_records import Evidence

PLAIN = """Traceback (most recent call last):
  File "/home/u/train.py", line 10, in <module>
    main()
    ~~~~^^
  File "/opt/env/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1501, in _call_impl
    return forward_call(*args)
RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 16x2)"""


def read(text: str) -> list[Raised]:
    state = TracebackState()
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        place = Evidence(topic="t", partition=0, offset=0, line=number, text=line)
        _, raised = read_line(state, line, place, 0.0)
        if raised is not None:
            found.append(raised)
    assert not state.open
    return found


def test_plain_traceback_is_complete() -> None:
    (raised,) = read(PLAIN)
    assert raised.name == "RuntimeError"
    assert raised.message.startswith("mat1 and mat2")
    assert raised.place.last.endswith("module.py")
    assert raised.place.caller == "/home/u/train.py"


@pytest.mark.parametrize(
    "prefix",
    [
        "[rank3]: ",
        "[default5]:",
        "[1,2]<stderr>:",
        "12: ",
        "(Worker pid=77, ip=10.0.0.2) ",
        "2024-05-06 07:08:09,123 ERROR ",
    ],
)
def test_prefixes_of_launchers_and_loggers_are_removed(prefix: str) -> None:
    (raised,) = read("\n".join(prefix + line for line in PLAIN.split("\n")))
    assert raised.name == "RuntimeError"


def test_interleaved_ranks_are_untangled_by_their_tags() -> None:
    other = PLAIN.replace("RuntimeError", "KeyError")
    lines = [
        f"[rank{rank}]: {line}"
        for pair in zip(PLAIN.split("\n"), other.split("\n"), strict=True)
        for rank, line in enumerate(pair)
    ]
    assert [raised.name for raised in read("\n".join(lines))] == ["RuntimeError", "KeyError"]


def test_two_ranks_without_tags_still_give_the_exception() -> None:
    doubled = "\n".join(line for line in PLAIN.split("\n") for _ in range(2))
    assert read(doubled)[0].name == "RuntimeError"


def test_chained_tracebacks_keep_their_remark() -> None:
    text = (
        PLAIN
        + "\n\nThe above exception was the direct cause of the following exception:\n\n"
        + PLAIN
        + "\n\nDuring handling of the above exception, another exception occurred:\n\n"
        + PLAIN
    )
    assert [raised.place.remark for raised in read(text)] == ["", "cause", "handling"]


def test_exceptions_of_threads_are_side_exceptions() -> None:
    assert read("Exception in thread Thread-3:\n" + PLAIN)[0].is_side
    assert not read(PLAIN)[0].is_side


def test_frames_may_have_the_indentation_of_their_header() -> None:
    lines = PLAIN.split("\n")
    shifted = [lines[0], *(line.removeprefix("  ") for line in lines[1:-1]), lines[-1]]
    for indent in ("", "    "):
        (raised,) = read("\n".join(indent + line for line in shifted))
        assert (raised.name, raised.place.code) == ("RuntimeError", "return forward_call(*args)")


def test_class_without_a_known_suffix_is_read_after_a_frame() -> None:
    assert read(PLAIN.replace("RuntimeError", "zmq.error.Again"))[0].name == "zmq.error.Again"


def test_lines_of_others_in_between_are_ignored() -> None:
    lines = PLAIN.split("\n")
    lines.insert(3, "epoch 3: loss 0.25")
    lines.insert(7, "worker 2: hello")
    assert read("\n".join(lines))[0].name == "RuntimeError"


def test_cut_traceback_is_incomplete() -> None:
    state = TracebackState()
    found = []
    for number, line in enumerate(PLAIN.split("\n")[:4] + ["all is well"] * 100, 1):
        place = Evidence(topic="t", partition=0, offset=0, line=number, text=line)
        found.append(read_line(state, line, place, 0.0)[1])
    (raised,) = [one for one in found if one]
    assert (raised.name, raised.complete) == ("", False)


def test_open_tracebacks_are_bounded() -> None:
    state = TracebackState()
    for rank in range(100):
        place = Evidence(topic="t", partition=0, offset=0, line=rank, text="")
        read_line(state, f"[rank{rank}]: Traceback (most recent call last):", place, 0.0)
    assert len(state.open) == MAX_OPEN


def test_exceptions_without_a_traceback() -> None:
    found = read_exception(
        "ModuleNotFoundErrorModuleNotFoundError: : No module named 'x'No module named 'x'", anywhere=False
    )
    assert found is not None
    assert found.name == "ModuleNotFoundError"
    found = read_exception("2024-05-06 07:08:09 ERROR ValueError: bad", anywhere=False)
    assert found is not None
    assert (found.name, found.message) == ("ValueError", "bad")
    found = read_exception("[rank1]: Exception: no row 7 in the table", anywhere=False)
    assert found is not None
    assert (found.name, found.message) == ("Exception", "no row 7 in the table")
    found = read_exception("ResourceExhaustedError (see above for traceback): OOM for shape[7,7]", anywhere=False)
    assert found is not None
    assert found.name == "ResourceExhaustedError"
    assert read_exception("exceptions: 3", anywhere=True) is None
    assert read_exception("errors: 3", anywhere=True) is None
