"""Messages of NVIDIA's drivers: what an Xid or SXid line states, and what the event means by the table of events."""

from .events import EventMeaning, read_event
from .xid import Xid, read_xid

__all__ = ["EventMeaning", "Xid", "read_event", "read_xid"]
