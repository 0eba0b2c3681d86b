"""The class of every line of a log."""

from collections.abc import Iterable, Iterator

from processors.classified_chunk import ERROR, OTHER, PROGRESS, WARNING
from processors.classify.classifier import LineClassifier
from processors.classify.context import ClassifyContext
from processors.new_lines import container_text
from schedmate_records import LogChunk

GRAVITY = {letter: place for place, letter in enumerate((OTHER, PROGRESS, WARNING, ERROR))}


def classes(chunks: Iterable[LogChunk], classifier: LineClassifier) -> Iterator[tuple[str, str]]:
    """Yield (class, text) of every line. A line that was redrawn or cut has the gravest class of its pieces, and the last text."""
    context, letter, text, goes_on = ClassifyContext(), OTHER, "", False
    for chunk in chunks:
        for index, found in enumerate(classifier.classify(container_text(chunk.lines), context)):
            piece = chunk.lines[index]
            shown = piece.rstrip("\r")
            letter, text = (max(letter, found, key=GRAVITY.__getitem__), shown or text) if goes_on else (found, shown)
            goes_on = piece.endswith("\r") or index in chunk.cut
            if not goes_on:
                yield letter, text
    if goes_on:
        yield letter, text
