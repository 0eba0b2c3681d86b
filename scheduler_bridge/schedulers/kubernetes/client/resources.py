"""Requests and limits of containers, as numbers (Kubernetes: Resource Management for Pods and Containers)."""

from collections.abc import Mapping

from kubernetes.utils.quantity import parse_quantity

from .objects import Container, Pod, PodSpec

GPUS = ("nvidia.com/gpu", "amd.com/gpu", "habana.ai/gaudi", "gpu.intel.com/i915", "gpu.intel.com/xe")
"""Extended resources that are whole accelerators, as the vendors' device plugins name them. Parts (MIG) are not counted."""


def gpus(limits: Mapping[str, str]) -> int:
    """Return the accelerators among the limits of a container, or what a node can allocate. Parts of them come as whole numbers only."""
    found = (limits.get(name, "") for name in GPUS)
    # Amounts of more than six digits are not counted: no pod has so many devices.
    return sum(int(amount) for amount in found if amount.isascii() and amount.isdecimal() and len(amount) <= 6)


def cpus(amounts: Mapping[str, str]) -> float:
    """Return the CPUs: `500m` is half of one."""
    return _number(amounts.get("cpu", "0"))


def memory(amounts: Mapping[str, str]) -> float:
    """Return the memory in MB."""
    return _number(amounts.get("memory", "0")) / (1 << 20)


def requested(spec: PodSpec) -> tuple[float, float, int]:
    """Return what the scheduler counts for a pod: CPUs, memory in MB, accelerators. Where there is a limit alone, that is the request."""
    wanted = [{**each.resources.limits, **each.resources.requests} for each in spec.containers]
    return sum(map(cpus, wanted)), sum(map(memory, wanted)), sum(map(gpus, wanted))


def main_container(pod: Pod) -> Container | None:
    """Return the container that does a pod's work: the one that kubectl shows by default, else the first with a GPU, else the first."""
    containers = pod.spec.containers
    named = pod.metadata.annotations.get("kubectl.kubernetes.io/default-container")
    return next(
        (each for each in containers if each.name == named),
        next((each for each in containers if gpus(each.resources.limits)), next(iter(containers), None)),
    )


def _number(quantity: str) -> float:
    try:
        return float(parse_quantity(quantity))
    except (ValueError, ArithmeticError):
        return 0.0
