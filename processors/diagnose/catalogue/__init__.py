r"""The signature catalogue: the meaning of lines that report failures, as data.

One TOML file a family, each a list of `[[signature]]` tables (see `Signature`). Patterns are RE2 and are matched against a line whose
digits are all replaced by 0, so that one match serves every line of a template: write `\d+` for numbers, and name those that count in
`numbers`. An operator's own files are read the same way; an entry that cannot be right is refused with its reason.
"""

from .entry import InvalidSignature, Signature, masked
from .load import families, load, parse

__all__ = ["InvalidSignature", "Signature", "families", "load", "masked", "parse"]
