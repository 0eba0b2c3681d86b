"""What an honest job prints. Run as a program, it prints it: `python program.py JOB LINES PAUSE_S CAUSE`."""

import sys
import time

CAUSES = {
    "none": "",
    "xid": "NVRM: Xid (PCI:0000:3b:00): 79, pid=4242, name=python, GPU has fallen off the bus.",
    "nccl": "[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=77, OpType=ALLREDUCE, Timeout(ms)=600000) ran for "
    "600010 milliseconds before timing out.",
    "oom": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 79.15 GiB",
    "assert": "AssertionError: expected labels in [0, 10), got 17",
}
"""Last lines of jobs: of one that ends well, and of those that fail."""

DECIDED = frozenset({"xid"})
"""Causes that lead to a decision.

A collective that timed out shows that a rank is missing and not why: its verdict has a confidence of 0.6, below `bridge.min_confidence`.
"""


def lines(job: str, count: int, cause: str) -> list[str]:
    """Return all lines of a job: a report of each step, something else now and then, and at the end why it fails."""
    printed = []
    for step in range(1, count + 1):
        if step % 25 == 0:
            printed.append(f"INFO dataloader fetched shard {step} of {job}")
        printed.append(f"step {step} | loss {10 / step:.5f} | step_time 0.05000 s")
    last = CAUSES[cause]
    if cause == "assert":
        printed += ["Traceback (most recent call last):", f'  File "/home/u/{job}/train.py", line 12, in <module>']
        printed += ["    check(labels)"]
    return [*printed, last] if last else [*printed, "training finished"]


def main() -> None:
    """Print the lines of a job, a pause after each, and end as its cause says."""
    job, count, pause, cause = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
    for line in lines(job, count, cause):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
        time.sleep(pause)
    sys.exit(1 if CAUSES[cause] else 0)


if __name__ == "__main__":
    main()
