"""What an operator sets of topics, producers and model workers."""

import json
import os
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt
from pydantic_settings import NoDecode

STATE = Path(os.environ.get("XDG_STATE_HOME", Path.home() / ".local" / "state")) / "schedmate"


class KafkaSettings(BaseModel, frozen=True, extra="forbid"):
    """How to reach Kafka, and how our topics are laid out there."""

    brokers: str = Field("localhost:9092", description="host:port of some brokers, separated by commas.")
    security: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field(
        "PLAINTEXT", description="Security protocol."
    )
    username: str = Field("", description="User name for SASL; empty: no authentication.")
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = Field(
        "SCRAM-SHA-512", description="SASL mechanism, used with a user name."
    )
    ssl_cafile: str = Field("", description="Certificate authority, PEM; empty: the system's own.")
    ssl_certfile: str = Field("", description="Client certificate, PEM.")
    ssl_keyfile: str = Field("", description="Key of the client certificate, PEM.")
    partitions: PositiveInt = Field(
        16, description="Partitions that `topics create` makes: so many workers can share the load."
    )
    replication: PositiveInt = Field(1, description="Replication factor of each topic; 3 in production.")
    group: str = Field("schedmate", description="Prefix of SchedMate's consumer groups.")
    session_timeout_s: PositiveFloat = Field(
        10.0, description="Session timeout: how long a dead worker keeps its partitions."
    )


class ProducerSettings(BaseModel, frozen=True, extra="forbid"):
    """Pipe, collector and GPU agent."""

    directory: Path = Field(STATE, description="Spool and checkpoints; one that survives a reboot.")
    socket: str = Field(
        "",
        description="Socket of the node's collector, which pipes hand their lines to; empty: /run/schedmate/collector.sock where that "
        "exists and kafka.brokers is not set, else pipes write to Kafka.",
    )
    spool_mb: PositiveInt = Field(
        512, description="Disk budget of what could not be sent yet; past it lines are counted and lost."
    )
    hold_seconds: NonNegativeFloat = Field(
        0.02,
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
    read_sources: bool = Field(
        False,
        description="A Slurm watcher reads the source tree of each submitted job, as the job's user; run it as root.",
    )
    ask_model: bool = Field(
        False,
        description="Ask a language model (language_model.servers) for what the source of a job leaves unknown, while the job waits "
        "and runs. Source text goes to that server.",
    )


def _listed(value: Any) -> Any:
    """Split what the environment or a flag gives as text."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _object(value: Any) -> Any:
    """Read what the environment or a flag gives as JSON."""
    return json.loads(value) if isinstance(value, str) else value


class LanguageModelSettings(BaseModel, frozen=True, extra="forbid"):
    """Models that a model worker (and `analyze`) asks: servers with OpenAI's protocol (vLLM), or a model that it loads itself."""

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
    timeout_seconds: PositiveFloat = Field(30.0, description="Time limit of one attempt at a question.")
    attempts: PositiveInt = Field(3, description="Times that a question is asked at most.")
    questions_per_job_hour: NonNegativeInt = Field(20, description="Questions of one job within an hour.")
    questions_per_hour: NonNegativeInt = Field(500, description="Questions of all jobs within an hour.")
    answers_kept: PositiveInt = Field(10_000, description="Answers that are remembered.")
    answer_seconds: PositiveFloat = Field(
        900.0, description="Time limit of an answer; a model worker drops older questions."
    )
    answers_file: Path | None = Field(
        None, description="File that stores answers (JSON lines), one per process; none: in memory only."
    )
