"""Tianshou: its bars of environment steps with what it knows in their ends, and a line a test."""

import sys

import gymnasium
import numpy as np
import torch
from clock import Clock
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, ReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

SETUPS = ("bars_tests", "bars")
EPOCHS, STEPS, COLLECTED = 3, 250, 5


class Slow(gymnasium.Env):  # type: ignore[misc]
    """A made-up environment of fixed episodes."""

    observation_space = gymnasium.spaces.Box(-1, 1, (4,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock = clock

    def reset(self, *, seed: int | None = None, options: object = None) -> tuple[np.ndarray, dict]:  # type: ignore[type-arg]
        del options
        super().reset(seed=seed)
        self.left = 20
        return self.np_random.normal(size=4).clip(-1, 1).astype(np.float32), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:  # type: ignore[type-arg]
        if self.clock:
            self.clock.step()
        self.left -= 1
        seen = self.np_random.normal(size=4).clip(-1, 1).astype(np.float32)
        return seen, float(action == (seen[0] > 0)), self.left == 0, False, {}


def train(setup: str) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    # A step is one of the environment, as the bars count them.
    clock = Clock(pace=0.03, batch=1, interval=COLLECTED)
    slow = Slow(clock)
    policy = DiscreteQLearningPolicy(
        model=Net(state_shape=(4,), action_shape=2, hidden_sizes=[16]), action_space=slow.action_space, eps_training=0.2
    )
    algorithm = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), target_update_freq=50)
    collector = Collector(algorithm, DummyVectorEnv([lambda: slow]), ReplayBuffer(1000), exploration_noise=True)
    tester = Collector(algorithm, DummyVectorEnv([Slow])) if setup == "bars_tests" else None

    def began(*_: object) -> None:
        if clock.steps % STEPS == 0:
            clock.begin()  # what came since the last step was a test

    algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            test_collector=tester,
            max_epochs=EPOCHS,
            epoch_num_steps=STEPS,
            collection_step_num_env_steps=COLLECTED,
            test_step_num_episodes=2,
            batch_size=16,
            update_step_num_gradient_steps_per_sample=0.2,
            training_fn=began,
        )
    )
    # It counts updates too, each of some steps of the environment.
    clock.finish(step=[STEPS, clock.steps, clock.steps // COLLECTED], loss=None, larger=[COLLECTED])


if __name__ == "__main__":
    train(sys.argv[1])
