"""What a GPU needs to recover, as its driver states it."""

from enum import StrEnum


class RecoveryAction(StrEnum):
    """The states of NVML's `nvmlDeviceGpuRecoveryAction_t`, in the order of their numbers; Xid 154 reports a change."""

    NONE = "none"
    """Nothing: the GPU can be used."""
    GPU_RESET = "gpu_reset"
    """The GPU must be reset before it can be used."""
    NODE_REBOOT = "node_reboot"
    """The operating system must be started again."""
    DRAIN_P2P = "drain_p2p"
    """Traffic between GPUs must end before new work begins."""
    DRAIN_AND_RESET = "drain_and_reset"
    """The GPU works with less than its full capacity: it should get no new work, and a reset after the present work."""
    RECOVER_IMEX_DOMAIN = "recover_imex_domain"
    """The IMEX domain must be recovered."""
    BUS_RESET = "bus_reset"
    """The GPU's PCIe bus must be reset."""
    SYSTEM_REBOOT = "system_reboot"
    """The whole system must be started again."""
    UNKNOWN = "unknown"
    """A state that this version does not know."""

    @classmethod
    def from_nvml(cls, code: int) -> "RecoveryAction":
        """Return the state that NVML and the driver's messages give as the number `code`."""
        states = list(cls)[:-1]
        return states[code] if 0 <= code < len(states) else cls.UNKNOWN

    @classmethod
    def _missing_(cls, value: object) -> "RecoveryAction | None":
        """Read a state that a newer version writes as `unknown`."""
        return cls.UNKNOWN if isinstance(value, str) else None
