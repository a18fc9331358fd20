"""A server with the pages and answers that it makes up from the API's schemas.

    fake_server.py OPENAPI.yaml LIBRARIES [--port PORT] [--hostile]

--hostile: every text is an attack. The answers of one address are always the same.
"""

import argparse
import hashlib
import http.server
import json
import pathlib
import random
import re
import time
import urllib.parse
from typing import Any

import yaml

PAGES = pathlib.Path(__file__).resolve().parents[2] / "server/web/pages"
TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html", ".txt": "text/plain"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; "
    "worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types default"
)
WORDS = (
    "softmax",
    "matmul",
    "layer_norm",
    "cross_entropy",
    "[(4096, 2560)]",
    "NVIDIA B200",
    "torch.bfloat16",
    "ok",
    "num_warps",
)
HOSTILE = (
    "<script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    '"><svg onload=window.hacked=1>',
    "javascript:window.hacked=1",
    "';window.hacked=1;//",
    "\u202egnp.exe\u202d\u2066\u2067 left \u200f\u200b",
    "url(https://example.org/x.png);} body{display:none} /*",
    "</style><style>*{display:none}</style>",
    "{{constructor.constructor('window.hacked=1')()}}",
    "null\ufffdbyte\u0000and\u0007controls",
    "Z" + "\u0301" * 200,
    "__proto__",
    "W" * 1_000_000,
    "\U000e0041\ud7ff\uffff end",
    "",
)
NOW_MS = 1_790_000_000_000


class Maker:
    """Makes values for schemas."""

    def __init__(self, api: dict[str, Any], seed: str, hostile: bool) -> None:
        self.schemas = api["components"]["schemas"]
        self.random = random.Random(hashlib.sha256(seed.encode()).digest())
        self.hostile = hostile

    def text(self, name: str) -> str:
        if self.hostile:
            index = self.random.randrange(len(HOSTILE))
            return HOSTILE[index if HOSTILE[index] != "W" * 1_000_000 or self.random.random() < 0.1 else 0]
        return f"{self.random.choice(WORDS)} {name}"

    def string(self, schema: dict[str, Any], name: str) -> str:
        if "enum" in schema:
            return str(self.random.choice(schema["enum"]))
        if pattern := re.fullmatch(r"\^\[0-9a-f\]\{(\d+)\}\$", schema.get("pattern", "")):
            return f"{self.random.getrandbits(256):064x}"[: int(pattern[1])]
        if name == "day":
            return f"2026-11-{self.random.randrange(1, 29):02d}"
        if name.endswith("_id"):
            return f"{self.random.getrandbits(128):032x}"
        return self.text(name)

    def make(self, schema: dict[str, Any], name: str = "") -> Any:
        if "$ref" in schema:
            return self.make(self.schemas[schema["$ref"].rsplit("/", 1)[-1]], name)
        if (schema.get("nullable") and self.random.random() < 0.1) or name == "next_cursor":
            return None
        if "allOf" in schema:
            parts = [self.make(part, name) for part in schema["allOf"]]
            return {k: v for part in parts for k, v in part.items()} if isinstance(parts[0], dict) else parts[0]
        kind = schema.get("type", "object" if "properties" in schema else "any")
        if kind == "string":
            return self.string(schema, name)
        if kind == "integer":
            return NOW_MS - self.random.randrange(10**9) if name.endswith("unix_ms") else self.random.randrange(0, 8)
        if kind == "number":
            return self.random.random() if "share" in name or "effect" in name else self.random.uniform(0.01, 3)
        if kind == "boolean":
            return self.random.random() < 0.5
        if kind == "array":
            return [self.make(schema["items"], name) for _ in range(6)]
        if kind == "object":
            more = {self.text("key"): self.text("value")} if schema.get("additionalProperties") is True else {}
            return more | {key: self.make(value, key) for key, value in schema.get("properties", {}).items()}
        return self.text(name)


