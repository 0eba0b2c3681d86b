"""`schedmate notify`: send decisions and their results to people."""

import typer

from ..notifications.channels import Channel, EmailChannel, SlackChannel, WebhookChannel
from ..notifications.notifier import Notifier
from ..notifications.urgency import Urgency
from ..settings.settings import Loaded, NotifySection, SettingsError, read_secret

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")

READ = ("decisions", "decision-results", "failures", "alarms", "job-events")


@app.command()
def command(context: typer.Context) -> None:
    """Send what was decided and done, why, by whose order and on which evidence, to people: by webhook, Slack-compatible webhook, e-mail.

    It reads the topics on its own, so that nothing that acts ever waits for it. Each channel has a least severity: `critical` is an
    action that failed or could not be verified, `warning` what waits for a person, a failure of the infrastructure or an alarm,
    `info` the rest. The same message goes once an hour. Run one.

    Example: `schedmate --set notify.slack_file=/etc/schedmate/slack --set notify.slack_severity=warning notify`
    """
    from functools import partial

    from streams.kafka import KafkaConsumer, KafkaProducer
    from streams.runtimes.pump import Batch, Pump

    from ..connections import kafka_connection, permitted, wait_for_broker
    from ..services.service import service

    loaded: Loaded = context.obj
    settings = loaded.settings
    notifier = Notifier(channels(settings.notify), settings.notify.repeat_seconds)
    with service(settings, "notify") as running:
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


def channels(wanted: NotifySection) -> dict[Channel, Urgency]:
    """Return the channels that are configured, with the least severity of each.

    Raises:
        SettingsError: None is, or a file cannot be read.
    """
    found: dict[Channel, Urgency] = {}
    if wanted.webhook:
        token = read_secret(wanted.webhook_token_file) if wanted.webhook_token_file else ""
        found[WebhookChannel(wanted.webhook, token)] = wanted.webhook_severity
    if wanted.slack_file:
        found[SlackChannel(read_secret(wanted.slack_file))] = wanted.slack_severity
    if wanted.smtp:
        login = (wanted.smtp_user, wanted.secret()) if wanted.smtp_user else None
        email = EmailChannel(
            wanted.smtp,
            wanted.email_from,
            wanted.email_to,
            user_domain=wanted.email_user_domain,
            login=login,
            tls=wanted.smtp_tls,
        )
        found[email] = wanted.email_severity
    if not found:
        raise SettingsError("expected notify.webhook, notify.slack_file or notify.smtp to be set: there is no receiver")
    return found
