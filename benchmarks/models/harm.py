"""What wrong answers about formats do to the logs of the corpus: `python -m benchmarks.models.harm`.

Prints for each kind of wrong answer how many logs get worse in speed, step or loss than without a model. Random answers lie inside the
schema; the others are made from the rules' own answer by a change that a hostile or weak model could make.
"""

import argparse
import json
import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.corpus.score import judge, stream_chunks
from processors.formats import KnownFormats
from processors.formats.defaults import rules_answer
from processors.formats.layout import numbered_columns
from processors.formats.question import PreparedFormatQuestion, format_prompt
from processors.formats.units import UNITS, fits
from processors.prompts.schema import problem
from processors.settings import ProcessorSettings
from schedmate.analysis.analysis import analyze
from schedmate.assembly import job_processor
from schedmate_records import ColumnRole, FormatQuestion, KnownFormat, LogChunk, ModelQuestion, Reports

LOGS = Path(__file__).parents[1] / "corpus" / "logs"
POINTS = {"right": 1, "missing": 0, "wrong": -1}
Content = dict[str, Any]
Wrong = Callable[[FormatQuestion, random.Random], Content]


def right(question: FormatQuestion) -> Content:
    """Return the rules' own answer as JSON."""
    answer = rules_answer(question)
    return {
        "training": "yes",
        "templates": [{"template": number, "reports": str(reports)} for number, reports in answer.templates.items()],
        "columns": [_column(each.column, each.role, each.unit, each.steps) for each in answer.columns],
    }


def _column(number: int, role: str, unit: str, steps: int = 1) -> Content:
    return {"column": number, "role": str(role), "unit": unit, "steps": steps}


def anything(question: FormatQuestion, chance: random.Random) -> Content:
    """Return a random answer inside the schema."""
    columns = len(numbered_columns(question))
    return {
        "training": chance.choice(["yes", "yes", "no"]),
        "templates": [
            {"template": number, "reports": str(chance.choice(list(Reports)))}
            for number in range(1, len(question.templates) + 1)
        ],
        "columns": [
            _column(number, chance.choice(list(ColumnRole)), chance.choice(UNITS), chance.choice([0, 1, 1, 10]))
            for number in range(1, columns + 1)
            if chance.random() < 0.8
        ],
    }


def plausible(question: FormatQuestion, chance: random.Random) -> Content:
    """Return a random answer in which every template reports the training and every unit fits its role."""
    columns = []
    for number in range(1, len(numbered_columns(question)) + 1):
        role = chance.choice(list(ColumnRole))
        columns.append(_column(number, role, chance.choice([unit for unit in UNITS if fits(role, unit)])))
    templates = [{"template": number, "reports": "training"} for number in range(1, len(question.templates) + 1)]
    return {"training": "yes", "templates": templates, "columns": columns}


def no_training(question: FormatQuestion, _: random.Random) -> Content:
    """Deny the training."""
    return {**right(question), "training": "no"}


def evaluation(question: FormatQuestion, _: random.Random) -> Content:
    """Call reports of the training those of an evaluation, and all others reports of the training."""
    answer, swapped = right(question), {"training": "evaluation", "evaluation": "training", "neither": "training"}
    return {**answer, "templates": [{**each, "reports": swapped[each["reports"]]} for each in answer["templates"]]}


def shuffled(question: FormatQuestion, chance: random.Random) -> Content:
    """Exchange the meanings of the columns."""
    answer = right(question)
    meanings = [(each["role"], each["unit"], each["steps"]) for each in answer["columns"]]
    chance.shuffle(meanings)
    columns = [_column(each["column"], *meaning) for each, meaning in zip(answer["columns"], meanings, strict=True)]
    return {**answer, "columns": columns}


def other_loss(question: FormatQuestion, chance: random.Random) -> Content:
    """Call a number the loss whose meaning the rules do not know."""
    answer = right(question)
    known = {each["column"] for each in answer["columns"]}
    training = {each["template"] for each in answer["templates"] if each["reports"] == "training"}
    others = [
        number
        for number, place in enumerate(numbered_columns(question), start=1)
        if place.template in training and number not in known
    ]
    columns = [each for each in answer["columns"] if each["role"] != "loss"]
    if others:
        columns.append(_column(chance.choice(others), "loss", "none"))
    return {**answer, "columns": columns}


def wrong_units(question: FormatQuestion, _: random.Random) -> Content:
    """Exchange seconds and milliseconds, samples and tokens."""
    others = {"s": "ms", "ms": "s", "samples/s": "tokens/s", "tokens/s": "samples/s", "steps/s": "steps/min"}
    answer = right(question)
    return {
        **answer,
        "columns": [{**each, "unit": others.get(each["unit"], each["unit"])} for each in answer["columns"]],
    }


def wrong_steps(question: FormatQuestion, _: random.Random) -> Content:
    """Let times of one step cover a hundred."""
    answer = right(question)
    columns = [{**each, "steps": 100 if each["role"] == "step_time" else 1} for each in answer["columns"]]
    return {**answer, "columns": columns}


WRONG: Mapping[str, Wrong] = {
    each.__name__: each
    for each in (anything, plausible, no_training, evaluation, shuffled, other_loss, wrong_units, wrong_steps)
}


def _verdicts(folder: Path, chunks: list[LogChunk], wrong: Wrong | None) -> dict[str, str]:
    """Return how right speed, step and loss of a log are; with the answer `wrong`, or without a model."""
    processor = job_processor(ProcessorSettings(ask_models=wrong is not None), formats=KnownFormats())

    def ask(question: ModelQuestion, _: object) -> KnownFormat | None:
        if question.format is None or wrong is None:
            return None
        prompt = format_prompt(question.format)
        content = wrong(question.format, random.Random(str(folder.relative_to(LOGS))))
        if found := problem(content, prompt.schema):
            raise ValueError(f"{folder.name}: expected an answer inside the schema: {found}")
        return PreparedFormatQuestion(prompt, question.format).answer(content, "wrong", 1.0)

    progress = analyze(folder, chunks, processor, ask=ask if wrong else None).contract()["progress"]
    return judge(json.loads((folder / "truth.json").read_text()), progress, streamed=True)


def measure(folders: list[Path], kinds: Mapping[str, Wrong]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield for each log and kind of wrong answer what got worse: fields with their verdict before and after."""
    for folder in folders:
        chunks = list(stream_chunks(folder))
        before = _verdicts(folder, chunks, None)
        for name, wrong in kinds.items():
            after = _verdicts(folder, chunks, wrong)
            worse = [
                f"{field}: {before[field]} → {after[field]}"
                for field in before
                if POINTS[after[field]] < POINTS[before[field]]
            ]
            yield str(folder.relative_to(LOGS)), name, worse


def main() -> None:
    """Measure, and print what got worse and a count for each kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", default=",".join(WRONG), help=f"some of {', '.join(WRONG)}, separated by commas")
    parser.add_argument("--every", type=int, default=1, help="measure every so many-th log")
    given = parser.parse_args()
    folders = sorted(each.parent for each in LOGS.glob("*/*/truth.json"))[:: given.every]
    kinds = {name: WRONG[name] for name in given.kinds.split(",")}
    counts = dict.fromkeys(kinds, 0)
    for log, name, worse in measure(folders, kinds):
        counts[name] += bool(worse)
        if worse:
            print(f"{name}: {log}: {'; '.join(worse)}", flush=True)
    for name, count in counts.items():
        print(f"{name}: {count} of {len(folders)} logs worse")


if __name__ == "__main__":
    main()
