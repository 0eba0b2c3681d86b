"""torchrun over Gloo with 2 and 4 ranks, one of which is killed, hangs or fails: the cascade of the others is real."""

from textwrap import dedent

from benchmarks.corpus.failures.case import TRACEBACK, Case, Truth, infrastructure, other, raised, user_script

_RUN = "torchrun --nproc-per-node {ranks} --master-port $((20000 + RANDOM % 9000)) train.py"


def _case(name: str, ranks: int, program: str, truth: Truth | None, *, run: str = _RUN, seconds: float = 120) -> Case:
    files = {"train.py": dedent(program).lstrip()}
    return Case(name, run.format(ranks=ranks), truth, files, environment="torch", style="ddp", seconds=seconds)


def _fault(step: int, rank: int, body: str, head: str = "import os") -> str:
    """Return a program in which `rank` runs `body` before `step`."""
    lines = body.strip().replace("\n", "\n                    ")
    return f"""
        {head}

        from ddp import train

        for job in train():
            if job.step == {step} and job.rank == {rank}:
                    {lines}
        """


_KILLED = other(
    r"exitcode *: -9|SIGKILL",
    "one rank was killed with SIGKILL; who sent it is not in the log",
    repeated=True,
    also_types=("infrastructure", "user_script"),
    also_components=("node",),
)
_GONE = r"Connection closed by peer|Connection reset by peer|Read error|Broken pipe"

