"""SpeechBrain: its Brain's bar, and its file logger's lines on the screen."""

import sys

import speechbrain
import torch
import toy
from clock import Clock

SETUPS = ("bar", "bar_validation")
BATCH, BATCHES, EPOCHS = 16, 40, 3


class Classifier(speechbrain.Brain):
    """The classifier."""

    clock: Clock

    def compute_forward(self, batch: list[torch.Tensor], stage: speechbrain.Stage) -> torch.Tensor:
        del stage
        return self.modules.model(batch[0])

    def compute_objectives(
        self, predictions: torch.Tensor, batch: list[torch.Tensor], stage: speechbrain.Stage
    ) -> torch.Tensor:
        del stage
        return torch.nn.functional.cross_entropy(predictions, batch[1])

    def on_stage_start(self, stage: speechbrain.Stage, epoch: int | None = None) -> None:
        del epoch
        if stage == speechbrain.Stage.TRAIN:
            self.clock.begin()

    def on_fit_batch_end(self, batch: object, outputs: object, loss: torch.Tensor, should_step: bool) -> None:
        del batch, outputs, should_step
        self.clock.step(loss.item())

    def on_stage_end(self, stage: speechbrain.Stage, stage_loss: float, epoch: int | None = None) -> None:
        if stage == speechbrain.Stage.TRAIN:
            self.shown = stage_loss
        else:
            print(f"Epoch {epoch} complete, train loss: {self.shown:.3f}, valid loss: {stage_loss:.3f}")


def train(setup: str) -> None:
    brain = Classifier(
        {"model": toy.model()}, lambda parameters: torch.optim.Adam(parameters, 0.003), run_opts={"device": "cpu"}
    )
    brain.clock = Clock(pace=0.05, batch=BATCH)
    brain.fit(
        range(1, EPOCHS + 1),
        toy.loader(BATCH * BATCHES, BATCH),
        toy.loader(BATCH * 8, BATCH) if setup == "bar_validation" else None,
    )
    clock = brain.clock
    clock.finish(step=[BATCHES, clock.steps], loss=[brain.shown, clock.losses[-1]])


if __name__ == "__main__":
    train(sys.argv[1])
