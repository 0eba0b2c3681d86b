"""Clocks what PyTorch's optimisers do, for trainers that have no hook of their own. It needs PyTorch and nothing else."""

from clock import Clock
from torch.optim.optimizer import register_optimizer_step_post_hook


def clock_optimizers(clock: Clock) -> None:
    """Let each step of any optimiser end a step of `clock`."""
    register_optimizer_step_post_hook(lambda *_: clock.step())
