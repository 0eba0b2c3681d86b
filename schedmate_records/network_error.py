"""Why a connection could not be made, in words: the same for every server that SchedMate talks to."""

import socket
import ssl
from collections.abc import Iterator

_OTHERS: tuple[tuple[type[OSError], str], ...] = (
    (socket.gaierror, "no host has the name in {where}: check the address"),
    (ConnectionRefusedError, "nothing listens at {where}: is the server running, and is the port right?"),
    (TimeoutError, "no answer from {where} in time: is it reachable from here?"),
    (
        ConnectionResetError,
        "{where} broke the connection off: is it starting or stopping, or is it that only one of us uses TLS?",
    ),
)


def network_error(error: BaseException, where: str) -> str:
    """Return why `where` (`host:port`) cannot be reached and what to do, as far as `error` or its causes show; else an empty string."""
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return _certificate(cause, where)
        if isinstance(cause, ssl.SSLError):
            return _tls(cause, where)
        for kind, message in _OTHERS:
            if isinstance(cause, kind):
                return message.format(where=where)
    return ""


def misconfigured(error: BaseException) -> bool:
    """Return whether TLS or a name is at fault: waiting does not fix that."""
    return any(isinstance(cause, ssl.SSLError | socket.gaierror) for cause in _causes(error))


def untrusted(error: BaseException) -> bool:
    """Return whether a server's certificate is at fault: waiting does not fix that."""
    return any(isinstance(cause, ssl.SSLCertVerificationError) for cause in _causes(error))


def _certificate(error: ssl.SSLCertVerificationError, where: str) -> str:
    # X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH
    if error.verify_code in {62, 64}:
        return f"the certificate of {where} is for another host name: use the name that it was made for, or make one for this name"
    # X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_CERT_HAS_EXPIRED
    if error.verify_code in {9, 10}:
        return f"the certificate of {where} is expired or not valid yet: renew it, and check the clocks"
    return f"the certificate of {where} is signed by an authority that is not trusted here ({error.verify_message}): name its CA file"


def _tls(error: ssl.SSLError, where: str) -> str:
    reason = error.reason or str(error)
    if any(
        word in reason
        for word in ("BAD_CERTIFICATE", "CERTIFICATE_REQUIRED", "CERTIFICATE_UNKNOWN", "ALERT_UNKNOWN_CA")
    ):
        return f"{where} does not accept our client certificate, or wants one and got none"
    return f"{where} does not accept TLS from us ({reason}): is it the TLS port?"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield `error` and what it was raised from, drivers' own wrappers (`reason`, an argument) included."""
    waiting, seen = [error], set[int]()
    while waiting:
        one = waiting.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        held = (one.__cause__, one.__context__, getattr(one, "reason", None), *one.args)
        waiting += [each for each in held if isinstance(each, BaseException)]
