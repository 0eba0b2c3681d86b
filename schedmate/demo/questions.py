"""The three questions that the demo asks of ClickHouse."""

from dataclasses import dataclass
from importlib.resources import files

from clickhouse_connect.driver.client import Client

from sinks.clickhouse import QueryResult, ask


@dataclass(frozen=True)
class Question:
    """A question in words and as SQL."""

    words: str
    sql: str


def questions() -> list[Question]:
    """Return them, in order."""
    found = sorted(files(__package__).joinpath("queries").iterdir(), key=lambda file: file.name)
    texts = [file.read_text(encoding="utf-8") for file in found if file.name.endswith(".sql")]
    return [Question(text.partition("\n")[0].removeprefix("-- "), text.partition("\n")[2].strip()) for text in texts]


def answers(client: Client) -> list[tuple[Question, QueryResult]]:
    """Return each question with its answer."""
    return [(question, ask(client, question.sql)) for question in questions()]
