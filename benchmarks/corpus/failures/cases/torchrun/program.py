"""A training program under torchrun, and a fault in one of its ranks."""

from textwrap import dedent

from benchmarks.corpus.failures.case import Case, Truth, other

RUN = "torchrun --nproc-per-node {ranks} --master-port $((20000 + RANDOM % 9000)) train.py"


def case(name: str, ranks: int, program: str, truth: Truth | None, *, run: str = RUN, seconds: float = 120) -> Case:
    files = {"train.py": dedent(program).lstrip()}
    return Case(name, run.format(ranks=ranks), truth, files, environment="torch", style="ddp", seconds=seconds)


def fault(step: int, rank: int, body: str, head: str = "import os") -> str:
    """Return a program in which `rank` runs `body` before `step`."""
    lines = body.strip().replace("\n", "\n                    ")
    return f"""
        {head}

        from ddp import train

        for job in train():
            if job.step == {step} and job.rank == {rank}:
                    {lines}
        """


KILLED = other(
    r"exitcode *: -9|SIGKILL",
    "one rank was killed with SIGKILL; who sent it is not in the log",
    repeated=True,
    also_types=("infrastructure", "user_script"),
    also_components=("node",),
)
GONE = r"Connection closed by peer|Connection reset by peer|Read error|Broken pipe"
