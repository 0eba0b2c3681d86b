"""The table of events: what an Xid means, and whether it may lead to a drain."""

import pytest

from processors.diagnose.catalogue import load
from processors.diagnose.drivers import read_event
from processors.diagnose.drivers.events import EventMeaning, table
from processors.diagnose.kinds import Kind
from processors.diagnose.nodes.finding import severity

ROWS: list[EventMeaning] = [*table().event, *table().register]
XID = "NVRM: Xid (PCI:0018:01:00): "


def meaning(line: str) -> EventMeaning:
    found = read_event(line)
    assert found is not None
    return found[1]


def test_every_row_has_a_source_and_names_an_entry_of_its_severity() -> None:
    entries = {one.name: one for one in load() if one.driver_event}
    for row in ROWS:
        entry = entries[row.signature]
        assert row.source
        level = "none" if entry.kind == Kind.BENIGN else entry.severity or severity(entry.confidence)
        assert row.severity == level, row
    assert {row.signature for row in ROWS} == set(entries)


def test_only_rows_that_name_their_events_may_lead_to_a_drain() -> None:
    assert all(row.numbers or row.switch for row in table().event if row.drain)
    assert not any(row.drain for row in ROWS if row.severity in {"none", "warning"})


@pytest.mark.parametrize(
    ("message", "level", "drain"),
    [
        ("149, NETIR_BER_EVENT Nonfatal XC0 i0 Link 03 (0x00086226 0x0)", "warning", False),
        ("149, NETIR_BER_EVENT", "warning", False),
        ("145, RLW_RXPIPE Nonfatal XC0 i0 Link 03 (0x6 0x1)", "warning", False),
        ("145, RLW_RXPIPE", "error", False),
        ("144, SAW_MVB Nonfatal XC0 i0 Link 03 (0x1 0x1)", "warning", False),
        ("144, SAW_MVB Fatal XC0 i0 Link 03 (0x1 0x2)", "fatal", True),
        ("144, SAW_MVB XC0 i0 Link 03 (0x1 0x2)", "fatal", True),
        ("144, SAW_MVB XC0 i0 Link 03 (0x1 0x1)", "warning", False),
        ("144, SAW_MVB Nonfatal XC0 i0 Link 03 (0x1 0x2)", "warning", False),
        ("145, RLW_NEWER Fatal XC0 i0 Link 03 (0x1 0x2)", "fatal", False),
        ("146, TLW_TX/TLW_TX_PIPE0 Fatal XC0 i0 Link 03 (0x1 0x4)", "fatal", True),
        ("149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x004505c6 0x0)", "fatal", True),
        ("149, NETIR_LINK_DOWN Fatal XC0 i0 Link 08 (0x020505c6 0x0)", "fatal", False),  # the peer's link
        ("149, NETIR_LINK_EVT Fatal XC0 i1 Link 08 (0x004505c6 0x0)", "fatal", False),  # injected
        ("150, MSE_WATCHDOG Fatal XC0 i0 Link -1 (0x0 0x0)", "fatal", True),
        ("145, pid=7, name=python3", "error", False),
        ("79, GPU has fallen off the bus.", "fatal", True),
        ("94, pid=7, Contained: CE User Channel (0x9). RST: No, D-RST: No", "fatal", False),
        ("95, pid=7, Uncontained", "fatal", True),
        ("63, Row Remapper: New row marked for remapping, reset gpu to activate.", "warning", False),
        ("64, Row Remapper: Error recording", "fatal", True),
        ("92, High single-bit ECC error rate", "warning", False),
        ("31, pid=7, name=python3, MMU Fault", "warning", False),
        ("109, pid=7, name=python3, CTX SWITCH TIMEOUT", "fatal", False),
        ("45, pid=1, name=python3, Ch 00000001 caused by previous Xid 145", "error", False),
        ("45, pid=1, name=python3, Ch 00000001 caused by previous Xid 79", "fatal", True),
        ("45, pid=1, name=python3, Ch 00000001 caused by previous Xid 31", "warning", False),
        ("154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)", "fatal", True),
        ("154, GPU recovery action changed from 0x0 (None) to 0x3 (Drain P2P)", "error", False),
        ("154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)", "warning", False),
        ("4444, newer than the table", "warning", False),
    ],
)
def test_severity_and_drain(message: str, level: str, drain: bool) -> None:
    found = meaning(XID + message)
    assert (found.severity, found.drain) == (level, drain)


@pytest.mark.parametrize(
    ("registers", "level", "signature"),
    [
        ("0x1, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0", "warning", "xid_nvlink_ignored"),
        ("0x40800001, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0", "warning", "xid_nvlink_ignored"),
        ("0x10001, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0", "fatal", "xid_nvlink"),
        ("0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0", "fatal", "xid_nvlink"),
        ("0x10, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0", "error", "xid_nvlink_marginal"),
        ("0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0", "error", "xid_nvlink_marginal"),
        ("0x1, 0x0, 0x0, 0x40000, 0x0, 0x0, 0x0", "fatal", "xid_nvlink"),
        ("0x0, 0x0, 0x0, 0x0, 0x100000, 0x0, 0x0", "warning", "xid_nvlink_warning"),
        ("0x5, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0", "fatal", "xid_nvlink"),  # bit 2 is not described
        ("0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0", "fatal", "xid_nvlink"),
    ],
)
def test_the_registers_of_xid_74(registers: str, level: str, signature: str) -> None:
    found = meaning(f"{XID}74, pid='<unknown>', name=<unknown>, NVLink: fatal error detected on link 14({registers})")
    assert (found.severity, found.signature) == (level, signature)


@pytest.mark.parametrize(
    ("line", "level", "drain"),
    [
        ("nvidia-nvswitch1: SXid (PCI:0000:06:00.0): 20034, Fatal, Link 30 LTSSM Fault Up", "fatal", True),
        ("nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 egress error", "error", False),
        ("nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 11012, Non-fatal, Link 32 ingress ECC", "warning", False),
        ("nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 10005, Non-fatal, Thermal event end", "none", False),
        ("detected NVSwitch fatal error 20034 on fid 0 on NVSwitch pci bus id 00000000:47:00.0", "fatal", True),
        ("detected NVSwitch non-fatal error 22013 on fid 0 on NVSwitch pci bus id 00000000:47:00.0", "warning", False),
    ],
)
def test_switches(line: str, level: str, drain: bool) -> None:
    found = meaning(line)
    assert (found.severity, found.drain) == (level, drain)
