"""Parses one line of NVIDIA's drivers that reports an Xid (of a GPU) or an SXid (of an NVSwitch).

The formats are those of `krcReportXid` and `NVSWITCH_PRINT_SXID` in NVIDIA's open kernel modules, of older drivers, and of Fabric
Manager. A line may have any prefix: `dmesg`, `journalctl`, syslog, `/dev/kmsg`, or a launcher in front of a job's output.
"""

import re

import msgspec

from schedmate_records import RecoveryAction

from ...grammar.prefix import clean

_READ = 2000
"""Characters of a line that are parsed."""

_REPORT = re.compile(
    r"(?<![a-z])(?P<switch>s?)xid ?\((?:pci:)?(?P<device>(?:[0-9a-f]{4,8}:)?[0-9a-f]{1,2}:[0-9a-f]{1,2}(?:\.[0-7])?)?"
    r"[^)]{0,60}\) ?[:,]? ?(?P<number>\d{1,5})\b(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_FABRIC_MANAGER = re.compile(
    r"detected nvswitch (?P<word>non-? ?fatal|fatal) error (?P<number>\d{1,5})\b(?P<rest>.*)", re.IGNORECASE | re.DOTALL
)
_DEVICE = re.compile(r"(?:[0-9a-f]{4,8}:)[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-7])?", re.IGNORECASE)
_PROCESS = re.compile(r", pid=[^,]{0,40}(?:, name=[^,]{0,100})?", re.IGNORECASE)
_CAUSE = re.compile(r"caused by (?:a )?previous xid:? ?(\d{1,3})\b", re.IGNORECASE)
_SUB_CODE = re.compile(
    r"\W{0,3}(?P<name>[A-Z][A-Z0-9_]{2,40}(?:/[A-Z0-9_]{2,40})?) (?P<word>non-? ?fatal|(?:link )?fatal)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\W{0,3}(?P<word>non-? ?fatal|fatal)\b", re.IGNORECASE)
_NONFATAL = re.compile(r"(?<!\w)non-? ?fatal\b", re.IGNORECASE)
_LINK = re.compile(r"\b(?:link|port) (-?\d{1,4})\b", re.IGNORECASE)
_INJECTED = re.compile(r" XC\d i(\d)\b", re.IGNORECASE)
_REGISTERS = re.compile(r"\((0x[0-9a-f]{1,16}(?:(?:, ?| )0x[0-9a-f]{1,16})*)", re.IGNORECASE)
_ACTION = re.compile(
    r"recovery action\b.{0,80}(?:\bto|->) (?:0x([0-9a-f]{1,2})\b)? ?\(?([a-z0-9 ]{0,40})", re.IGNORECASE
)

_ACTION_WORDS = (
    ("none", RecoveryAction.NONE),
    ("system reboot", RecoveryAction.SYSTEM_REBOOT),
    ("reboot", RecoveryAction.NODE_REBOOT),
    ("drain and reset", RecoveryAction.DRAIN_AND_RESET),
    ("drain", RecoveryAction.DRAIN_P2P),
    ("imex", RecoveryAction.RECOVER_IMEX_DOMAIN),
    ("bus reset", RecoveryAction.BUS_RESET),
    ("reset", RecoveryAction.GPU_RESET),
)
"""Words of a recovery action that comes without its number; the first that is found holds."""


