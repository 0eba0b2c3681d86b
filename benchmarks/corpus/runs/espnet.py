"""ESPnet: a line of some batches with the times of each part of a step, and a paragraph an epoch."""

import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import torch
import toy
from clock import Clock
from clock_torch import clock_optimizers
from espnet2.iterators.abs_iter_factory import AbsIterFactory
from espnet2.train.abs_espnet_model import AbsESPnetModel
from espnet2.train.distributed_utils import DistributedOption
from espnet2.train.trainer import Trainer, TrainerOptions

SETUPS = ("every_10", "every_20_accumulation")
BATCH, BATCHES, EPOCHS = 16, 40, 3


class Model(AbsESPnetModel):  # type: ignore[misc]
    """The classifier, with the statistics that the reporter takes."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = toy.model()

    def forward(
        self, points: torch.Tensor, labels: torch.Tensor, **_: object
    ) -> tuple[torch.Tensor, dict, torch.Tensor]:  # type: ignore[type-arg]
        found = self.inner(points)
        loss = torch.nn.functional.cross_entropy(found, labels)
        right = (found.argmax(1) == labels).float().mean()
        weight = torch.tensor(float(len(points)))
        return loss, {"loss": loss.detach(), "acc": right}, weight

    def collect_feats(self, **_: object) -> dict[str, torch.Tensor]:
        return {}


class Batches(AbsIterFactory):  # type: ignore[misc]
    """The batches of an epoch, with names for their utterances."""

    def __init__(self, batches: int) -> None:
        self.batches = batches

    def build_iter(
        self, epoch: int, shuffle: bool | None = None
    ) -> Iterator[tuple[list[str], dict[str, torch.Tensor]]]:
        del epoch, shuffle
        return [  # type: ignore[return-value]
            ([f"utt{at}-{each}" for each in range(len(labels))], {"points": points, "labels": labels})
            for at, (points, labels) in enumerate(toy.loader(BATCH * self.batches, BATCH))
        ]


def train(setup: str) -> None:
    micro = 2 if "accumulation" in setup else 1
    interval = 20 if "20" in setup else 10
    logging.basicConfig(
        level=logging.INFO,
        format="[node01] %(asctime)s (%(module)s:%(lineno)d) %(levelname)s: %(message)s",
    )
    clock = Clock(pace=0.06 * micro, batch=BATCH * micro, interval=interval // micro)
    clock_optimizers(clock)
    model = Model()
    losses: list[float] = []
    model.register_forward_hook(lambda _, __, found: losses.append(found[0].item()) if model.training else None)
    inner = Trainer.train_one_epoch

    def epoch(**named: object) -> bool:
        clock.begin()
        return inner(**named)  # type: ignore[no-any-return]

    Trainer.train_one_epoch = epoch
    options = TrainerOptions(
        ngpu=0,
        resume=False,
        use_amp=False,
        train_dtype="float32",
        grad_noise=False,
        accum_grad=micro,
        grad_clip=5.0,
        grad_clip_type=2.0,
        log_interval=interval,
        no_forward_run=False,
        use_matplotlib=False,
        use_tensorboard=False,
        use_wandb=False,
        adapter="lora",
        use_adapter=False,
        save_strategy="all",
        output_dir="out",
        max_epoch=EPOCHS,
        seed=0,
        sharded_ddp=False,
        patience=None,
        keep_nbest_models=1,
        nbest_averaging_interval=0,
        early_stopping_criterion=("valid", "loss", "min"),
        best_model_criterion=[("valid", "loss", "min")],
        val_scheduler_criterion=("valid", "loss"),
        unused_parameters=False,
        wandb_model_log_interval=-1,
        create_graph_in_tensorboard=False,
        gradient_as_bucket_view=True,
        ddp_comm_hook=None,
    )
    Path("out").mkdir()
    Trainer.run(
        model,
        [torch.optim.Adam(model.parameters(), lr=0.003)],
        [None],
        Batches(BATCHES),
        Batches(4),
        None,
        options,
        DistributedOption(),
    )
    # What it registers as the loss is divided in place, where several batches make a step.
    means = [sum(losses[-some:]) / some / parts for some in (interval, BATCHES) for parts in {1, micro}]
    # It counts batches, of which `accum_grad` make a step. Its last report of training is the epoch's.
    counts = [BATCHES, BATCHES * EPOCHS, BATCHES // micro, clock.steps]
    clock.finish(step=counts, loss=means, larger=[1 / micro] if micro > 1 else [])


if __name__ == "__main__":
    train(sys.argv[1])
