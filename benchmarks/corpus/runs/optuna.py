"""Optuna: a line a trial, with its time, its value, its parameters and which one is best; and its bar."""

import sys

import optuna
from clock import Clock

SETUPS = ("trials", "trials_bar")
TRIALS = 80


def train(setup: str) -> None:
    clock = Clock(pace=0.15)

    def objective(trial: optuna.Trial) -> float:
        rate = trial.suggest_float("learning_rate", 1e-5, 1e-1, log=True)
        layers = trial.suggest_int("layers", 1, 6)
        kind = trial.suggest_categorical("optimizer", ["adam", "sgd"])
        value = (rate - 0.01) ** 2 * 50 + 0.1 * layers + (0.05 if kind == "sgd" else 0.0)
        clock.step(value)
        return value

    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0), study_name="made")
    clock.begin()
    study.optimize(objective, n_trials=TRIALS, show_progress_bar=setup == "trials_bar")
    # A trial's value is no loss of a training, but what the search makes smaller.
    clock.finish(step=[TRIALS - 1, TRIALS], loss=[study.trials[-1].value, study.best_value], unsaid=["loss"])


if __name__ == "__main__":
    train(sys.argv[1])
