"""Runs in a process of its own beside the stand-in libnvidia-ml: answers each line of standard input with a round of samples."""

import json
import sys

import structlog

from schedmate_records import encode
from streams.producers.gpu.nvml import NvmlSource
from streams.producers.gpu.source import GpuError

structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
try:
    source = NvmlSource("n1", clock=lambda: 1000.5)
except GpuError as error:
    sys.exit(f"refused: {error}")
print(json.dumps(source.about), flush=True)
for _ in sys.stdin:
    print(json.dumps([json.loads(encode(sample)) for sample in source.sample()]), flush=True)
source.close()
print(json.dumps("closed"), flush=True)
