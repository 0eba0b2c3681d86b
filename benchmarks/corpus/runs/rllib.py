"""RLlib: its tables of trials as Tune prints them, and a loop that prints all of a result."""

import sys

import gymnasium
import numpy as np
from clock import Clock
from ray import tune
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.callbacks.callbacks import RLlibCallback
from ray.tune.logger import pretty_print

SETUPS = ("loop_prints", "loop_results", "tune_tables")
ITERATIONS, BATCH = 12, 100


class Slow(gymnasium.Env):  # type: ignore[misc]
    """A made-up environment of fixed episodes, whose clock is that of its process."""

    clock: Clock | None = None

    def __init__(self, _: object = None) -> None:
        self.observation_space = gymnasium.spaces.Box(-1, 1, (4,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: object = None) -> tuple[np.ndarray, dict]:  # type: ignore[type-arg]
        del options
        super().reset(seed=seed)
        self.left = 20
        return self.np_random.normal(size=4).clip(-1, 1).astype(np.float32), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:  # type: ignore[type-arg]
        if Slow.clock is None:
            Slow.clock = Clock(pace=0.03, batch=1, interval=BATCH)
            Slow.clock.begin()
        Slow.clock.step()
        self.left -= 1
        seen = self.np_random.normal(size=4).clip(-1, 1).astype(np.float32)
        return seen, float(action == (seen[0] > 0)), self.left == 0, False, {}


def finish(clock: Clock, done: int, losses: list[float]) -> None:
    # Its iterations are steps too. Of several losses none is *the* loss.
    clock.finish(step=[done, clock.steps], loss=losses or None, unsaid=["loss"], larger=[BATCH])


class Told(RLlibCallback):  # type: ignore[misc]
    """Writes the truth in the process that trains."""

    def on_train_result(self, *, algorithm: object, result: dict, **_: object) -> None:  # type: ignore[type-arg]
        del algorithm
        assert Slow.clock is not None
        finish(Slow.clock, result["training_iteration"], losses_of(result))


def losses_of(result: dict) -> list[float]:  # type: ignore[type-arg]
    learner = result.get("learners", {}).get("default_policy", {})
    return [float(value) for key, value in learner.items() if "loss" in key]


def train(setup: str) -> None:
    config = (
        PPOConfig()
        .environment(Slow)
        .env_runners(num_env_runners=0, rollout_fragment_length=BATCH)
        .training(train_batch_size_per_learner=BATCH, minibatch_size=50, num_epochs=2)
        .rl_module(model_config={"fcnet_hiddens": [16]})
        .callbacks(Told)
        .debugging(seed=0)
    )
    if setup == "tune_tables":
        run = tune.RunConfig(stop={"training_iteration": ITERATIONS}, verbose=2, storage_path=None)
        tune.Tuner("PPO", param_space=config, run_config=run).fit()
        return
    learner = config.build_algo()
    for at in range(ITERATIONS):
        result = learner.train()
        if setup == "loop_results":
            print(
                pretty_print(
                    {
                        key: result[key]
                        for key in (
                            "env_runners",
                            "learners",
                            "num_env_steps_sampled_lifetime",
                            "training_iteration",
                            "time_this_iter_s",
                            "time_total_s",
                        )
                        if key in result
                    }
                )
            )
        else:
            mean = result["env_runners"]["episode_return_mean"]
            sampled, took = result["num_env_steps_sampled_lifetime"], result["time_this_iter_s"]
            print(f"Iter: {at + 1}; avg. reward={mean:.2f}; sampled={sampled}; {took:.2f}s")
    learner.stop()


if __name__ == "__main__":
    train(sys.argv[1])
