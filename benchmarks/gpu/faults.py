"""What the kernel and NVML say while programs go wrong on a real GPU: recorded, so that tests can hold the verdicts against it.

`python -m benchmarks.gpu.faults --record faults.jsonl.gz` runs cases of the corpus of failures (family `cuda`), clears the kernel's log and
needs root. A line of the recording is a case: its log, the kernel's lines with the time at which they were read, and samples, two a second.
"""

import argparse
import gzip
import re
import subprocess
import threading
import time
from pathlib import Path

import msgspec

from benchmarks.corpus.failures.cases.cuda import CASES
from benchmarks.corpus.failures.run import run
from schedmate_records import GpuSample
from streams.producers.gpu.nvml import NvmlSource

FAULTS = (
    "misaligned_address",
    "illegal_address",
    "trap",
    "embedding_index",
    "cpp_illegal_address",
    "oom_leak",
    "killed_on_the_gpu",
)
EVERY_S, AFTER_S = 0.5, 3.0
NODE = "gpu-node"
_NAMES = re.compile(r"(GPU-|Serial Number: )\S+")


class RecordedFault(msgspec.Struct):
    """A case as it was seen from the job, from the kernel and from NVML.

    Attributes:
        case: Its name in the corpus.
        began: When it was started, in seconds since 1970.
        ended: When it was over.
        log: What it printed.
        kernel: Time of reading and text of each line of the kernel.
        samples: Of the GPU.
    """

    case: str
    began: float
    ended: float = 0.0
    log: str = ""
    kernel: list[tuple[float, str]] = []
    samples: list[GpuSample] = []


class Watch:
    """Reads the kernel's log and samples the GPU, in a thread."""

    def __init__(self, source: NvmlSource, found: RecordedFault) -> None:
        self._source, self._found = source, found
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._over.wait(EVERY_S):
            self._found.samples += [msgspec.structs.replace(each, uuid="GPU-0") for each in self._source.sample()]
            self._found.kernel += [(time.time(), line) for line in kernel_lines()]

    def close(self) -> None:
        """Wait for what comes late, and end the thread."""
        time.sleep(AFTER_S)
        self._over.set()
        self._thread.join()


def kernel_lines() -> list[str]:
    """Return what the kernel said since the last call, without what names this GPU."""
    said = subprocess.run(["dmesg", "--read-clear"], capture_output=True, text=True, check=True).stdout
    return [_NAMES.sub(r"\1…", line) for line in said.splitlines() if line]


def main() -> None:
    """Run the cases and write the recording."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", type=Path, required=True, help="where the recording is written (.jsonl.gz)")
    given = parser.parse_args()
    source, cases = NvmlSource(NODE), {case.name: case for case in CASES}
    with gzip.open(given.record, "wb") as file:
        for name in FAULTS:
            kernel_lines()
            found = RecordedFault(name, time.time())
            watch = Watch(source, found)
            try:
                found.log = run(cases[name])
                found.ended = time.time()
            finally:
                watch.close()
            file.write(msgspec.json.encode(found) + b"\n")
            numbers = sorted({xid for sample in found.samples for xid in sample.xids})
            print(f"{name}: {len(found.kernel)} lines of the kernel; Xids {numbers} by NVML", flush=True)


if __name__ == "__main__":
    main()
