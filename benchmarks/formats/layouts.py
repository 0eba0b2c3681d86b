"""How fields are laid out: each layout turns the values of one report into lines of pieces."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

from .names import VOCABULARY
from .pieces import Piece, Printer

Line = list[Piece]
Values = dict[str, float]
ENDS = {"step": "steps", "step_in_epoch": "steps_per_epoch", "epoch": "epochs", "evaluation_step": "evaluation_steps"}
COUNTERS = (*ENDS, "sample", "token", "epoch_fraction")


@dataclass(frozen=True, slots=True)
class Report:
    """What one report says.

    Attributes:
        fields: Quantities, in the order of printing.
        values: Value of each quantity.
        mark: What the program calls the phase; empty where it does not say.
        evaluation: It tells of an evaluation.
        ends: Counters stand beside their ends.
        time: Seconds since 1970.
    """

    fields: Sequence[str]
    values: Values
    mark: str
    evaluation: bool
    ends: bool
    time: float


Layout = Callable[[Report], list[Line]]


def _pairs(random: Random, printer: Printer) -> Layout:
    sep = random.choice(["=", "=", ": ", ": ", " = ", ":", " ", " is ", " : ", "->", " => "])
    joiner = random.choice([", ", " | ", " ", "\t", "; ", " - ", " || ", "  ", " · ", ","])
    if sep == " " and joiner == " ":
        joiner = ", "
    opened, closed = random.choice([("", ""), ("", ""), ("[", "]"), ("{", "}"), ("(", ")"), ("<", ">")])
    slash = random.choice(["/", " / ", " of ", "/", "|"])
    bracketed = random.random() < 0.25

    def render(report: Report) -> list[Line]:
        line: Line = [f"{report.mark}{random_mark}"] if report.mark else []
        for place, quantity in enumerate(report.fields):
            field: Line = [
                printer.name(quantity),
                sep,
                printer.number(quantity, report.values[quantity], report.evaluation),
            ]
            if report.ends and quantity in ENDS:
                field += [slash, printer.number(ENDS[quantity], report.values[ENDS[quantity]], report.evaluation)]
            field.append(printer.unit(quantity))
            if bracketed and quantity in COUNTERS:
                field = ["[", *(field[2:] if place else field), "]"]
            line += [joiner if place else "", *field]
        return [[opened, *line, closed]]

    random_mark = random.choice([": ", " ", " | ", " - ", "] "])
    return render


def _bare_counters(random: Random, printer: Printer) -> Layout:
    """Counters that stand in brackets or before a colon without a name, then named values."""
    pairs = _pairs(random, printer)
    form = random.choice(
        [("[", "/", "] "), ("(", "/", ") "), ("", "/", ": "), ("#", " of ", " "), ("", ": ", ""), ("[", " | ", "] ")]
    )

    def render(report: Report) -> list[Line]:
        line: Line = []
        for quantity in report.fields:
            if quantity in ENDS:
                line += [form[0], printer.number(quantity, report.values[quantity], report.evaluation)]
                if report.ends:
                    line += [form[1], printer.number(ENDS[quantity], report.values[ENDS[quantity]], report.evaluation)]
                line.append(form[2] or " ")
        rest = [quantity for quantity in report.fields if quantity not in ENDS]
        told = pairs(Report(rest, report.values, report.mark, report.evaluation, report.ends, report.time))
        return [[*line, *told[0]]]

    return render


def _quoted(random: Random, printer: Printer) -> Layout:
    """JSON, or a dictionary as Python prints it; nested, or flat."""
    quote = random.choice(['"', '"', "'"])
    gap = random.choice([" ", " ", ""])
    nested = random.random() < 0.25
    kind = random.random() < 0.3
    clock = random.choice(["", "", "time", "ts", "timestamp"])

    def render(report: Report) -> list[Line]:
        cells: list[Line] = []
        if kind or report.mark:
            cells.append([f"{quote}{random_key}{quote}:{gap}{quote}{report.mark or random_word}{quote}"])
        if clock:
            cells.append([f"{quote}{clock}{quote}:{gap}{report.time:.3f}"])
        for quantity in report.fields:
            value = printer.number(quantity, report.values[quantity], report.evaluation)
            clocked = (
                ":" in value.text
                or "," in value.text
                or value.text[-1:].isalpha()
                or (value.text.startswith("0") and value.text[1:2].isdigit())
            )
            text: Line = [quote, value, quote] if clocked else [value]
            cells.append([f"{quote}{printer.name(quantity)}{quote}:{gap}", *text])
            if report.ends and quantity in ENDS:
                end = ENDS[quantity]
                cells.append(
                    [
                        f"{quote}{printer.name(end)}{quote}:{gap}",
                        printer.number(end, report.values[end], report.evaluation),
                    ]
                )
        middle = len(cells) // 2
        line: Line = ["{"]
        for place, cell in enumerate(cells):
            line += [
                f",{gap}" if place else "",
                f"{quote}{random_group}{quote}:{gap}{{" if nested and place == middle else "",
                *cell,
            ]
        return [[*line, "}}" if nested else "}"]]

    random_key = random.choice(["event", "phase", "mode", "type", "kind", "stage"])
    random_word = random.choice(["metrics", "log", "report", "step_end"])
    random_group = random.choice(["metrics", "stats", "scalars", "value", "metadata"])
    return render


def _bar(random: Random, printer: Printer) -> Layout:
    """A bar: per cent, drawing, counter, clocks, pace, then values."""
    width = random.choice([10, 20, 30])
    full, empty = tuple(random.choice(["█ ", "=.", "#-", "━╸", "▓░", "●○", "> "]))
    title = random.choice(["", "", "{}: ", "{} "])
    keras = random.random() < 0.3
    sep = random.choice(["=", ": ", "="])

    def render(report: Report) -> list[Line]:
        counter = next(quantity for quantity in report.fields if quantity in ENDS)
        end = ENDS[counter]
        value, total = report.values[counter], max(report.values[end], 1)
        share = min(1.0, value / total)
        drawn = (full * int(share * width)).ljust(width, empty)
        head = title.format(report.mark or "Progress") if title else ""
        before = [quantity for quantity in report.fields[: list(report.fields).index(counter)] if quantity in COUNTERS]
        line: Line = [head]
        for quantity in before:
            line += [
                printer.name(quantity),
                " ",
                printer.number(quantity, report.values[quantity], report.evaluation),
                " ",
            ]
        numbers: Line = [
            printer.number(counter, value, report.evaluation),
            "/",
            printer.number(end, total, report.evaluation),
        ]
        if keras:
            line += [*numbers, f" [{drawn}] - "]
        else:
            line += [printer.number("percent", 100 * share), f"%|{drawn}| ", *numbers, " ["]
            for quantity, ahead in (("elapsed", ""), ("remaining", "<")):
                if quantity in report.fields:
                    line += [ahead, printer.number(quantity, report.values[quantity], report.evaluation), ""]
            line.append(", ")
        rest = [
            q for q in report.fields if q not in (counter, *before) and (keras or q not in ("elapsed", "remaining"))
        ]
        for place, quantity in enumerate(rest):
            named = (
                []
                if quantity in ("interval", "rate_steps") and printer.unit(quantity)
                else [printer.name(quantity), sep]
            )
            line += [
                (" - " if keras else ", ") if place else "",
                *named,
                printer.number(quantity, report.values[quantity], report.evaluation),
            ]
            line.append(printer.unit(quantity))
        return [[*line, "" if keras else "]"]]

    return render


def _row(random: Random, printer: Printer) -> Layout:
    """Rows of a table under a header, which comes again now and then."""
    joiner, edge = random.choice(
        [(" ", ""), ("  ", ""), (" | ", ""), (" | ", "| "), (",", ""), ("\t", ""), (" │ ", "│ "), (";", "")]
    )
    width = 0 if joiner in (",", "\t", ";") else random.choice([10, 12, 14])
    again = random.choice([0, 0, 10, 20])
    rows = 0

    def render(report: Report) -> list[Line]:
        nonlocal rows
        lines: list[Line] = []
        if rows == 0 or (again and rows % again == 0):
            named = [printer.name(quantity).replace(" ", "_").replace(",", "_") for quantity in report.fields]
            lines.append([edge, joiner.join(name.rjust(width) for name in named), edge[::-1]])
            if edge:
                lines.append([edge, joiner.join("-" * width for _ in named), edge[::-1]])
        rows += 1
        line: Line = [edge]
        for place, quantity in enumerate(report.fields):
            number = printer.number(quantity, report.values[quantity], report.evaluation)
            if joiner == ",":
                number = replace(number, text=number.text.replace(",", ""))
            line += [joiner if place else "", " " * (width - len(number.text)), number]
        return [*lines, [*line, edge[::-1]]]

    return render


def _nameless(random: Random, printer: Printer) -> Layout:
    """Numbers alone, or behind one word."""
    joiner = random.choice([" ", "  ", "\t", " | ", ", ", " : "])
    word = random.choice(["", "", "> ", "* ", "LOG ", ">> "])

    def render(report: Report) -> list[Line]:
        line: Line = [word]
        for place, quantity in enumerate(report.fields):
            line += [joiner if place else "", printer.number(quantity, report.values[quantity], report.evaluation)]
        return [line]

    return render


def _block(random: Random, printer: Printer) -> Layout:
    """A report over several lines: indented, or drawn as a box."""
    boxed = random.random() < 0.5
    rule = random.choice(["-", "=", "─", "*"]) * random.choice([20, 38, 60])
    sep = random.choice([": ", " = ", "\t", " ..... ", ": "])
    aligned = random.random() < 0.5

    def render(report: Report) -> list[Line]:
        width = max(len(printer.name(quantity)) for quantity in report.fields) + 2 if aligned or boxed else 0
        lines: list[Line] = [[rule]] if boxed else [[f"{report.mark or heading}{colon}"]]
        if boxed and report.mark:
            lines.append([f"| {report.mark}/".ljust(width + 3), "|".rjust(12)])
        for quantity in report.fields:
            number = printer.number(quantity, report.values[quantity], report.evaluation)
            name = printer.name(quantity).ljust(width)
            if boxed:
                lines.append([f"|    {name} | ", number, " " * (12 - len(number.text)), "|"])
            else:
                lines.append([f"  {name}{sep}", number, printer.unit(quantity)])
        return [*lines, [rule]] if boxed else lines

    heading = random.choice(["report", "Status", "stats", "=== update ===", "---"])
    colon = random.choice([":", "", " >"])
    return render


def _events(random: Random, printer: Printer) -> Layout:
    """One event a quantity, each with the time and where it happened."""
    tag = random.choice([":::MLLOG ", "::: ", "EVENT ", "", "@metric "])
    clock = random.choice(["time_ms", "ts", "t", "timestamp"])
    where = random.choice(["metadata", "meta", "at", "context"])

    def render(report: Report) -> list[Line]:
        counters = [quantity for quantity in report.fields if quantity in COUNTERS]
        others = [quantity for quantity in report.fields if quantity not in COUNTERS]
        time = f"{report.time * 1000:.0f}" if clock == "time_ms" else f"{report.time:.3f}"
        lines: list[Line] = []
        for quantity in others or counters[:1]:
            inner: Line = []
            for place, counter in enumerate(counters):
                inner += [
                    ", " if place else "",
                    f'"{printer.name(counter)}": ',
                    printer.number(counter, report.values[counter], report.evaluation),
                ]
            value = printer.number(quantity, report.values[quantity], report.evaluation)
            text: Line = ['"', value, '"'] if ":" in value.text else [value]
            lines.append(
                [
                    f'{tag}{{"{clock}": {time}, "key": "{printer.name(quantity)}", "value": ',
                    *text,
                    f', "{where}": {{',
                    *inner,
                    "}}",
                ]
            )
        return lines

    return render


def _sentence(random: Random, printer: Printer) -> Layout:
    """A sentence in some language."""
    language = random.choice(["english", "other"])
    chosen = random.choice(VOCABULARY["sentences"][language])

    def render(report: Report) -> list[Line]:
        line: Line = [f"{report.mark}: "] if report.mark else []
        for part in chosen.replace("{loss_name}", printer.name("loss")).split("{"):
            quantity, closed, text = part.partition("}")
            if not closed:
                line.append(part)
                continue
            quantity = "rate_steps" if quantity == "rate" else quantity
            value = report.values.get(quantity)
            number = printer.number(quantity, value if value is not None else 0.0, report.evaluation)
            line += [number, printer.unit(quantity) or (" it/s" if quantity == "rate_steps" else ""), text]
        return [line]

    return render


LAYOUTS: dict[str, tuple[int, Callable[[Random, Printer], Layout]]] = {
    "pairs": (6, _pairs),
    "bare counters": (4, _bare_counters),
    "quoted": (4, _quoted),
    "bar": (3, _bar),
    "row": (3, _row),
    "nameless": (1, _nameless),
    "block": (3, _block),
    "events": (3, _events),
    "sentence": (3, _sentence),
}
"""Each with its share."""