class Xid(msgspec.Struct, frozen=True, kw_only=True):
    """An Xid or SXid in a line.

    Attributes:
        number: Number of the Xid or SXid.
        switch: True for an SXid.
        device: PCI address, in lower case; empty where the line has none.
        sub_code: Name of the sub-code (`NETIR_BER_EVENT`), in upper case; empty where the line has none.
        fatal: Severity as the line states it; null where it states none.
        link: Number of the NVLink or port.
        registers: Values in parentheses: for 144 to 150 the first is `intrinfo` and the second the error status.
        injected: True where a test injected the error.
        recovery_action: The driver's new recovery action (Xid 154).
        caused_by: Number of the Xid that this one follows from (`caused by previous Xid 145`).
    """

    number: int
    switch: bool = False
    device: str = ""
    sub_code: str = ""
    fatal: bool | None = None
    link: int | None = None
    registers: tuple[int, ...] = ()
    injected: bool = False
    recovery_action: RecoveryAction | None = None
    caused_by: int | None = None

    @property
    def status(self) -> int | None:
        """The error status of an Xid from 144 to 150; null where the line has none."""
        return self.registers[1] if len(self.registers) > 1 else None

    @property
    def reason(self) -> int | None:
        """Bits 20 to 25 of `intrinfo`: why a link went down (Xid 149); null where the line has no registers."""
        return self.registers[0] >> 20 & 0x3F if self.registers else None

    @property
    def name(self) -> str:
        """The event as a person writes it: `Xid 149 NETIR_BER_EVENT`."""
        return f"{'SXid' if self.switch else 'Xid'} {self.number}{' ' if self.sub_code else ''}{self.sub_code}"


def read_xid(line: str) -> Xid | None:
    """Return the Xid or SXid that `line` reports; null where it reports none."""
    line = clean(line[:_READ]) if "\x1b" in line else line[:_READ]
    if found := _REPORT.search(line):
        return _report(found)
    if found := _FABRIC_MANAGER.search(line):
        device = _DEVICE.search(found["rest"])
        return Xid(
            number=int(found["number"]),
            switch=True,
            device=address(device[0]) if device else "",
            fatal=_is_fatal(found["word"]),
            link=_link(found["rest"]),
        )
    return None


def address(text: str) -> str:
    """Return a PCI address as `0000:3b:00`: in lower case, with a domain of four digits, without the function."""
    parts = text.lower().partition(".")[0].split(":")
    if len(parts) < 2:
        return ""
    domain = parts[-3] if len(parts) > 2 else "0000"
    return f"{domain.removeprefix('0000') if len(domain) == 8 else domain:0>4}:{parts[-2]:0>2}:{parts[-1]:0>2}"


def _recovery_action(code: str | None, words: str) -> RecoveryAction:
    if code is not None:
        return RecoveryAction.from_nvml(int(code, 16))
    words = words.lower()
    return next((action for word, action in _ACTION_WORDS if word in words), RecoveryAction.UNKNOWN)


def _report(found: re.Match[str]) -> Xid:
    rest = found["rest"]
    rest = _PROCESS.sub("", rest, count=1)
    cause, registers, injected, action = (each.search(rest) for each in (_CAUSE, _REGISTERS, _INJECTED, _ACTION))
    sub_code, fatal = _severity(rest)
    return Xid(
        number=int(found["number"]),
        switch=bool(found["switch"]),
        device=address(found["device"] or ""),
        sub_code=sub_code,
        fatal=fatal,
        link=_link(rest),
        registers=tuple(int(each, 16) for each in re.split(r"[, ]+", registers[1])) if registers else (),
        injected=injected is not None and injected[1] != "0",
        recovery_action=_recovery_action(action[1], action[2]) if action else None,
        caused_by=int(cause[1]) if cause else None,
    )


def _severity(rest: str) -> tuple[str, bool | None]:
    """Return the sub-code and the severity in what follows the number.

    `Fatal` counts only where the driver prints the severity: a sentence such as `fatal error detected on link 2` is a description.
    """
    if found := _WORD.match(rest):
        following = rest[found.end() : found.end() + 1]
        return "", _is_fatal(found["word"]) if following in {"", ",", ":", "."} else None
    if found := _SUB_CODE.match(rest):
        return found["name"].upper(), _is_fatal(found["word"])
    bare = re.match(r"\W{0,3}([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b", rest)
    return bare[1] if bare else "", False if _NONFATAL.search(rest) else None


def _is_fatal(word: str) -> bool:
    return not word.lower().startswith("non")


def _link(rest: str) -> int | None:
    found = _LINK.search(rest) or re.search(r"\blink (\d{1,4})\(", rest, re.IGNORECASE)
    return int(found[1]) if found else None
