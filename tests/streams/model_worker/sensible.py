"""What a good model would answer about lines of ours: `zug 10 obj 1.5 tick 50.0`, and a failure explained by the last line."""

import json
import re
from typing import Any

from processors.prompts import Prompt, Schema
from tests.streams.model_worker import misbehaving_server as bad

CAUSES = {
    "KeyError": ("user_script", "none"),
    "fallen off the bus": ("infrastructure", "gpu"),
    "TIME LIMIT": ("other", "none"),
    "undefined symbol": ("framework", "none"),
}
"""Error type and component by a word of the lines; a disk is the cause without such a word."""
MEANING = {"zug": ("step", "none"), "obj": ("loss", "none"), "tick": ("step_time", "ms"), "pace": ("rate", "steps/s")}
_TEMPLATE = re.compile(r"^Template (\d+), \d+ lines: (.*)$", re.MULTILINE)
_COLUMN = re.compile(r"(\w+) \{(\d+)\}")


def sensible(prompt: Prompt) -> dict[str, Any]:
    """Return the answer to a prompt."""
    return _answer(prompt.schema, prompt.data)


def sensible_server(exchange: bad.Exchange) -> None:
    """Answer as a model server."""
    schema = exchange.asked["response_format"]["json_schema"]["schema"]
    exchange.say(200, bad.completion(json.dumps(_answer(schema, exchange.asked["messages"][1]["content"]))))


def _answer(schema: Schema, data: str) -> dict[str, Any]:
    wanted = schema["properties"]
    if "training" in wanted:
        return _format(data)
    last = wanted["root_line"]["maximum"]
    causes = (cause for word, cause in CAUSES.items() if word in data)
    error_type, component = next(causes, ("infrastructure", "storage"))
    return {
        "failed": "yes",
        "error_type": error_type,
        "faulty_component": component,
        "root_line": last,
        "evidence": [last],
        "restartable": "yes",
        "confidence": "high",
        "summary": "The disk is full.",
    }


def _format(data: str) -> dict[str, Any]:
    """Return what the templates of a question about a format mean: those with a `zug` report the training."""
    templates, columns = [], []
    for number, pattern in _TEMPLATE.findall(data):
        names = _COLUMN.findall(pattern)
        if any(name == "zug" for name, _ in names):
            templates.append({"template": int(number), "reports": "training"})
            columns += [
                {"column": int(column), "role": MEANING[name][0], "unit": MEANING[name][1], "steps": 1}
                for name, column in names
                if name in MEANING
            ]
    return {"training": "yes" if templates else "no", "templates": templates, "columns": columns}
