"""Makes a log of a format of its own: `python -m benchmarks.formats.generate SEED…` prints some.

The same seed gives the same log. What a reader should find follows from the simulated run and from what was printed of it.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from statistics import mean, median
from typing import Any

from processors.read.roles import Phase

from . import prefixes, runs
from .layouts import ENDS, LAYOUTS, Layout, Line, Report
from .names import VOCABULARY
from .pieces import Number, Printer

START = 1.7e9
NEWEST = 20
"""Reports whose pace counts as the present one."""


@dataclass(frozen=True, slots=True)
class GeneratedLine:
    """A line with what is known of it.

    Attributes:
        text: The line; one that the next redraws ends with a carriage return.
        time: When it was printed, in seconds since 1970.
        phase: What it tells of.
        numbers: Its numbers that have a meaning, left to right.
    """

    text: str
    time: float
    phase: Phase
    numbers: tuple[Number, ...]


@dataclass(frozen=True, slots=True)
class GeneratedLog:
    """A log and what is true of it.

    Attributes:
        seed: What it was made from.
        layout: Name of the layout of its reports.
        lines: Its lines.
        truth: Speed, last step and last loss, in the form of the corpus's `truth.json`.
    """

    seed: int
    layout: str
    lines: tuple[GeneratedLine, ...]
    truth: dict[str, Any]


def generate(seed: int) -> GeneratedLog:
    """Return the log of `seed`."""
    return _Program(Random(seed), seed).log()


class _Program:
    """A program that trains and prints: one choice of everything."""

    def __init__(self, random: Random, seed: int) -> None:
        self.random, self.seed = random, seed
        self.settings = runs.draw(random)
        self.printer = Printer(random)
        names = list(LAYOUTS)
        self.layout_name = random.choices(names, [LAYOUTS[name][0] for name in names])[0]
        self.layout = LAYOUTS[self.layout_name][1](random, self.printer)
        self.other: Layout = LAYOUTS["pairs"][1](random, self.printer)
        self.printing = self.settings.ranks if random.random() < 0.25 else 1
        self.prefix = prefixes.draw(random, self.printing)
        self.fields = self.draw_fields()
        self.ends = random.random() < 0.4
        self.training_mark = random.choice(VOCABULARY["marks"]["training"]) if random.random() < 0.35 else ""
        self.evaluation_mark = random.choice(VOCABULARY["marks"]["evaluation"])
        self.evaluates = random.choice(["alike", "alike", "summary", "summary", "batches"])
        plain = self.layout_name in ("pairs", "quoted", "block", "events")
        self.summary = self.layout if plain and random.random() < 0.5 else self.other
        self.redrawn = self.layout_name == "bar" and random.random() < 0.6
        self.colour = f"\x1b[{random.choice([1, 32, 36, 90])}m" if random.random() < 0.08 else ""
        self.noise = random.random() if random.random() < 0.4 else 0.0

    def draw_fields(self) -> list[str]:
        random = self.random
        counters: list[str] = random.choice(
            [
                ["step"],
                ["step"],
                ["step"],
                ["epoch", "step_in_epoch"],
                ["epoch", "step_in_epoch"],
                ["epoch", "step"],
                ["sample"],
                ["step", "sample"],
                ["epoch_fraction", "step"],
                ["step", "token"],
                ["epoch", "step_in_epoch", "step"],
            ]
        )
        if self.layout_name == "bar" and not set(counters) & set(ENDS):
            counters = ["step"]
        if not self.settings.length:
            counters = [each for each in counters if each != "token"]
        losses = ["loss"] if random.random() < 0.92 else []
        losses += [f"loss_part_{place}" for place in range(len(self.settings.parts))] if random.random() < 0.7 else []
        paces = ["interval", "report_time", "elapsed", "remaining", "rate_steps", "rate_samples"]
        if self.settings.ranks > 1:
            paces.append("rate_samples_each")
        if self.settings.length:
            paces += ["rate_tokens", "rate_tokens", "rate_tokens_each"]
        times = random.sample(paces, random.choice([0, 0, 1, 1, 2, 3]))
        if self.layout_name == "bar":
            times = list(dict.fromkeys(["elapsed", "remaining", random.choice(["rate_steps", "interval"]), *times]))
        extras = [
            "learning_rate",
            "gradient_norm",
            "accuracy",
            "memory",
            "reward",
            "perplexity",
            "data_time",
            "scale",
            "batch_size",
            "best",
            "percent",
        ]
        others = random.sample(extras, random.choice([0, 0, 1, 2, 3, 4]))
        if "sequence_length" not in others and self.settings.length and random.random() < 0.1:
            others.append("sequence_length")
        rest = [*losses, *times, *others]
        if random.random() < 0.4:
            random.shuffle(rest)
        fields = [*counters, *rest]
        if random.random() < 0.12 and self.layout_name != "bar":
            random.shuffle(fields)
        return fields

    def log(self) -> GeneratedLog:
        run = runs.simulate(self.settings, self.random)
        lines = tuple(line for moment in run.moments for line in self.print(moment))
        return GeneratedLog(self.seed, self.layout_name, lines, self.truth(run, lines))

    def print(self, moment: runs.Moment) -> Iterator[GeneratedLine]:
        time = START + moment.time
        if self.noise and self.random.random() < self.noise * 0.3:
            yield self.line([self.filled("noise", moment.values)], time - 1e-3, Phase.OTHER)
        if moment.kind == "report":
            report = self.report(self.fields, moment.values, self.training_mark, time)
            for rank in range(self.printing):
                for line in self.layout(report):
                    yield self.line(line, time + 1e-3 * rank, Phase.TRAINING, rank)
        elif moment.kind in ("evaluating", "evaluated"):
            yield from self.print_evaluation(moment, time)
        elif moment.kind == "saved":
            yield self.line([self.filled("saved", moment.values)], time, Phase.OTHER)
        elif moment.kind in ("start", "restart"):
            yield from self.print_configuration(moment.values, time)
        elif moment.kind == "epoch" and self.random.random() < 0.3:
            number = self.printer.number("epoch", moment.values["epoch"])
            yield self.line([f"{self.printer.name('epoch')} ", number, " finished"], time, Phase.OTHER)

    def print_configuration(self, values: dict[str, float], time: float) -> Iterator[GeneratedLine]:
        told = [
            each
            for each in (
                "batch_size",
                "sequence_length",
                "steps",
                "epochs",
                "seed",
                "workers",
                "layers",
                "count_of_parameters",
                "learning_rate",
            )
            if self.random.random() < 0.5
        ]
        told = [each for each in told if values[each]]
        for quantity in told:
            sep = self.random.choice([": ", "=", " = "])
            yield self.line(
                [f"{self.printer.name(quantity)}{sep}", self.printer.number(quantity, values[quantity])],
                time,
                Phase.OTHER,
            )

    def print_evaluation(self, moment: runs.Moment, time: float) -> Iterator[GeneratedLine]:
        mark, values = self.evaluation_mark, moment.values
        if moment.kind == "evaluating":
            often = values["evaluation_step"] % max(1, self.settings.evaluation_steps // 4) == 0
            if self.evaluates == "summary" or not (often or self.layout_name == "bar"):
                return
            # The format of the training, where batches of the evaluation are counted and its own loss is shown.
            swapped = {"step": "evaluation_step", "step_in_epoch": "evaluation_step", "loss": "evaluation_loss"}
            alike = [
                swapped.get(each, each)
                for each in self.fields
                if not each.startswith(("loss_part", "sample", "token", "learning", "report_time"))
            ]
            alike = [each for each in dict.fromkeys(alike) if each in values]
            layout = self.layout if self.evaluates == "alike" and self.layout_name != "row" else self.other
            if self.layout_name == "bar" and not set(alike) & set(ENDS):
                return
            for line in layout(self.report(alike, values, mark, time, evaluation=True)):
                yield self.line(line, time, Phase.EVALUATION)
            return
        fields: list[str] = [each for each in ("step", "epoch") if each in self.fields and self.random.random() < 0.5]
        fields += ["evaluation_loss", *(["evaluation_metric"] if self.random.random() < 0.6 else [])]
        for line in self.summary(self.report(fields, values, mark, time, evaluation=True)):
            yield self.line(line, time, Phase.EVALUATION)

    def report(
        self, fields: Sequence[str], values: dict[str, float], mark: str, time: float, *, evaluation: bool = False
    ) -> Report:
        return Report(fields, values, mark, evaluation, self.ends, time)

    def line(self, pieces: Line, time: float, phase: Phase, rank: int = 0) -> GeneratedLine:
        text = "".join(piece if isinstance(piece, str) else piece.text for piece in pieces)
        numbers = tuple(piece for piece in pieces if isinstance(piece, Number))
        before = self.prefix(time, rank)
        if self.colour:
            before = f"{self.colour}{before}\x1b[0m"
        end = "\r" if self.redrawn and phase is Phase.TRAINING else ""
        return GeneratedLine(f"{before}{text}{end}", time, phase if numbers else Phase.OTHER, numbers)

    def filled(self, kind: str, values: dict[str, float]) -> str:
        text = self.random.choice(VOCABULARY["marks"][kind])
        for _ in range(text.count("{}")):
            value = (
                int(values["step"]) if kind == "saved" and self.random.random() < 0.7 else self.random.randint(0, 5000)
            )
            text = text.replace("{}", str(value), 1)
        return text

    def truth(self, run: runs.Run, lines: Sequence[GeneratedLine]) -> dict[str, Any]:
        """Return what a reader should find; a value that nothing printed tells is not asked for."""
        known = run.settings
        printed = {number.quantity for line in lines if line.phase is Phase.TRAINING for number in line.numbers}
        last = [moment for moment in run.moments if moment.kind == "report"][-1].values
        newest = run.report_times[-NEWEST:]
        counted = bool(printed & {"step", "step_in_epoch", "sample"})
        stated = bool(printed & {"interval", "rate_steps"}) or (counted and bool(printed & {"elapsed", "report_time"}))
        stated |= "rate_samples" in printed or "rate_tokens" in printed
        shift = self.printer.shift("step_in_epoch")
        pauses = bool(known.evaluate_every or known.save_every)
        clocked = counted and prefixes.shows_time(self.prefix) and known.step_time_s * known.interval > 1 and not pauses
        seconds = median(newest)
        return {
            "framework": "generated",
            "setup": str(self.seed),
            "step_time_s": seconds,
            "step_time_mean_s": mean(newest),
            "samples_per_s": known.batch / seconds,
            "tokens_per_s": known.batch * known.length / seconds or None,
            "world": known.ranks,
            "last_step": [
                last["step"],
                last["step_in_epoch"] + shift,
                last["step"] - known.first,
                last["step"] + shift,
            ],
            "last_loss": [last["loss"]]
            if "loss" in printed
            else [last[each] for each in sorted(printed) if each.startswith("loss_part")],
            "tells": {
                "speed": stated or clocked,
                "step": bool(printed & {"step", "step_in_epoch"}),
                "loss": "loss" in printed,
            },
        }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.formats.generate", description=__doc__.splitlines()[0])
    parser.add_argument(
        "seeds", nargs="*", type=int, default=[0, 1, 2], metavar="SEED", help="which logs (default: 0 1 2)"
    )
    parser.add_argument("--lines", type=int, default=12, help="lines of each that are shown (default: 12)")
    options = parser.parse_args()
    for seed in options.seeds:
        log = generate(seed)
        told = [name for name, is_told in log.truth["tells"].items() if is_told]
        print(f"# seed {seed}: {log.layout}, {len(log.lines)} lines, tells {', '.join(told) or 'nothing'}")
        middle = max(0, len(log.lines) // 2 - options.lines // 2)
        for line in log.lines[middle : middle + options.lines]:
            roles = " ".join(number.role.value for number in line.numbers)
            print(f"{line.text}    # {line.phase.value}: {roles}")


if __name__ == "__main__":
    main()
