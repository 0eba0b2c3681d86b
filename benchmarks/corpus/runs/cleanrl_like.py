"""A reinforcement learning program of one file, in the manner of CleanRL: it prints returns, losses and steps a second as they come."""

import random
import sys
import time

import gymnasium
import numpy as np
import torch
from clock import Clock

SETUPS = ("returns_and_rate", "rate_in_updates")
ROLLOUT, UPDATES, EPISODE = 40, 30, 25


class Made(gymnasium.Env):  # type: ignore[misc]
    """A made-up environment of fixed episodes."""

    observation_space = gymnasium.spaces.Box(-1, 1, (4,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: object = None) -> tuple[np.ndarray, dict]:  # type: ignore[type-arg]
        del options
        super().reset(seed=seed)
        self.left = EPISODE
        self.seen = self.np_random.normal(size=4).clip(-1, 1).astype(np.float32)
        return self.seen, {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:  # type: ignore[type-arg]
        self.left -= 1
        reward = float(action == (self.seen[0] > 0))
        self.seen = self.np_random.normal(size=4).clip(-1, 1).astype(np.float32)
        return self.seen, reward, self.left == 0, False, {}


def train(setup: str) -> None:
    random.seed(0)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    # A step is one of the environment.
    clock = Clock(pace=0.025, batch=1, interval=ROLLOUT)
    environment = gymnasium.wrappers.RecordEpisodeStatistics(Made())
    network = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2))
    optimizer = torch.optim.Adam(network.parameters(), lr=2.5e-3)
    seen, _ = environment.reset(seed=0)
    start, global_step = time.time(), 0
    clock.begin()
    for update in range(1, UPDATES + 1):
        chosen, rewards = [], []
        for _ in range(ROLLOUT):
            global_step += 1
            policy = torch.distributions.Categorical(logits=network(torch.tensor(seen)))
            action = policy.sample()
            chosen.append(policy.log_prob(action))
            seen, reward, over, _, infos = environment.step(action.item())
            rewards.append(reward)
            clock.step()
            if over:
                if setup == "returns_and_rate":
                    print(f"global_step={global_step}, episodic_return={infos['episode']['r']}")
                seen, _ = environment.reset()
        advantages = torch.tensor(rewards) - 0.5
        loss = -(torch.stack(chosen) * advantages).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rate = int(global_step / (time.time() - start))
        if setup == "returns_and_rate":
            print("SPS:", rate)
        else:
            print(f"Update {update}/{UPDATES} | steps {global_step} | policy_loss {loss.item():.4f} | fps {rate}")
    told = setup != "returns_and_rate"
    clock.finish(
        step=[global_step, UPDATES] if told else [global_step // EPISODE * EPISODE],
        loss=loss.item() if told else None,
        unsaid=["loss"],
        larger=[ROLLOUT] if told else [],
    )


if __name__ == "__main__":
    train(sys.argv[1])
