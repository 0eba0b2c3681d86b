import pytest

from scheduler_bridge.schedulers.slurm.client.node import parse

LINE = (
    "NodeName=n1 Arch=x86_64 OS=Linux 6.1 #1 SMP State={state} ThreadsPerCore=1 Partitions=p,q  BootTime=1795363186 "
    "SlurmdStartTime=1795380823 ExtSensorsTemp=n/s{end}"
)


def test_a_node_in_service() -> None:
    node = parse(LINE.format(state="IDLE", end=""))
    assert node
    assert (node.name, node.states, node.partitions, node.booted) == ("n1", ("IDLE",), ("p", "q"), 1795363186.0)
    assert (node.reason, node.comment) == ("", "")


@pytest.mark.parametrize(
    "end",
    [
        " Reason=a fan State=IDLE is broken [root@1795380825] Comment=rack 7 Partitions=z",
        " Comment=rack 7 Partitions=z Reason=a fan State=IDLE is broken [root@1795380825]",
    ],
)
def test_texts_of_administrators_are_no_fields(end: str) -> None:
    node = parse(LINE.format(state="MIXED*+DRAIN", end=end))
    assert node
    assert (node.states, node.partitions) == (("MIXED", "DRAIN"), ("p", "q"))
    assert (node.reason, node.comment) == ("a fan State=IDLE is broken", "rack 7 Partitions=z")


@pytest.mark.parametrize("line", ["", "JobId=1 State=IDLE", "NodeName=n1", "NodeName=n1 Reason=State=IDLE"])
def test_what_is_no_node(line: str) -> None:
    assert parse(line) is None
