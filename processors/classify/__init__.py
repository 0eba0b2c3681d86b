"""Classes of lines: error, warning, progress or other."""

from .classifier import LineClassifier
from .context import ClassifyContext
from .fallback import TemplateClassifier

__all__ = ["ClassifyContext", "LineClassifier", "TemplateClassifier"]
