"""Ray: tasks and actors that fail or die, and a call that never returns."""

from textwrap import dedent

from benchmarks.corpus.failures.case import Case, Truth, other, raised, user_script

_START = "ray.init(num_cpus=2, include_dashboard=False)"


def _case(name: str, program: str, truth: Truth, seconds: float = 180) -> Case:
    return Case(
        name, "python train.py", truth, {"train.py": dedent(program).lstrip()}, environment="torch", seconds=seconds
    )


def _actor(fault: str) -> str:
    lines = fault.replace("\n", "\n                    ")
    return f"""
        import ctypes
        import os
        import time

        import ray
        from loop import train

        {_START}


        @ray.remote
        class Shard:
            def read(self, step):
                if step == 5013:
                    {lines}
                return step


        shard = Shard.remote()
        for step in train():
            ray.get(shard.read.remote(step), timeout=15)
        """


_DEAD = r"(ActorDiedError|WorkerCrashedError|RayActorError)"

CASES = [
    _case(
        "task_raises",
        f"""
        import ray
        from loop import train

        {_START}


        @ray.remote
        def tokenize(step):
            if step == 5011:
                raise ValueError(f"document {{step}} is empty")
            return step


        for step in train():
            ray.get(tokenize.remote(step))
        """,
        user_script(
            why="a task meets an empty document",
            end=r"ValueError: document 5011 is empty$",
            **raised(r"RayTaskError|ValueError: document 5011"),
        ),
    ),
    _case(
        "actor_raises",
        _actor("counts = {}\nreturn counts['tokens']"),
        user_script(why="an actor reads a key that is not there", **raised(r"KeyError: 'tokens'")),
    ),
    _case(
        "actor_killed",
        _actor("os.kill(os.getpid(), 9)"),
        other(
            why="an actor's process is killed with SIGKILL",
            also_types=("infrastructure", "user_script"),
            also_components=("node",),
            **(raised(_DEAD) | {"end": r"The actor is dead|exit|SIGKILL|connection error"}),
        ),
    ),
    _case(
        "actor_exits",
        _actor("os._exit(5)"),
        user_script(
            why="an actor ends its own process",
            restartable=None,
            also_types=("infrastructure", "other", "framework"),
            **(raised(_DEAD) | {"end": r"The actor is dead|exit|connection error"}),
        ),
    ),
    _case(
        "worker_segfault",
        f"""
        import ctypes

        import ray
        from loop import train

        {_START}


        @ray.remote(max_retries=0)
        def decode(step):
            if step == 5008:
                ctypes.string_at(0)
            return step


        for step in train():
            ray.get(decode.remote(step))
        """,
        user_script(
            why="a task crashes in native code that it calls",
            restartable=None,
            also_types=("framework", "infrastructure"),
            **(
                raised(r"WorkerCrashedError|SIGSEGV received|Fatal Python error: Segm")
                | {"begin": r"Traceback|SIGSEGV"}
            ),
            repeated=True,
        ),
    ),
    _case(
        "get_timeout",
        _actor("time.sleep(600)"),
        user_script(
            why="an actor never answers",
            restartable=None,
            also_types=("infrastructure", "framework", "other", "unknown"),
            **raised(r"GetTimeoutError"),
        ),
    ),
]
