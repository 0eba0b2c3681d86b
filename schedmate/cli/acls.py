"""`schedmate acls`: what each program may do on Kafka."""

from typing import Annotated

import typer

from streams.rights import ROLES, Grant, Role

from ..settings.settings import Loaded, SettingsError
from .console import print_line
from .listing import Csv, Json, print_rows

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")

RoleName = Annotated[str, typer.Argument(metavar="ROLE", help="A role that `list` shows.")]
Principal = Annotated[
    str, typer.Argument(metavar="PRINCIPAL", help="Kafka principal: User:NAME, or User:CN=… for a certificate.")
]
GroupName = Annotated[
    str, typer.Option("--group", help="Consumer group of a subscriber.", show_default="from the settings")
]


@app.callback()
def acls() -> None:
    """Show, grant and revoke the rights that each program needs on Kafka. Example: `schedmate acls grant pipe User:jobs`."""


@app.command("list")
def list_roles(context: typer.Context, *, as_json: Json = False, as_csv: Csv = False) -> None:
    """List the roles with the topics that each may read and write.

    Example: `schedmate acls list`
    """
    loaded: Loaded = context.obj
    rows = []
    for role in ROLES.values():
        group = f"{loaded.settings.kafka.group}{role.group}{'*' if role.groups_below else ''}" if role.group else ""
        rows.append((role.name, role.about.replace("`", ""), ", ".join(role.reads), ", ".join(role.writes), group))
    print_rows(("role", "who", "reads", "writes", "group"), rows, as_json=as_json, as_csv=as_csv)


@app.command()
def grant(context: typer.Context, role: RoleName, principal: Principal, *, group: GroupName = "") -> None:
    """Grant PRINCIPAL the rights of ROLE. Other rights of PRINCIPAL do not change. Running it again changes nothing.

    Example: `schedmate acls grant worker User:schedmate-worker`
    """
    from streams.kafka import acls as rights

    from ..connections import kafka_connection

    loaded: Loaded = context.obj
    given = rights.grant(kafka_connection(loaded.settings.kafka), principal, _grants(loaded, role, group))
    print_line(f"{principal} has the rights of {role}: {given} granted now")


@app.command()
def revoke(context: typer.Context, principal: Principal) -> None:
    """Revoke all rights of PRINCIPAL.

    Example: `schedmate acls revoke User:schedmate-worker`
    """
    from streams.kafka import acls as rights

    from ..connections import kafka_connection

    loaded: Loaded = context.obj
    gone = rights.revoke(kafka_connection(loaded.settings.kafka), principal)
    print_line(f"{principal} has no right by name any more: {gone} removed")


@app.command()
def commands(context: typer.Context, role: RoleName, principal: Principal, *, group: GroupName = "") -> None:
    """Print the equivalent commands of Kafka's own tool, for administrators who do not have SchedMate.

    Example: `schedmate acls commands pipe User:jobs > grant.sh`
    """
    from streams.kafka import acls as rights

    loaded: Loaded = context.obj
    for line in rights.commands(loaded.settings.kafka.brokers, principal, _grants(loaded, role, group)):
        print_line(line)


@app.command()
def check(context: typer.Context, role: RoleName) -> None:
    """Check that the configured user has the rights of ROLE. The exit code is 1 if a right is missing.

    Example: `schedmate acls check pipe`
    """
    from streams.kafka import check_role

    from ..connections import kafka_connection

    loaded: Loaded = context.obj
    kafka = loaded.settings.kafka
    problems = check_role(kafka_connection(kafka), _role(role), kafka.group)
    for problem in problems:
        print_line(problem)
    if problems:
        raise typer.Exit(1)
    print_line(f"this user may do what {role} needs")


def _role(name: str) -> Role:
    if name not in ROLES:
        raise SettingsError(f"expected a role, one of {', '.join(ROLES)}, got {name!r}")
    return ROLES[name]


def _grants(loaded: Loaded, name: str, group: str) -> list[Grant]:
    role = _role(name)
    grants = list(role.grants(loaded.settings.kafka.group))
    if not group:
        return grants
    if name != "subscriber":
        raise SettingsError(f"expected --group only with the role subscriber, got it with {name}")
    return [*(each for each in grants if each.resource != "group"), Grant("READ", "group", group)]
