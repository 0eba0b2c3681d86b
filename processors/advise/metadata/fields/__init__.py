"""The fields of a workload, read from the trace of a program."""
