"""One model server over real HTTP, on its bad days."""

import json
import time

import pytest

from streams.model_worker.http_server import HttpModelServer
from streams.model_worker.language_model import ModelError, PromptRefused, ServerBusy, UselessAnswer
from tests.streams.model_worker import misbehaving_server as bad

from .prompts import PROMPT


def test_a_question_is_sent_with_its_closed_schema_and_the_key() -> None:
    with bad.misbehaving(bad.answers({"class": "a"})) as server:
        assert HttpModelServer(server.url, api_key="geheim").complete(PROMPT, 5) == {"class": "a"}
    (sent,), (headers,) = server.requests, server.headers
    assert sent["model"] == bad.MODEL
    assert sent["response_format"]["type"] == "json_schema"
    assert sent["response_format"]["json_schema"]["strict"] is True
    assert sent["response_format"]["json_schema"]["schema"] == PROMPT.schema
    assert sent["temperature"] == 0
    assert sent["max_tokens"] == PROMPT.max_tokens
    assert [message["role"] for message in sent["messages"]] == ["system", "user"]
    assert sent["messages"][1]["content"] == PROMPT.data
    assert headers["Authorization"] == "Bearer geheim"


@pytest.mark.parametrize(
    ("behaviour", "kind", "words"),
    [
        (bad.status(500), ModelError, "status 500"),
        (bad.status(503), ServerBusy, "status 503"),
        (bad.status(400), PromptRefused, "status 400"),
        (bad.status(401), PromptRefused, "status 401"),
        (bad.answers('{"class": "a'), UselessAnswer, "expected JSON as the answer"),
        (bad.answers("[" * 100_000), UselessAnswer, "expected JSON as the answer"),
        (bad.answers("I think that it is a."), UselessAnswer, "expected JSON as the answer"),
        (bad.says('{"choices": []}'), ModelError, "expected a chat completion"),
        (bad.says('{"choices": [{"message": {"content": null}}]}'), ModelError, "expected a chat completion"),
        (bad.says("<html>"), ModelError, "expected JSON"),
        (bad.says('"' + "x" * (1 << 20) + '"'), ModelError, "at most"),
        (bad.hangs_up, ModelError, "RemoteDisconnected|ConnectionReset|BadStatusLine"),
        (bad.hangs_up_in_the_middle, ModelError, "expected JSON"),
    ],
)
def test_bad_days_are_told_apart(behaviour: bad.Behaviour, kind: type[ModelError], words: str) -> None:
    with bad.misbehaving(behaviour) as server, pytest.raises(kind, match=words) as caught:
        HttpModelServer(server.url).complete(PROMPT, 5)
    assert type(caught.value) is kind
    assert server.url in str(caught.value)


@pytest.mark.parametrize("behaviour", [bad.silent, bad.drips])
def test_the_time_limit_holds_whatever_the_server_does(behaviour: bad.Behaviour) -> None:
    with bad.misbehaving(behaviour) as server:
        began = time.monotonic()
        with pytest.raises(ModelError, match=r"no answer within 0\.3 s"):
            HttpModelServer(server.url, "m").complete(PROMPT, 0.3)
        assert time.monotonic() - began < 10  # the server would go on for 20


def test_a_busy_server_says_how_long() -> None:
    with bad.misbehaving(bad.status(429, Retry_After="7")) as server, pytest.raises(ServerBusy) as caught:
        HttpModelServer(server.url).complete(PROMPT, 5)
    assert caught.value.after == 7
    with (
        bad.misbehaving(bad.status(429, Retry_After="Fri, 31 Dec 1999 23:59:59 GMT")) as server,
        pytest.raises(ServerBusy) as caught,
    ):
        HttpModelServer(server.url).complete(PROMPT, 5)
    assert caught.value.after == 0


def test_nobody_there() -> None:
    with bad.misbehaving(bad.silent) as server:
        url = server.url
    with pytest.raises(ModelError, match="ConnectionRefused"):
        HttpModelServer(url, "m").complete(PROMPT, 5)


@pytest.mark.parametrize("url", ["", "host:8000", "ftp://host/v1", "http://", "http://user:geheim@host/v1"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="expected the address of a model server"):
        HttpModelServer(url)


def test_a_deeply_nested_answer_is_refused_not_raised() -> None:
    with bad.misbehaving(bad.says("[" * 200_000)) as server, pytest.raises(ModelError, match="expected JSON"):
        HttpModelServer(server.url, "m").complete(PROMPT, 5)


def test_the_request_holds_no_text_beyond_the_question() -> None:
    with bad.misbehaving(bad.answers({"class": "a"})) as server:
        HttpModelServer(server.url, "m").complete(PROMPT, 5)
    assert set(json.loads(json.dumps(server.requests[0]))) == {
        *("model", "messages", "temperature", "seed", "max_tokens", "response_format"),
    }
