"""PyTorch Ignite: handlers that print, its bar, its engine's log."""

import logging
import sys

import torch
import toy
from clock import Clock
from ignite.engine import Engine, Events, create_supervised_evaluator, create_supervised_trainer
from ignite.handlers import Timer
from ignite.handlers.tqdm_logger import ProgressBar
from ignite.metrics import Loss, RunningAverage

SETUPS = {"handler_prints": {"interval": 10}, "bar": {}, "engine_log_evaluation": {"interval": 5}}
BATCH, BATCHES, EPOCHS = 16, 50, 3


def train(setup: str) -> None:
    clock = Clock(pace=0.05, batch=BATCH, **SETUPS[setup])
    model = toy.model()
    trainer = create_supervised_trainer(
        model, torch.optim.SGD(model.parameters(), lr=0.05), torch.nn.functional.cross_entropy
    )
    loader, timer = toy.loader(BATCH * BATCHES, BATCH), Timer(average=True)
    timer.attach(
        trainer, resume=Events.ITERATION_STARTED, pause=Events.ITERATION_COMPLETED, step=Events.ITERATION_COMPLETED
    )
    trainer.add_event_handler(Events.STARTED, clock.begin)
    trainer.add_event_handler(Events.ITERATION_COMPLETED, lambda engine: clock.step(engine.state.output))
    if setup == "handler_prints":

        @trainer.on(Events.ITERATION_COMPLETED(every=10))
        def _print(engine: Engine) -> None:
            done = (engine.state.iteration - 1) % BATCHES + 1
            print(f"Epoch[{engine.state.epoch}] Iteration[{done}/{BATCHES}] Loss: {engine.state.output:.2f}")

    elif setup == "bar":
        RunningAverage(output_transform=lambda x: x).attach(trainer, "loss")
        ProgressBar(persist=True).attach(trainer, ["loss"])
    else:
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s: %(message)s")
        evaluator = create_supervised_evaluator(model, {"nll": Loss(torch.nn.functional.cross_entropy)})
        log = logging.getLogger("training")

        @trainer.on(Events.ITERATION_COMPLETED(every=5))
        def _log(engine: Engine) -> None:
            log.info("iter %d/%d - loss=%.4f", engine.state.iteration, BATCHES * EPOCHS, engine.state.output)

        @trainer.on(Events.EPOCH_COMPLETED)
        def _evaluate(engine: Engine) -> None:
            evaluator.run(toy.loader(BATCH * 20, BATCH))
            log.info(
                "Validation Results - Epoch: %d  Avg loss: %.4f", engine.state.epoch, evaluator.state.metrics["nll"]
            )
            clock.begin()

    trainer.run(loader, max_epochs=EPOCHS)
    loss = trainer.state.metrics["loss"] if setup == "bar" else clock.losses[-1]
    clock.finish(step=[BATCHES, clock.steps], loss=[loss, round(loss, 2)], speed=setup != "handler_prints")


if __name__ == "__main__":
    train(sys.argv[1])
