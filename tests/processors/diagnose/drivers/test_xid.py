"""One event in every form in which kernels, collectors and drivers print it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.diagnose.drivers import Xid, read_xid
from schedmate_records import RecoveryAction

FABRIC_MANAGER = "nv-fabricmanager[5183]: detected NVSwitch "
BIT_ERRORS = "149, NETIR_BER_EVENT Nonfatal XC0 i0 Link 03 (0x00086226 0x00000000 0x00000000)"


def read(line: str) -> Xid:
    found = read_xid(line)
    assert found is not None, line
    return found


@pytest.mark.parametrize(
    "prefix",
    [
        "",
        "[449410.332316] ",
        "[Fri Nov 27 18:58:10 2026] ",
        "Nov 27 18:58:10 n1 kernel: ",
        "2026-11-27T18:58:10.123456+00:00 n1 kernel: [449410.332316] ",
        "<4>[449410.332316] ",
        "4,2212,4053155111,-;",
        "kern  :warn  : [Fri Nov 27 18:58:10 2026] ",
        "[rank3]: ",
        "\x1b[32m[449410.332316] \x1b[0m\x1b[33m",
    ],
)
@pytest.mark.parametrize(
    ("report", "device"),
    [
        ("NVRM: Xid (PCI:0018:01:00): ", "0018:01:00"),
        ("NVRM: Xid (PCI:0018:01:00.0): ", "0018:01:00"),
        ("NVRM: Xid (PCI:00000018:01:00.0): ", "0018:01:00"),
        ("NVRM: Xid (0018:01:00): ", "0018:01:00"),
        ("NVRM: Xid (PCI:3B:00): ", "0000:3b:00"),
        ("Xid (PCI:0018:01:00): ", "0018:01:00"),
        ("nvrm: xid (pci:0018:01:00): ", "0018:01:00"),
        ("NVRM: XID (PCI:0018:01:00): ", "0018:01:00"),
    ],
)
def test_a_nonfatal_bit_error_rate(prefix: str, report: str, device: str) -> None:
    found = read(prefix + report + BIT_ERRORS)
    assert (found.number, found.device, found.sub_code) == (149, device, "NETIR_BER_EVENT")
    assert (found.fatal, found.link, found.status, found.injected) == (False, 3, 0, False)
    assert found.name == "Xid 149 NETIR_BER_EVENT"


@pytest.mark.parametrize("word", ["Fatal", "FATAL", "fatal", "Link Fatal"])
@pytest.mark.parametrize("process", ["", "pid=7, name=python3, ", "pid='<unknown>', name=<unknown>, ", "pid=7, "])
def test_a_fatal_sub_code(word: str, process: str) -> None:
    found = read(f"NVRM: Xid (PCI:0018:01:00): 149, {process}NETIR_LINK_EVT {word} XC0 i0 Link 08 (0x004505c6 0x0)")
    assert (found.sub_code, found.fatal, found.link, found.reason) == ("NETIR_LINK_EVT", True, 8, 4)


@pytest.mark.parametrize("word", ["Nonfatal", "Non-fatal", "NON-FATAL", "non fatal"])
def test_words_for_what_is_not_fatal(word: str) -> None:
    assert read(f"NVRM: Xid (PCI:0018:01:00): 144, SAW_MVB {word} XC0 i0 Link -1 (0x1 0x2)").fatal is False
    assert read(f"nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20001, {word}, Link 32 TX Replay Error").fatal is False


def test_the_registers_and_the_link_of_xid_74() -> None:
    found = read(
        "Xid (PCI:0000:D8:00): 74, pid='<unknown>', name=<unknown>, "
        "NVLink: fatal error detected on link 14(0x1, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)"
    )
    assert (found.link, found.registers) == (14, (1, 0, 0x10000, 0, 0, 0, 0))
    assert found.fatal is None, "the sentence describes the error, and is no severity"


@pytest.mark.parametrize(
    ("words", "action"),
    [
        ("0x0 (None) to 0x1 (GPU Reset Required)", RecoveryAction.GPU_RESET),
        ("0x0 (None) to 0x1 (PF FLR)", RecoveryAction.GPU_RESET),
        ("0x0 (None) to 0x2 (Node Reboot Required)", RecoveryAction.NODE_REBOOT),
        ("0x0 (None) to 0x2 (OS Reboot)", RecoveryAction.NODE_REBOOT),
        ("0x0 (None) to 0x3 (Drain P2P)", RecoveryAction.DRAIN_P2P),
        ("0x0 (None) to 0x4 (Drain and Reset)", RecoveryAction.DRAIN_AND_RESET),
        ("0x1 (GPU Reset Required) to 0x0 (None)", RecoveryAction.NONE),
        ("0x0 (None) to 0x5 (Recover IMEX Domain)", RecoveryAction.RECOVER_IMEX_DOMAIN),
        ("0x0 (None) to 0x9 (Unknown)", RecoveryAction.UNKNOWN),
        ("None to GPU Reset Required", RecoveryAction.GPU_RESET),
    ],
)
def test_the_recovery_action_of_xid_154(words: str, action: RecoveryAction) -> None:
    assert read(f"NVRM: Xid (PCI:0008:01:00): 154, GPU recovery action changed from {words}").recovery_action is action


def test_what_an_xid_follows_from() -> None:
    found = read("Xid (PCI:0000:dc:00): 45, pid=1, name=python3, Ch 00000001 caused by previous Xid 145")
    assert (found.number, found.caused_by) == (45, 145)


@pytest.mark.parametrize("instance", ["", " GPU-I:05", " GPU-I:05 GPU-CI:02", " GI:5 CI:2"])
def test_instances_of_mig_belong_to_their_device(instance: str) -> None:
    found = read(
        f"NVRM: Xid (PCI:0000:01:00{instance}): 94, pid=7194, Contained: CE User Channel (0x9). RST: No, D-RST: No"
    )
    assert (found.number, found.device) == (94, "0000:01:00")


@pytest.mark.parametrize(
    ("line", "number", "fatal"),
    [
        ("nvidia-nvswitch1: SXid (PCI:0000:06:00.0): 20034, Fatal, Link 30 LTSSM Fault Up", 20034, True),
        ("nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 egress error (First)", 12028, False),
        (FABRIC_MANAGER + "non-fatal error 22013 on NodeId 0 on NVSwitch pci bus id 00000000:08:00.0 port 60", 22013, False),
        ("[ERROR] [tid 1234] detected NVSwitch fatal error 20034 on fid 0 on NVSwitch pci bus id 00000000:47:00.0", 20034, True),
    ],
)  # fmt: skip
def test_switches(line: str, number: int, fatal: bool) -> None:
    found = read(line)
    assert (found.switch, found.number, found.fatal) == (True, number, fatal)
    assert found.device.startswith("0000:")


def test_an_injected_error() -> None:
    assert read("NVRM: Xid (PCI:0018:01:00): 149, NETIR_LINK_EVT Fatal XC0 i1 Link 08 (0x004505c6 0x0)").injected


@pytest.mark.parametrize(
    "line",
    [
        "",
        "NVRM: loading NVIDIA UNIX x86_64 Kernel Module",
        "taxid (9606): 12",
        "oxide 79",
        "health check: GPU 3 reports XID error 79",
        "Xid file not found",
    ],
)
def test_other_lines(line: str) -> None:
    assert read_xid(line) is None


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    read_xid(text)
    read_xid(f"NVRM: Xid (PCI:0018:01:00): 149, {text}")
