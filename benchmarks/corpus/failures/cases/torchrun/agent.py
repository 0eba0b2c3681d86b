"""What the launcher itself does or meets: signals, restarts, a wrong script, its own end."""

from benchmarks.corpus.failures.case import TRACEBACK, infrastructure, other, raised, user_script

from .program import case, fault

CASES = [
    case(
        "exit_code",
        2,
        fault(5005, 1, "print('ERROR: learning rate schedule has no entry for step 5005', flush=True)\nos._exit(7)"),
        user_script(r"ERROR: learning rate schedule has no entry", "rank 1 prints why and exits with code 7"),
    ),
    case(
        "sigterm",
        2,
        fault(
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
    case(
        "sighup",
        2,
        fault(
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
    case(
        "ctrl_c",
        2,
        fault(
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
    case(
        "restarts_used_up",
        2,
        fault(5003, 1, "raise RuntimeError('vocabulary has 32000 entries, checkpoint 32001')").replace(
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
    case(
        "wrong_script",
        2,
        "",
        user_script(r"can't open file", "the script's name is misspelt", repeated=True),
        run="torchrun --nproc-per-node 2 --master-port $((20000 + RANDOM % 9000)) trian.py",
    ),
    case(
        "tee_raise_4",
        4,
        fault(5010, 2, "raise ValueError('rank 2 reads shard 5010 twice')"),
        user_script(
            why="rank 2 raises; the launcher puts the rank before each line",
            **raised(r"ValueError: rank 2 reads shard 5010 twice"),
        ),
        run="torchrun --tee 3 --nproc-per-node {ranks} --master-port $((20000 + RANDOM % 9000)) train.py",
    ),
    case(
        "agent_killed",
        2,
        fault(5012, 1, "os.kill(os.getppid(), 9)\nos.kill(os.getpid(), 9)"),
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
    case(
        "worker_memory_limit",
        2,
        fault(
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
