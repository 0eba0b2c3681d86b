"""A model that vLLM runs in this process: questions that wait are answered in one batch.

vLLM's offline class takes a list of conversations and works on all of them at once; it is not safe for threads, so one thread calls it.
"""

import contextlib
import itertools
import json
import queue
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any

from processors.prompts import Prompt

from .language_model import ModelError, PromptRefused, UselessAnswer, messages_of

OPTIONS: Mapping[str, Any] = {
    "seed": 0,
    "enable_prefix_caching": True,
    # Free white space inside a schema could eat all tokens of an answer; one backend gives the same answers from run to run.
    "structured_outputs_config": {"backend": "xgrammar", "disable_any_whitespace": True},
}

_Waiting = tuple[Prompt, "Future[str]"]


class VllmModel:
    """Answers with a model that this process loads. Safe to be shared by threads.

    Args:
        directory: Directory or name of the model.
        longest: Tokens of a prompt and its answer.
        batch: Prompts that are worked on at once.
        options: Further arguments of `vllm.LLM`.

    Attributes:
        url: What the log calls it.

    Raises:
        ModuleNotFoundError: vLLM is missing; the message states how to get it.
        ModelError: vLLM cannot load the model.
    """

    def __init__(self, directory: str, longest: int, batch: int, options: Mapping[str, Any]) -> None:
        try:
            import vllm  # noqa: PLC0415  # optional, large, and slow to load
            from vllm.sampling_params import StructuredOutputsParams  # noqa: PLC0415
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                f"loading a model in this process needs {error.name}: run `pip install '.[gpu]'` in the checkout"
            ) from error
        self._refusals: tuple[type[Exception], ...] = (ValueError,)
        with contextlib.suppress(ImportError):  # older ones raise ValueError
            from vllm.exceptions import VLLMClientError  # noqa: PLC0415

            self._refusals += (VLLMClientError,)
        self.url = f"vllm:{directory}"
        self._name = directory.rstrip("/").rsplit("/", 1)[-1]
        self._sampling, self._structured, self._batch = vllm.SamplingParams, StructuredOutputsParams, batch
        try:
            self._model: Any = vllm.LLM(**{"model": directory, "max_model_len": longest, **OPTIONS, **options})
        except (OSError, RuntimeError, ValueError) as error:
            raise ModelError(f"vLLM cannot load {directory}: {error}") from error
        self._queue: queue.Queue[_Waiting] = queue.Queue()
        threading.Thread(target=self._run, name="vllm", daemon=True).start()

    def model(self, timeout: float) -> str:  # noqa: ARG002  # a server has to be asked
        """Return the name of the model: the last part of its path."""
        return self._name

    def complete(self, prompt: Prompt, timeout: float) -> Any:
        """Return what the model answers to `prompt`, parsed but not checked.

        Raises:
            PromptRefused: It is too long for the model.
            ModelError: No answer within `timeout` seconds, a failure of vLLM, or an answer that is not JSON.
        """
        answer: Future[str] = Future()
        self._queue.put((prompt, answer))
        try:
            text = answer.result(timeout)
        except FutureTimeoutError as error:
            answer.cancel()
            raise ModelError(f"{self.url}: no answer within {timeout:g} s") from error
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UselessAnswer(f"{self.url}: expected JSON as the answer, got {text[:200]!r}") from error

    def _run(self) -> None:
        while True:
            waiting = [self._queue.get()]
            waiting += itertools.islice(iter(self._more, None), self._batch - 1)
            self._answer([each for each in waiting if each[1].set_running_or_notify_cancel()])

    def _more(self) -> _Waiting | None:
        try:
            return self._queue.get_nowait()
        except queue.Empty:
            return None

    def _answer(self, waiting: Sequence[_Waiting]) -> None:
        """Answer all at once; one that vLLM refuses is found by asking each alone."""
        if not waiting:
            return
        try:
            outputs = self._model.chat(
                [messages_of(prompt) for prompt, _ in waiting],
                [self._parameters(prompt) for prompt, _ in waiting],
                use_tqdm=False,
            )
        except Exception as error:  # noqa: BLE001  # passed to the caller
            if len(waiting) > 1:
                for each in waiting:
                    self._answer([each])
            else:
                kind = PromptRefused if isinstance(error, self._refusals) else ModelError
                waiting[0][1].set_exception(kind(f"{self.url}: {error}"))
            return
        for (_, answer), output in zip(waiting, outputs, strict=True):
            answer.set_result(output.outputs[0].text)

    def _parameters(self, prompt: Prompt) -> Any:
        structured = self._structured(json=dict(prompt.schema))
        return self._sampling(temperature=0, seed=0, max_tokens=prompt.max_tokens, structured_outputs=structured)
