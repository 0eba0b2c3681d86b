"""Questions that are written to files, and answers that are read from them."""

import json
from pathlib import Path

import pytest

from processors.prompts import Prompt
from processors.prompts.schema import between, closed
from schedmate.models.question_files import QuestionFolder, file_stem

PROMPT = Prompt("format", "1", "ab" * 32, "Read the log.", "<log>\n1: step 5\n</log>", closed({"step": between(1, 9)}))


def answer_file(folder: Path) -> Path:
    return folder / f"{file_stem(PROMPT)}.answer.json"


def test_question_is_written_with_prompt_and_schema(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    assert QuestionFolder(folder).ask(PROMPT) is None
    (written,) = folder.iterdir()
    question = json.loads(written.read_text())
    assert written.name == "format-abababababababab.question.json"
    assert question["schema"] == PROMPT.schema
    assert PROMPT.data in question["messages"][-1]["content"]


def test_answer_file_beside_the_question_is_used(tmp_path: Path) -> None:
    answer_file(tmp_path).write_text('{"step": 7}')
    answer = QuestionFolder(tmp_path).ask(PROMPT)
    assert answer is not None
    assert answer.content == {"step": 7}


@pytest.mark.parametrize(
    "text", ["", "{", "[" * 100_000, '{"step": 70}', "[]", '{"step": NaN}', '{"step": 1, "more": 2}']
)
def test_answer_outside_the_schema_is_ignored(tmp_path: Path, text: str) -> None:
    answer_file(tmp_path).write_text(text)
    assert QuestionFolder(tmp_path).ask(PROMPT) is None


def test_name_of_a_file_never_leaves_the_folder() -> None:
    assert "/" not in file_stem(Prompt("../x", "1", "../../etc/passwd", "", "", {}))
