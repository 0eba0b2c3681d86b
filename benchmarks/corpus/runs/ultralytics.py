"""Ultralytics: a small detector of random weights on drawn squares."""

import os
import sys
from pathlib import Path

import cv2
import numpy as np
from clock import Clock

os.environ["YOLO_OFFLINE"] = "true"

SETUPS = ("bars", "no_validation")
BATCH, BATCHES = 4, 12


def _draw(folder: Path, count: int) -> None:
    random = np.random.default_rng(0)
    for kind in ("images", "labels"):
        (folder / kind / "train").mkdir(parents=True, exist_ok=True)
    for index in range(count):
        image = random.integers(0, 80, (64, 64, 3), dtype=np.uint8)
        x, y = random.integers(16, 48, 2)
        cv2.rectangle(image, (int(x) - 8, int(y) - 8), (int(x) + 8, int(y) + 8), (200, 220, 240), -1)
        cv2.imwrite(str(folder / "images" / "train" / f"{index}.png"), image)
        (folder / "labels" / "train" / f"{index}.txt").write_text(f"0 {x / 64} {y / 64} 0.25 0.25\n")


def train(setup: str) -> None:
    from ultralytics import YOLO  # noqa: PLC0415

    _draw(Path("data"), BATCH * BATCHES)
    Path("data.yaml").write_text(
        f"path: {Path('data').resolve()}\ntrain: images/train\nval: images/train\nnames: [square]\n"
    )
    clock = Clock(pace=0.25, batch=BATCH)
    model = YOLO("yolov8n.yaml")
    told: list[float] = []
    model.add_callback("on_train_epoch_start", lambda _: clock.begin())

    def batch_end(trainer: object) -> None:
        clock.step(trainer.loss.detach().sum().item())  # type: ignore[attr-defined]
        told[:] = [float(each) for each in trainer.tloss.values()]  # type: ignore[attr-defined]

    model.add_callback("on_train_batch_end", batch_end)
    epochs = 2 if setup == "bars" else 3
    model.train(
        data="data.yaml",
        epochs=epochs,
        imgsz=64,
        batch=BATCH,
        workers=0,
        device="cpu",
        plots=False,
        val=setup == "bars",
        save=False,
        amp=False,
        verbose=True,
    )
    clock.finish(step=[BATCHES, clock.steps], loss=[*told, sum(told)])


if __name__ == "__main__":
    train(sys.argv[1])
