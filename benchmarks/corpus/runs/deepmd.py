"""DeePMD-kit: its lines of batches, first the errors, then the time, with the end that it expects."""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from clock import Clock
from clock_torch import clock_optimizers
from deepmd.main import main as program
from deepmd.pt.train import training

SETUPS = ("every_20", "every_40_validation")
ATOMS, FRAMES, STEPS = 6, 800, 240


def system(folder: Path) -> None:
    """Write a made-up system of atoms."""
    random = np.random.default_rng(0)
    (folder / "set.000").mkdir(parents=True)
    (folder / "type.raw").write_text("\n".join(["0", "1"] * (ATOMS // 2)) + "\n")
    (folder / "type_map.raw").write_text("O\nH\n")
    coordinates = random.uniform(0, 6, (FRAMES, ATOMS * 3))
    np.save(folder / "set.000" / "coord.npy", coordinates)
    np.save(folder / "set.000" / "box.npy", np.tile(np.diag([6.0] * 3).ravel(), (FRAMES, 1)))
    np.save(folder / "set.000" / "energy.npy", coordinates[:, :1] - 20)
    np.save(folder / "set.000" / "force.npy", random.normal(size=(FRAMES, ATOMS * 3)))


def train(setup: str) -> None:
    torch.set_num_threads(1)
    interval = 20 if setup == "every_20" else 40
    system(Path("made"))
    data = {"systems": ["made"], "batch_size": 2}
    settings = {
        "model": {
            "type_map": ["O", "H"],
            "descriptor": {
                "type": "se_e2_a",
                "sel": [6, 6],
                "rcut": 3.0,
                "rcut_smth": 0.5,
                "neuron": [4, 8],
                "axis_neuron": 2,
            },
            "fitting_net": {"neuron": [8, 8]},
        },
        "learning_rate": {"type": "exp", "start_lr": 0.002, "stop_lr": 1e-5, "decay_steps": 50},
        "loss": {
            "type": "ener",
            "start_pref_e": 0.02,
            "limit_pref_e": 1,
            "start_pref_f": 1000,
            "limit_pref_f": 1,
        },
        "training": {
            "training_data": data,
            **({"validation_data": data} if "validation" in setup else {}),
            "numb_steps": STEPS,
            "disp_freq": interval,
            "save_freq": 1000,
            "seed": 1,
        },
    }
    Path("input.json").write_text(json.dumps(settings))
    clock = Clock(pace=0.15, batch=2, interval=interval)
    clock_optimizers(clock)
    told: list[float] = []
    inner = training.format_training_message_per_task

    def noted(**values: object) -> str:
        if values["task_name"] == "trn":
            told[:] = [values["rmse"]["rmse"]]  # type: ignore[index]
        return inner(**values)  # type: ignore[no-any-return]

    training.format_training_message_per_task = noted
    program(["--pt", "train", "input.json"])
    # It prints roots of mean squares: the first is that of the loss.
    clock.finish(step=STEPS, loss=told, unsaid=["loss"])


if __name__ == "__main__":
    train(sys.argv[1])
