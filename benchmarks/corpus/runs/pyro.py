"""Pyro: the prints of its tutorials' loops, and the bar of its sampler, whose end tells of the sampler."""

import sys

import pyro
import torch
from clock import Clock
from pyro import distributions
from pyro.infer import MCMC, NUTS, SVI, Trace_ELBO
from pyro.infer.autoguide import AutoNormal

SETUPS = ("svi_every_25", "svi_every_step_logging", "sampler_bar")
STEPS = {"svi_every_25": 600, "svi_every_step_logging": 300}
WARMUP, SAMPLES = 100, 300


def model(points: torch.Tensor, seen: torch.Tensor | None = None) -> torch.Tensor:
    weight = pyro.sample("weight", distributions.Normal(0.0, 2.0))
    offset = pyro.sample("offset", distributions.Normal(0.0, 2.0))
    with pyro.plate("data", len(points)):
        return pyro.sample("seen", distributions.Normal(weight * points + offset, 0.5), obs=seen)


def train(setup: str) -> None:
    torch.set_num_threads(1)
    pyro.set_rng_seed(0)
    points = torch.randn(100)
    seen = 1.5 * points - 0.3 + 0.5 * torch.randn(100)
    if setup == "sampler_bar":
        clock = Clock(pace=0.05)
        sampler = MCMC(NUTS(model), SAMPLES, warmup_steps=WARMUP, hook_fn=lambda *_: clock.step())
        clock.begin()
        sampler.run(points, seen)
        clock.finish(step=WARMUP + SAMPLES)
        return
    every = 25 if setup == "svi_every_25" else 1
    clock = Clock(pace=0.03, interval=every)
    svi = SVI(model, AutoNormal(model), pyro.optim.Adam({"lr": 0.02}), Trace_ELBO())
    steps, told, loss = STEPS[setup], 0, 0.0
    clock.begin()
    for step in range(steps):
        found = svi.step(points, seen) / len(points)
        clock.step(found)
        if step % every == 0:
            told, loss = step, found
            if every > 1:
                print(f"[iteration {step + 1:04d}] loss: {loss:.4f}")
            else:
                print(f"Step {step}\tELBO loss: {loss:.5f}", file=sys.stderr)
    clock.finish(step=told + 1 if every > 1 else told, loss=loss, speed=False)


if __name__ == "__main__":
    train(sys.argv[1])
