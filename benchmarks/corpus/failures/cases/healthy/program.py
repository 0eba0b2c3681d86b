"""A program that ends well."""

from textwrap import dedent

from benchmarks.corpus.failures.case import Case


def case(
    name: str,
    program: str,
    run: str = "python train.py",
    *,
    style: str = "plain",
    environment: str = "plain",
    seconds: float = 60,
) -> Case:
    """Return the case of a `train.py`, started by `run`."""
    return Case(
        name, run, None, {"train.py": dedent(program).lstrip()}, style=style, environment=environment, seconds=seconds
    )
