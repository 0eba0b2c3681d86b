"""What the GPUs of a job do, and what that says together with its log: that it hangs, and where; that it holds GPUs and leaves them idle.

Here GPUs are followed on their node (`gpu.py`, `node.py`); in the job's attempt that is joined with the silence of its log (`stage.py`).
"""
