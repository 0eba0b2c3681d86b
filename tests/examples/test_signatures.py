"""examples/signatures.toml, as its head says."""

from pathlib import Path

from tests.docs.pages import ROOT
from tests.schedmate.forked import run_forked

EXAMPLE = ROOT / "examples" / "signatures.toml"


def test_the_signatures_are_found_in_a_log(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("step 1 loss 2\n/scratch/p7/ckpt: quota exceeded for project 7\nn3 bmcd: coolant pump 2 lost\n")
    found = run_forked(f"--set=processors.signatures={EXAMPLE}", "signatures", "test", log).stdout.decode()
    assert "scratch_full" in found
    assert "coolant_pump_lost" in found