CASES = [
    _case("killed_2", 2, _fault(5012, 1, "os.kill(os.getpid(), 9)"), _KILLED),
    _case("killed_4", 4, _fault(5017, 2, "os.kill(os.getpid(), 9)"), _KILLED),
    _case(
        "raise_2",
        2,
        _fault(5015, 1, "job.batch = {'inputs': job.batch}['input']"),
        user_script(
            why="rank 1 reads a key that its batch lacks; rank 0 loses its peer", **raised(r"KeyError: 'input'$")
        ),
    ),
    _case(
        "raise_4",
        4,
        _fault(5009, 3, "raise ValueError(f'sample {job.step} has 0 tokens')"),
        user_script(
            why="rank 3 meets an empty sample; the others lose their peer",
            **raised(r"ValueError: sample 5009 has 0 tokens$"),
        ),
    ),
    _case(
        "raise_late_peers",
        2,
        _fault(
            5014,
            1,
            "dist.destroy_process_group()\nassert False, 'gradient norm exceeds 1e6'",
            "import torch.distributed as dist",
        ),
        user_script(why="rank 1 stops on an assertion", **raised(r"AssertionError: gradient norm exceeds 1e6$")),
    ),
    _case(
        "recorded_error",
        4,
        """
        from ddp import train
        from torch.distributed.elastic.multiprocessing.errors import record


        @record
        def main():
            for job in train():
                if job.step == 5006 and job.rank == 1:
                    [1, 2, 3][job.rank + 5]


        main()
        """,
        user_script(why="an index past the end on rank 1", **raised(r"IndexError: list index out of range")),
    ),
    _case(
        "all_ranks_import",
        4,
        """
        import apex_fused_kernels
        from ddp import train
        """,
        user_script(
            r"ModuleNotFoundError: No module named 'apex_fused_kernels'",
            "a package is missing on every rank",
            begin=TRACEBACK,
            repeated=True,
            also_types=("framework",),
        ),
    ),
    _case(
        "all_ranks_shape",
        2,
        """
        import torch
        from ddp import train

        for job in train():
            if job.step == 5010:
                job.batch = torch.randn(64, 31)
        """,
        user_script(
            r"RuntimeError: .*shapes cannot be multiplied",
            "every rank gets a batch of a wrong shape",
            begin=TRACEBACK,
            repeated=True,
        ),
    ),
    _case(
        "hung_2",
        2,
        _fault(5011, 1, "time.sleep(3600)", "import time"),
        user_script(
            r"Timed out waiting \d+ms for|RuntimeError: .*imed out",
            "rank 1 hangs, rank 0 waits in the all-reduce until its time is over; why it hangs is not in the log",
            restartable=None,
            begin=TRACEBACK,
            also_types=("infrastructure", "framework", "other", "unknown"),
        ),
    ),
    _case(
        "hung_4",
        4,
        _fault(5018, 0, "while True:\n    time.sleep(1)", "import time"),
        user_script(
            r"Timed out waiting \d+ms for|RuntimeError: .*imed out",
            "rank 0 hangs, the others wait in the all-reduce until their time is over",
            restartable=None,
            begin=TRACEBACK,
            repeated=True,
            also_types=("infrastructure", "framework", "other", "unknown"),
        ),
    ),
    _case(
        "monitored_barrier",
        2,
        """
        import time
        from datetime import timedelta

        import torch.distributed as dist
        from ddp import train

        for job in train(20):
            if job.step == 5016:
                if job.rank == 1:
                    time.sleep(3600)
                dist.monitored_barrier(timeout=timedelta(seconds=4))
        """,
        user_script(
            r"failed to pass monitoredBarrier",
            "rank 1 never reaches the barrier",
            restartable=None,
            also_types=("infrastructure", "framework", "other", "unknown"),
        ),
    ),
    _case(
        "size_mismatch",
        2,
        """
        import torch
        import torch.distributed as dist
        from ddp import train

        for job in train():
            if job.step == 5007:
                dist.all_reduce(torch.ones(10 + 10 * job.rank))
        """,
        user_script(
            r"op\.preamble\.length <= op\.nbytes|Connection closed by peer|invalid.*size|Read error|Connection reset by peer",
            "the ranks reduce tensors of different sizes: a mismatch of the program",
            begin=r"terminate called|Traceback",
            repeated=True,
            also_types=("framework", "infrastructure"),
        ),
    ),
    _case(
        "segfault_4",
        4,
        _fault(5013, 1, "ctypes.string_at(0)", "import ctypes"),
        user_script(
            r"exitcode *: -11|SIGSEGV",
            "rank 1 crashes in native code that the script calls",
            repeated=True,
            also_types=("framework", "infrastructure", "unknown"),
            restartable=None,
        ),
    ),
    _case(
        "exit_code",
        2,
        _fault(5005, 1, "print('ERROR: learning rate schedule has no entry for step 5005', flush=True)\nos._exit(7)"),
        user_script(r"ERROR: learning rate schedule has no entry", "rank 1 prints why and exits with code 7"),
    ),
    _case(
        "sigterm",
        2,
        _fault(
            5012,
            0,
            "os.kill(os.getppid(), signal.SIGTERM)\ntime.sleep(5)",
            "import os\n        import signal\n        import time",
        ),
        other(
            r"Received (15|Signals\.SIGTERM)|got signal: (15|Signals\.SIGTERM)|SignalException",
            "the launcher is asked to end from outside during normal training",
            end=r"SignalException: Process \d+ got signal: 15",
        ),
    ),
    _case(
        "sighup",
        2,
        _fault(
            5008,
            0,
            "os.kill(os.getppid(), signal.SIGHUP)\ntime.sleep(5)",
            "import os\n        import signal\n        import time",
        ),
        other(
            r"Received (1|Signals\.SIGHUP) |got signal: 1",
            "the terminal went away",
            end=r"SignalException: Process \d+ got signal: 1",
        ),
    ),
    _case(
        "ctrl_c",
        2,
        _fault(
            5019,
            0,
            "os.kill(os.getppid(), signal.SIGINT)\ntime.sleep(5)",
            "import os\n        import signal\n        import time",
        ),
        other(
            r"Received (2|Signals\.SIGINT)|got signal: 2|KeyboardInterrupt",
            "a person stops the launcher with Ctrl-C",
            end=r"SignalException: Process \d+ got signal: 2|KeyboardInterrupt",
        ),
    ),
    _case(
        "port_in_use",
        2,
        "from ddp import train\n\nfor job in train():\n    pass\n",
        user_script(
            r"EADDRINUSE|[Aa]ddress already in use",
            "another process already listens on the port of the rendezvous",
            begin=r"\[W|\[E|Traceback|EADDRINUSE|already in use",
            end=r"DistNetworkError: .*(EADDRINUSE|in use)|EADDRINUSE.*address already in use",
            restartable=True,
            also_types=("infrastructure",),
            also_components=("network", "node"),
        ),
        run=(
            "port=$((20000 + RANDOM % 9000))\n"
            "python -c \"import socket,sys,time; s=socket.socket(); s.bind(('127.0.0.1', $port)); s.listen(); time.sleep(60)\" &\n"
            "sleep 1\nMASTER_ADDR=127.0.0.1 MASTER_PORT=$port RANK=0 WORLD_SIZE=2 python train.py"
        ),
    ),
    _case(
        "store_alone",
        1,
        """
        import os
        from datetime import timedelta

        import torch.distributed as dist

        print("waiting for 2 ranks at 127.0.0.1", flush=True)
        dist.init_process_group("gloo", timeout=timedelta(seconds=5))
        """,
        infrastructure(
            "network",
            r"Timed out after \d+ seconds waiting for clients|torch\.distributed\.DistStoreError",
            "the second rank never joins",
            restartable=None,
            begin=TRACEBACK,
            also_types=("user_script", "other", "framework"),
            also_components=("node", "none"),
        ),
        run="MASTER_ADDR=127.0.0.1 MASTER_PORT=$((20000 + RANDOM % 9000)) RANK=0 WORLD_SIZE=2 python train.py",
    ),
    _case(
        "store_refused",
        1,
        """
        from datetime import timedelta

        import torch.distributed as dist

        print("joining the group at 127.0.0.1 as rank 1", flush=True)
        dist.init_process_group("gloo", timeout=timedelta(seconds=4))
        """,
        infrastructure(
            "network",
            r"The client socket has (failed to connect|timed out)",
            "nothing listens where rank 0 should: refused, again and again",
            restartable=None,
            begin=r"\[W|\[E|Traceback|The client socket",
            end=r"DistNetworkError|DistStoreError|^torch\.distributed\.",
            also_types=("user_script",),
            also_components=("node", "none"),
        ),
        run="MASTER_ADDR=127.0.0.1 MASTER_PORT=$((20000 + RANDOM % 9000)) RANK=1 WORLD_SIZE=2 python train.py",
    ),
    _case(
        "store_unknown_host",
        1,
        """
        from datetime import timedelta

        import torch.distributed as dist

        dist.init_process_group("gloo", timeout=timedelta(seconds=4))
        """,
        infrastructure(
            "network",
            r"gai error|Name or service not known|cannot be retrieved|Temporary failure in name resolution",
            "the name of rank 0's host does not resolve",
            restartable=None,
            begin=r"\[W|\[E|Traceback|gai",
            end=r"DistNetworkError|DistStoreError|^torch\.distributed\.",
            also_types=("user_script",),
            also_components=("none", "node"),
        ),
        run="MASTER_ADDR=trainer-0.invalid MASTER_PORT=29511 RANK=1 WORLD_SIZE=2 python train.py",
    ),
    _case(
        "rendezvous_timeout",
        2,
        "from ddp import train\n\nfor job in train():\n    pass\n",
        infrastructure(
            "network",
            r"^torch\.\S*RendezvousTimeoutError",
            "the second node never comes to the rendezvous",
            restartable=None,
            begin=TRACEBACK,
            also_types=("user_script", "other", "framework"),
            also_components=("node", "none"),
        ),
        run=(
            "torchrun --nnodes 2:2 --nproc-per-node 1 --rdzv-backend c10d --rdzv-id 4711 "
            "--rdzv-endpoint 127.0.0.1:$((20000 + RANDOM % 9000)) --rdzv-conf join_timeout=6,last_call_timeout=2 train.py"
        ),
    ),
    _case(
        "rendezvous_refused",
        2,
        "from ddp import train\n\nfor job in train():\n    pass\n",
        infrastructure(
            "network",
            r"RendezvousConnectionError|The connection to the C10d store has failed|The client socket has (failed|timed out)",
            "the rendezvous host refuses the connection",
            restartable=None,
            begin=r"\[W|\[E|Traceback",
            end=r"RendezvousConnectionError",
            also_types=("user_script",),
            also_components=("node", "none"),
        ),
        run=(
            "torchrun --nnodes 2 --nproc-per-node 1 --rdzv-backend c10d --rdzv-id 4711 --rdzv-endpoint "
            "127.0.0.9:$((20000 + RANDOM % 9000)) "
            "--rdzv-conf is_host=0,timeout=5,read_timeout=5 train.py"
        ),
        seconds=150,
    ),
    _case(
        "restarts_used_up",
        2,
        _fault(5003, 1, "raise RuntimeError('vocabulary has 32000 entries, checkpoint 32001')").replace(
            "train()", "train(60)"
        ),
        user_script(
            r"RuntimeError: vocabulary has 32000 entries, checkpoint 32001",
            "the same fault in every one of the launcher's attempts",
            begin=TRACEBACK,
            repeated=True,
        ),
        run="torchrun --standalone --max-restarts 2 --nproc-per-node {ranks} train.py",
        seconds=180,
    ),
    _case(
        "wrong_script",
        2,
        "",
        user_script(r"can't open file", "the script's name is misspelt", repeated=True),
        run="torchrun --nproc-per-node 2 --master-port $((20000 + RANDOM % 9000)) trian.py",
    ),
    _case(
        "tee_raise_4",
        4,
        _fault(5010, 2, "raise ValueError('rank 2 reads shard 5010 twice')"),
        user_script(
            why="rank 2 raises; the launcher puts the rank before each line",
            **raised(r"ValueError: rank 2 reads shard 5010 twice"),
        ),
        run="torchrun --tee 3 --nproc-per-node {ranks} --master-port $((20000 + RANDOM % 9000)) train.py",
    ),
    _case(
        "agent_killed",
        2,
        _fault(5012, 1, "os.kill(os.getppid(), 9)\nos.kill(os.getpid(), 9)"),
        other(
            r"\bKilled\b",
            "the launcher of one node of two is killed with its rank; the other node loses its peer",
            also_types=("infrastructure", "user_script"),
            also_components=("node", "network"),
        ),
        run=(
            "port=$((20000 + RANDOM % 9000))\n"
            "node() {{ torchrun --nnodes 2 --nproc-per-node 1 --node-rank $1 --master-addr 127.0.0.1 "
            "--master-port $port train.py; }}\n"
            "node 1 & peer=$!\nsleep 1\nnode 0 & host=$!\nwait $peer; code=$?\nwait $host || code=$?\nexit $code"
        ),
        seconds=150,
    ),
    _case(
        "worker_memory_limit",
        2,
        _fault(
            5009,
            1,
            "resource.setrlimit(resource.RLIMIT_DATA, (1 << 20, 1 << 20))\njob.batch = job.batch.repeat(100_000, 1)",
            "import resource",
        ),
        infrastructure(
            "node",
            why="the memory limit of rank 1 is met",
            restartable=False,
            also_types=("user_script",),
            also_components=("none",),
            **raised(r"can't allocate memory|MemoryError"),
        ),
    ),
]
