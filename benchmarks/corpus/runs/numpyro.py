"""NumPyro: the bar of its variational inference with running means, and that of its sampler with the sampler's state."""

import sys

import jax
import numpyro
from clock import Clock
from jax import numpy as jnp
from jax.experimental import io_callback
from numpyro import distributions
from numpyro.infer import MCMC, NUTS, SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal

SETUPS = ("variational_bar", "sampler_bar")
STEPS, WARMUP, SAMPLES = 500, 100, 300


def model(points: jax.Array, seen: jax.Array | None = None) -> None:
    weight = numpyro.sample("weight", distributions.Normal(0.0, 2.0))
    offset = numpyro.sample("offset", distributions.Normal(0.0, 2.0))
    numpyro.sample("seen", distributions.Normal(weight * points + offset, 0.5), obs=seen)


class Slow(NUTS):  # type: ignore[misc]
    """Clocks samples."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(model)
        self.clock = clock

    def sample(self, state: object, model_args: tuple, model_kwargs: dict) -> object:  # type: ignore[type-arg]
        found = super().sample(state, model_args, model_kwargs)
        io_callback(lambda _: self.clock.step(), None, found.i, ordered=True)
        return found


def train(setup: str) -> None:
    points = jax.random.normal(jax.random.PRNGKey(0), (100,))
    seen = 1.5 * points - 0.3 + 0.5 * jax.random.normal(jax.random.PRNGKey(1), (100,))
    if setup == "sampler_bar":
        clock = Clock(pace=0.05)
        clock.begin()
        MCMC(Slow(clock), num_warmup=WARMUP, num_samples=SAMPLES, progress_bar=True).run(
            jax.random.PRNGKey(2), points, seen
        )
        # It draws its bar some twenty times.
        clock.finish(step=[WARMUP + SAMPLES, clock.steps])
        return
    clock = Clock(pace=0.04)
    svi = SVI(model, AutoNormal(model), numpyro.optim.Adam(0.02), Trace_ELBO())
    inner = svi.update

    def update(*arguments: object, **named: object) -> object:
        state, loss = inner(*arguments, **named)
        io_callback(lambda value: clock.step(float(value)), None, loss, ordered=True)
        return state, loss

    svi.update = update
    clock.begin()
    losses = svi.run(jax.random.PRNGKey(2), STEPS, points, seen, progress_bar=True).losses
    shown = [float(jnp.mean(losses[-some:])) for some in (STEPS // 20, 1)]
    clock.finish(step=STEPS, loss=shown)


if __name__ == "__main__":
    train(sys.argv[1])
