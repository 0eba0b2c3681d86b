"""The table of statuses: what each kind of later evidence makes of a candidate in each status."""

from itertools import product

import pytest

from processors.diagnose.kinds import SETS, Kind, LaterEvidence, Status, next_status

ALL = frozenset(Status) - {Status.SURVIVED}
UNDECIDED = {Status.OPEN, Status.WARNED, Status.CONTINUES, Status.QUIET}

EXPECTED = {
    LaterEvidence.REPORTS: (ALL, Status.SURVIVED, ""),
    LaterEvidence.ENDED_WELL: (ALL, Status.SURVIVED, "certain"),
    LaterEvidence.OTHER_REPORTS: (UNDECIDED, Status.OTHERS_CONTINUED, ""),
    LaterEvidence.QUIET_LINES: (UNDECIDED - {Status.QUIET}, Status.QUIET, "certain"),
    LaterEvidence.GOES_ON: (UNDECIDED - {Status.CONTINUES}, Status.CONTINUES, "foreign"),
    LaterEvidence.START: (ALL - {Status.CONTINUES, Status.CONTINUED}, Status.CONTINUES, ""),
    LaterEvidence.RETRY: (UNDECIDED, Status.RETRIED, "harmful"),
    LaterEvidence.REPORT: ({Status.CONTINUES, Status.WARNED}, Status.CONTINUED, ""),
    LaterEvidence.LINES: ({Status.CONTINUES}, Status.CONTINUED, "certain"),
    LaterEvidence.MORE_LINES: ({Status.WARNED}, Status.CONTINUED, "certain"),
    LaterEvidence.LAST_LINES: (UNDECIDED | {Status.OTHERS_CONTINUED}, Status.DISMISSED, "certain"),
    LaterEvidence.GAVE_UP: (ALL - {Status.OPEN, Status.QUIET, Status.OTHERS_CONTINUED}, Status.OPEN, ""),
    LaterEvidence.REPEATED: ({Status.WARNED, Status.CONTINUES, Status.RETRIED}, Status.OPEN, ""),
    LaterEvidence.NEXT_ERROR: ({Status.DISMISSED}, Status.OPEN, ""),
    LaterEvidence.BAD_END: (ALL - {Status.OPEN}, Status.OPEN, ""),
}


@pytest.mark.parametrize(("status", "evidence"), list(product(Status, LaterEvidence)))
def test_evidence_changes_status_as_listed(status: Status, evidence: LaterEvidence) -> None:
    before, after, without = EXPECTED[evidence]
    for kind in Kind:
        changes = status in before and kind not in SETS.get(without, ())
        assert next_status(status, evidence, kind) is (after if changes else status)


def test_every_kind_is_either_harmful_or_does_no_harm_when_repeated() -> None:
    assert SETS["harmful"] | SETS["passing"] | SETS["no_failure"] == set(Kind)
    assert not SETS["harmful"] & SETS["passing"]
