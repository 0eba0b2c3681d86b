"""Run by a Python that has vLLM: load a model in this process, answer some prompts at once, and write what came of each as JSON.

vllm_in_process.py DIRECTORY FILE
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from processors.prompts import Prompt
from streams.model_worker.language_model import ModelError
from streams.model_worker.vllm_model import VllmModel

from .prompts import PROMPT


def main() -> None:
    """Load the model and ask."""
    model = VllmModel(sys.argv[1], 2048, 4, {"dtype": "float32", "enforce_eager": True})

    def answer_to(prompt: Prompt) -> str:
        try:
            return str(model.complete(prompt, 120)["class"])
        except ModelError as error:
            return type(error).__name__

    prompts = [replace(PROMPT, key=str(number), data=f"line {number}") for number in range(8)]
    prompts[3] = replace(PROMPT, data="word " * 20_000)
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(answer_to, prompts))
    Path(sys.argv[2]).write_text(json.dumps({"model": model.model(1.0), "answers": answers}))


if __name__ == "__main__":
    main()
