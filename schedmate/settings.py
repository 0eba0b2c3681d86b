"""All settings in one typed class, read from a TOML file, the environment and flags; the later wins.

    file          /etc/schedmate/schedmate.toml, or what --config or SCHEDMATE_CONFIG names:  [kafka]  brokers = "k1:9092,k2:9092"
    environment   SCHEDMATE_KAFKA__BROKERS=k1:9092
    flag          --set kafka.brokers=k1:9092

Passwords come from the environment or from files that only hold them (`password_file`), never from the settings file or a flag.
"""

import difflib
import json
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    SecretStr,
    ValidationError,
)
from pydantic_settings import BaseSettings, EnvSettingsSource, NoDecode, SettingsConfigDict
from pydantic_settings import SettingsError as PydanticSettingsError

from records import Action, Mode, UserError
from schedmate.notifications.message import Severity
from scheduler_bridge.maintenance import Window, WindowError
from scheduler_bridge.selectors import Selector, SelectorError

DEFAULT_FILE = Path("/etc/schedmate/schedmate.toml")
STATE = Path(os.environ.get("XDG_STATE_HOME", Path.home() / ".local" / "state")) / "schedmate"
SECRETS = ("password",)
PREFIX = "SCHEDMATE_"
OTHER_VARIABLES = frozenset(
    f"{PREFIX}{name}"
    for name in (
        "CONFIG", "JOB_ID", "ATTEMPT", "RANK",
        "ASK_MODELS", "BIND", "GPU_IMAGE", "IMAGE", "KAFKA_CLUSTER", "KAFKA_HEAP", "KAFKA_HOST", "KAFKA_PORT",
        "MODEL", "MODEL_LENGTH", "MODEL_MEMORY", "MODEL_SERVERS", "PARTITIONS", "REDIS_MEMORY", "RETENTION_DAYS", "SECRETS",
    )
)  # fmt: skip
"""Variables that are no settings: whose lines a producer ships, and what docker-compose.yml is told."""
_OF_KUBERNETES = re.compile(r"_SERVICE_(?:HOST|PORT)(?:_|$)|_PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_|$)|$)")
"""What Kubernetes tells every container of services: of one named `schedmate-kafka` too."""


REPLACED = {
    (
        "bridge",
        "enabled",
    ): 'give each action a mode in bridge.modes instead, such as [bridge.modes] restart = "act" in the file, or '
    "restart=act,cancel_packing=approve in the environment or a flag"
}
"""Settings of earlier versions, and what to write instead."""


class SettingsError(UserError):
    """A setting that cannot be used; the message says where it stands, what was expected and what came."""


def without_password(text: str) -> str:
    """Return `text` with every password that stands in an address (`//user:password@host`, `?password=`) as `***`."""
    return "".join(part if part.isspace() else _masked(part) for part in re.split(r"(\s+)", text))


def _masked(word: str) -> str:
    before, at, host = word.rpartition("@")
    scheme = before.find("://")
    colon = before.find(":", scheme + 3 if scheme >= 0 else 0)
    if at and colon >= 0:
        word = f"{before[: colon + 1]}***@{host}"
    address, question, query = word.partition("?")
    return address + question + "&".join(map(_masked_parameter, query.split("&")))


def _masked_parameter(parameter: str) -> str:
    name, equals, _ = parameter.partition("=")
    return f"{name}=***" if equals and name.lower().endswith(("password", "secret", "token")) else parameter


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def read_secret(file: Path) -> str:
    """Return what a file holds. Raises `SettingsError` where it cannot be read."""
    try:
        return file.read_text().strip()
    except OSError as error:
        raise SettingsError(f"expected a readable file with a password at {file}: {error.strerror}") from error


class _WithPassword(_Section):
    password: SecretStr = Field(SecretStr(""), description="From the environment only.")
    password_file: Path | None = Field(None, description="A file that holds the password.")

    def secret(self) -> str:
        """Return the password. Raises `SettingsError` where its file cannot be read."""
        return read_secret(self.password_file) if self.password_file else self.password.get_secret_value()


