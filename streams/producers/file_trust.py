"""Decides whether a file may report for the job that its name gives."""

import os
import pwd
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from schedmate_records import UserError

from .job_owners import Unasked


class UnknownUser(UserError, ValueError):
    """A name that no user of this host has."""


@dataclass(frozen=True)
class FileTrust:
    """Decides whether a file may report for the job in its name.

    Accepted are, in this order: files of the user of this process, which could ship them anyway; files of root in directories that only
    root may write; files of `users`; files of the job's owner, as the scheduler reports.

    Attributes:
        users: User ids whose files are believed whatever job they name.
        anybody: Every file is believed.
        owner_of: The scheduler's word: the owner's user id, or why it is not known; None while it is being asked. No attribute: there is
            no scheduler.
    """

    users: frozenset[int] = frozenset()
    anybody: bool = False
    owner_of: Callable[[str], int | str | None] | None = None

    def objection(self, job: str, user: int, *, private: bool, what: str = "file") -> str | None:
        """Return why `what`, which belongs to `user`, may not report for `job`: empty where it may, None where it is not known yet.

        `private`: root alone can have put it there.
        """
        me = os.geteuid()
        if self.anybody or user in self.users or (user == me and me != 0) or (user == 0 and private):
            return ""
        if self.owner_of is None:
            return f"the {what} belongs to {name_of(user)}, and no scheduler reports the owner of job {job}: see --trust-owner"
        owner = self.owner_of(job)
        if owner == user:
            return ""
        if isinstance(owner, int):
            return f"expected a {what} of {name_of(owner)}, the owner of job {job}, got one of {name_of(user)}"
        if owner is None:
            return None
        return f"the {what} belongs to {name_of(user)}, and the owner of job {job} is not known ({owner}): see --trust-owner"

    def scheduler_away(self, job: str) -> bool:
        """Return whether an objection may change, because the scheduler could not be asked whose `job` is."""
        return self.owner_of is not None and isinstance(self.owner_of(job), Unasked)


def name_of(user: int) -> str:
    """Return the login name of a user id; the number where it has none."""
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"user {user}"


def user_ids(names: Iterable[str]) -> frozenset[int]:
    """Return the user ids of `names`, which may be numbers. Raises `UnknownUser`."""
    found = set()
    for name in names:
        try:
            found.add(int(name) if name.isdecimal() else pwd.getpwnam(name).pw_uid)
        except KeyError as error:
            raise UnknownUser(f"expected a user of this host, got {name!r}: give a login name or a number") from error
    return frozenset(found)
