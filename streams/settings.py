"""Settings of topics, producers and model workers."""

import json
import os
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt
from pydantic_settings import NoDecode

STATE = Path(os.environ.get("XDG_STATE_HOME", Path.home() / ".local" / "state")) / "schedmate"


class KafkaSettings(BaseModel, frozen=True, extra="forbid"):
    """Connection to Kafka, and layout of the topics."""

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
        16, description="Partitions of each topic that `topics create` makes: the maximum number of workers."
    )
    replication: PositiveInt = Field(1, description="Replication factor of each topic; 3 in production.")
    group: str = Field("schedmate", description="Prefix of SchedMate's consumer groups.")
    session_timeout_s: PositiveFloat = Field(
        10.0, description="Session timeout: how long a dead worker keeps its partitions."
    )


class ProducerSettings(BaseModel, frozen=True, extra="forbid"):
    """Pipe, collector and GPU agent."""

    directory: Path = Field(STATE, description="Directory of spool and checkpoints. It must survive a reboot.")
    socket: str = Field(
        "",
        description="Socket of the node's collector, to which pipes send their lines. Empty: "
        "/run/schedmate/collector.sock if it exists and kafka.brokers is not set; otherwise pipes write to "
        "Kafka.",
    )
    spool_mb: PositiveInt = Field(
        512, description="Maximum megabytes of unsent lines on disk. Further lines are dropped and counted."
    )
    hold_seconds: NonNegativeFloat = Field(
        0.02,
        description="Seconds that a pipe may delay the end of its job for acknowledgements, or 1 % of the job's time if that is more.",
    )
    close_seconds: NonNegativeFloat = Field(
        5.0,
        description="Seconds for which a collector, or the background process of a pipe, waits for acknowledgements at its end.",
    )
    chunk_lines: PositiveInt = Field(500, description="Maximum lines in a chunk.")
    chunk_seconds: PositiveFloat = Field(0.5, description="Maximum seconds before a chunk is sent.")
    gpu_seconds: PositiveFloat = Field(5.0, description="Seconds between two GPU samples.")
    scheduler_seconds: PositiveFloat = Field(1.0, description="Seconds between two queries of the scheduler.")
    read_sources: bool = Field(
        False,
        description="Whether a Slurm watcher reads the source tree of each submitted job, as the job's user. The watcher must run as root.",
    )
    ask_model: bool = Field(
        False,
        description="Whether a language model (language_model.servers) is asked about fields that the source of a job "
        "leaves unknown. Source text goes to that server.",
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
        "", description="Directory or name of a model that a model worker loads with vLLM. Empty: servers are asked."
    )
    load_tokens: PositiveInt = Field(
        16384, description="Maximum tokens of a question and its answer, for a loaded model."
    )
    load_options: Annotated[dict[str, Any], NoDecode, BeforeValidator(_object)] = Field(
        {}, description="Further arguments of vllm.LLM, as a JSON object."
    )
    model: str = Field("", description="Name of the model; empty: the server's first model.")
    concurrency: PositiveInt = Field(4, description="Maximum questions in progress at a time, over all servers.")
    timeout_seconds: PositiveFloat = Field(30.0, description="Time limit of one attempt at a question, in seconds.")
    attempts: PositiveInt = Field(3, description="Maximum attempts at a question.")
    questions_per_job_hour: NonNegativeInt = Field(20, description="Maximum questions about a job within an hour.")
    questions_per_hour: NonNegativeInt = Field(500, description="Maximum questions about all jobs within an hour.")
    answers_kept: PositiveInt = Field(10_000, description="Maximum answers kept in memory.")
    answer_seconds: PositiveFloat = Field(
        900.0, description="Time limit of an answer in seconds; a model worker drops older questions."
    )
    answers_file: Path | None = Field(
        None,
        description="File that stores answers (JSON lines), one per process; empty: answers are kept in memory only.",
    )