class KafkaSettings(_WithPassword):
    """How to reach Kafka, and how our topics are laid out there."""

    brokers: str = Field("localhost:9092", description="host:port of some brokers, separated by commas.")
    security: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field(
        "PLAINTEXT", description="Security protocol."
    )
    username: str = Field("", description="User name for SASL; empty: no authentication.")
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = Field(
        "SCRAM-SHA-512", description="Used with a user name."
    )
    ssl_cafile: str = Field("", description="Certificate authority, PEM; empty: the system's own.")
    ssl_certfile: str = Field("", description="Client certificate, PEM.")
    ssl_keyfile: str = Field("", description="Key of the client certificate, PEM.")
    compression: Literal["lz4", "zstd"] = Field("lz4", description="How chunks are compressed.")
    partitions: PositiveInt = Field(
        16, description="Partitions that `topics create` makes: so many workers can share the load."
    )
    replication: PositiveInt = Field(1, description="Copies of each partition; 3 in production.")
    group: str = Field("schedmate", description="Prefix of our consumer groups.")
    session_timeout_s: PositiveFloat = Field(10.0, description="How long a dead worker keeps its partitions.")


class ClickHouseSettings(_WithPassword):
    """Where history lasts: a server, or a directory of the embedded engine."""

    url: str = Field(
        "http://default@localhost:8123/schedmate",
        description="Address of a server, http://user@host:port/database; or chdb:///directory for the embedded engine.",
    )
    ssl_cafile: str = Field("", description="Certificate authority of https://, PEM; empty: the system's own.")
    retention_days: PositiveInt = Field(90, description="How long rows are kept.")
    batch_rows: PositiveInt = Field(20_000, description="Messages that make a batch full.")
    batch_seconds: PositiveFloat = Field(0.5, description="A batch is not waited for longer than this.")


class RedisSettings(_WithPassword):
    """Where the present state of every job stands."""

    url: str = Field("redis://localhost:6379/0", description="Address; rediss:// for TLS. Empty: Redis is not used.")
    ssl_cafile: str = Field("", description="Certificate authority of rediss://, PEM; empty: the system's own.")
    prefix: str = Field("schedmate:", description="Prefix of all keys.")
    expire_days: PositiveFloat = Field(7.0, description="A job's state goes so long after its last change.")


class ProducerSettings(_Section):
    """Pipe, collector and GPU agent."""

    directory: Path = Field(STATE, description="Spool and checkpoints; one that survives a reboot.")
    spool_mb: PositiveInt = Field(
        512, description="Disk budget of what could not be sent yet; past it lines are counted and lost."
    )
    hold_seconds: NonNegativeFloat = Field(
        0.03,
        description="How long a pipe may hold up the end of its job for acknowledgements, where 1 % of the job's time is not more.",
    )
    close_seconds: NonNegativeFloat = Field(
        5.0,
        description="How long a collector, and a process that a pipe leaves in the background, wait at their end for acknowledgements.",
    )
    chunk_lines: PositiveInt = Field(500, description="Lines that make a chunk full.")
    chunk_seconds: PositiveFloat = Field(0.5, description="A chunk is not waited for longer than this.")
    gpu_seconds: PositiveFloat = Field(5.0, description="Interval between two GPU samples.")
    scheduler_seconds: PositiveFloat = Field(1.0, description="Interval between two looks at the scheduler.")


class ProcessorSettings(_Section):
    """How lines are understood."""

    embedder: Literal["none", "onnx", "flag"] = Field(
        "none", description="What helps to classify lines that no signature knows; character n-grams alone without one."
    )
    embedder_model: str = Field("", description="Directory or name of the embedding model; empty: BGE-m3 for `flag`.")
    signatures: str = Field("", description="Your own signatures: a TOML file, or a directory of them. Empty: none.")
    reports: PositiveInt = Field(20, description="Newest reports that the medians rest on.")
    slowdown_threshold: Annotated[float, Field(gt=0, lt=1)] = Field(
        0.65, description="Throughput after over before, below which it is a slowdown."
    )
    warmup_steps: NonNegativeInt = Field(30, description="Steps after a packing that are not measured.")
    hang_seconds: PositiveFloat = Field(300.0, description="A job that reports nothing for less than this never hangs.")
    ask_models: bool = Field(
        False, description="Whether workers ask model workers about verdicts, and about reports that tell no speed."
    )


