"""What a good model would answer about lines of ours: `zug 10 obj 1.5 tick 50.0`, and a failure explained by the last line."""

import json
from typing import Any

from processors.prompts import Prompt, Schema
from tests.streams.model_worker import misbehaving_server as bad

MEANING = {"zug": ("step", "none"), "obj": ("loss", "none"), "tick": ("step_time", "ms")}


def sensible(prompt: Prompt) -> dict[str, Any]:
    """Return the answer to a prompt."""
    return _answer(prompt.schema, prompt.data)


def sensible_server(exchange: bad.Exchange) -> None:
    """Answer as a model server."""
    schema = exchange.asked["response_format"]["json_schema"]["schema"]
    exchange.say(200, bad.completion(json.dumps(_answer(schema, exchange.asked["messages"][1]["content"]))))


def _answer(schema: Schema, data: str) -> dict[str, Any]:
    wanted = schema["properties"]
    if "number_1" in wanted:
        names = data.split("\n", maxsplit=1)[0].removeprefix("Pattern: ").split()[::2]
        return {
            f"number_{place}": dict(zip(("meaning", "unit"), MEANING[name], strict=True))
            for place, name in enumerate(names, start=1)
        }
    last = wanted["root_line"]["maximum"]
    return {
        "lines": [last],
        "root_line": last,
        "error_type": "infrastructure",
        "component": "storage",
        "restartable": "yes",
        "confidence": "high",
    }
