"""Requests to a dashboard: errors by name, time limits, and bytes that nobody expected."""

import http.server
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_bridge.schedulers.ray.actuator.successor import excluded_ids, with_excluded
from scheduler_bridge.schedulers.ray.client.client import RayClient
from scheduler_bridge.schedulers.ray.client.connection import RayConnection
from scheduler_bridge.schedulers.ray.client.errors import RayConflict, RayError, RayNotFound, RayRefused, RayUnavailable
from scheduler_bridge.schedulers.ray.client.lineage import SubmissionName


@contextmanager
def answering(answer: Callable[[http.server.BaseHTTPRequestHandler], None]) -> Iterator[str]:
    """Serve one answer to everything; yield the address. It stands in for a dashboard that misbehaves."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def says(status: int, body: bytes) -> Callable[[http.server.BaseHTTPRequestHandler], None]:
    def answer(request: http.server.BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    return answer


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (404, b"Job x does not exist", RayNotFound),
        (401, b"Unauthorized: Missing authentication token", RayRefused),
        (403, b"Forbidden: Invalid authentication token", RayRefused),
        (500, b"Traceback\nValueError: Job with submission_id a already exists. Please use another.\n.\n", RayConflict),
        (500, b"Traceback\nValueError: Invalid label key name\n", RayRefused),
        (500, b"Traceback\nRuntimeError: no agent\n", RayUnavailable),
        (503, b"", RayUnavailable),
        (400, b"bad", RayRefused),
        (200, b"<html>a proxy</html>", RayUnavailable),
        (200, b"[{}]", RayUnavailable),
        (200, b"[" * 100_000, RayUnavailable),
        (200, b"\xff\xfe", RayUnavailable),
    ],
)
def test_errors_by_name(status: int, body: bytes, error: type[RayError]) -> None:
    with answering(says(status, body)) as address, pytest.raises(error):
        RayClient(RayConnection(address)).jobs()


def test_an_answer_that_drips_in_is_cut_off() -> None:
    def drip(request: http.server.BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        with suppress(BrokenPipeError, ConnectionResetError):  # the client hangs up
            for _ in range(100):
                request.wfile.write(b" ")
                time.sleep(0.1)

    with answering(drip) as address:
        began = time.monotonic()
        with pytest.raises(RayUnavailable):
            RayClient(RayConnection(address, timeout=1)).jobs()
        assert time.monotonic() - began < 4


def test_the_token_is_sent_and_never_shown() -> None:
    seen: list[str] = []

    def note(request: http.server.BaseHTTPRequestHandler) -> None:
        seen.append(request.headers["Authorization"])
        says(500, b"RuntimeError")(request)

    with answering(note) as address:
        connection = RayConnection(address, "secret" * 6)
        with pytest.raises(RayUnavailable) as raised:
            RayClient(connection).jobs()
    assert seen == ["Bearer " + "secret" * 6]
    assert "secret" not in repr(connection) + str(raised.value)


def test_where_it_connects_follows_rays_own_variables(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("t" * 40 + "\n")
    environment = {"RAY_ADDRESS": "http://a:1", "RAY_AUTH_TOKEN_PATH": str(token)}
    assert RayConnection.find(environment=environment) == RayConnection("http://a:1", "t" * 40)
    environment |= {"RAY_API_SERVER_ADDRESS": "https://b:2/", "RAY_AUTH_TOKEN": "u" * 40}
    assert RayConnection.find(environment=environment) == RayConnection("https://b:2", "u" * 40)
    for wrong in ("ray://a:10001", "auto", "a:6379", "file:///etc/passwd"):
        with pytest.raises(RayUnavailable, match="RAY_API_SERVER_ADDRESS"):
            RayConnection.find(wrong, {})
    with pytest.raises(RayUnavailable, match="RAY_AUTH_TOKEN_PATH"):
        RayConnection.find(environment={"RAY_AUTH_TOKEN_PATH": str(tmp_path / "nothing")})


@given(st.text(max_size=40), st.integers(0, 999_999))
def test_names_of_attempts_are_read_back(lineage: str, attempt: int) -> None:
    first = SubmissionName.parse(lineage)
    name = SubmissionName(first.lineage, attempt)
    assert SubmissionName.parse(str(name)) == name or not first.lineage
    assert name.next().attempt == attempt + 1


@given(st.text(max_size=40))
def test_any_text_is_a_name(text: str) -> None:
    assert str(SubmissionName.parse(text)) == text


@given(
    st.frozensets(st.from_regex("[0-9a-f]{4,8}", fullmatch=True), max_size=4),
    st.frozensets(st.from_regex("[0-9a-f]{4,8}", fullmatch=True), max_size=4),
)
def test_exclusions_add_up(first: frozenset[str], second: frozenset[str]) -> None:
    selector = with_excluded(with_excluded({"zone": "a"}, first), second)
    assert excluded_ids(selector) == first | second
    assert selector["zone"] == "a"


@given(st.text(max_size=60))
def test_any_selector_is_read(text: str) -> None:
    assert "" not in excluded_ids({"ray.io/node-id": text})