def _listed(value: Any) -> Any:
    """Split what the environment or a flag gives as text."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _object(value: Any) -> Any:
    """Read what the environment or a flag gives as JSON."""
    return json.loads(value) if isinstance(value, str) else value


def _pairs(value: Any) -> Any:
    """Split `name=value,name=value`, which the environment or a flag gives as text."""
    if not isinstance(value, str):
        return value
    return {
        name.strip(): to.strip() for name, _, to in (part.partition("=") for part in value.split(",") if part.strip())
    }


def _is_class(text: str) -> str:
    try:
        Selector.parse(text)
    except SelectorError as error:
        raise ValueError(str(error)) from None
    return text


def _is_window(text: str) -> str:
    try:
        Window.parse(text)
    except WindowError as error:
        raise ValueError(str(error)) from None
    return text


Classes = Annotated[tuple[Annotated[str, AfterValidator(_is_class)], ...], NoDecode, BeforeValidator(_listed)]
"""Classes of jobs (`scheduler_bridge.selectors`)."""


class BridgeSettings(_Section):
    """What may act on the cluster. Nothing may, until `modes` names it."""

    scheduler: Literal["slurm"] = Field("slurm", description="Which scheduler carries decisions out.")
    modes: Annotated[dict[Action, Mode], NoDecode, BeforeValidator(_pairs)] = Field(
        {},
        description="How far each action may go, such as restart=act,cancel_packing=approve: shadow publishes decisions only, "
        "approve waits for a person, act carries them out. Shadow where an action is not named.",
    )
    modes_for: Annotated[
        dict[Annotated[str, AfterValidator(_is_class)], dict[Action, Mode]], BeforeValidator(_object)
    ] = Field(
        {},
        description='Modes of classes of jobs, which hold back further, such as {"partition=prod": {"restart": "approve"}}: the first '
        "class that matches and names the action counts. Terms as in evict_for; * is all.",
    )
    maintenance: Annotated[
        tuple[Annotated[str, AfterValidator(_is_window)], ...], NoDecode, BeforeValidator(_listed)
    ] = Field(
        (),
        description="When nothing is carried out, in UTC: sat 22:00-06:00, daily 01:00-02:00, 2031-02-03T08:00/2031-02-03T18:00.",
    )
    ttl_seconds: PositiveFloat = Field(7200.0, description="A decision older than this is not carried out.")
    min_confidence: Annotated[float, Field(ge=0, le=1)] = Field(
        0.8, description="Verdicts below it lead to no decision."
    )
    restarts_per_cause: NonNegativeInt = Field(2, description="Restarts of one job for one cause.")
    actions_per_job: NonNegativeInt = Field(4, description="Actions on one job, whatever their causes.")
    actions_per_node_hour: NonNegativeInt = Field(4, description="Actions against one node within an hour.")
    actions_per_hour: NonNegativeInt = Field(20, description="Actions on the whole cluster within an hour.")
    user_share: Annotated[float, Field(gt=0, le=1)] = Field(
        0.25, description="Share of `actions_per_hour` that the jobs of one user may take; one action at least."
    )
    max_excluded_nodes: NonNegativeInt = Field(4, description="Nodes that one decision may exclude.")
    users_against_node: PositiveInt = Field(
        3,
        description="Users whose jobs fail on a node within an hour before it is drained without evidence of its own.",
    )
    max_drained_share: Annotated[float, Field(ge=0, le=1)] = Field(
        0.1, description="Share of the nodes (of the cluster, and of each partition) that may be drained; one at least."
    )
    min_nodes_left: NonNegativeInt = Field(
        2, description="Nodes that stay in service (in the cluster, and in each partition) when one is drained."
    )
    node_cooldown_seconds: NonNegativeFloat = Field(
        3600.0, description="Time between two drains of one node, or two returns to service."
    )
    max_grace_seconds: NonNegativeFloat = Field(
        900.0, description="Longest time that a job gets to save a checkpoint before it is evicted."
    )
    checkpoint_signal: Annotated[str, Field(pattern="^[A-Z][A-Z0-9]{1,9}$")] = Field(
        "USR1", description="Signal that tells a job to save a checkpoint before it is evicted."
    )
    evict_for: Classes = Field(
        (),
        description="Classes of jobs for which others are evicted, such as qos=urgent or partition=prod&priority>=1000, separated by "
        "commas; terms: partition, account, qos, user, priority. None: nobody is evicted.",
    )
    evictable: Classes = Field((), description="Classes of jobs that may be evicted for them; a job of both is not.")
    evict_wait_seconds: NonNegativeFloat = Field(
        300.0, description="How long a job of `evict_for` waits before others are evicted for it."
    )
    evict_grace_seconds: NonNegativeFloat = Field(
        120.0, description="Time that a job gets to save a checkpoint before it is evicted for another; 0: none."
    )
    evict_cooldown_seconds: NonNegativeFloat = Field(3600.0, description="Time between two evictions of one job.")
    max_lifetime_seconds: PositiveFloat = Field(
        86400.0, description="Longest time from a decision's cause to its expiry."
    )


class LanguageModelSettings(_WithPassword):
    """What a model worker (and `analyze`) asks: servers that speak OpenAI's protocol (vLLM), or a model that it loads itself.

    The servers' key is the password.
    """

    servers: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)] = Field(
        (), description="Addresses such as http://host:8000/v1, separated by commas."
    )
    load: str = Field(
        "", description="Directory or name of a model that a model worker loads with vLLM, instead of asking servers."
    )
    load_tokens: PositiveInt = Field(16384, description="Tokens of a question and its answer, for a loaded model.")
    load_options: Annotated[dict[str, Any], NoDecode, BeforeValidator(_object)] = Field(
        {}, description="Further arguments of vllm.LLM, as a JSON object."
    )
    model: str = Field("", description="Name of the model; empty: the first one that a server serves.")
    concurrency: PositiveInt = Field(4, description="Questions under way at a time, all servers together.")
    timeout_seconds: PositiveFloat = Field(30.0, description="For one attempt at a question.")
    attempts: PositiveInt = Field(3, description="Times that a question is asked at most.")
    questions_per_job_hour: NonNegativeInt = Field(20, description="Questions of one job within an hour.")
    questions_per_hour: NonNegativeInt = Field(500, description="Questions of all jobs within an hour.")
    answers_kept: PositiveInt = Field(10_000, description="Answers that are remembered.")
    answer_seconds: PositiveFloat = Field(
        900.0, description="Within which a question is answered; a model worker drops one that is older."
    )
    answers_file: Path | None = Field(
        None, description="Where answers last (JSON lines), one file a process; none: in memory only."
    )


class NotifySettings(_WithPassword):
    """Whom `notify` tells of decisions, failures and alarms. The password is for the mail server."""

    webhook: str = Field("", description="Address that gets every message as JSON, with the whole record; empty: none.")
    webhook_token_file: Path | None = Field(None, description="A file with the bearer token for it.")
    webhook_severity: Severity = Field(Severity.INFO, description="Least severity: info, warning, critical.")
    slack_file: Path | None = Field(
        None,
        description="A file with the address of a Slack-compatible webhook (the address is its secret); none: none.",
    )
    slack_severity: Severity = Field(Severity.WARNING, description="Least severity: info, warning, critical.")
    smtp: str = Field("", description="Mail server, host:port; empty: no e-mail.")
    smtp_tls: bool = Field(True, description="Whether the mail server must offer STARTTLS.")
    smtp_user: str = Field("", description="User name at the mail server; empty: no authentication.")
    email_from: str = Field("schedmate@localhost", description="Sender of e-mail.")
    email_to: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)] = Field(
        (), description="Who gets e-mail, separated by commas."
    )
    email_user_domain: str = Field(
        "", description="The owner of a job gets what concerns it at USER@DOMAIN; empty: owners get no e-mail."
    )
    email_severity: Severity = Field(Severity.CRITICAL, description="Least severity: info, warning, critical.")
    repeat_seconds: PositiveFloat = Field(3600.0, description="Within which the same message goes once.")


class ServiceSettings(_Section):
    """What long-running commands say about themselves."""

    listen: str = Field("127.0.0.1", description="Address of metrics and health check.")
    port: NonNegativeInt = Field(0, description="Port of /metrics and /health; 0: none.")
    log_format: Literal["auto", "json", "text"] = Field("auto", description="auto: text on a terminal, JSON elsewhere.")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Least severe entry that is written."
    )


class Settings(BaseSettings):
    """All settings, by section."""

    model_config = SettingsConfigDict(extra="forbid", frozen=True, env_prefix=PREFIX, env_nested_delimiter="__")

    kafka: KafkaSettings = KafkaSettings()
    clickhouse: ClickHouseSettings = ClickHouseSettings()
    redis: RedisSettings = RedisSettings()
    producer: ProducerSettings = ProducerSettings()
    processors: ProcessorSettings = ProcessorSettings()
    bridge: BridgeSettings = BridgeSettings()
    language_model: LanguageModelSettings = LanguageModelSettings()
    notify: NotifySettings = NotifySettings()
    service: ServiceSettings = ServiceSettings()

    @classmethod
    def settings_customise_sources(  # type: ignore[override]  # only one of the sources is wanted
        cls, *_: Any, init_settings: Any, **__: Any
    ) -> tuple[Any, ...]:
        """Take the merged layers alone: `load` reads the environment itself, so as to know where each value came from."""
        return (init_settings,)


@dataclass(frozen=True)
class Loaded:
    """The settings in force, and where each came from: `default`, `file PATH`, `environment` or `flag`."""

    settings: Settings
    origins: Mapping[tuple[str, str], str]


def load(file: Path | None = None, flags: Mapping[str, str] | None = None) -> Loaded:
    """Read file, environment and `flags` (`section.name` to value).

    Raises:
        SettingsError: A file that cannot be read, an unknown name, a value of the wrong kind, or a password where none may stand.
    """
    named = file or (Path(os.environ["SCHEDMATE_CONFIG"]) if os.environ.get("SCHEDMATE_CONFIG") else None)
    path = named or DEFAULT_FILE
    layers: list[tuple[str, Mapping[str, Any]]] = []
    if named or path.exists():
        layers.append((f"file {path}", _read(path)))
    _check_environment(os.environ)
    layers.append(("environment", _environment()))
    layers.append(("flag", _flags(flags or {})))
    for origin, layer in layers:
        _refuse_addresses(layer, origin)
    merged: dict[str, Any] = {}
    origins: dict[tuple[str, str], str] = {}
    for origin, layer in layers:
        for section, values in layer.items():
            _known(section, Settings.model_fields, origin, "section")
            model = Settings.model_fields[section].annotation
            assert model is not None
            for name, value in values.items() if isinstance(values, Mapping) else []:
                if (section, name) in REPLACED:
                    raise SettingsError(f"{origin}: {section}.{name} is no setting any more: {REPLACED[section, name]}")
                _known(name, model.model_fields, origin, f"setting of [{section}]")
                merged.setdefault(section, {})[name] = value
                origins[section, name] = origin
    try:
        return Loaded(Settings(**merged), origins)
    except ValidationError as error:
        raise SettingsError("\n".join(_explain(problem, origins) for problem in error.errors())) from None


def _check_environment(environment: Iterable[str]) -> None:
    """Raise `SettingsError` for a variable of ours that nothing takes: one that is silently passed over costs hours."""
    taken = {f"{PREFIX}{section}__{name}".upper() for section, model in _sections() for name in model.model_fields}
    sections = tuple(f"{PREFIX}{section}__".upper() for section, _ in _sections())
    for name in sorted(name for name in environment if name.upper().startswith(PREFIX)):
        ours = name.upper() in taken | OTHER_VARIABLES or name.upper().startswith((*sections, f"{PREFIX}TEST_"))
        if ours or _OF_KUBERNETES.search(name):
            continue
        alike = {each.removeprefix(PREFIX).replace("__", "_"): each for each in taken}
        near = difflib.get_close_matches(name.upper().removeprefix(PREFIX).replace("__", "_"), alike, n=1)
        hint = f"did you mean {alike[near[0]]}?" if near else f"settings are named {PREFIX}SECTION__NAME"
        raise SettingsError(f"environment: no setting takes {name}; {hint}")


def _sections() -> Iterator[tuple[str, type[BaseModel]]]:
    for section, field in Settings.model_fields.items():
        assert isinstance(field.annotation, type)
        assert issubclass(field.annotation, BaseModel)
        yield section, field.annotation


def _environment() -> Mapping[str, Any]:
    try:
        return EnvSettingsSource(Settings)()
    except PydanticSettingsError as error:
        raise SettingsError(f"environment: {error}; expected variables such as SCHEDMATE_KAFKA__BROKERS") from None


def _read(path: Path) -> Mapping[str, Any]:
    try:
        content = tomllib.loads(path.read_text())
    except OSError as error:
        raise SettingsError(f"expected a settings file at {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"expected TOML in {path}: {error}") from error
    for section, values in content.items():
        if not isinstance(values, Mapping):
            raise SettingsError(f"expected sections such as [kafka] in {path}, got {section} outside of any")
        _refuse_secrets(values, f"{path} [{section}]")
    return content


def _flags(flags: Mapping[str, str]) -> Mapping[str, Any]:
    nested: dict[str, dict[str, Any]] = {}
    for key, value in flags.items():
        section, dot, name = key.partition(".")
        if not dot:
            raise SettingsError(f"expected --set section.name=value, got --set {key}=…")
        _refuse_secrets({name: value}, f"--set {key}")
        nested.setdefault(section, {})[name] = value
    return nested


def _refuse_secrets(values: Mapping[str, Any], where: str) -> None:
    if any(name in SECRETS for name in values):
        raise SettingsError(
            f"{where}: a password may not stand here; set it in the environment (SCHEDMATE_…__PASSWORD) or name a file in password_file"
        )


def _refuse_addresses(layer: Mapping[str, Any], origin: str) -> None:
    """Refuse passwords within addresses: those are shown by `schedmate config`, in logs and in errors."""
    for section, values in layer.items():
        for name, value in values.items() if isinstance(values, Mapping) else []:
            for text in value if isinstance(value, list | tuple) else [value]:
                if name not in SECRETS and isinstance(text, str) and without_password(text) != text:
                    raise SettingsError(
                        f"{origin}: {section}.{name}: expected an address without a password, got {without_password(text)}; "
                        f"set the password in SCHEDMATE_{section.upper()}__PASSWORD, or name a file in {section}.password_file"
                    )


def _known(name: str, fields: Mapping[str, Any], origin: str, what: str) -> None:
    if name not in fields:
        near = difflib.get_close_matches(name, fields, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(fields)}"
        raise SettingsError(f"{origin}: unknown {what}: {name}; {hint}")


def _explain(problem: Any, origins: Mapping[tuple[str, str], str]) -> str:
    section, name = (*map(str, problem["loc"][:2]), "")[:2]
    origin = origins.get((section, name), "settings")
    value = "(hidden)" if name in SECRETS else without_password(repr(problem.get("input")))
    return f"{origin}: {section}.{name}: {problem['msg']}; got {value}"
