"""RL Games: one line an epoch with three rates of frames, and a line for each best return."""

import sys

import gymnasium
import numpy as np
from clock import Clock
from rl_games.common import env_configurations, vecenv
from rl_games.common.ivecenv import IVecEnv
from rl_games.torch_runner import Runner

SETUPS = ("by_epochs", "by_frames")
ACTORS, HORIZON, EPOCHS = 4, 16, 28


class Made(IVecEnv):  # type: ignore[misc]
    """Made-up environments of fixed episodes. Its step is the clock's."""

    def __init__(self, clock: Clock) -> None:
        self.clock, self.random, self.left = clock, np.random.default_rng(0), 20

    def reset(self) -> np.ndarray:
        self.seen = self.random.normal(size=(ACTORS, 4)).clip(-1, 1).astype(np.float32)
        return self.seen

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict]:  # type: ignore[type-arg]
        self.clock.step()
        rewards = (np.asarray(actions).ravel() == (self.seen[:, 0] > 0)).astype(np.float32)
        self.left = (self.left - 1) % 20
        return self.reset(), rewards, np.full(ACTORS, self.left == 0), {}

    def get_env_info(self) -> dict:  # type: ignore[type-arg]
        return {
            "observation_space": gymnasium.spaces.Box(-1, 1, (4,), np.float32),
            "action_space": gymnasium.spaces.Discrete(2),
        }


def train(setup: str) -> None:
    clock = Clock(pace=0.09, batch=ACTORS, interval=HORIZON)
    vecenv.register("MADE", lambda *_, **__: Made(clock))
    env_configurations.register("made", {"vecenv_type": "MADE", "env_creator": lambda **_: None})
    ends = (
        {"max_epochs": EPOCHS} if setup == "by_epochs" else {"max_frames": EPOCHS * ACTORS * HORIZON, "max_epochs": -1}
    )
    shape = {"units": [16], "activation": "relu", "initializer": {"name": "default"}}
    runner = Runner()
    runner.load(
        {
            "params": {
                "seed": 1,
                "algo": {"name": "a2c_discrete"},
                "model": {"name": "discrete_a2c"},
                "network": {"name": "actor_critic", "separate": False, "space": {"discrete": {}}, "mlp": shape},
                "config": {
                    "name": "made",
                    "env_name": "made",
                    "reward_shaper": {"scale_value": 1.0},
                    "gamma": 0.9,
                    "tau": 0.9,
                    "normalize_advantage": True,
                    "normalize_input": False,
                    "learning_rate": 1e-3,
                    "score_to_win": 1e6,
                    "lr_schedule": None,
                    "grad_norm": 1.0,
                    "entropy_coef": 0.01,
                    "truncate_grads": True,
                    "e_clip": 0.2,
                    "clip_value": True,
                    "num_actors": ACTORS,
                    "horizon_length": HORIZON,
                    "minibatch_size": 32,
                    "mini_epochs": 2,
                    "critic_coef": 1.0,
                    "kl_threshold": 0.01,
                    "ppo": True,
                    "device": "cpu",
                    "device_name": "cpu",
                    "save_best_after": 1000,
                    "save_frequency": 0,
                    "print_stats": True,
                    **ends,
                },
            }
        }
    )
    clock.begin()
    runner.run({"train": True, "play": False})
    # A frame is a step of one environment. It counts epochs and frames.
    clock.finish(step=[clock.steps // HORIZON, clock.steps * ACTORS], loss=None, larger=[HORIZON])


if __name__ == "__main__":
    train(sys.argv[1])
