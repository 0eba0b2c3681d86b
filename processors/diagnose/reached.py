"""How far a training had come: a verdict says it, so that a restart that gains nothing shows."""

import msgspec

from records import Failure, JobMetric


class ReachedState(msgspec.Struct):
    """What is remembered of an attempt.

    A counter that falls back, or stands at its end twice, begins anew with each epoch, was rolled back, or is another one than before. What
    it says cannot be compared with what it says in another attempt then, and nothing is told for the rest of this one.

    Attributes:
        rank: The rank whose counters count: the first that tells a step.
        step: Its newest step.
        epoch: Its newest epoch.
        began_anew: They cannot be compared.
    """

    rank: int | None = None
    step: int | None = None
    epoch: float | None = None
    began_anew: bool = False

    def take(self, metric: JobMetric) -> None:
        """Take in the counters of a metric."""
        if metric.step is None or self.rank not in (None, metric.rank):
            return
        self.rank = metric.rank
        epoch = self.epoch if metric.epoch is None else metric.epoch
        if self.step is not None:
            before, now = (self.epoch or 0.0, self.step), (epoch or 0.0, metric.step)
            self.began_anew |= now < before or (now == before and metric.step == metric.step_total)
        self.step, self.epoch = metric.step, epoch

    def told(self, failure: Failure) -> Failure:
        """Return `failure` with how far the training had come."""
        if self.step is None or self.began_anew:
            return failure
        return msgspec.structs.replace(failure, step=self.step, epoch=self.epoch)
