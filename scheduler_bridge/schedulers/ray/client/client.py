"""Jobs, nodes, actors and tasks of one Ray cluster, over the REST API of its dashboard."""

from typing import TypeVar
from urllib.parse import quote, urlencode

import msgspec

from schedmate_records import NOT_JSON

from .connection import RayConnection
from .errors import RayNotFound, RayUnavailable
from .objects import SUPERVISOR_PREFIX, RayActor, RayJob, RayNode, RayPlacementGroup, RayTask, Submission

_T = TypeVar("_T", RayNode, RayActor, RayTask, RayPlacementGroup)
_Decoded = TypeVar("_Decoded")


class _Rows(msgspec.Struct):
    result: list[msgspec.Raw]


class _Data(msgspec.Struct):
    result: _Rows


class _Answer(msgspec.Struct):
    result: bool
    msg: str = ""
    data: _Data | None = None


class _Stopped(msgspec.Struct):
    stopped: bool


class RayClient:
    """The Jobs API and the State API. Raises a `RayError` where Ray does not answer, or refuses.

    Args:
        connection: The head's dashboard.
    """

    def __init__(self, connection: RayConnection) -> None:
        self.connection = connection

    def jobs(self) -> list[RayJob]:
        """Return all that was submitted as a job, what is over included."""
        found = _decode(self.connection.request("GET", "/api/jobs/"), list[RayJob])
        return [job for job in found if job.submission_id]

    def job(self, submission_id: str) -> RayJob | None:
        """Return a submission; None where Ray does not know it."""
        try:
            return _decode(self.connection.request("GET", _path(submission_id)), RayJob)
        except RayNotFound:
            return None

    def submit(self, submission: Submission) -> None:
        """Submit a job.

        Raises:
            RayConflict: There is one of that id.
        """
        self.connection.request("POST", "/api/jobs/", msgspec.json.encode(submission))

    def stop(self, submission_id: str) -> bool:
        """Ask a job to end: SIGTERM, and SIGKILL after RAY_JOB_STOP_WAIT_TIME_S. False where it was over."""
        return _decode(self.connection.request("POST", f"{_path(submission_id)}/stop"), _Stopped).stopped

    def delete(self, submission_id: str) -> None:
        """Forget a job that is over."""
        self.connection.request("DELETE", _path(submission_id))

    def nodes(self) -> list[RayNode]:
        """Return all nodes, dead ones included."""
        return self._rows("nodes", RayNode)

    def actors(self, **only: str) -> list[RayActor]:
        """Return the actors whose fields are as given (`job_id`, `state`, `name`)."""
        return self._rows("actors", RayActor, **only)

    def supervisor(self, submission_id: str) -> RayActor | None:
        """Return the actor that runs, or ran, a job's driver; None where Ray no longer knows it, or knows several of different needs.

        There are several where a job was deleted, and its submission id used again.
        """
        found = self.actors(name=SUPERVISOR_PREFIX + submission_id)
        living = [actor for actor in found if actor.state != "DEAD"] or found
        alike = {(str(actor.required_resources), str(actor.label_selector)) for actor in living}
        return living[0] if len(alike) == 1 else None

    def has_package(self, uri: str) -> bool:
        """True where the head still keeps a package that was uploaded with a job (`gcs://…`)."""
        protocol, _, name = uri.partition("://")
        try:
            self.connection.request("GET", f"/api/packages/{quote(protocol, safe='')}/{quote(name, safe='')}")
        except RayNotFound:
            return False
        return True

    def tasks(self, **only: str) -> list[RayTask]:
        """Return the tasks, but actors', whose fields are as given."""
        return self._rows("tasks", RayTask, **only, type="NORMAL_TASK")

    def placement_groups(self, **only: str) -> list[RayPlacementGroup]:
        """Return the placement groups whose fields are as given."""
        return self._rows("placement_groups", RayPlacementGroup, **only)

    def _rows(self, what: str, kind: type[_T], **only: str) -> list[_T]:
        # The State API returns at most 10,000 rows.
        query = [("detail", "true"), ("limit", "10000")]
        for name, value in only.items():
            query += [("filter_keys", name), ("filter_predicates", "="), ("filter_values", value)]
        answer = _decode(self.connection.request("GET", f"/api/v0/{what}?{urlencode(query)}"), _Answer)
        if not answer.result or answer.data is None:
            raise RayUnavailable(f"a list of {what}", answer.msg[:300], "it is asked again")
        return [_decode(row, kind) for row in answer.data.result.result]


def _path(submission_id: str) -> str:
    return f"/api/jobs/{quote(submission_id, safe='')}"


def _decode(content: bytes | msgspec.Raw, kind: type[_Decoded]) -> _Decoded:
    try:
        return msgspec.json.decode(content, type=kind)
    except NOT_JSON as error:
        expected = f"{getattr(kind, '__name__', kind)} as Ray 2.60 sends it"
        raise RayUnavailable(expected, str(error)[:200], "is this the dashboard of a Ray head?") from error
