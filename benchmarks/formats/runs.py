"""Simulated trainings: what happens when, and the value of everything that a program could print of it.

Nothing here knows how it is printed; `formats.py` does.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

PARTS = 3
"""Parts of a loss that a program may print."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a training runs.

    Attributes:
        step_time_s: Median seconds a step.
        noise: Relative spread of a step's time.
        batch: Samples a step, over all ranks.
        length: Tokens a sample; 0 where there are none.
        ranks: Processes.
        per_epoch: Steps an epoch.
        steps: The last step.
        first: The step that a resumed run begins after.
        interval: Steps between reports.
        evaluate_every: Steps between evaluations; 0 for none.
        evaluation_steps: Batches of an evaluation.
        save_every: Steps between checkpoints; 0 for none.
        save_s: Seconds that a checkpoint stops the training.
        killed_at: Step after which the run dies and begins again from its last checkpoint; 0 for never.
        loss: First and last value of the loss, and its relative noise.
        parts: Share of each part of the loss.
        negative: The loss falls below zero, as a log-likelihood does.
    """

    step_time_s: float
    noise: float
    batch: int
    length: int
    ranks: int
    per_epoch: int
    steps: int
    first: int
    interval: int
    evaluate_every: int
    evaluation_steps: int
    save_every: int
    save_s: float
    killed_at: int
    loss: tuple[float, float, float]
    parts: tuple[float, ...]
    negative: bool


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that a program may print.

    Attributes:
        kind: `start`, `report`, `evaluating` (a batch of an evaluation), `evaluated`, `saved`, `epoch`, `restart` or `end`.
        time: Seconds since the start.
        values: Value of each quantity, by its name in vocabulary.toml.
    """

    kind: str
    time: float
    values: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Run:
    """A simulated training.

    Attributes:
        settings: How it ran.
        moments: What happened, in order.
        step_times: Seconds of each step, the newest last.
        report_times: Mean seconds a step between reports, the newest last.
    """

    settings: Settings
    moments: tuple[Moment, ...]
    step_times: tuple[float, ...]
    report_times: tuple[float, ...]


