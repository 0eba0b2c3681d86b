"""MONAI: its supervised trainer with the handler that reports statistics."""

import logging
import sys

import torch
import toy
from clock import Clock
from ignite.engine import Events
from monai.engines import SupervisedTrainer
from monai.handlers import StatsHandler
from monai.utils import set_determinism

SETUPS = ("stats_handler", "stats_handler_plain_log")
BATCH, BATCHES, EPOCHS = 8, 30, 4


class Pairs(torch.utils.data.Dataset):  # type: ignore[type-arg]
    """The points as dictionaries."""

    def __init__(self) -> None:
        self.inner = toy.dataset(BATCH * BATCHES)

    def __len__(self) -> int:
        return len(self.inner)

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        point, label = self.inner[index]
        return {"image": point, "label": label}


def train(setup: str) -> None:
    if setup == "stats_handler":
        logging.basicConfig(stream=sys.stdout, level=logging.INFO)
    else:
        logging.basicConfig(
            stream=sys.stdout, level=logging.INFO, format="%(asctime)s [%(levelname)s] (%(name)s) %(message)s"
        )
    set_determinism(0)
    clock = Clock(pace=0.06, batch=BATCH)
    model = toy.model()
    trainer = SupervisedTrainer(
        torch.device("cpu"),
        EPOCHS,
        torch.utils.data.DataLoader(Pairs(), BATCH),
        model,
        torch.optim.Adam(model.parameters()),
        torch.nn.CrossEntropyLoss(),
        train_handlers=[StatsHandler(name="trainer", tag_name="train_loss", output_transform=lambda x: x[0]["loss"])],
    )
    trainer.add_event_handler(Events.STARTED, lambda _: clock.begin())
    trainer.add_event_handler(Events.ITERATION_COMPLETED, lambda engine: clock.step(engine.state.output[0]["loss"]))
    trainer.run()
    clock.finish(step=[BATCHES, clock.steps], loss=clock.losses[-1])


if __name__ == "__main__":
    train(sys.argv[1])
