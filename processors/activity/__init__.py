"""Hangs and idle GPUs of a job, found by the states of its GPUs and by its log.

Here GPUs are followed on their node (`gpu.py`, `node.py`); in the job's attempt that is joined with the silence of its log (`stage.py`).
"""
