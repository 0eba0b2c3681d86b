"""What is no text is not called a run without a failure."""

import gzip
import json
import random
import sys
from pathlib import Path

import pytest

from processors.job import JobProcessor
from schedmate.analysis.analysis import Analysis, analyze
from schedmate.report.page import page
from schedmate.report.report import parts, summary
from streams.producers.stored import read_chunks

RANDOM = random.Random(7).randbytes(50_000)
TEXT = "training begins\nall is well\n"
DOCKER = b"".join(b"\x01\0\0\0\0\0\0" + bytes([len(each)]) + each for each in TEXT.encode().splitlines(keepends=True))


NO_TEXT = {
    "empty": (b"", "the log is empty"),
    "compressed nothing": (gzip.compress(b""), "the log is empty"),
    "zeros": (bytes(5000), "no text: nothing but blanks and NUL bytes"),
    "blank": (b"\n \n\r\n", "no text: nothing but blanks and NUL bytes"),
    "random": (RANDOM, "no text: 8% of the bytes are control characters, as in a binary file; name the job's own log"),
    "compressed random": (gzip.compress(RANDOM), "no text: 8%"),
    "program": (Path(sys.executable).read_bytes()[:200_000], "no text: "),
}  # fmt: skip
LOGS = {
    "plain": TEXT.encode(),
    "Latin 1": "Größe überschritten, Prüfung läuft\n".encode("latin-1"),
    "GBK": "训练开始 加载数据集\n".encode("gbk") * 20,
    "KOI8-R": "обучение начинается\n".encode("koi8-r") * 20,
    "UTF-16": TEXT.encode("utf-16"),
    "colours and bars": b"".join(b"\r\x1b[32m%d%%|##  |\x1b[0m\x1b(B\x0f" % each for each in range(100)),
    "Keras's bars": b"waiting" + b"\b" * 500 + b"done\n",
    "behind a hole": bytes(100_000) + TEXT.encode(),
    "Docker's stream": DOCKER,
    "random bytes in it": RANDOM + TEXT.encode() * 2000,
}


def analysed(folder: Path, content: bytes) -> Analysis:
    (log := folder / "some.log").write_bytes(content)
    return analyze(log, read_chunks(log), JobProcessor())


@pytest.mark.parametrize(("content", "said"), NO_TEXT.values(), ids=NO_TEXT)
def test_what_is_no_text_says_so_instead_of_a_verdict(tmp_path: Path, content: bytes, said: str) -> None:
    analysis = analysed(tmp_path, content)
    (verdict,) = [each.text for each in parts(analysis) if each[0] == "verdict"]
    assert verdict.startswith(said)
    assert summary(analysis) == verdict
    assert "no failure seen" not in page([analysis, analysis])
    assert "illegible" not in json.dumps(analysis.contract()), "programs get what they got"


@pytest.mark.parametrize("content", LOGS.values(), ids=LOGS)
def test_logs_of_any_encoding_are_text(tmp_path: Path, content: bytes) -> None:
    assert not analysed(tmp_path, content).illegible
