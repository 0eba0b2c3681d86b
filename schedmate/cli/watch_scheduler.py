"""`schedmate watch-scheduler`: job events from a scheduler, one command for each that is installed."""

import inspect
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import ValidationError
from typer.core import TyperGroup

from schedmate_records import UserError

from ..settings.settings import Loaded
from .parameters import name_values

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from scheduler_bridge.schedulers.scheduler import Scheduler


class _Schedulers(TyperGroup):
    """Makes the command of a scheduler when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        from ..plugins.schedulers import watchable_schedulers

        return watchable_schedulers()

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        from ..plugins.plugins import SCHEDULERS, installed
        from ..plugins.schedulers import find_scheduler

        scheduler = find_scheduler(cmd_name) if cmd_name in installed(SCHEDULERS) else None
        if scheduler is None or not scheduler.is_watchable:
            return None
        command = _command(scheduler)
        name_values(command, ctx)
        return command


app = typer.Typer(cls=_Schedulers, no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")


@app.callback()
def watch_scheduler() -> None:
    """Ship a scheduler's job events to Kafka. Example: `schedmate watch-scheduler slurm`."""


def _command(scheduler: "Scheduler") -> Any:
    """Return the command of a scheduler: its own options, and those of every watcher."""

    def run(context: typer.Context, interval: float | None, checkpoint: Path | None, **options: Any) -> None:
        given = {name: value for name, value in options.items() if value is not None}
        try:
            checked = scheduler.options.model_validate(given)
        except ValidationError as error:
            problem = error.errors()[0]
            option = "-".join(map(str, problem["loc"])).replace("_", "-")
            raise UserError(f"--{option}: {problem['msg']}; got {problem['input']!r}") from None
        _watch(context.obj, scheduler, interval, checkpoint, checked)

    _declare(run, scheduler)
    single = typer.Typer(add_completion=False, rich_markup_mode="markdown")
    single.command()(run)
    command = typer.main.get_command(single)
    command.name = scheduler.name
    return command


def _declare(run: Any, scheduler: "Scheduler") -> None:
    """Give `run` the help and the parameters that its command shows."""
    interval = typer.Option(
        min=0.05, help="Seconds between two queries of the scheduler.", show_default="producer.scheduler_seconds"
    )
    file = f"{scheduler.name}-events.json in producer.directory"
    checkpoint = typer.Option(metavar="FILE", help="File with the state of the watcher.", show_default=file)
    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter("context", kind, annotation=typer.Context),
        *(_parameter(name, field) for name, field in scheduler.options.model_fields.items()),
        inspect.Parameter("interval", kind, default=None, annotation=Annotated[float | None, interval]),
        inspect.Parameter("checkpoint", kind, default=None, annotation=Annotated[Path | None, checkpoint]),
    ]
    run.__doc__ = inspect.getdoc(type(scheduler).watcher)
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__signature__ = inspect.Signature(parameters)


def _parameter(name: str, field: "FieldInfo") -> inspect.Parameter:
    """Return the parameter of a command for an option of a scheduler."""
    default = inspect.Parameter.empty if field.is_required() else field.get_default(call_default_factory=True)
    option = typer.Option(help=field.description)
    annotation: Any = Annotated[field.annotation, option]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _watch(
    loaded: Loaded, scheduler: "Scheduler", interval: float | None, checkpoint: Path | None, options: Any
) -> None:
    """Run a watcher until the process is asked to stop."""
    from streams.kafka import KafkaProducer
    from streams.producers.metrics import ShippingMetrics
    from streams.transport import Producer

    from ..connections import kafka_connection
    from ..plugins.schedulers import settings_of
    from ..services.service import service

    settings, own = loaded.settings, settings_of(loaded, scheduler)

    def connect() -> Producer:
        return KafkaProducer(kafka_connection(settings.kafka), give_up_s=10.0)

    with service(settings, "watch-scheduler") as running:
        watcher = scheduler.watcher(own, connect, checkpoint, options)
        began = time.monotonic()

        def health() -> list[str]:
            silent = time.monotonic() - max(began, watcher.last_look)
            # Seconds without an answer from the scheduler after which the watcher is unhealthy: three commands that reached
            # their limit of ten.
            return [f"{scheduler.title} has not answered for {silent:.0f} s"] if silent > 30.0 else []

        running.telemetry.export(watcher.metrics, ShippingMetrics(watcher.shipper.counters))
        running.telemetry.health = health
        try:
            watcher.run(running.stop, interval or settings.producer.scheduler_seconds)
        finally:
            watcher.close(settings.producer.close_seconds)
