"""Ranks that do not find each other."""

from benchmarks.corpus.failures.case import TRACEBACK, infrastructure, user_script

from .program import case

CASES = [
    case(
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
    case(
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
    case(
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
    case(
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
    case(
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
    case(
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
]
