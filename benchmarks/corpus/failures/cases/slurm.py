"""A real Slurm on loopback: time limit, cancel, preemption, node failure, requeue, failing and killed tasks."""

from textwrap import dedent

from benchmarks.corpus.failures.case import Case, Truth, infrastructure, other, raised, user_script


def _case(
    name: str, batch: str, truth: Truth | None, *, act: str = "", options: str = "", seconds: float = 120
) -> Case:
    """Return a case whose batch script is `batch`; `act` is what an operator does once `step 5012` was printed."""
    files = {
        "batch.sh": "#!/bin/bash\nexport SLURM_EXPORT_ENV=ALL\n" + dedent(batch).lstrip(),
        "act.sh": dedent(act).lstrip(),
    }
    return Case(name, options, truth, files, environment="slurm", seconds=seconds)


_LONG = "STEPS=100000 python slow.py\n"
_STEP = "STEPS=100000 srun python slow.py\n"

CASES = [
    _case(
        "time_limit",
        _LONG,
        other(r"CANCELLED AT .* DUE TO TIME LIMIT", "the job's time limit", restartable=None),
        options="--time=1",
    ),
    _case(
        "time_limit_step",
        _STEP,
        other(
            r"DUE TO TIME LIMIT",
            "the job's time limit, seen by a step too",
            restartable=None,
            begin=r"srun: Job step aborted",
            end=r"forcing job termination",
        ),
        options="--time=1",
    ),
    _case("cancelled", _LONG, other(r"\*\*\* JOB \d+ ON \w+ CANCELLED AT", "its owner cancels it"), act="scancel $JOB"),
    _case(
        "cancelled_step",
        _STEP,
        other(
            r"\*\*\* (JOB|STEP) [\d.]+ ON \w+ CANCELLED AT",
            "its owner cancels it",
            begin=r"srun: Job step aborted",
            end=r"forcing job termination",
        ),
        act="scancel $JOB",
    ),
    _case(
        "preempted",
        _LONG,
        other(r"DUE TO PREEMPTION", "a job of higher priority takes the node"),
        options="--partition=low --nodelist=n3 --exclusive",
        act="sbatch --parsable --partition=high --nodelist=n3 --exclusive --wrap='sleep 5'",
    ),
    _case(
        "node_failure",
        _LONG,
        infrastructure("node", r"DUE TO NODE FAILURE", "the node is declared dead", restartable=True),
        options="--nodelist=n2 --no-requeue",
        act="scontrol update NodeName=n2 State=DOWN Reason='not responding'",
    ),
    _case(
        "node_failure_step",
        "STEPS=100000 srun --nodes=2 --ntasks=2 python slow.py\n",
        infrastructure(
            "node",
            r"DUE TO NODE FAILURE|Node failure on|error: .*[Nn]ode failure",
            "one node of two is declared dead",
            restartable=True,
            end=r"JOB \d+ ON .* DUE TO NODE FAILURE",
        ),
        options="--nodes=2 --ntasks=2 --no-requeue",
        act="scontrol update NodeName=n2 State=DOWN Reason='not responding'",
    ),
    _case(
        "requeued",
        _LONG,
        other(
            r"CANCELLED AT .* DUE TO JOB REQUEUE|DUE TO JOB REQUEUE|\*\*\* JOB",
            "an operator puts it back into the queue",
            repeated=True,
        ),
        act="scontrol requeuehold $JOB",
    ),
    _case(
        "task_fails",
        "srun --ntasks=2 --kill-on-bad-exit=1 python fails.py\n",
        user_script(
            why="one task of two raises; srun tells of it and ends the other",
            **raised(r"ValueError: shard 1 holds no samples"),
        ),
        options="--ntasks=2",
    ),
    _case(
        "labelled_task_fails",
        "srun --label --ntasks=2 --kill-on-bad-exit=1 python fails.py\n",
        user_script(
            why="one task of two raises; srun puts the task before each line",
            **raised(r"ValueError: shard 1 holds no samples"),
        ),
        options="--ntasks=2",
    ),
    _case("labelled_and_finished", "srun --label --ntasks=2 python loop.py\necho done\n", None, options="--ntasks=2"),
    _case(
        "task_killed",
        "srun --ntasks=2 --kill-on-bad-exit=1 bash -c "
        "'if [ $SLURM_PROCID = 1 ]; then sleep 2; kill -9 $$; fi; STEPS=100000 python slow.py'\n",
        other(
            r"task \d: Killed",
            "one task of two is killed with SIGKILL",
            also_types=("infrastructure", "user_script"),
            also_components=("node",),
        ),
        options="--ntasks=2",
    ),
    _case(
        "too_many_tasks",
        "python slow.py\nsrun --ntasks=200 python slow.py\n",
        user_script(
            r"srun: error: .*(Unable to create step|More processors requested|Requested node configuration|can't run)",
            "the step asks for more than the job has",
            end=r"srun: error",
            also_types=("other",),
        ),
    ),
    _case(
        "module_missing",
        "module load cuda/12.8\nset -e\nsrun python -c 'import train_utils'\n",
        user_script(
            r"ModuleNotFoundError: No module named 'train_utils'",
            "a package is missing",
            begin=r"module: command not found|Traceback",
        ),
    ),
    _case(
        "tolerated_failure",
        "srun false || echo 'warm-up of the cache failed, going on'\npython slow.py\necho done\n",
        None,
    ),
    _case(
        "requeued_and_finished",
        "if [ ! -e once ]; then touch once; STEPS=100000 python slow.py; fi\nSTEPS=24 python slow.py\n"
        "echo finished after $SLURM_RESTART_COUNT restart\n",
        None,
        act="scontrol requeue $JOB",
    ),
]
