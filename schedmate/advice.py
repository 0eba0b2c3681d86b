"""Advice for a verdict, in one or two sentences."""

from collections.abc import Mapping

from processors.diagnose import Signature
from schedmate_records import AlarmKind

_BY_TYPE = {
    "infrastructure": "Check the node and the component that the verdict names. Exclude the node until the cause is known.",
    "framework": "Check the versions of the libraries in the traceback. An unchanged job will probably fail again.",
    "user_script": "Fix the program, its configuration or its data. An unchanged job will fail again.",
    "other": "The job was ended from outside and has no fault of its own. Check who or what ended it.",
    "unknown": "No record explains the failure. Check the end of the job's log and the kernel logs of its nodes.",
}
_BY_ALARM: Mapping[str, str] = {
    AlarmKind.LOSS_NOT_FINITE: "Resume from a checkpoint before that step, with a lower learning rate or gradient clipping.",
    AlarmKind.LOSS_SPIKE: "Check whether the loss recovers. If not, resume from a checkpoint before the spike.",
    AlarmKind.HANG: "Check what its processes wait for, for example with `py-spy dump`. If it does not go on, restart it from its last "
    "checkpoint.",
    AlarmKind.GPUS_IDLE: "Check data loading and evaluation, or end the job if its GPUs are not needed.",
    AlarmKind.SLOWER: "Check what else runs on its nodes, and data loading.",
    AlarmKind.STRAGGLER: "Check the node of the slow rank: clocks, temperature, other jobs.",
}


def advice_on_alarm(kind: str) -> str:
    """Return what to do about an alarm; empty for an unknown kind."""
    return _BY_ALARM.get(kind, "")


def advice_on(signature: str, error_type: str, signatures: Mapping[str, Signature]) -> str:
    """Return what to do about a failure: the action of its signature, else what helps against its type."""
    known = signatures.get(signature)
    return known.action if known else _BY_TYPE.get(error_type, _BY_TYPE["unknown"])
