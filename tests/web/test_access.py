"""telemetry-web with TLS and tokens, and what it refuses."""

from __future__ import annotations

import http.client
import json
import pathlib
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import pytest
from certificates import Authority
from conftest import BIN, TIMEOUT_S, web
from pipeline import SAMPLES, Pipeline, environment_with, run

FROM_PAGE = {"X-Requested-With": "telemetry-web", "Content-Type": "application/json"}
REVOKED_S = 2.0


class Guarded:
    """A telemetry-web with TLS and tokens."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.tokens = folder / "tokens.json"
        self.authority = Authority(folder, "ca")
        self.authority.issue("web")
        # The program needs a moment to notice tokens that are added while it runs.
        self.reader = self.add_token("reader", "dashboards")
        self.leaver = self.add_token("reader", "leaver")
        self.writer = self.add_token("writer", "ci")
        self.expired = self.add_token("reader", "late", "--expires", "1ms")
        self.address = ""

    def add_token(self, role: str, name: str, *flags: str) -> str:
        command = ("token", "add", "--tokens", self.tokens, "--role", role, "--name", name, *flags)
        return run("telemetry-collector", *command).strip()

    def revoke(self, name: str) -> None:
        for token in json.loads(self.tokens.read_text())["tokens"]:
            if token["name"] == name:
                run("telemetry-collector", "token", "revoke", "--tokens", self.tokens, token["id"])

    def flags(self) -> list[str]:
        return [f"--tls-cert={self.folder}/web.pem", f"--tls-key={self.folder}/web.key", f"--tokens={self.tokens}"]

    def connect(self, host: str = "127.0.0.1") -> http.client.HTTPSConnection:
        """Returns a connection from this address."""
        port = int(self.address.rsplit(":", 1)[1])
        context = ssl.create_default_context(cafile=self.authority.certificate)
        source = (host, 0)
        return http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=TIMEOUT_S, source_address=source)

    def ask(
        self,
        method: str,
        path: str,
        headers: dict[str, str] | None = None,
        body: str | None = None,
        host: str = "127.0.0.1",
    ) -> Any:
        connection = self.connect(host)
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        answer.text = answer.read().decode()  # type: ignore[attr-defined]
        connection.close()
        return answer

    def sign_in(self, token: str, headers: dict[str, str] | None = None, host: str = "127.0.0.1") -> Any:
        return self.ask("POST", "/api/v1/session", FROM_PAGE | (headers or {}), json.dumps({"token": token}), host)

    def cookie(self, token: str) -> dict[str, str]:
        answer = self.sign_in(token)
        assert answer.status == 200, answer.text
        return {"Cookie": answer.getheader("Set-Cookie").split(";")[0]}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    if not (BIN / "telemetry-web").exists():
        pytest.skip("telemetry-web is not built")
    folder = tmp_path_factory.mktemp("access")
    made = Guarded(folder)
    pipeline = Pipeline(folder / "pipeline")
    with pipeline.serving():
        pipeline.forward(SAMPLES[0].path(), flags=SAMPLES[0].flags)
    with web(pipeline.database, *made.flags()) as address:
        made.address = address
        yield made


def test_the_address_names_tls(guarded: Guarded) -> None:
    assert guarded.address.startswith("https://127.0.0.1:")


def test_nothing_of_the_dataset_without_a_token(guarded: Guarded) -> None:
    for path in ("/api/v1/overview", "/api/v1/runs?format=csv", "/api/v1/events", "/metrics", "/api/v1/nothing"):
        answer = guarded.ask("GET", path)
        assert (path, answer.status) == (path, 401)
    assert guarded.ask("GET", "/").status == 200
    assert guarded.ask("GET", "/healthz").text == "ok\n"


def test_signs_in_and_out(guarded: Guarded) -> None:
    answer = guarded.sign_in(guarded.reader)
    assert answer.status == 200
    session = json.loads(answer.text)
    assert (session["sign_in_required"], session["signed_in"], session["name"]) == (True, True, "dashboards")
    attributes = answer.getheader("Set-Cookie").split("; ")
    assert {"HttpOnly", "SameSite=Strict", "Secure", "Path=/"} <= set(attributes[1:])
    assert guarded.reader not in answer.getheader("Set-Cookie") + answer.text
    cookie = {"Cookie": attributes[0]}
    assert guarded.ask("GET", "/api/v1/runs", cookie).status == 200
    out = guarded.ask("DELETE", "/api/v1/session", cookie | FROM_PAGE)
    assert out.status == 200 and "Max-Age=0" in out.getheader("Set-Cookie")
    assert guarded.ask("GET", "/api/v1/runs", cookie).status == 401


def test_programs_send_their_token(guarded: Guarded) -> None:
    bearer = {"Authorization": f"Bearer {guarded.reader}"}
    assert guarded.ask("GET", "/api/v1/runs", bearer).status == 200
    assert "telemetry_web_responses_total" in guarded.ask("GET", "/metrics", bearer).text
    assert guarded.ask("GET", "/api/v1/runs", {"Authorization": "Bearer tt_wrong"}).status == 401


def test_refuses_wrong_expired_and_unfit_tokens(guarded: Guarded) -> None:
    assert guarded.sign_in("tt_" + "A" * 43).status == 401
    assert guarded.sign_in(guarded.expired).status == 401
    writer = guarded.sign_in(guarded.writer)
    assert writer.status == 403 and "reader" in json.loads(writer.text)["error"]["message"]


def test_other_sites_cannot_sign_in(guarded: Guarded) -> None:
    body = json.dumps({"token": guarded.reader})
    assert guarded.ask("POST", "/api/v1/session", {"Content-Type": "application/json"}, body).status == 403
    assert guarded.sign_in(guarded.reader, {"Origin": "https://evil.example"}).status == 403
    assert guarded.sign_in(guarded.reader, {"Host": "evil.example"}).status == 421
    assert guarded.sign_in(guarded.reader, {"Content-Type": "text/plain"}).status == 400


def test_a_revoked_token_ends_its_session_and_its_events(guarded: Guarded) -> None:
    cookie = guarded.cookie(guarded.leaver)
    connection = guarded.connect()
    connection.request("GET", "/api/v1/events", headers=cookie)
    events = connection.getresponse()
    assert events.readline() == b"event: summary\n"
    guarded.revoke("leaver")
    revoked = time.monotonic()
    while guarded.ask("GET", "/api/v1/runs", cookie).status != 401:
        assert time.monotonic() - revoked < 10 * REVOKED_S
    refused_s = time.monotonic() - revoked
    rest = events.read()
    ended_s = time.monotonic() - revoked
    print(f"refused after {refused_s:.2f} s, stream ended after {ended_s:.2f} s")
    assert b"event: signed_out" in rest
    assert max(refused_s, ended_s) < 5 * REVOKED_S  # the machine may be busy; alone it is below REVOKED_S


def test_a_made_up_cookie_is_nobody(guarded: Guarded) -> None:
    for value in ("0" * 64, "", "x" * 5000, "%00", '"'):
        assert guarded.ask("GET", "/api/v1/runs", {"Cookie": f"telemetry_session={value}"}).status == 401


def test_many_wrong_tokens_are_slowed_down(guarded: Guarded) -> None:
    statuses = {guarded.sign_in(f"tt_{number}", host="127.0.0.2").status for number in range(30)}
    assert statuses == {401, 429}
    assert guarded.sign_in(guarded.reader).status == 200


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../server",
        "/assets/%2e%2e/%2e%2e/etc/passwd",
        "/assets/..%2f..%2fetc%2fpasswd",
        "/assets/%5c..%5c",
        "/assets//etc/passwd",
        "/assets/index.html%00.js",
        "/assets/nothing.js",
    ],
)
def test_no_file_beside_the_assets(guarded: Guarded, path: str) -> None:
    answer = guarded.ask("GET", path)
    assert answer.status in (400, 404) and "root:" not in answer.text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_only_reads(guarded: Guarded, method: str) -> None:
    bearer = {"Authorization": f"Bearer {guarded.reader}"}
    for path in ("/", "/api/v1/runs", "/assets/app.js"):
        assert (path, guarded.ask(method, path, bearer).status) == (path, 405)


def refused(*flags: str) -> str:
    """Returns what telemetry-web says to flags that it refuses as wrong usage."""
    command = [BIN / "telemetry-web", *flags]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, env=environment_with(()))
    assert done.returncode == 2, done
    return done.stderr


def test_other_machines_need_tls_and_tokens(guarded: Guarded) -> None:
    said = refused("--db", str(guarded.folder / "pipeline/dataset.db"), "--listen=0.0.0.0:0")
    assert "neither TLS nor tokens" in said


def test_a_dataset_that_does_not_exist(tmp_path: pathlib.Path) -> None:
    command = [BIN / "telemetry-web", "--db", tmp_path / "no.db", "--listen=127.0.0.1:0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, env=environment_with(()))
    assert done.returncode == 1 and "no.db" in done.stderr and not (tmp_path / "no.db").exists()


def test_a_port_that_is_taken(guarded: Guarded) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"--listen=127.0.0.1:{taken.getsockname()[1]}"
        command = [BIN / "telemetry-web", "--db", guarded.folder / "pipeline/dataset.db", listen]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, env=environment_with(()))
    assert done.returncode == 1 and "in use" in done.stderr
