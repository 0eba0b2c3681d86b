"""Decisions that are signed, and a bridge that carries out no others."""

import hashlib
import hmac
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate_records import Action, Decision, Mode, Outcome, decode
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.schedulers import JobView, SchedulerJobState
from scheduler_bridge.signing import SigningKeyError, SigningKeys, signed_bytes
from tests.docs.pages import ROOT

from .findings import NOW, Written, failure
from .no_scheduler import NoScheduler

KEYS = SigningKeys({"new": b"n" * 32, "old": b"o" * 32})
DECISION = Decision(
    id="evict/1/0/x",
    action=Action.EVICT,
    job="1",
    time=NOW,
    expires=NOW + 60,
    mode=Mode.ACT,
    policy="p",
    reason="Ä",
    exclude_nodes=["n1", "n2"],
)


class Evicts(NoScheduler):
    attempt = 0

    def job(self, job: str) -> JobView:
        return JobView(job, SchedulerJobState.RUNNING, attempt=self.attempt)

    def evict(self, job: str, key: str, checkpoint: str = "", delay: float = 0.0) -> JobView:
        self.attempt += 1
        return self.job(job)


def test_what_is_signed_can_be_built_in_any_language() -> None:
    signed = b"20:schedmate-decision-1,11:evict/1/0/x,5:evict,1:1,0:,1:0,0:,13:1800000000000,13:1800000060000,3:act,1:p,2:\xc3\x84,0:,0:,"
    signed += b"1:2,2:n1,2:n2,1:0,1:0,0:,0:,"
    assert signed_bytes(DECISION) == signed
    assert KEYS.sign(DECISION).signature == "new:" + hmac.new(b"n" * 32, signed, hashlib.sha256).hexdigest()


def test_the_example_of_the_docs_holds() -> None:
    page = (ROOT / "docs" / "decisions.md").read_text().partition("### Verifying a signature")[2]
    example = "{" + page.partition("    {")[2].partition("}")[0] + "}"
    signature = page.partition("has the signature `")[2].partition("`")[0]
    keys = SigningKeys({"ops": b"0123456789abcdef0123456789abcdef"})
    assert keys.verifies(msgspec.structs.replace(decode(Decision, example.encode()), signature=signature))


def test_any_key_verifies_and_a_stranger_does_not() -> None:
    assert KEYS.verifies(KEYS.sign(DECISION))
    assert KEYS.verifies(SigningKeys({"old": b"o" * 32}).sign(DECISION))
    assert not KEYS.verifies(SigningKeys({"old": b"x" * 32}).sign(DECISION))
    assert not KEYS.verifies(SigningKeys({"other": b"n" * 32}).sign(DECISION))
    for signature in ("", "new", "new:", ":", "new:ä"):
        assert not KEYS.verifies(msgspec.structs.replace(DECISION, signature=signature))


@given(
    st.sampled_from(["job", "node", "policy", "reason", "cause", "cause_id", "checkpoint", "beneficiary", "id"]),
    st.text(),
)
def test_a_field_that_is_changed_breaks_the_signature(field: str, text: str) -> None:
    signed = KEYS.sign(DECISION)
    changed = msgspec.structs.replace(signed, **{field: text})
    assert KEYS.verifies(changed) is (getattr(signed, field) == text)


def test_names_that_are_cut_elsewhere_are_other_names() -> None:
    one, other = (msgspec.structs.replace(DECISION, exclude_nodes=nodes) for nodes in (["n1", "n2"], ["n1,n2"]))
    assert signed_bytes(one) != signed_bytes(other)


@pytest.mark.parametrize(
    ("decision", "outcomes"),
    [
        (DECISION, [Outcome.REFUSED]),
        (msgspec.structs.replace(KEYS.sign(DECISION), job="2"), [Outcome.REFUSED]),
        (KEYS.sign(DECISION), [Outcome.STARTED, Outcome.DONE]),
    ],
    ids=["unsigned", "changed", "signed"],
)
def test_what_no_key_signed_is_never_carried_out(decision: Decision, outcomes: list[Outcome]) -> None:
    written = Written()
    settings = BridgeSettings(modes={Action.EVICT: Mode.ACT})
    bridge = Bridge(Evicts(), settings, written, clock=lambda: NOW, keys=KEYS)
    bridge.accept(decision)
    bridge.advance()
    assert written.outcomes == outcomes
    if outcomes == [Outcome.REFUSED]:
        assert written.results[0].detail.startswith("signature: ")
    Bridge(Evicts(), settings, again := Written(), clock=lambda: NOW).accept(decision)
    assert again.records == []


def test_a_bridge_signs_what_it_decides() -> None:
    written = Written()
    Bridge(Evicts(), BridgeSettings(), written, clock=lambda: NOW, keys=KEYS).accept(failure())
    assert written.decisions
    assert all(KEYS.verifies(decision) for decision in written.decisions)


def test_a_file_of_keys(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text(f"# ours\nnew {'n' * 32}\n\nold {'o' * 32}\n")
    assert SigningKeys.read(file) == KEYS
    for text in ("", "new", "new short", f"new {'n' * 32} more", f"a {'n' * 32}\na {'n' * 32}"):
        file.write_text(text)
        with pytest.raises(SigningKeyError, match="expected"):
            SigningKeys.read(file)
    with pytest.raises(SigningKeyError, match="readable"):
        SigningKeys.read(tmp_path / "none")
