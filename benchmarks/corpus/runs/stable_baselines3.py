"""Stable-Baselines3: its drawn tables of many metrics, and its bar. A step is a step of the environment; a "sample" too."""

import sys

import gymnasium
import numpy as np
import stable_baselines3
import torch
from clock import Clock
from stable_baselines3.common.callbacks import BaseCallback

SETUPS = ("a2c_table", "dqn_table", "ppo_table", "bar_terminal")


class Slow(gymnasium.Env):  # type: ignore[misc]
    """A made-up environment of fixed episodes."""

    observation_space = gymnasium.spaces.Box(-1, 1, (4,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: object = None) -> tuple[np.ndarray, dict]:  # type: ignore[type-arg]
        del options
        super().reset(seed=seed)
        self.left = 20
        return self.np_random.normal(size=4).clip(-1, 1).astype(np.float32), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:  # type: ignore[type-arg]
        self.left -= 1
        seen = self.np_random.normal(size=4).clip(-1, 1).astype(np.float32)
        return seen, float(action == (seen[0] > 0)), self.left == 0, False, {}


class Hook(BaseCallback):
    """Clocks steps of the environment."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock

    def _on_training_start(self) -> None:
        self.clock.begin()

    def _on_step(self) -> bool:
        self.clock.step()
        return True


def train(setup: str) -> None:
    torch.set_num_threads(1)
    clock = Clock(pace=0.01, batch=1, interval=20)
    steps = 600
    if setup in ("a2c_table", "bar_terminal"):
        model = stable_baselines3.A2C("MlpPolicy", Slow(), n_steps=5, verbose=1, seed=0, device="cpu")
    elif setup == "dqn_table":
        model = stable_baselines3.DQN("MlpPolicy", Slow(), learning_starts=50, verbose=1, seed=0, device="cpu")
    else:
        model = stable_baselines3.PPO(
            "MlpPolicy", Slow(), n_steps=64, batch_size=32, n_epochs=2, verbose=1, seed=0, device="cpu"
        )
    told: dict[str, list[float]] = {"step": [], "loss": []}
    from stable_baselines3.common import logger as sb3_logger  # noqa: PLC0415

    inner = sb3_logger.Logger.dump

    def noted(self: sb3_logger.Logger, step: int = 0) -> None:
        values = dict(self.name_to_value)
        inner(self, step)
        told["step"] = [step, values.get("time/iterations", step), values.get("train/n_updates", step)]
        told["loss"] = [
            value
            for name, value in values.items()
            if name in ("train/loss", "train/policy_loss", "train/value_loss", "train/policy_gradient_loss")
        ]

    sb3_logger.Logger.dump = noted
    model.learn(
        steps, callback=Hook(clock), log_interval=8 if setup == "a2c_table" else 1, progress_bar=setup == "bar_terminal"
    )
    # Its iterations and updates are steps too, of several steps of the environment. A2C prints losses, none of them *the* loss.
    larger = {"dqn_table": [4], "ppo_table": [64, 32]}.get(setup, [5])
    unsaid = ["loss"] if larger == [5] else []
    clock.finish(step=sorted(set(map(int, told["step"]))), loss=told["loss"] or None, unsaid=unsaid, larger=larger)


if __name__ == "__main__":
    train(sys.argv[1])
