"""A language model made of files: each question is written to a folder, and the answer file next to it is read."""

import json
import re
from pathlib import Path

import structlog

from processors.prompts import Prompt
from processors.prompts.schema import problem
from schedmate_records import UserError, in_words
from streams.model_worker.language_model import Answer, messages_of
from streams.resilience import replace_file

log = structlog.get_logger(__name__)

MAX_ANSWER_BYTES = 1 << 20
"""Maximum size of an answer file that is read. No answer inside a closed schema comes near."""

_KEY_CHARACTERS = 16
"""Characters of a question's key in its file name: enough to find its files, short enough for a listing."""
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")


class QuestionFolder:
    """A `LanguageModel` that writes questions to a folder and takes answers from it.

    The question `format-1f2e.question.json` holds the messages for a chat model and the JSON schema of the answer. The answer belongs
    into `format-1f2e.answer.json`, as one JSON object inside that schema.

    Args:
        folder: The folder. It is created where it does not exist.

    Raises:
        UserError: The folder cannot be created.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"expected a folder for questions at {folder}: {in_words(error)}") from error

    def ask(self, prompt: Prompt) -> Answer | None:
        """Write `prompt` and return the answer; None where there is no answer file, or it lies outside the schema.

        Raises:
            UserError: The question cannot be written.
        """
        stem = file_stem(prompt)
        question = {
            "kind": prompt.kind,
            "version": prompt.version,
            "key": prompt.key,
            "about": prompt.job,
            "max_tokens": prompt.max_tokens,
            "messages": messages_of(prompt),
            "schema": prompt.schema,
        }
        file = self._folder / f"{stem}.question.json"
        try:
            replace_file(file, json.dumps(question, ensure_ascii=False, indent=1).encode("utf-8", "replace"))
        except OSError as error:
            raise UserError(f"expected to write the question {file}: {in_words(error)}") from error
        return _answer(self._folder / f"{stem}.answer.json", prompt)


def file_stem(prompt: Prompt) -> str:
    """Return the first part of the names of the files of `prompt`: its kind and the start of its key."""
    return _NOT_IN_NAMES.sub("-", f"{prompt.kind}-{prompt.key[:_KEY_CHARACTERS]}")


def _answer(file: Path, prompt: Prompt) -> Answer | None:
    """Return the answer in `file`; None where there is none. An answer outside the schema is logged and ignored."""
    try:
        with file.open("rb") as stream:
            read = stream.read(MAX_ANSWER_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        log.warning("answer_not_used", file=str(file), reason=in_words(error))
        return None
    if len(read) > MAX_ANSWER_BYTES:
        log.warning("answer_not_used", file=str(file), reason=f"expected at most {MAX_ANSWER_BYTES} bytes, got more")
        return None
    try:
        content = json.loads(read)
    except (ValueError, RecursionError):
        log.warning("answer_not_used", file=str(file), reason="expected one JSON object")
        return None
    if found := problem(content, prompt.schema):
        log.warning("answer_not_used", file=str(file), reason=found)
        return None
    return Answer(model="file", version=prompt.version, content=content)
