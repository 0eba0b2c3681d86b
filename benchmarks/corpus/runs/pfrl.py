"""PFRL: a line of the episode and a line of statistics as a list of pairs, after every episode."""

import logging
import sys

import numpy as np
import pfrl
import torch
from clock import Clock

SETUPS = ("root_log", "log_with_times")
STEPS, EPISODE = 700, 20


class Made:
    """A made-up environment of fixed episodes."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(0)

    def reset(self) -> np.ndarray:
        self.left = EPISODE
        self.seen = self.random.normal(size=4).astype(np.float32)
        return self.seen

    def step(self, action: int) -> tuple[np.ndarray, float, bool, dict]:  # type: ignore[type-arg]
        self.left -= 1
        reward = float(action == (self.seen[0] > 0))
        self.seen = self.random.normal(size=4).astype(np.float32)
        return self.seen, reward, self.left == 0, {}


def train(setup: str) -> None:
    shown = {} if setup == "root_log" else {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}
    logging.basicConfig(level=logging.INFO, stream=sys.stdout, **shown)
    torch.set_num_threads(1)
    pfrl.utils.set_random_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2), pfrl.q_functions.DiscreteActionValueHead()
    )
    agent = pfrl.agents.DQN(
        network,
        torch.optim.Adam(network.parameters(), 0.003),
        pfrl.replay_buffers.ReplayBuffer(1000),
        0.9,
        pfrl.explorers.ConstantEpsilonGreedy(0.2, lambda: np.random.randint(2)),
        gpu=-1,
        replay_start_size=60,
        minibatch_size=16,
        update_interval=2,
        target_update_interval=50,
    )
    # A step is one of the environment.
    clock = Clock(pace=0.03, batch=1, interval=EPISODE)
    clock.begin()
    pfrl.experiments.train_agent(agent, Made(), STEPS, "out", step_hooks=[lambda *_: clock.step()])
    statistics = dict(agent.get_statistics())
    # It counts updates too, each of two steps.
    clock.finish(
        step=[STEPS, statistics["n_updates"]], loss=statistics["average_loss"], speed=setup != "root_log", larger=[2]
    )


if __name__ == "__main__":
    train(sys.argv[1])
