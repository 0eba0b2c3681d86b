"""MPI: a rank that aborts, raises, crashes or is killed, under Open MPI's mpirun."""

from textwrap import dedent

from benchmarks.corpus.failures.case import Case, Truth, other, raised, user_script

_RUN = "mpirun --allow-run-as-root --oversubscribe -n {ranks} python -m mpi4py train.py"


def _case(name: str, ranks: int, fault: str, truth: Truth | None, run: str = _RUN) -> Case:
    lines = fault.replace("\n", "\n                ")
    program = f"""
        import ctypes
        import os
        import time

        import numpy as np
        from mpi4py import MPI

        ranks = MPI.COMM_WORLD
        rank = ranks.Get_rank()
        weights = np.ones(64)
        for step in range(5001, 5025):
            begun = time.perf_counter()
            if step == 5014 and rank == {ranks - 1}:
                {lines}
            total = np.zeros(64)
            ranks.Allreduce(np.random.default_rng(step + rank).normal(size=64), total)
            weights -= 0.01 * total
            if rank == 0:
                taken = (time.perf_counter() - begun) * 1e3
                print(f"step {{step}}/20000 | loss {{(weights**2).sum():.4f}} | {{taken:.3f}} ms/step", flush=True)
        """
    return Case(
        name, run.format(ranks=ranks), truth, {"train.py": dedent(program).lstrip()}, environment="torch", seconds=90
    )


CASES = [
    _case(
        "abort",
        2,
        "print('ERROR: rank 1 found an inconsistent grid, aborting', flush=True)\nranks.Abort(17)",
        user_script(r"ERROR: rank 1 found an inconsistent grid", "a rank finds an inconsistency and aborts all"),
    ),
    _case(
        "raise",
        4,
        "raise ValueError('cell 88 has a negative volume')",
        user_script(why="a rank raises", **raised(r"ValueError: cell 88")),
    ),
    _case(
        "segfault",
        2,
        "ctypes.string_at(0)",
        user_script(
            r"Signal: Segmentation fault|signal 11|Segmentation fault",
            "a rank crashes in native code that it calls",
            restartable=None,
            also_types=("framework", "infrastructure"),
            repeated=True,
        ),
    ),
    _case(
        "killed",
        4,
        "os.kill(os.getpid(), 9)",
        other(
            r"signal 9 \(Killed\)|SIGKILL|exited on signal 9",
            "a rank is killed with SIGKILL",
            also_types=("infrastructure", "user_script"),
            also_components=("node",),
            repeated=True,
        ),
    ),
    _case(
        "exit_code",
        2,
        "print('FATAL: checkpoint of rank 1 has 63 values, expected 64', flush=True)\nos._exit(9)",
        user_script(r"FATAL: checkpoint of rank 1", "a rank refuses its checkpoint and exits"),
    ),
    _case(
        "tagged_raise",
        2,
        "raise ValueError('cell 91 lies outside the domain')",
        user_script(why="a rank raises; mpirun puts the rank before each line", **raised(r"ValueError: cell 91")),
        _RUN.replace("mpirun", "mpirun --tag-output"),
    ),
    _case("finished", 2, "print('WARNING: residual error 3.1e-7 above 1e-7 in 2 cells', flush=True)", None),
]
