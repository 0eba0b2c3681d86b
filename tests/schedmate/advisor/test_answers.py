"""Answers about jobs that are not submitted yet: in this process, and on a socket."""

import socket
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import msgspec
import pytest

from processors.advise.past import PastEstimate, PastJob, SubmittedJob
from schedmate.advisor.answer_server import LONGEST, AnswerServer
from schedmate.advisor.answers import Answers
from schedmate.advisor.history_file import HistoryFile, history_file

NO_MODEL = Path("/nowhere/current")


def past(name: str, seconds: float, ended: float) -> PastJob:
    about = SubmittedJob(job=name, command=f"train{name}.sh", directory="/p")
    return PastJob(about=about, ended=ended, duration_s=seconds)


def asked(name: str) -> SubmittedJob:
    return SubmittedJob(job="", command=f"train{name}.sh", directory="/p")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "history.db"


@pytest.fixture
def store(file: Path) -> Iterator[HistoryFile]:
    with history_file(file) as opened:
        opened.add_all([("1/0", past("1", 600.0, 1000.0))])
        yield opened


def test_jobs_that_another_process_sees_end_are_taken_in(store: HistoryFile, file: Path) -> None:
    answers = Answers(store, NO_MODEL)
    assert answers.estimate(asked("1")).method == "resubmission"
    assert answers.estimate(asked("2")).method == "unknown"
    with history_file(file) as other:
        other.add_all([("2/0", past("2", 60.0, 2000.0))])
    answers.refresh()
    answers.refresh()
    found = answers.estimate(asked("2"))
    assert (found.method, found.jobs, len(answers)) == ("resubmission", ("2",), 2)


def test_the_socket_answers_line_by_line_and_outlives_nonsense(store: HistoryFile, tmp_path: Path) -> None:
    path, stop, said = tmp_path / "s", Event(), list[bytes]()

    def ask() -> None:
        for line in (
            msgspec.json.encode(asked("1")),
            b"nonsense",
            b"[" * 2 * LONGEST,
            b'{"job": 1}',
            b"\xff",
            b"",
            msgspec.json.encode(asked("9")),
        ):
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(path))
                try:
                    client.sendall(line + b"\n")
                    said.append(client.makefile("rb").readline())
                except OSError:
                    said.append(b"")
        with socket.socket(socket.AF_UNIX) as silent:  # says nothing, and the next is answered all the same
            silent.connect(str(path))
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(path))
                client.sendall(msgspec.json.encode(asked("1")) + b"\n")
                said.append(client.makefile("rb").readline())
        stop.set()

    path.touch()
    path.unlink()
    with AnswerServer(path, Answers(store, NO_MODEL)) as server:
        assert path.stat().st_mode & 0o777 == 0o660
        asking = Thread(target=ask)
        asking.start()
        server.run(stop)
        asking.join()
    first, *wrong, unknown, last = said
    answer = msgspec.json.decode(first, type=PastEstimate)
    assert (answer.method, answer.jobs) == ("resubmission", ("1",))
    assert all(not each or each.startswith(b'{"error":"expected a job as one line of JSON') for each in wrong)
    assert msgspec.json.decode(unknown, type=PastEstimate).method == "unknown"
    assert last == first


def test_who_speaks_a_letter_at_a_time_does_not_keep_others_waiting(store: HistoryFile, tmp_path: Path) -> None:
    path, stop, left = tmp_path / "s", Event(), Event()

    def drip() -> None:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
            try:
                for _ in range(100):
                    client.sendall(b" ")
                    stop.wait(0.05)
            except OSError:
                left.set()
        stop.set()

    with AnswerServer(path, Answers(store, NO_MODEL)) as server:
        dripping = Thread(target=drip)
        dripping.start()
        server.run(stop)
        dripping.join()
    assert left.is_set()


def test_a_socket_that_was_left_there_is_replaced_and_a_file_is_not(store: HistoryFile, tmp_path: Path) -> None:
    path = tmp_path / "s"
    answers = Answers(store, NO_MODEL)
    AnswerServer(path, answers).server_close()
    assert path.is_socket()
    AnswerServer(path, answers).server_close()
    path.unlink()
    path.write_text("mine")
    with pytest.raises(OSError, match="in use"):
        AnswerServer(path, answers)
    assert path.read_text() == "mine"
