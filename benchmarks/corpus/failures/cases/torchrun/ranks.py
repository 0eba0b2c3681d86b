"""A rank is killed, raises or hangs, and the others follow."""

from benchmarks.corpus.failures.case import TRACEBACK, raised, user_script

from .program import KILLED, case, fault

CASES = [
    case("killed_2", 2, fault(5012, 1, "os.kill(os.getpid(), 9)"), KILLED),
    case("killed_4", 4, fault(5017, 2, "os.kill(os.getpid(), 9)"), KILLED),
    case(
        "raise_2",
        2,
        fault(5015, 1, "job.batch = {'inputs': job.batch}['input']"),
        user_script(
            why="rank 1 reads a key that its batch lacks; rank 0 loses its peer", **raised(r"KeyError: 'input'$")
        ),
    ),
    case(
        "raise_4",
        4,
        fault(5009, 3, "raise ValueError(f'sample {job.step} has 0 tokens')"),
        user_script(
            why="rank 3 meets an empty sample; the others lose their peer",
            **raised(r"ValueError: sample 5009 has 0 tokens$"),
        ),
    ),
    case(
        "raise_late_peers",
        2,
        fault(
            5014,
            1,
            "dist.destroy_process_group()\nassert False, 'gradient norm exceeds 1e6'",
            "import torch.distributed as dist",
        ),
        user_script(why="rank 1 stops on an assertion", **raised(r"AssertionError: gradient norm exceeds 1e6$")),
    ),
    case(
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
    case(
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
    case(
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
    case(
        "hung_2",
        2,
        fault(5011, 1, "time.sleep(3600)", "import time"),
        user_script(
            r"Timed out waiting \d+ms for|RuntimeError: .*imed out",
            "rank 1 hangs, rank 0 waits in the all-reduce until its time is over; why it hangs is not in the log",
            restartable=None,
            begin=TRACEBACK,
            also_types=("infrastructure", "framework", "other", "unknown"),
        ),
    ),
    case(
        "hung_4",
        4,
        fault(5018, 0, "while True:\n    time.sleep(1)", "import time"),
        user_script(
            r"Timed out waiting \d+ms for|RuntimeError: .*imed out",
            "rank 0 hangs, the others wait in the all-reduce until their time is over",
            restartable=None,
            begin=TRACEBACK,
            repeated=True,
            also_types=("infrastructure", "framework", "other", "unknown"),
        ),
    ),
    case(
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
    case(
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
    case(
        "segfault_4",
        4,
        fault(5013, 1, "ctypes.string_at(0)", "import ctypes"),
        user_script(
            r"exitcode *: -11|SIGSEGV",
            "rank 1 crashes in native code that the script calls",
            repeated=True,
            also_types=("framework", "infrastructure", "unknown"),
            restartable=None,
        ),
    ),
]
