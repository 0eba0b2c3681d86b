"""What wrong answers about formats do to the logs of the corpus: `python -m benchmarks.models.harm`, or to those of `--logs DIR`.

Prints for each kind of wrong answer how many logs get worse in speed, step or loss than without a model. Random answers lie inside the
schema; the others are made from the rules' own answer by a change that a hostile or weak model could make.
"""

import argparse
import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from processors.formats import KnownFormats
from processors.formats.defaults import rules_answer
from processors.formats.layout import numbered_columns
from processors.formats.question import PreparedFormatQuestion, format_prompt
from processors.formats.units import UNITS, fits
from processors.prompts.schema import problem
from processors.settings import ProcessorSettings
from schedmate.analysis.analysis import analyze
from schedmate.assembly import job_processor
from schedmate_records import ColumnRole, FormatQuestion, KnownFormat, ModelQuestion, Reports

from .labelled_logs import LabelledLog, Verdicts, corpus_logs, logs_of

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


def always_step(question: FormatQuestion, _: random.Random) -> Content:
    """Call every number a step."""
    return _all_columns(question, "step", "none")


def always_loss(question: FormatQuestion, _: random.Random) -> Content:
    """Call every number a loss."""
    return _all_columns(question, "loss", "none")


def always_time(question: FormatQuestion, _: random.Random) -> Content:
    """Call every number a step time in seconds."""
    return _all_columns(question, "step_time", "s")


def _all_columns(question: FormatQuestion, role: str, unit: str) -> Content:
    columns = range(1, len(numbered_columns(question)) + 1)
    templates = [{"template": number, "reports": "training"} for number in range(1, len(question.templates) + 1)]
    return {"training": "yes", "templates": templates, "columns": [_column(each, role, unit) for each in columns]}


def next_column(question: FormatQuestion, _: random.Random) -> Content:
    """Give each meaning to the number after the right one."""
    answer, last = right(question), len(numbered_columns(question))
    columns = [{**each, "column": each["column"] % last + 1} for each in answer["columns"]]
    return {**answer, "columns": columns}


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


# fmt: off
WRONG: Mapping[str, Wrong] = {
    each.__name__: each
    for each in (
        anything,
        plausible,
        no_training,
        always_step,
        always_loss,
        always_time,
        next_column,
        evaluation,
        shuffled,
        other_loss,
        wrong_units,
        wrong_steps,
    )
}
# fmt: on


def _read(log: LabelledLog, known: KnownFormat | None, asked: list[FormatQuestion] | None = None) -> Verdicts:
    """Return how right speed, step and loss of a log are with the format `known`; the question about it is added to `asked`."""
    processor = job_processor(
        ProcessorSettings(ask_models=asked is not None), formats=KnownFormats([known] if known else ())
    )

    def note(question: ModelQuestion, _: object) -> None:
        if asked is not None and question.format is not None:
            asked.append(question.format)

    progress = analyze(Path(log.name), log.read(), processor, ask=note if asked is not None else None).contract()
    return log.judge(progress["progress"])


def _stated(question: FormatQuestion, content: Content) -> KnownFormat:
    """Return the record of an answer. Raises `ValueError` for one outside the schema."""
    prompt = format_prompt(question)
    if found := problem(content, prompt.schema):
        raise ValueError(f"expected an answer inside the schema: {found}")
    return PreparedFormatQuestion(prompt, question).answer(content, "wrong", 1.0)


def measure(
    logs: Iterable[LabelledLog], kinds: Mapping[str, Wrong], seeds: int = 1
) -> Iterator[tuple[str, str, int, list[str]]]:
    """Yield for each log, kind of wrong answer and seed what got worse: fields with their verdict before and after."""
    for log in logs:
        asked: list[FormatQuestion] = []
        before = _read(log, None, asked)
        tried: dict[str, list[str]] = {}
        for name, wrong in kinds.items():
            for seed in range(seeds):
                content = wrong(asked[-1], random.Random(f"{log.name} {seed}")) if asked else {}
                key = json.dumps(content)
                if key not in tried:
                    after = _read(log, _stated(asked[-1], content)) if asked else before
                    tried[key] = [
                        f"{field}: {before[field]} → {after[field]}"
                        for field in before
                        if POINTS[after[field]] < POINTS[before[field]]
                    ]
                yield log.name, name, seed, tried[key]


def main() -> None:
    """Measure, and print what got worse and a count for each kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", default=",".join(WRONG), help=f"some of {', '.join(WRONG)}, separated by commas")
    parser.add_argument("--every", type=int, default=1, help="measure every so many-th log of the corpus")
    parser.add_argument("--seeds", type=int, default=3, help="answers of each kind to each log")
    parser.add_argument("--logs", type=Path, help="folder of labelled logs instead of the corpus")
    given = parser.parse_args()
    kinds = {name: WRONG[name] for name in given.kinds.split(",")}
    worse, readings = dict.fromkeys(kinds, 0), dict.fromkeys(kinds, 0)
    for log, name, seed, found in measure(
        logs_of(given.logs) if given.logs else corpus_logs(given.every), kinds, given.seeds
    ):
        readings[name] += 1
        worse[name] += bool(found)
        if found:
            print(f"{name} {seed}: {log}: {'; '.join(found)}", flush=True)
    for name, count in worse.items():
        print(f"{name}: {count} of {readings[name]} readings worse")
    print(f"all: {sum(worse.values())} of {sum(readings.values())} readings worse")


if __name__ == "__main__":
    main()
