"""All settings in one typed class, read from a TOML file, the environment and flags; the later wins.

    file          /etc/schedmate/schedmate.toml, or what --config or SCHEDMATE_CONFIG names:  [kafka]  brokers = "k1:9092,k2:9092"
    environment   SCHEDMATE_KAFKA__BROKERS=k1:9092
    flag          --set kafka.brokers=k1:9092

Passwords come from the environment or from files that only hold them (`password_file`), never from the settings file or a flag.
"""

import difflib
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, Field, NonNegativeInt, SecretStr, ValidationError
from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict
from pydantic_settings import SettingsError as PydanticSettingsError

from processors.settings import ProcessorSettings
from schedmate_records import UserError
from scheduler_bridge.schedulers.slurm.settings import SlurmSection
from scheduler_bridge.settings import BridgeSettings
from sinks.settings import ClickHouseSettings, RedisSettings
from streams.settings import KafkaSettings, LanguageModelSettings, ProducerSettings

from .. import SETTINGS_FILE
from ..advisor.settings import AdvisorSettings
from ..notifications.settings import NotifySettings
from ..plugins.plugins import is_plugin
from ..spot.settings import SpotSettings
from ..web.settings import WebSettings
from .passwords import without_password

SECRETS = ("password",)
_TOO_DEEP = "values nested too deeply"
_LONGEST = 500
"""Characters of a value that an error quotes."""
PREFIX = "SCHEDMATE_"
LARGEST = 1e9
"""No time and no share reaches it: 30 years of seconds. Of an infinite one no clock and no timer knows what to make."""
OTHER_VARIABLES = frozenset(
    f"{PREFIX}{name}"
    for name in (
        "CONFIG", "JOB_ID", "ATTEMPT", "RANK", "SOCKET",
        "ASK_MODELS", "BIND", "CLICKHOUSE_FILES", "CLICKHOUSE_HOST", "CLICKHOUSE_USER", "GPU_IMAGE", "GRAFANA_PORT", "PROMETHEUS_URL",
        "IMAGE", "KAFKA_CLUSTER", "KAFKA_HEAP", "KAFKA_HOST", "KAFKA_PORT",
        "MODEL", "MODEL_LENGTH", "MODEL_MEMORY", "MODEL_SERVERS", "PARTITIONS", "REDIS_MEMORY", "RETENTION_DAYS", "SECRETS",
    )
)  # fmt: skip
"""Variables that are no settings: whose lines a producer ships and where, and those of docker-compose.yml."""
_OF_KUBERNETES = re.compile(r"_SERVICE_(?:HOST|PORT)(?:_|$)|_PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_|$)|$)")
"""Variables that Kubernetes sets in every container for services: for one named `schedmate-kafka` too."""


class SettingsError(UserError):
    """A setting that cannot be used; the message states its place, what was expected and what came."""


def read_secret(file: Path) -> str:
    """Return what a file holds. Raises `SettingsError` where it cannot be read."""
    try:
        return file.read_text().strip()
    except OSError as error:
        raise SettingsError(f"expected a readable file with a password at {file}: {error.strerror}") from error


class _WithPassword(BaseModel, frozen=True, extra="forbid"):
    password: SecretStr = Field(SecretStr(""), description="From the environment only.")
    password_file: Path | None = Field(None, description="A file that holds the password.")

    def secret(self) -> str:
        """Return the password. Raises `SettingsError` where its file cannot be read."""
        return read_secret(self.password_file) if self.password_file else self.password.get_secret_value()


class KafkaSection(KafkaSettings, _WithPassword):
    """Connection to Kafka, and layout of the topics."""


class ClickHouseSection(ClickHouseSettings, _WithPassword):
    """ClickHouse: a server, or a directory of the embedded engine."""


class RedisSection(RedisSettings, _WithPassword):
    """Redis, which holds the current state of every job."""


class LanguageModelSection(LanguageModelSettings, _WithPassword):
    """Language models for model workers and `analyze`: servers with OpenAI's protocol (vLLM), or a loaded model.

    The password is the servers' key.
    """


class NotifySection(NotifySettings, _WithPassword):
    """Receivers of `notify`'s messages about decisions, failures and alarms. The password is for the mail server."""


class WebSection(WebSettings, _WithPassword):
    """Rights of users on the page that `web` serves. The password authenticates a proxy."""


