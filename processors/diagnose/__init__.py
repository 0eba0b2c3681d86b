"""The failure handler: which line explains a failure, whose fault it is, and whether starting again would help."""

from .catalogue import InvalidSignature, Signature, load
from .ending import Ending
from .handler import FailureHandler, HandlerState

__all__ = ["Ending", "FailureHandler", "HandlerState", "InvalidSignature", "Signature", "load"]
