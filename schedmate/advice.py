"""What to do about a verdict, in one or two sentences."""

from collections.abc import Mapping

from processors.diagnose import Signature

_BY_TYPE = {
    "infrastructure": "Check the node and the component that the verdict names. Exclude the node until the cause is known.",
    "framework": "Check the versions of the libraries in the traceback. An unchanged job will probably fail again.",
    "user_script": "Fix the program, its configuration or its data. An unchanged job will fail again.",
    "other": "The job was ended from outside and has no fault of its own. Check who or what ended it.",
    "unknown": "No record explains the failure. Check the end of the job's log and the kernel logs of its nodes.",
}


def advice_on(signature: str, error_type: str, signatures: Mapping[str, Signature]) -> str:
    """Return what to do about a failure: the action of its signature, else what helps against its type."""
    known = signatures.get(signature)
    return known.action if known else _BY_TYPE.get(error_type, _BY_TYPE["unknown"])
