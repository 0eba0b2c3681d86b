"""One server with OpenAI's protocol (vLLM or a compatible one), asked within a time limit that holds whatever the server does."""

import base64
import http.client
import json
import threading
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from processors.prompts import Prompt

from ..resilience.deadline import Deadline, HTTPConnection, HTTPSConnection
from .language_model import ModelError, PromptRefused, ServerBusy, UselessAnswer, messages_of

LARGEST = 1 << 20
"""Bytes of an answer that are read; no answer inside a closed schema comes near."""


class HttpModelServer:
    """Asks one server. Safe to be shared by threads; a connection a prompt.

    Args:
        url: Address of its protocol, `http://host:8000/v1`; with `https` the certificate is checked.
        model: Name of the model; empty takes the first one that the server serves.
        api_key: Sent as a bearer token; empty for none.

    Attributes:
        tokens: Tokens of all prompts and of all answers so far, as the server counts them; 0 where it does not.

    Raises:
        ValueError: `url` is no such address.
    """

    def __init__(self, url: str, model: str = "", api_key: str = "") -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise ValueError(f"expected the address of a model server such as http://host:8000/v1, got {url!r}")
        self.url = url.rstrip("/")
        self._host, self._port, self._secure = parts.hostname, parts.port, parts.scheme == "https"
        self._path = parts.path.rstrip("/")
        self._model = model
        self.tokens = (0, 0)
        self._lock = threading.Lock()
        self._headers = {"Content-Type": "application/json", "Accept": "application/json", "Connection": "close"}
        if api_key:
            self._headers["Authorization"] = f"Bearer {api_key}"

    def model(self, timeout: float) -> str:
        """Return the name of the model. Raises `ModelError` where the server does not report it."""
        if not self._model:
            listed = self._call("GET", "/models", None, timeout)
            try:
                self._model = str(listed["data"][0]["id"])
            except (KeyError, IndexError, TypeError) as error:
                raise ModelError(f"{self.url}: expected a list of models, got {str(listed)[:200]}") from error
        return self._model

    def complete(self, prompt: Prompt, timeout: float) -> Any:
        """Return what the server answers to `prompt`, parsed but not checked.

        Raises:
            ServerBusy: Ask later.
            PromptRefused: Do not ask again.
            ModelError: Anything else: no connection, no answer within `timeout` seconds, an error, an answer that is not JSON.
        """
        request = {
            "model": self.model(timeout),
            "messages": messages_of(prompt),
            "temperature": 0,
            "seed": 0,
            "max_tokens": prompt.max_tokens,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": prompt.kind, "strict": True, "schema": prompt.schema},
            },
        }
        answered = self._call("POST", "/chat/completions", json.dumps(request).encode(), timeout)
        self._count(answered)
        try:
            content = answered["choices"][0]["message"]["content"]
            return json.loads(content)
        except (KeyError, IndexError, TypeError) as error:
            raise ModelError(f"{self.url}: expected a chat completion, got {str(answered)[:200]}") from error
        except (ValueError, RecursionError) as error:
            raise UselessAnswer(f"{self.url}: expected JSON as the answer, got {content[:200]!r}") from error

    def _count(self, answered: Any) -> None:
        usage = answered.get("usage") if isinstance(answered, dict) else None
        if isinstance(usage, dict):
            counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
            prompt, answer = (each if isinstance(each, int) else 0 for each in counts)
            with self._lock:
                self.tokens = self.tokens[0] + prompt, self.tokens[1] + answer

    def embeddings(self, texts: Sequence[str], timeout: float) -> NDArray[np.float32]:
        """Return the vectors of `texts`, shape (len(texts), d), as the server makes them.

        Raises:
            ServerBusy: Ask later.
            PromptRefused: Do not ask again.
            ModelError: Anything else, an answer that is not one vector a text, all of one length and finite, included.
        """
        request = {"model": self.model(timeout), "input": list(texts), "encoding_format": "base64"}
        answered = self._call("POST", "/embeddings", json.dumps(request).encode(), timeout)
        try:
            rows = sorted(answered["data"], key=lambda row: int(row["index"]))
            places = [int(row["index"]) for row in rows]
            found = [np.frombuffer(base64.b64decode(row["embedding"], validate=True), "<f4") for row in rows]
            vectors = np.stack(found).astype(np.float32)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise ModelError(f"{self.url}: expected vectors in base64, got {str(answered)[:200]}") from error
        if places != list(range(len(texts))) or not vectors.size or not np.isfinite(vectors).all():
            raise ModelError(f"{self.url}: expected {len(texts)} vectors of finite numbers, got {len(places)} rows")
        return vectors

    def _call(self, method: str, path: str, body: bytes | None, timeout: float) -> Any:
        kind = HTTPSConnection if self._secure else HTTPConnection
        with Deadline(timeout) as deadline:
            connection = kind(deadline, self._host, self._port, timeout=timeout)
            try:
                connection.request(method, self._path + path, body, self._headers)
                response = connection.getresponse()
                content = response.read(LARGEST + 1)
            except (OSError, http.client.HTTPException, ValueError) as error:
                if deadline.expired or isinstance(error, TimeoutError):
                    raise ModelError(f"{self.url}: no answer within {timeout:g} s") from error
                raise ModelError(f"{self.url}: {type(error).__name__}: {error}") from error
            finally:
                connection.close()
        if deadline.expired:
            raise ModelError(f"{self.url}: no answer within {timeout:g} s")
        return self._read(response, content)

    def _read(self, response: http.client.HTTPResponse, content: bytes) -> Any:
        said = f"{self.url}: status {response.status}: {content[:200]!r}"
        if response.status in (429, 503):
            raise ServerBusy(said, _seconds(response.getheader("Retry-After")))
        if 400 <= response.status < 500 and response.status != 408:
            raise PromptRefused(said)
        if response.status != 200:
            raise ModelError(said)
        if len(content) > LARGEST:
            raise ModelError(f"{self.url}: expected an answer of at most {LARGEST} bytes, got more")
        try:
            return json.loads(content)
        except (ValueError, RecursionError) as error:
            raise ModelError(f"{self.url}: expected JSON, got {content[:200]!r}") from error


def _seconds(text: str | None) -> float:
    """Return a `Retry-After` in seconds; 0 for none or a date."""
    return float(text) if text and text.isdecimal() and len(text) < 6 else 0.0
