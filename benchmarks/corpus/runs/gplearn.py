"""gplearn: a table of generations under a head of two rows, with the time that is left."""

import sys

import numpy as np
from clock import Clock
from gplearn import genetic

SETUPS = ("all_samples", "some_samples")
GENERATIONS = 40


def train(setup: str) -> None:
    random = np.random.default_rng(0)
    points = random.uniform(-1, 1, size=(60, 2))
    targets = points[:, 0] ** 2 - points[:, 1] + 0.1 * random.normal(size=60)
    clock = Clock(pace=0.4)
    told: dict[str, list[float]] = {}
    inner = genetic.BaseSymbolic._verbose_reporter  # noqa: SLF001

    def report(self: genetic.BaseSymbolic, run_details: dict | None = None) -> None:  # type: ignore[type-arg]
        if run_details:
            told.update(run_details)
        inner(self, run_details)

    genetic.BaseSymbolic._verbose_reporter = report  # noqa: SLF001
    evolve = genetic._parallel_evolve  # noqa: SLF001

    def clocked(*arguments: object) -> list:  # type: ignore[type-arg]
        found = evolve(*arguments)
        clock.step()  # within what is measured as the generation's time
        return found  # type: ignore[no-any-return]

    genetic._parallel_evolve = clocked  # noqa: SLF001
    model = genetic.SymbolicRegressor(
        population_size=40,
        generations=GENERATIONS,
        stopping_criteria=0.0,
        max_samples=1.0 if setup == "all_samples" else 0.8,
        parsimony_coefficient=0.01,
        verbose=1,
        random_state=0,
    )
    clock.begin()
    model.fit(points, targets)
    fitness = [told[key][-1] for key in ("average_fitness", "best_fitness", "best_oob_fitness")]
    # What it calls fitness is an error here, that of the best or of all. Of times it tells only what is left.
    step = [GENERATIONS - 1, GENERATIONS]
    clock.finish(step=step, loss=[each for each in fitness if each == each], speed=False, unsaid=["loss"])  # noqa: PLR0124


if __name__ == "__main__":
    train(sys.argv[1])
