"""Passwords in addresses are never shown."""

import re


def without_password(text: str) -> str:
    """Return `text` with `***` for every password in an address (`//user:password@host`, `?password=`)."""
    return "".join(part if part.isspace() else _masked(part) for part in re.split(r"(\s+)", text))


def _masked(word: str) -> str:
    before, at, host = word.rpartition("@")
    scheme = before.find("://")
    colon = before.find(":", scheme + 3 if scheme >= 0 else 0)
    if at and colon >= 0:
        word = f"{before[: colon + 1]}***@{host}"
    address, question, query = word.partition("?")
    return address + question + "&".join(map(_masked_parameter, query.split("&")))


def _masked_parameter(parameter: str) -> str:
    name, equals, _ = parameter.partition("=")
    return f"{name}=***" if equals and name.lower().endswith(("password", "secret", "token")) else parameter
