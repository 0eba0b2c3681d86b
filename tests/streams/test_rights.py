"""The table of rights, and the same as commands of Kafka's own tool."""

import shlex

import pytest

from streams.kafka.acls import commands
from streams.rights import ALL, ROLES, STORED, Grant
from streams.transport import TransportError


def test_no_right_stands_twice_and_every_topic_exists() -> None:
    for role in ROLES.values():
        grants = list(role.grants("g"))
        assert len(set(grants)) == len(grants)
        assert {grant.name for grant in grants if grant.resource == "topic"} <= set(ALL)


def test_what_acts_on_jobs_has_one_writer() -> None:
    writers = {topic: {name for name, role in ROLES.items() if topic in role.writes} - {"operator"} for topic in ALL}
    assert writers["decisions"] == writers["decision-results"] == {"bridge"}
    assert writers["quotas"] == {"spot"}
    assert writers["start-estimates"] == {"starts"}
    assert writers["failures"] == writers["slowdowns"] == {"worker"}
    assert writers["node-logs"] == {"collector"}
    assert (writers["model-questions"], writers["model-answers"]) == ({"worker"}, {"model-worker"})
    assert writers["gpu-metrics"] == {"gpu-agent"}
    assert writers["job-events"] == {"watcher", "worker"}
    assert {name for name, role in ROLES.items() if "job-state" in role.writes} == {"worker"}
    assert "job-logs" not in STORED


def test_commands_of_kafkas_own_tool() -> None:
    lines = list(commands("k1:9092", "User:CN=n 1", ROLES["reader"].grants("site")))
    assert [shlex.split(line)[7:] for line in lines] == [
        ["User:CN=n 1", "--operation", "Read", "--topic", "decisions"],
        ["User:CN=n 1", "--operation", "Read", "--topic", "decision-results"],
        ["User:CN=n 1", "--operation", "Read", "--topic", "approvals"],
        ["User:CN=n 1", "--operation", "Read", "--group", "site-decisions-", "--resource-pattern-type", "prefixed"],
    ]
    (line,) = commands("k1:9092", "User:a", [Grant("ALTER", "cluster", "kafka-cluster")])
    assert line == (
        "kafka-acls.sh --bootstrap-server k1:9092 --command-config admin.properties --add "
        "--allow-principal User:a --operation Alter --cluster"
    )


@pytest.mark.parametrize("principal", ["", "ada", "User:", "User:*", "Group:x"])
def test_a_principal_of_another_form_is_refused(principal: str) -> None:
    with pytest.raises(TransportError, match="expected a principal such as User:"):
        list(commands("k1:9092", principal, ROLES["pipe"].grants()))