def answers(api: dict[str, Any]) -> list[tuple[re.Pattern[str], dict[str, Any]]]:
    """Returns the schema of each address."""
    found = []
    for path, methods in api["paths"].items():
        content = methods["get"]["responses"]["200"]["content"]
        if "application/json" in content:
            found.append((re.compile(re.sub(r"\{\w+\}", "[^/]+", path)), content["application/json"]["schema"]))
    return found


class Handler(http.server.BaseHTTPRequestHandler):
    api: dict[str, Any]
    libraries: pathlib.Path
    hostile = False
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def answer(self, body: bytes, content_type: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{content_type}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-cache")
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        path = urllib.parse.urlsplit(self.path).path
        if path.startswith("/api/v1"):
            self.serve_api(path.removeprefix("/api/v1"))
        elif path.startswith("/assets/"):
            self.serve_file(path.removeprefix("/assets/"))
        else:
            self.serve_file("index.html")

    def serve_file(self, name: str) -> None:
        file = self.libraries / name.removeprefix("lib/") if name.startswith("lib/") else PAGES / name
        if ".." in name or not file.is_file():
            self.answer(b"{}", "application/json", 404)
        else:
            self.answer(file.read_bytes(), TYPES.get(file.suffix, "application/octet-stream"))

    def serve_api(self, path: str) -> None:
        if path == "/events":
            return self.serve_events()
        if path == "/session":
            session = {"sign_in_required": False, "signed_in": True, "name": None, "expires_unix_ms": None, "version": "0.0.0"}
            return self.answer(json.dumps(session).encode(), "application/json")
        for pattern, schema in answers(self.api):
            if pattern.fullmatch(path):
                made = consistent(Maker(self.api, path, self.hostile).make(schema))
                return self.answer(json.dumps(made).encode(), "application/json")
        self.answer(b'{"error": {"message": "no such address"}}', "application/json", 404)

    def serve_events(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        event = Maker(self.api, "event", self.hostile).make({"$ref": "#/components/schemas/SummaryEvent"})
        try:
            self.wfile.write(f"event: summary\ndata: {json.dumps(event)}\n\n".encode())
            self.wfile.flush()
            time.sleep(60)
        except OSError:
            pass


def consistent(value: Any) -> Any:
    """Makes indexes and columns of an answer fit each other."""
    if isinstance(value, dict) and "points" in value and isinstance(value["points"], dict):
        for knob in value["knobs"]:
            knob["type"] = "text"
        points = value["points"]
        points["values"] = [[i % 6 for i in range(6)] for _ in value["knobs"]]
        points["attempt"] = [0] * 6
    if isinstance(value, dict) and "cells" in value:
        for index, cell in enumerate(value["cells"]):
            cell["shape"] = cell["device"] = index
    if isinstance(value, dict) and "series" in value and isinstance(value["series"], list):
        for series in value["series"]:
            for name in ("configs", "seconds", "best_ms", "seq"):
                series[name] = sorted(series[name], reverse=name == "best_ms")
            series["configs"] = list(range(1, 7))
    if isinstance(value, dict) and "edges" in value and isinstance(value["nodes"], list):
        for index, node in enumerate(value["nodes"]):
            node["graph_id"] = index % 2
        value["regions"] = [
            dict(value["regions"][0], graph_id=0, parent=None, entry_node=None),
            dict(value["regions"][1], graph_id=1, parent=0, entry_node=value["nodes"][0]["id"]),
        ]
        for index, edge in enumerate(value["edges"]):
            edge["source"], edge["target"] = value["nodes"][0]["id"], value["nodes"][index]["id"]
    return value


def serve(api: pathlib.Path, libraries: pathlib.Path, port: int, hostile: bool) -> http.server.ThreadingHTTPServer:
    """Returns a server that is not started yet."""
    handler = type(
        "Configured", (Handler,), {"api": yaml.safe_load(api.read_text()), "libraries": libraries, "hostile": hostile}
    )
    return http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("api", type=pathlib.Path)
    parser.add_argument("libraries", type=pathlib.Path)
    parser.add_argument("--port", type=int, default=4749)
    parser.add_argument("--hostile", action="store_true")
    options = parser.parse_args()
    serve(options.api, options.libraries, options.port, options.hostile).serve_forever()


if __name__ == "__main__":
    main()
