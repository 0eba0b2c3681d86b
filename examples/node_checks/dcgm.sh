#!/bin/sh
# A check of one node's GPUs by NVIDIA's Data Center GPU Manager, for `bridge.node_check` (docs/slurm.md).
# Level 1 takes seconds, 2 about two minutes, 3 half an hour: set bridge.node_check_seconds to match.
# Usage: dcgm.sh [LEVEL]
set -u
level=${1:-1}

nvidia-smi --query --display=MEMORY,ECC,TEMPERATURE,PAGE_RETIREMENT,ROW_REMAPPER || exit 1
# DCGM's exit code is 0 where all tests that ran passed, or were skipped.
exec dcgmi diag --run "$level"
