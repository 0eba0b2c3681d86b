"""Errors of Kubernetes."""

from ...client_errors import SchedulerError, SchedulerUnavailable


class KubernetesError(SchedulerError):
    """The API server did not do, or did not answer, what was asked; the text states what was expected, what came, and what to do."""


class KubernetesUnavailable(KubernetesError, SchedulerUnavailable):
    """The API server does not answer, or its address is not known: nothing is known."""


class KubernetesNotFound(KubernetesError):
    """There is no such object (any more)."""


class KubernetesConflict(KubernetesError):
    """The object was changed, deleted or made by somebody else meanwhile (409)."""


class KubernetesRefused(KubernetesError):
    """The API server answered, and refused: a disruption budget (429), or an invalid object (422)."""


class KubernetesForbidden(KubernetesRefused):
    """The API server answered, and there is no right to it (403)."""


class ResourceVersionExpired(KubernetesError):
    """The resource version to go on from is too old (410): the list must be read again."""