class ServiceSettings(BaseModel, frozen=True, extra="forbid"):
    """Logs and metrics of long-running commands."""

    listen: str = Field("127.0.0.1", description="Address of metrics and health check.")
    port: NonNegativeInt = Field(0, description="Port of /metrics and /health; 0: none.")
    traces_url: str = Field(
        "", description="Address for traces over OTLP/HTTP, such as http://localhost:4318/v1/traces; empty: no traces."
    )
    traces_share: float = Field(
        0.0, ge=0, le=1, description="Share of chunks that a worker traces, 0 to 1. Verdicts are always traced."
    )
    log_format: Literal["auto", "json", "text"] = Field(
        "auto", description="Format of log entries: text, json, or auto (text on a terminal, JSON elsewhere)."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Minimum level of log entries.")


class Settings(BaseSettings):
    """All settings, by section."""

    model_config = SettingsConfigDict(extra="forbid", frozen=True, env_prefix=PREFIX, env_nested_delimiter="__")

    kafka: KafkaSection = KafkaSection()
    clickhouse: ClickHouseSection = ClickHouseSection()
    redis: RedisSection = RedisSection()
    producer: ProducerSettings = ProducerSettings()
    processors: ProcessorSettings = ProcessorSettings()
    slurm: SlurmSection = SlurmSection()
    bridge: BridgeSettings = BridgeSettings()
    language_model: LanguageModelSection = LanguageModelSection()
    advisor: AdvisorSettings = AdvisorSettings()
    spot: SpotSettings = SpotSettings()
    notify: NotifySection = NotifySection()
    web: WebSection = WebSection()
    service: ServiceSettings = ServiceSettings()

    @classmethod
    def settings_customise_sources(  # type: ignore[override]  # only one of the sources is wanted
        cls, *_: Any, init_settings: Any, **__: Any
    ) -> tuple[Any, ...]:
        """Take the merged layers alone: `load` reads the environment itself, so as to know where each value came from."""
        return (init_settings,)


Section = TypeVar("Section", bound=BaseModel)


@dataclass(frozen=True)
class PluginSections:
    """The sections of plugins. Each is checked once its plugin is loaded, which knows its settings.

    Attributes:
        values: The values by section and name.
        origins: The origin of each, as in `Loaded`.
    """

    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    origins: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def read(self, section: str, model: type[Section]) -> Section:
        """Return a section as an instance of `model`. Raises `SettingsError` where a value is refused."""
        try:
            return model.model_validate(self.values.get(section, {}))
        except ValidationError as error:
            problems = [{**problem, "loc": (section, *problem["loc"])} for problem in error.errors()]
            raise SettingsError("\n".join(explain(problem, self.origins) for problem in problems)) from None


@dataclass(frozen=True)
class Loaded:
    """The settings in force.

    Attributes:
        settings: The settings.
        origins: The origin of each that is set, by section and name: `file PATH`, `environment` or `flag`.
        plugins: The sections of schedulers, stages and channels that other distributions install.
    """

    settings: Settings
    origins: Mapping[tuple[str, str], str]
    plugins: PluginSections = field(default_factory=PluginSections)


def load(file: Path | None = None, flags: Mapping[str, str] | None = None) -> Loaded:
    """Read file, environment and `flags` (`section.name` to value).

    Raises:
        SettingsError: A file that cannot be read, an unknown name, a value of the wrong kind, or a password where none is allowed.
    """
    named = file or (Path(os.environ["SCHEDMATE_CONFIG"]) if os.environ.get("SCHEDMATE_CONFIG") else None)
    path = named or Path(SETTINGS_FILE)
    layers: list[tuple[str, Mapping[str, Any]]] = []
    if named or path.exists():
        layers.append((f"file {path}", _read(path)))
    _check_environment(os.environ)
    layers.append(("environment", _environment()))
    layers.append(("flag", _flags(flags or {})))
    try:
        return _merged(layers)
    except RecursionError as error:
        origins = ", ".join(origin for origin, layer in layers if layer)
        raise SettingsError(f"{origins}: expected settings, got {_TOO_DEEP}") from error


def _merged(layers: Sequence[tuple[str, Mapping[str, Any]]]) -> Loaded:
    """Return the settings of all layers; a later one wins. Raises as `load` does."""
    for origin, layer in layers:
        _refuse_addresses(layer, origin)
    sections: dict[str, Any] = {}
    origins: dict[tuple[str, str], str] = {}
    chosen = _chosen_scheduler(layers)
    for origin, layer in layers:
        for section, values in layer.items():
            _check_names(section, values, origin, chosen)
            for name, value in values.items() if isinstance(values, Mapping) else []:
                sections.setdefault(section, {})[name] = value
                origins[section, name] = origin
    plugins = {section: sections.pop(section) for section in [*sections] if section not in Settings.model_fields}
    try:
        settings = Settings(**sections)
    except ValidationError as error:
        raise SettingsError("\n".join(explain(problem, origins) for problem in error.errors())) from None
    for (section, name), origin in origins.items():
        value = getattr(getattr(settings, section, None), name, None)
        if isinstance(value, float) and not value < LARGEST:
            raise SettingsError(f"{origin}: {section}.{name}: expected a number below {LARGEST:g}, got {value}")
    return Loaded(settings, origins, PluginSections(plugins, origins))


def _chosen_scheduler(layers: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    """Return the value of `bridge.scheduler`; empty where no layer sets it."""
    chosen = ""
    for _, layer in layers:
        bridge = layer.get("bridge")
        if isinstance(bridge, Mapping) and isinstance(bridge.get("scheduler"), str):
            chosen = bridge["scheduler"]
    return chosen


def _check_names(section: str, values: Any, origin: str, chosen: str) -> None:
    """Raise `SettingsError` for a section that is neither ours nor a plugin's, and for an unknown name in one of ours.

    The section of the scheduler `chosen` is accepted where that scheduler is not installed too: hosts of producers have the same file.
    """
    if section not in Settings.model_fields:
        if section != chosen and not is_plugin(section):
            _check_name(section, Settings.model_fields, origin, "section")
        return
    for name in values if isinstance(values, Mapping) else ():
        _check_name(name, _model(section).model_fields, origin, f"setting of [{section}]")


def _model(section: str) -> type[BaseModel]:
    model = Settings.model_fields[section].annotation
    assert isinstance(model, type)
    assert issubclass(model, BaseModel)
    return model


def _check_environment(environment: Iterable[str]) -> None:
    """Raise `SettingsError` for a variable of ours that nothing takes: one that is silently passed over costs hours."""
    taken = {f"{PREFIX}{section}__{name}".upper() for section, model in _sections() for name in model.model_fields}
    sections = tuple(f"{PREFIX}{section}__".upper() for section, _ in _sections())
    for name in sorted(name for name in environment if name.upper().startswith(PREFIX)):
        ours = name.upper() in taken | OTHER_VARIABLES or name.upper().startswith((*sections, f"{PREFIX}TEST_"))
        if ours or _OF_KUBERNETES.search(name) or _of_plugin(name):
            continue
        comparable = {each.removeprefix(PREFIX).replace("__", "_"): each for each in taken}
        near = difflib.get_close_matches(name.upper().removeprefix(PREFIX).replace("__", "_"), comparable, n=1)
        hint = f"did you mean {comparable[near[0]]}?" if near else f"settings are named {PREFIX}SECTION__NAME"
        raise SettingsError(f"environment: no setting takes {name}; {hint}")


def _sections() -> Iterator[tuple[str, type[BaseModel]]]:
    for section in Settings.model_fields:
        yield section, _model(section)


def _of_plugin(variable: str) -> tuple[str, str] | None:
    """Return the section and the name of a setting of an installed plugin; None of any other variable."""
    section, separator, name = variable.lower().removeprefix(PREFIX.lower()).partition("__")
    ours = section in Settings.model_fields or not (separator and name)
    return None if ours or not is_plugin(section) else (section, name)


def _environment() -> Mapping[str, Any]:
    try:
        found: dict[str, Any] = EnvSettingsSource(Settings)()
    except RecursionError as error:
        raise SettingsError(f"environment: expected settings, got {_TOO_DEEP}") from error
    except PydanticSettingsError as error:
        raise SettingsError(f"environment: {error}; expected variables such as SCHEDMATE_KAFKA__BROKERS") from None
    for variable, value in os.environ.items():
        if variable.upper().startswith(PREFIX) and (of := _of_plugin(variable)):
            found.setdefault(of[0], {})[of[1]] = value
    return found


def _read(path: Path) -> Mapping[str, Any]:
    try:
        content = tomllib.loads(path.read_text())
    except OSError as error:
        raise SettingsError(f"expected a settings file at {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"expected TOML in {path}: {error}") from error
    except RecursionError as error:
        raise SettingsError(f"expected settings in {path}, got {_TOO_DEEP}") from error
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
            f"{where}: a password is not allowed here; set it in the environment (SCHEDMATE_…__PASSWORD) or name a file in password_file"
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


def _check_name(name: str, fields: Mapping[str, Any], origin: str, what: str) -> None:
    if name not in fields:
        near = difflib.get_close_matches(name, fields, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(fields)}"
        raise SettingsError(f"{origin}: unknown {what}: {name}; {hint}")


def explain(problem: Any, origins: Mapping[tuple[str, str], str]) -> str:
    """Return one of pydantic's problems as a sentence, with the setting, its origin and its value."""
    section, name = (*map(str, problem["loc"][:2]), "")[:2]
    origin = origins.get((section, name), "settings")
    value = "(hidden)" if name in SECRETS else without_password(repr(problem.get("input")))
    return f"{origin}: {section}.{name}: {problem['msg'][:_LONGEST]}; got {value[:_LONGEST]}"
