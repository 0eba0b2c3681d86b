"""What launchers and loggers put before a line: rank tags are kept apart, times and levels are dropped."""

import re

_TAG = re.compile(
    r"""\[(?:rank|default|RANK\ ?)?\d+\]:?\ ?      # torchrun --tee, elastic
    | \[\d+,\d+\]<\w+>:?                            # mpirun --tag-output
    | \d{1,5}:\ ?(?=[\sTA-Za-z])                    # srun -l
    | \((?:[\w.:<>()-]+\ )?pid=\d+(?:,\ ip=[\d.]+)?\)\ ?(?:\[[^\]]{0,60}\]\ )?  # Ray
    | [\w.-]{1,40}:\ (?=Traceback\ \(most)          # host: or program: before a traceback
    | \s*[|+]\ (?=\s|\w)(?:-+\ ?)?                  # exception groups
    """,
    re.VERBOSE,
)
_NOISE = re.compile(
    r"""\x1b\[[\d;]*[A-Za-z]
    | \[?\d{4}-\d\d-\d\d[T\ ]\d\d:\d\d:\d\d[.,\d]*(?:Z|[+-]\d\d:?\d\d)?\]?,?[\ \t]
    | \[?\d\d:\d\d:\d\d[.,\d]*\]?[\ \t]
    | (?:\[(?=[A-Z]))?(?:ERROR|CRITICAL|WARNING|INFO|FATAL|DEBUG)(?:\])?(?::[\w.]+)?[:\ \t]\ ?
    | (?:stderr|stdout)(?:\ \||:|\ F)\ ?
    """,
    re.VERBOSE,
)


def peel(line: str) -> tuple[str, str]:
    """Return the rank tag before `line` (empty where there is none) and the text after all prefixes, its indentation kept."""
    tag, rest = "", line
    for _ in range(4):
        found = _TAG.match(rest)
        if found and found.end():
            tag += found[0].strip()
        else:
            found = _NOISE.match(rest)
            if not found:
                break
        rest = rest[found.end() :]
    return tag[:80], rest
