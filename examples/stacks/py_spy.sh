#!/bin/sh
# What the Python processes of a job are doing, for `bridge.stack_command` (docs/slurm.md): runs in the job, as its user.
# py-spy reads a process's memory from outside. The kernel lets it read those of its own user where
# /proc/sys/kernel/yama/ptrace_scope is 0, or where py-spy has the capability SYS_PTRACE.
# Usage: py_spy.sh [PROCESSES]
set -u
most=${1:-16}

scontrol listpids "$SLURM_JOB_ID" | awk -v own="$SLURM_STEP_ID" 'NR > 1 && $3 != own && $1 > 0 { print $1 }' |
    while read -r pid; do
        case $(readlink "/proc/$pid/exe") in *python*) echo "$pid" ;; esac
    done | head -n "$most" |
    while read -r pid; do
        timeout 5 py-spy dump --nonblocking --pid "$pid" || echo "process $pid: no stack"
    done
