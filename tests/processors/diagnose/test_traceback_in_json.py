import json

import pytest

from processors.diagnose import FailureHandler
from processors.diagnose.json_lines import json_message, shorten, split_escaped_lines

from .test_root import FRAMEWORK, INFRASTRUCTURE, USER, line, traceback, verdict

MINE, LIBRARY = "/home/u/train.py", "/opt/lib/python3.11/site-packages/nets/__init__.py"


def logged(lines: list[str], **fields: object) -> str:
    """Return the line that a structured logger makes of the traceback `lines`."""
    return json.dumps({"level": "ERROR", "msg": "training failed", "exc_info": "\n".join(lines), **fields})


def docker(text: str) -> str:
    return json.dumps({"log": text + "\n", "stream": "stderr", "time": "2024-05-06T07:08:09Z"})


@pytest.mark.parametrize(
    ("lines", "kind", "cause"),
    [
        (traceback((MINE, "cfg['w']"), last="KeyError: 'w'"), USER, "KeyError"),
        (
            traceback((MINE, "import nets"), (LIBRARY, "x"), last="ImportError: cannot import name 'x'"),
            FRAMEWORK,
            "ImportError",
        ),
        (
            traceback((MINE, "put(x)"), last="ConnectionRefusedError: [Errno 111] Connection refused"),
            INFRASTRUCTURE,
            "connection_refused",
        ),
        (
            traceback((MINE, "net(x)"), last="torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"),
            USER,
            "cuda_out_of_memory",
        ),
        (
            traceback(
                *[(MINE, f"call_{number}(everything, that, is, needed)") for number in range(99)], last="KeyError: 'w'"
            ),
            USER,
            "KeyError",
        ),
    ],
)
@pytest.mark.parametrize("fields", [{}, {"logger": "trainer", "host": 'the "first"'}])
def test_a_traceback_in_one_field_gives_its_own_exception(
    handler: FailureHandler, lines: list[str], kind: object, cause: str, fields: dict[str, object]
) -> None:
    found = verdict(handler, [logged(lines, **fields), '{"level": "INFO", "msg": "closing"}'])
    assert (found.error_type, found.signature, line(found)) == (kind, cause, 1)


def test_lines_that_a_collector_wrapped_one_by_one(handler: FailureHandler) -> None:
    found = verdict(handler, [docker(one) for one in traceback((MINE, "cfg['w']"), last="KeyError: 'w'")])
    assert (found.signature, line(found)) == ("KeyError", 4)
    assert verdict(handler, [docker("bash: ./go.sh: Permission denied")]).signature == "shell_command_failed"


def test_only_one_line_is_taken_out_of_an_object() -> None:
    assert json_message(docker("Killed")) == "Killed"
    assert json_message('{"step": 3, "loss": 0.5}') == ""
    assert json_message(docker("one\ntwo")) == ""
    assert json_message(logged(["KeyError: 'w'"])) == ""
    assert json_message('say {"log": "Killed"}') == ""
    assert json_message('{"log": "\\q"}') == ""


def test_of_a_long_line_the_end_of_its_traceback_is_read() -> None:
    lines = traceback(*[(MINE, "step()")] * 200, last="KeyError: 'w'")
    text = logged(lines, host="n1" * 2000)
    assert shorten(text, 2000).endswith("KeyError: 'w'")
    assert len(shorten(text, 2000)) == 2000
    assert shorten("x" * 3000, 2000) == "x" * 2000
    assert shorten("short", 2000) == "short"


def test_a_header_in_a_sentence_unrolls_to_nothing() -> None:
    assert split_escaped_lines("Traceback (most recent call last) stands in the log") == []