def draw(random: Random) -> Settings:
    """Return the settings of a training; lengths are such that it reports 12 to 70 times."""
    reports = random.randint(12, 70)
    interval = random.choice([1, 1, 1, 2, 5, 10, 10, 20, 25, 50, 50, 100, 100, 200, 500, 1000, 13, 31])
    total = reports * interval
    per_epoch = random.choice(
        [total + 7, max(3, total // 2), max(3, total // 3), max(2, total // random.randint(4, 12))]
    )
    first = random.choice([0, 0, 0, 0, random.randint(1, 900) * interval])
    first_loss = math.exp(random.uniform(-3, 4))
    save_every = random.choice([0, 0, per_epoch, interval * random.randint(3, 20)])
    return Settings(
        step_time_s=math.exp(random.uniform(math.log(0.005), math.log(30))),
        noise=random.choice([0.005, 0.02, 0.05, 0.1]),
        batch=random.choice(
            [1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 100, 128, 256, 400, 512, 1024, 1536, 2048, 4096, 8192]
        ),
        length=random.choice([0, 0, 128, 256, 512, 1000, 1024, 2048, 4096, 8192]),
        ranks=random.choice([1, 1, 1, 2, 4, 8]),
        per_epoch=per_epoch,
        steps=first + total,
        first=first,
        interval=interval,
        evaluate_every=random.choice([0, 0, per_epoch, interval * random.randint(3, 15)]),
        evaluation_steps=random.randint(3, 40),
        save_every=save_every,
        save_s=math.exp(random.uniform(-2, 5)),
        killed_at=first + int(total * random.uniform(0.4, 0.8)) if save_every and random.random() < 0.2 else 0,
        loss=(first_loss, first_loss * random.uniform(0.02, 0.8), random.choice([0.005, 0.02, 0.1])),
        parts=tuple(random.uniform(0.05, 0.6) for _ in range(random.choice([0, 0, 2, PARTS]))),
        negative=random.random() < 0.05,
    )


def simulate(settings: Settings, random: Random) -> Run:
    """Return what happens in a training of `settings`."""
    made = _Training(settings, random)
    moments = tuple(made.moments())
    return Run(settings, moments, tuple(made.step_times), tuple(made.report_times))


class _Training:
    def __init__(self, settings: Settings, random: Random) -> None:
        self.settings, self.random = settings, random
        self.time, self.reported = 0.0, 0.0
        self.since: list[float] = []
        self.step_times: list[float] = []
        self.report_times: list[float] = []
        self.memory = random.uniform(1, 70)
        self.rate = random.choice([1e-4, 3e-4, 1e-3, 0.1, 2e-5])
        self.best = math.inf

    def moments(self) -> Iterator[Moment]:
        known, step, killed = self.settings, self.settings.first, False
        saved = step
        yield Moment("start", 0.0, self.values(step))
        self.time += self.random.uniform(0.1, 40)
        self.reported = self.begun = self.time
        while step < known.steps:
            step += 1
            self.take_step(first=step == known.first + 1)
            if step % known.interval == 0:
                yield self.report(step)
            if known.evaluate_every and step % known.evaluate_every == 0:
                yield from self.evaluate(step)
            if known.save_every and step % known.save_every == 0:
                self.time += known.save_s * self.random.uniform(0.8, 1.2)
                saved = step
                yield Moment("saved", self.time, self.values(step))
            if step % known.per_epoch == 0:
                yield Moment("epoch", self.time, self.values(step))
            if step == known.killed_at and not killed:
                killed, step = True, saved
                self.time += self.random.uniform(5, 300)
                self.since, self.reported = [], self.time
                yield Moment("restart", self.time, self.values(step))
        yield Moment("end", self.time + 0.01, self.values(step))

    def take_step(self, *, first: bool) -> None:
        known = self.settings
        took = known.step_time_s * math.exp(self.random.gauss(0, known.noise)) * (1 + (self.random.random() < 0.01))
        self.time += took * (self.random.uniform(2, 30) if first else 1)
        self.since.append(took)
        self.step_times.append(took)

    def report(self, step: int) -> Moment:
        mean = sum(self.since) / len(self.since)
        self.report_times.append(mean)
        values = self.values(step) | {"interval": mean, "report_time": self.time - self.reported}
        values |= self.rates(mean)
        self.since, self.reported = [], self.time
        return Moment("report", self.time, values)

    def rates(self, seconds: float) -> dict[str, float]:
        known = self.settings
        return {
            "rate_steps": 1 / seconds,
            "rate_samples": known.batch / seconds,
            "rate_samples_each": known.batch / seconds / known.ranks,
            "rate_tokens": known.batch * known.length / seconds,
            "rate_tokens_each": known.batch * known.length / seconds / known.ranks,
        }

    def evaluate(self, step: int) -> Iterator[Moment]:
        known = self.settings
        seconds = known.step_time_s * self.random.uniform(0.2, 0.8)
        for batch in range(1, known.evaluation_steps + 1):
            self.time += seconds * math.exp(self.random.gauss(0, 0.1))
            yield Moment(
                "evaluating",
                self.time,
                self.evaluation_values(step, batch) | self.rates(seconds) | {"interval": seconds},
            )
        yield Moment("evaluated", self.time, self.evaluation_values(step, known.evaluation_steps))

    def evaluation_values(self, step: int, batch: int) -> dict[str, float]:
        values = self.values(step)
        loss = values["loss"] * self.random.uniform(0.95, 1.4)
        return values | {
            "evaluation_step": batch,
            "evaluation_steps": self.settings.evaluation_steps,
            "evaluation_loss": loss,
            "evaluation_metric": self.random.uniform(0.2, 0.99),
        }

    def values(self, step: int) -> dict[str, float]:
        known, random = self.settings, self.random
        done = (step - known.first) / (known.steps - known.first)
        first, last, noise = known.loss
        loss = (last + (first - last) * math.exp(-5 * done)) * math.exp(random.gauss(0, noise))
        if known.negative:
            loss = -loss * (1 + 3 * done)
        self.best = min(self.best, loss)
        epoch = max(0, step - 1) // known.per_epoch
        elapsed = self.time - getattr(self, "begun", 0.0)
        return {
            "step": step,
            "step_in_epoch": max(0, step - 1) % known.per_epoch + 1,
            "epoch": epoch + 1,
            "epoch_fraction": step / known.per_epoch,
            "sample": step * known.batch,
            "token": step * known.batch * known.length,
            "loss": loss,
            **{
                f"loss_part_{place}": loss * share * math.exp(random.gauss(0, 0.02))
                for place, share in enumerate(known.parts)
            },
            "elapsed": elapsed,
            "remaining": (known.steps - step) * known.step_time_s * random.uniform(0.97, 1.1),
            "batch_size": known.batch,
            "batch_size_each": known.batch / known.ranks,
            "sequence_length": known.length,
            "steps": known.steps,
            "steps_per_epoch": known.per_epoch,
            "epochs": math.ceil(known.steps / known.per_epoch),
            "learning_rate": self.rate * (0.5 + 0.5 * math.cos(3 * done)),
            "gradient_norm": math.exp(random.gauss(0, 0.5)),
            "accuracy": min(0.99, 0.1 + 0.8 * done * random.uniform(0.9, 1.1)),
            "memory": self.memory,
            "reward": 100 * done + random.gauss(0, 5),
            "perplexity": math.exp(min(20.0, abs(loss))),
            "data_time": known.step_time_s * random.uniform(0.01, 0.2),
            "scale": 2.0 ** (8 + int(done * 6)),
            "percent": 100 * step / known.steps,
            "count_of_parameters": 12345678,
            "seed": 1234,
            "workers": known.ranks,
            "layers": 24,
            "best": self.best,
        }
