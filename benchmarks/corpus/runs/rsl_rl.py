"""RSL-RL: blocks of right-aligned lines, one an iteration of some steps of the environment, which are the steps of the clock."""

import sys

import torch
from clock import Clock
from rsl_rl.env import VecEnv
from rsl_rl.runners import OnPolicyRunner
from tensordict import TensorDict

SETUPS = ("blocks", "blocks_resumed")
ENVIRONMENTS, STEPS, ITERATIONS = 1, 12, 40


class Made(VecEnv):
    """A made-up environment of fixed episodes."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.num_envs, self.num_actions, self.max_episode_length, self.device = ENVIRONMENTS, 2, 20, "cpu"
        self.episode_length_buf = torch.zeros(ENVIRONMENTS, dtype=torch.long)
        self.cfg: dict = {}  # type: ignore[type-arg]

    def get_observations(self) -> TensorDict:
        self.seen = torch.randn(ENVIRONMENTS, 6)
        return TensorDict({"policy": self.seen}, batch_size=[ENVIRONMENTS])

    def step(self, actions: torch.Tensor) -> tuple[TensorDict, torch.Tensor, torch.Tensor, dict]:  # type: ignore[type-arg]
        self.clock.step()
        rewards = -(actions - self.seen[:, :2]).square().mean(1)
        self.episode_length_buf += 1
        done = self.episode_length_buf >= self.max_episode_length
        self.episode_length_buf[done] = 0
        return self.get_observations(), rewards, done, {"time_outs": done, "log": {"distance": -rewards.mean()}}


def network(stochastic: bool) -> dict:  # type: ignore[type-arg]
    shape = {"class_name": "MLPModel", "hidden_dims": [16], "activation": "elu", "obs_normalization": False}
    return shape | ({"distribution_cfg": {"class_name": "GaussianDistribution", "init_std": 1.0}} if stochastic else {})


def train(setup: str) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    clock = Clock(pace=0.02, batch=ENVIRONMENTS, interval=STEPS)
    algorithm = {
        "class_name": "PPO",
        "num_learning_epochs": 2,
        "num_mini_batches": 1,
        "rnd_cfg": None,
        "symmetry_cfg": None,
    }
    settings = {
        "num_steps_per_env": STEPS,
        "save_interval": 1000,
        "obs_groups": {"actor": ["policy"], "critic": ["policy"]},
        "algorithm": algorithm,
        "actor": network(stochastic=True),
        "critic": network(stochastic=False),
    }
    runner = OnPolicyRunner(Made(clock), settings, log_dir="out", device="cpu")
    told: dict[str, list[float]] = {}
    inner = runner.logger.log

    def noted(**values: object) -> None:
        inner(**values)
        told["step"], told["loss"] = [values["it"]], list(values["loss_dict"].values())  # type: ignore[attr-defined]

    runner.logger.log = noted
    if setup == "blocks_resumed":
        runner.current_learning_iteration = 300
    clock.begin()
    runner.learn(ITERATIONS)
    # Its iterations are steps too. Of its losses none is *the* loss.
    clock.finish(step=[told["step"][0], clock.steps], loss=told["loss"], unsaid=["loss"], larger=[STEPS])


if __name__ == "__main__":
    train(sys.argv[1])
