"""Every answer of the API has the schema that openapi.yaml states, on SQLite and, with TELEMETRY_TEST_POSTGRESQL, on PostgreSQL."""

from __future__ import annotations

import csv
import io
import json
import re
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

import pytest
import yaml
from openapi_schema_validator import OAS30Validator
from openapi_spec_validator import validate

from conftest import API, Service

SPEC = yaml.safe_load(API.read_text())
# Not answers about the dataset, or endless.
OTHERS = ("/session", "/events")


def get(address: str, path: str) -> tuple[int, str]:
    """Returns the status and the body of a GET request below /api/v1."""
    try:
        with urllib.request.urlopen(f"{address}/api/v1{path}", timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


class Dataset:
    """What the paths of the API name, in the dataset of the service."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.runs = self.fetch("/runs?limit=500")["items"]
        self.run = max(self.runs, key=lambda run: run["rows"])
        details = self.fetch(f"/runs/{self.run['run_id']}")
        self.attempt = details["attempt_list"][0]["attempt_id"]
        self.graph = next(
            (run["run_id"], item["kind"])
            for run in self.runs
            for item in self.fetch(f"/runs/{run['run_id']}/graphs")["items"]
        )
        self.kernel, self.version = next(
            (kernel["kernel"]["filter"], version["version"])
            for kernel in self.fetch("/kernels?limit=500")["items"]
            for version in self.fetch("/kernel?" + urllib.parse.urlencode({"kernel": kernel["kernel"]["filter"]}))["versions"]
        )

    def fetch(self, path: str) -> Any:
        status, body = get(self.address, path)
        assert status == 200, (path, body)
        return json.loads(body)

    def query(self, path: str) -> str:
        """Returns the parameters that a path requires."""
        run = self.run
        if path == "/compare":
            return urllib.parse.urlencode([("item", f"run:{run['run_id']}"), ("item", f"run:{self.runs[0]['run_id']}")])
        names = {"/kernel": ("kernel",), "/kernel/history": ("kernel", "shapes", "dtypes", "hardware")}.get(path, ())
        values = {name: run[name]["filter"] for name in names}
        if path == "/kernel/source":
            values = {"kernel": self.kernel, "version": self.version}
        return urllib.parse.urlencode(values)

    def address_of(self, path: str) -> str:
        """Returns an address for a path of openapi.yaml."""
        of_graph = path.endswith("{kind}")
        values = {
            "run_id": self.graph[0] if of_graph else self.run["run_id"],
            "config_id": self.run["best_config_id"],
            "attempt_id": self.attempt,
            "kind": urllib.parse.quote(self.graph[1], safe=""),
            "reject": "1",
            "entry": "1",
        }
        filled = re.sub(r"\{(\w+)\}", lambda name: str(values[name[1]]), path)
        query = self.query(path)
        return f"{filled}?{query}" if query else filled


@pytest.fixture(scope="module")
def dataset(service: Service) -> Dataset:
    return Dataset(service.address)


def test_the_contract_is_openapi() -> None:
    validate(SPEC)


@pytest.mark.parametrize("path", [path for path in SPEC["paths"] if path not in OTHERS])
def test_answers_have_their_schema(dataset: Dataset, path: str) -> None:
    address = dataset.address_of(path)
    status, body = get(dataset.address, address)
    content = SPEC["paths"][path]["get"]["responses"]["200"]["content"]
    if path in ("/rejects/{reject}", "/cache/{entry}") and status == 404:
        content = SPEC["components"]["responses"]["Error"]["content"]
    else:
        assert status == 200, body
    schema = {**content["application/json"]["schema"], "components": SPEC["components"]}
    errors = [f"{error.json_path}: {error.message[:300]}" for error in OAS30Validator(schema).iter_errors(json.loads(body))]
    assert errors == []


@pytest.mark.parametrize("path", [path for path in SPEC["paths"] if path not in OTHERS])
def test_refuses_parameters_that_it_does_not_know(dataset: Dataset, path: str) -> None:
    address = dataset.address_of(path)
    status, body = get(dataset.address, address + ("&" if "?" in address else "?") + "surprise=1")
    assert status == 400 and "surprise" in json.loads(body)["error"]["message"]


def test_lists_as_csv_are_complete(dataset: Dataset) -> None:
    run = dataset.run["run_id"]
    status, body = get(dataset.address, f"/runs/{run}/rows?format=csv")
    assert status == 200
    rows = list(csv.DictReader(io.StringIO(body)))
    assert len(rows) == dataset.run["rows"]
    assert len({(row["attempt_id"], row["seq"]) for row in rows}) == len(rows)


def test_pages_contain_everything_once(dataset: Dataset) -> None:
    everything = [run["run_id"] for run in dataset.fetch("/runs?sort=kernel&limit=500")["items"]]
    paged, cursor = [], ""
    while True:
        page = dataset.fetch(f"/runs?sort=kernel&limit=2{cursor}")
        paged += [run["run_id"] for run in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = "&" + urllib.parse.urlencode({"cursor": page["next_cursor"]})
    assert paged == everything


@pytest.mark.parametrize(
    "path",
    [
        "/runs/" + "0" * 64,
        "/runs/zz",
        "/attempts/" + "0" * 32,
        "/kernel?kernel=nothing",
        "/rejects/999999",
        "/cache/999999",
        "/nothing",
        "/runs/..%2f..%2fetc",
    ],
)
def test_unknown_objects(dataset: Dataset, path: str) -> None:
    status, body = get(dataset.address, path)
    assert status in (400, 404) and json.loads(body)["error"]["message"]


@pytest.mark.parametrize("value", ["'", "' OR 1=1 --", "%", "\\", '"', "a'; DROP TABLE runs; --", "\u202e", "null:", "sha256:00"])
def test_quotes_in_filters_are_data(dataset: Dataset, value: str) -> None:
    query = urllib.parse.urlencode({"kernel": value, "q": value})
    assert dataset.fetch(f"/runs?{query}")["items"] == []
    for path in ("/producers", "/cache", "/kernels"):
        dataset.fetch(f"{path}?{urllib.parse.urlencode({'q': value})}")
    assert dataset.fetch("/runs")["total"] == len(dataset.runs)
