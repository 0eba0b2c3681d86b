"""Builds the components of the packages from the settings."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from processors.classify.classifier import LineClassifier
from processors.classify.embedder import Embedder
from processors.classify.fallback import ModelClassifier
from processors.classify.linear import LinearModel
from processors.classify.phases import PhaseReader
from processors.diagnose import InvalidSignature, Signature, load
from processors.diagnose.failure_question.table import Table, parse, shipped
from processors.formats import FormatReader, KnownFormats
from processors.job import JobProcessor
from processors.node import NodeProcessor
from processors.read.roles import Proposer
from processors.settings import ProcessorSettings
from processors.stage import AnyStage, Stage, StageSettings
from processors.stages import SHIPPED, in_order
from processors.stream_reader import StreamReader
from processors.track.tracker import MetricTracker
from schedmate_records import BY_NAME
from streams.rights import ROLES
from streams.transport import Producer

from .formats.files import configured_formats
from .plugins.contained_stage import ContainedStage, ContainedStageMetrics
from .plugins.loading import check_plugin, load_usable
from .plugins.plugins import EMBEDDERS, STAGES, PluginError, load_plugin
from .settings.settings import PluginSections, Settings, SettingsError


def line_classifier(
    settings: ProcessorSettings, linear: LinearModel | None = None, proposer: Proposer | None = None
) -> LineClassifier:
    """Return the line classifier. Loads the embedder, where one is configured; raises `SettingsError` where it cannot be.

    Args:
        settings: The operator's.
        linear: The model on n-grams; the one that ships where not given.
        proposer: Of the phases of templates; the one that ships where not given.
    """
    return LineClassifier(fallback=ModelClassifier(_embedder(settings), linear=linear), phases=PhaseReader(proposer))


def job_processor(
    settings: ProcessorSettings,
    linear: LinearModel | None = None,
    proposer: Proposer | None = None,
    formats: KnownFormats | None = None,
    sections: PluginSections | None = None,
) -> JobProcessor:
    """Return all processors of a job.

    Args:
        settings: The operator's.
        linear: The line classifier's model; the one that ships where not given. Benchmarks give models that have not seen what they score.
        proposer: Of the roles of number columns; as `linear`.
        formats: The known formats, which may change while the processors run; those of the operator's file where not given.
        sections: The settings of stages of other distributions; their defaults where not given.
    """
    return JobProcessor(
        StreamReader(
            line_classifier(settings, linear, proposer),
            MetricTracker(
                reports=settings.reports,
                proposer=proposer,
                formats=FormatReader(
                    known_formats(settings) if formats is None else formats, surveys=settings.ask_models
                ),
            ),
        ),
        _installed_stages(
            StageSettings(settings, signatures=signatures(settings), failure_table=failure_table(settings)),
            sections or PluginSections(),
        ),
        ask_models=settings.ask_models,
    )


def known_formats(settings: ProcessorSettings) -> KnownFormats:
    """Return the formats that are known from the start. Raises `SettingsError` where the operator's file is refused."""
    return KnownFormats(configured_formats(settings.formats))


def node_processor(settings: ProcessorSettings) -> NodeProcessor:
    """Return what reads nodes' logs and GPUs' samples."""
    return NodeProcessor(signatures(settings))


def signatures(settings: ProcessorSettings) -> list[Signature]:
    """Return the catalogue: what ships and the operator's own. Raises `SettingsError` where an entry or a file is refused."""
    try:
        return load(catalogue_files(settings))
    except OSError as error:
        raise SettingsError(
            f"processors.signatures: expected a readable file at {error.filename}: {error.strerror}"
        ) from error
    except InvalidSignature as error:
        raise SettingsError(f"processors.signatures: {error}") from error


def signatures_by_name(settings: ProcessorSettings) -> dict[str, Signature]:
    """Return the catalogue by name. Raises as `signatures` does."""
    return {one.name: one for one in signatures(settings)}


def failure_table(settings: ProcessorSettings) -> Table:
    """Return the table that combines rules and model: the operator's, or the one that ships. Raises `SettingsError` where it is refused."""
    if not settings.failure_table:
        return shipped()
    try:
        return parse(Path(settings.failure_table).read_bytes())
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"processors.failure_table: expected a file that `schedmate models table` printed: {error}"
        ) from error


def catalogue_files(settings: ProcessorSettings) -> list[Path]:
    """Return the operator's catalogue files. Raises `SettingsError` where the setting names a directory without any."""
    named = Path(settings.signatures)
    if not settings.signatures or not named.is_dir():
        return [named] if settings.signatures else []
    found = sorted(named.glob("*.toml"))
    if not found:
        raise SettingsError(f"processors.signatures: expected .toml files in {named}, found none")
    return found


def producer_factory(settings: Settings) -> Callable[[], Producer]:
    """Return what opens a Kafka producer; it raises `TransportError` while no broker answers."""
    from streams.kafka import KafkaProducer

    from .connections import kafka_connection

    connection = kafka_connection(settings.kafka)
    return lambda: KafkaProducer(connection)


def open_embedder(name: str, model: str, url: str = "") -> Embedder:
    """Return the installed embedder `name`. Raises `ImportError`, `OSError`, `ValueError` or `PluginError` where it cannot be loaded.

    Args:
        name: The name of its entry point.
        model: Directory or name of the model.
        url: Address of the model's server, where it has one.
    """
    embedder: Embedder = load_plugin(EMBEDDERS, name, "embedder")(model, url)
    return embedder


def _embedder(settings: ProcessorSettings) -> Embedder | None:
    if settings.embedder == "none":
        return None
    try:
        return open_embedder(settings.embedder, settings.embedder_model, settings.embedder_url)
    except (ImportError, OSError, ValueError, PluginError) as error:
        raise SettingsError(f"processors.embedder = {settings.embedder}: {error}") from error


def _installed_stages(settings: StageSettings, sections: PluginSections) -> list[AnyStage]:
    """Return all stages, in order. A stage of another distribution that cannot be used is logged and left out.

    Args:
        settings: What every stage is made from; `section` is read from `sections` for each.
        sections: The sections of plugins.

    Raises:
        PluginError: A stage that ships is not registered.
        SettingsError: A value in the section of a stage is refused.
    """

    def create(name: str, kind: Any) -> AnyStage:
        check_plugin(name, kind, Stage, "stage")
        section = sections.read(name, kind.settings)
        made: AnyStage = kind.from_settings(replace(settings, section=section))
        if kind in SHIPPED:
            return made
        _check_interface(made)
        return ContainedStage(made, metrics)

    metrics = ContainedStageMetrics()
    found = load_usable(STAGES, "stage", create)
    if missing := {kind.name for kind in SHIPPED} - {stage.name for stage in found}:
        raise PluginError(f"expected the stages {', '.join(sorted(missing))} to be registered: install schedmate again")
    return in_order(found)


def _check_interface(stage: AnyStage) -> None:
    """Raise `PluginError` for a state without defaults, and for topics that are not keyed by job or that a worker may not read."""
    try:
        msgspec.json.decode(msgspec.json.encode(stage.state()), type=stage.state)
    except (AttributeError, TypeError, msgspec.MsgspecError) as error:
        raise PluginError(f"expected a Struct with defaults as the state of the stage {stage.name}: {error}") from error
    readable = {name for name in ROLES["worker"].reads if name in BY_NAME and BY_NAME[name].key == "job"}
    if unknown := set(stage.inputs) - readable:
        names = ", ".join(sorted(unknown))
        raise PluginError(f"expected inputs of the stage {stage.name} among {', '.join(sorted(readable))}; got {names}")
