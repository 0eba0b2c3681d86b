"""Spools, and what pipes left behind, whose owners are gone: every producer on this host sends what is left in them.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from .left_behind import left_behind
from .spool import orphans

if TYPE_CHECKING:
    from .spool import Entries, SpoolSettings

log = logging.getLogger(__name__)


class AdoptedSpools:
    """Those that are being sent now. Not thread-safe: the shipper holds its own lock.

    Args:
        settings: Where spools stand; None: nothing is adopted.
        every_s: Seconds between two looks for more.
    """

    def __init__(self, settings: SpoolSettings | None, every_s: float) -> None:
        self.spools: list[Entries] = []
        self._settings = settings
        self._every_s = every_s
        self._looked = float("-inf")

    def look(self, now: float) -> None:
        """Take over what lies about, where all that was taken before is sent and the last look is long enough ago."""
        if self._settings is None or self.spools or now - self._looked < self._every_s:
            return
        self._looked = now
        root = self._settings.root
        self.spools = [*orphans(root, self._settings.budget), *left_behind(root)]
        if self.spools:
            log.info("spools_adopted", extra={"spools": len(self.spools)})

    def let_go_of_empty(self) -> None:
        """Remove the spools in which nothing is left."""
        for spool in [each for each in self.spools if each.empty]:
            self.spools.remove(spool)
            spool.close()

    def close(self) -> None:
        """Let go of all of them; what is left in them stays."""
        for spool in self.spools:
            with suppress(OSError):
                spool.close()
        self.spools = []
