"""Lines that say how long a training will be: a heading (`Epoch 2/3`), a setting (`max_epochs: 3`), a promise (`Training for 3 epochs`)."""

import re
from functools import lru_cache

from processors.classified_chunk import ClassifiedChunk
from processors.grammar.prefix import clean

from .progress import Heading, Progress

_LONGEST = 300
"""Characters of a line that may announce something."""
_HEADING = re.compile(
    r"(?i)^\W*(?:(?:start|begin)\w{0,4}\W{1,4})?epoch\W{0,4}(\d{1,9})\b(?:\s?(?:/|of)\s?(\d{1,9}))?\W*$"
)
_HEADED = re.compile(r"(?i)epoch\W{0,4}\d{1,9}\b(?:\s?(?:/|of)\s?\d{1,9})?\W*$")
"""What `_HEADING` asks for behind any prefix."""
_EPOCHS = re.compile(
    r"(?i)(?:^|[^a-z])(?:(?:num|max|total|n|train|number of)[ _-](?:train[ _-])?epochs?|epochs)"
    r"[\"']?\s{0,3}[:=]\s{0,3}[\"']?(\d{1,9})[\"']?\s{0,3}(?:[,;)}\]]|$)"
)
_STEPS = re.compile(
    r"(?i)(?:^|[^a-z])(?:max|total|num)[ _-](?:train(?:ing)?[ _-]|optimi[sz]ation[ _-])?(?:steps|iters|iterations|updates)[\"']?"
    r"\s{0,3}[:=]\s{0,3}[\"']?([\d,]{1,15}\d)[\"']?\s{0,3}(?:[,;)}\]]|$)"
)


def announced(chunk: ClassifiedChunk, progress: Progress) -> None:
    """Take in what the lines of `chunk` say of the length of the training."""
    telling = {template for template in chunk.distinct if len(template) < _LONGEST and _may_announce(template)}
    if telling:
        for place, template in enumerate(chunk.templates):
            if template in telling:
                _take(clean(chunk.lines[place]).rstrip(), chunk.times[place], progress)


@lru_cache(maxsize=8192)
def _may_announce(template: str) -> bool:
    """Return whether a line of `template` may say something. It differs from its line in the digits alone: one answer serves all."""
    text = template.rstrip()
    return any(each.search(text) is not None for each in (_HEADED, _EPOCHS, _STEPS))


def _take(line: str, time: float, progress: Progress) -> None:
    if heading := _HEADING.search(line):
        epoch, end = int(heading[1]), int(heading[2]) if heading[2] else None
        if end is None or epoch <= end:
            progress.heading = Heading(time, epoch, end)
        return
    if epochs := _EPOCHS.search(line):
        progress.announced = int(epochs[1]) or progress.announced
    if steps := _STEPS.search(line):
        progress.announced_steps = int(steps[1].replace(",", "")) or progress.announced_steps
