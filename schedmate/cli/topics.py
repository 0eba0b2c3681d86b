"""`schedmate topics`: create, list and check the topics."""

from typing import Annotated

import typer

from schedmate_records import BY_NAME
from streams.kafka import check_topics, create_topics, list_topics
from streams.topics import LAYOUTS

from ..connections import kafka_connection
from ..settings.settings import Loaded
from .console import print_line
from .listing import Csv, Json, print_rows

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")


@app.callback()
def topics() -> None:
    """Create, list and check the topics. Example: `schedmate topics create --partitions 16 --replication 3`."""


@app.command()
def create(
    context: typer.Context,
    partitions: Annotated[
        int | None, typer.Option(min=1, help="Partitions per topic.", show_default="kafka.partitions")
    ] = None,
    replication: Annotated[
        int | None, typer.Option(min=1, help="Replicas per partition.", show_default="kafka.replication")
    ] = None,
) -> None:
    """Create the topics that are missing. Running it again changes nothing.

    Example: `schedmate topics create --replication 3`
    """
    loaded: Loaded = context.obj
    kafka = loaded.settings.kafka
    made = create_topics(kafka_connection(kafka), partitions or kafka.partitions, replication or kafka.replication)
    print_line(f"created {', '.join(made)}" if made else "all topics are there already")


@app.command("list")
def list_command(context: typer.Context, *, as_json: Json = False, as_csv: Csv = False) -> None:
    """List the topics with their contents and partitions.

    Example: `schedmate topics list`
    """
    loaded: Loaded = context.obj
    present = list_topics(kafka_connection(loaded.settings.kafka))
    rows = []
    for layout in LAYOUTS:
        topic = BY_NAME.get(layout.name)
        held = (
            (topic.record.__name__, topic.about)
            if topic
            else ("JobState", "The newest state of every job, for the workers alone.")
        )
        rows.append((layout.name, present.get(layout.name, "missing"), *held))
    print_rows(("topic", "partitions", "record", "what it holds"), rows, as_json=as_json, as_csv=as_csv)


@app.command()
def check(context: typer.Context) -> None:
    """Check that all topics exist with the right layout. The exit code is 1 if not.

    Example: `schedmate topics check && schedmate worker`
    """
    loaded: Loaded = context.obj
    problems = check_topics(kafka_connection(loaded.settings.kafka))
    for problem in problems:
        print_line(problem)
    if problems:
        raise typer.Exit(1)
    print_line("all topics are as they should be")
