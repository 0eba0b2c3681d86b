#!/bin/sh
# A check of the links between one node's GPUs by nccl-tests, for `bridge.node_check` (docs/slurm.md).
# It fails where values are wrong, a GPU is missing, or the bus bandwidth is below a limit.
# Usage: nccl.sh GPUS GB_PER_S
set -u
gpus=$1
least=$2

nvidia-smi --query --display=MEMORY,ECC,TEMPERATURE,PAGE_RETIREMENT,ROW_REMAPPER || exit 1
found=$(nvidia-smi --list-gpus | grep -c '^GPU ')
if [ "$found" -lt "$gpus" ]; then
    echo "$found of $gpus GPUs are there"
    exit 1
fi
printed=$(all_reduce_perf --minbytes 256M --maxbytes 1G --stepfactor 2 --ngpus "$gpus" --check 1) || {
    echo "$printed"
    echo "all_reduce_perf failed"
    exit 1
}
echo "$printed"
bandwidth=$(echo "$printed" | sed -n 's/^# Avg bus bandwidth *: *\([0-9.]*\).*/\1/p')
awk -v found="${bandwidth:-0}" -v least="$least" 'BEGIN {
    printf "%s GB/s of at least %s GB/s between %s\n", found, least, "the GPUs"
    exit !(found + 0 >= least + 0)
}'
