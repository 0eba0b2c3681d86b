"""Optional dependencies: which extra of the installation brings a module."""

from collections.abc import Mapping
from importlib.util import find_spec

from schedmate_records import UserError

EXTRA_OF: Mapping[str, str] = {
    "FlagEmbedding": "gpu",
    "chdb": "embedded",
    "clickhouse_connect": "sink",
    "faust": "worker",
    "google": "otel",
    "jinja2": "web",
    "kubernetes": "kubernetes",
    "lightgbm": "advise",
    "markupsafe": "web",
    "matplotlib": "simulate",
    "mlflow": "export",
    "mode": "worker",
    "onnxruntime": "minilm",
    "opentelemetry": "otel",
    "redis": "sink",
    "starlette": "web",
    "tensorboardX": "export",
    "tokenizers": "minilm",
    "uvicorn": "web",
    "urllib3": "kubernetes",
    "vllm": "gpu",
    "yaml": "advise",
}
"""Extra of the installation that brings each module."""


class MissingExtra(UserError):
    """A module of an extra is not installed; the message names what to install."""

    def __init__(self, module: str) -> None:
        super().__init__(
            f"expected the module {module}, of the extra `{EXTRA_OF[module]}`, which is not installed: "
            f"run `pip install '.[{EXTRA_OF[module]}]'` in the checkout"
        )


def require(module: str) -> None:
    """Raise `MissingExtra` if `module` is not installed."""
    if find_spec(module) is None:
        raise MissingExtra(module)


def missing_extra(error: BaseException | None) -> MissingExtra | None:
    """Return a `MissingExtra` if a missing module of an extra caused `error`, else None."""
    while error is not None:
        module = (getattr(error, "name", None) or "").partition(".")[0]
        if isinstance(error, ModuleNotFoundError) and module in EXTRA_OF:
            return MissingExtra(module)
        error = error.__cause__
    return None
