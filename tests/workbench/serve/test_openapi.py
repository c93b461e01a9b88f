"""The OpenAPI document says what the service does, and the service does what it says."""

from __future__ import annotations

import os

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance
from tests.shared import cases
from tests.workbench.serve.clients import ARROW, CSV, ask

from orfeon.workbench.serve import Limits
from orfeon.workbench.serve.application import ScoringApplication

#: Requests of each mode; ORFEON_SCHEMATHESIS_CASES=2000 looks longer.
_N_CASES = int(os.environ.get("ORFEON_SCHEMATHESIS_CASES", cases(24)))


@pytest.fixture(scope="module")
def colours(colours_model):
    """Numbers and categories: every cell that the document allows is one that is taken."""
    from orfeon.workbench.serve.served_model import ServedModel

    return ScoringApplication(ServedModel(colours_model), Limits(max_rows=50))


@pytest.mark.parametrize(
    ("path", "mode"),
    [
        ("/predict", GenerationMode.POSITIVE),
        ("/predict", GenerationMode.NEGATIVE),
        *((path, GenerationMode.POSITIVE) for path in ("/model", "/health", "/metrics", "/")),
    ],
    ids=str,
)
def test_the_service_does_what_its_document_says(colours, path, mode):
    document = schemathesis.openapi.from_asgi("/openapi.json", colours)
    method = "POST" if path == "/predict" else "GET"
    requests = document[path][method].as_strategy(generation_mode=mode)

    @given(case=requests)
    @settings(
        max_examples=_N_CASES if path == "/predict" else 3, deadline=None, derandomize=True,
        suppress_health_check=list(HealthCheck), database=None,
    )  # fmt: skip
    def run(case):
        # Tables in CSV and Arrow are strings to a schema, which does not say what is in them.
        # This model has no intervals.
        is_open = case.media_type in (CSV, ARROW) or "interval" in (case.query or {})
        is_free = mode is GenerationMode.POSITIVE and is_open
        case.call_and_validate(excluded_checks=[positive_data_acceptance] if is_free else [])

    run()


def test_the_document_is_made_from_the_model(homes):
    document = ask(homes, b"", path="/openapi.json", method="GET").json
    assert document["openapi"] == "3.1.0"
    row = document["components"]["schemas"]["Row"]
    assert row["required"] == ["size", "rooms", "code", "garden", "built"]
    assert row["properties"]["size"]["type"] == ["number", "null"]
    assert "01, 02, 10, A7" in row["properties"]["code"]["description"]
    assert "DD/MM/YYYY" in row["properties"]["built"]["description"]
    predictions = document["components"]["schemas"]["Predictions"]["properties"]
    assert predictions["predictions"]["items"]["enum"] == ["cheap", "dear"]
    rows = document["components"]["schemas"]["Rows"]["properties"]["rows"]["anyOf"]
    assert [form["maxItems"] for form in rows] == [10_000, 10_000]


def test_every_path_of_the_document_is_there_and_no_other(homes):
    document = ask(homes, b"", path="/openapi.json", method="GET").json
    assert set(document["paths"]) == {route.path for route in homes.routes}
    for path, methods in document["paths"].items():
        if "get" in methods:
            answer = ask(homes, b"", path=path, method="GET")
            kind = answer.headers["content-type"].split(";")[0]
            assert answer.status == 200
            assert kind in methods["get"]["responses"]["200"]["content"]


def test_the_example_of_the_document_is_answered(homes):
    import json

    document = ask(homes, b"", path="/openapi.json", method="GET").json
    content = document["paths"]["/predict"]["post"]["requestBody"]["content"]
    body = json.dumps(content["application/json"]["example"]).encode()
    answer = ask(homes, body)
    assert answer.status == 200
    assert ask(homes, content["text/csv"]["example"].encode(), "text/csv").body == answer.body
