"""Sample Factory: a line of rates over three windows and of frames every few seconds, in colours."""

import sys

import gymnasium
import numpy as np
from clock import Clock
from sample_factory.algo.runners.runner import Runner
from sample_factory.cfg.arguments import parse_full_cfg, parse_sf_args
from sample_factory.envs.env_utils import register_env
from sample_factory.train import run_rl

SETUPS = ("one_environment", "two_environments_skipped_frames")


class Slow(gymnasium.Env):  # type: ignore[misc]
    """A made-up environment of fixed episodes."""

    observation_space = gymnasium.spaces.Box(-1, 1, (4,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, clock: Clock) -> None:
        self.clock, self.render_mode = clock, None

    def reset(self, *, seed: int | None = None, options: object = None) -> tuple[np.ndarray, dict]:  # type: ignore[type-arg]
        del options
        super().reset(seed=seed)
        self.left = 50
        return self.np_random.normal(size=4).clip(-1, 1).astype(np.float32), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:  # type: ignore[type-arg]
        self.clock.step()
        self.left -= 1
        seen = self.np_random.normal(size=4).clip(-1, 1).astype(np.float32)
        return seen, float(action == (seen[0] > 0)), self.left == 0, False, {}


CLOCK = Clock(pace=0.012, batch=1, interval=300)


def made(*_: object, **__: object) -> Slow:
    """Return the environment; where one is only asked for its spaces, in another process, its clock is another one."""
    return Slow(CLOCK)


def train(setup: str) -> None:
    several = setup != "one_environment"
    frames = 4 if several else 1
    clock = CLOCK
    clock.batch = frames
    register_env("made", made)
    arguments = [
        "--env=made",
        "--experiment=made",
        "--train_dir=out",
        "--device=cpu",
        "--serial_mode=True",
        "--async_rl=False",
        "--num_workers=1",
        f"--num_envs_per_worker={2 if several else 1}",
        "--worker_num_splits=1",
        f"--env_frameskip={frames}",
        "--rollout=16",
        "--batch_size=64",
        "--num_batches_per_epoch=1",
        "--recurrence=1",
        "--use_rnn=False",
        "--encoder_mlp_layers",
        "16",
        f"--train_for_env_steps={4000 * frames}",
        "--save_every_sec=1000",
        "--seed=0",
    ]
    parser, _ = parse_sf_args(arguments)
    told: list[list[int]] = []
    inner = Runner.print_stats

    def noted(self: Runner, fps: object, throughput: object, steps: int) -> None:
        told.append([steps, sum(self.samples_collected)])
        inner(self, fps, throughput, steps)

    Runner.print_stats = noted
    clock.begin()
    run_rl(parse_full_cfg(parser, arguments))
    # Rates are of frames, of which an environment may skip some in a step; it counts samples too. Rates are over all the time, that
    # of the learner between steps with it.
    clock.finish(step=[*told[-1], clock.steps * frames], larger=[1])


if __name__ == "__main__":
    train(sys.argv[1])
