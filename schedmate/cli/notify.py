"""`schedmate notify`: send decisions and their results to people."""

from contextlib import closing

import typer

from ..notifications.cards import Cards
from ..settings.settings import Loaded, Settings, SettingsError

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")

READ = ("decisions", "decision-results", "failures", "alarms", "job-events")


@app.command()
def command(context: typer.Context) -> None:
    """Send decisions and their results, with reason, approver and evidence, by webhook, Slack-compatible webhook or e-mail.

    It reads the topics with its own group, so that the bridge never waits for it. Each channel has a minimum severity: `critical` for an
    action that failed or could not be verified; `warning` for a decision that waits for approval, an infrastructure failure or an
    alarm; `info` for all else. The same message is sent at most once an hour. Run one instance.

    Example: `schedmate --set notify.slack_file=/etc/schedmate/slack --set notify.slack_severity=warning notify`
    """
    from functools import partial

    from streams.kafka import KafkaConsumer, KafkaProducer
    from streams.runtimes.pump import Batch, Pump

    from ..connections import kafka_connection, permitted, wait_for_broker
    from ..notifications.notifier import Notifier
    from ..plugins.channels import open_channels
    from ..services.service import service

    loaded: Loaded = context.obj
    settings = loaded.settings
    cards = report_cards(settings)
    with service(settings, "notify") as running:
        channels = open_channels(settings.notify, loaded.plugins)
        notifier = Notifier(channels, settings.notify.repeat_seconds, cards=cards)
        running.telemetry.health = kafka_connection(settings.kafka).problems
        connection = permitted(settings.kafka, "notifier", running.stop)
        producer = wait_for_broker(partial(KafkaProducer, connection), running.stop)
        group = f"{settings.kafka.group}-notify"
        join = partial(KafkaConsumer, connection, group, READ, settings.kafka.session_timeout_s)
        with wait_for_broker(join, running.stop) as consumer:

            def notify_people(batch: Batch) -> None:
                for _, record in batch:
                    notifier.add_record(record)

            pump = Pump(consumer, producer, notify_people)
            running.telemetry.health = lambda: [*connection.problems(), *notifier.problems()]
            running.telemetry.export(notifier.metrics, pump.metrics)
            pump.run(running.stop)
        notifier.close()
        producer.close()


def report_cards(settings: Settings) -> Cards | None:
    """Return what sends report cards; None where no user wants them. Raises `SettingsError` where they cannot be sent."""
    from ..notifications.email import EmailChannel
    from ..notifications.urgency import Urgency
    from ..report_card import ReportCard, read_card
    from ..services.sink import clickhouse_reader

    wanted = settings.notify
    if not wanted.email_report_cards:
        return None
    if not (wanted.smtp and wanted.email_user_domain):
        raise SettingsError(
            "notify.email_report_cards: expected notify.smtp and notify.email_user_domain, got none: cards have no receiver"
        )
    connect = clickhouse_reader(settings.clickhouse)

    def read(job: str, attempt: int) -> ReportCard | None:
        with closing(connect()) as client:
            return read_card(client, job, attempt)

    return Cards(EmailChannel.to_receivers(wanted, (), Urgency.INFO), wanted.email_report_cards, read)
