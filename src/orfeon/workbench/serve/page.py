"""Self-contained HTML pages of the service: a form to try the model, and its documentation."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from importlib import resources
from typing import Any

from orfeon.rendering.pages import render
from orfeon.workbench.report.theme import theme_css
from orfeon.workbench.serve.openapi import REFUSALS, csv_example
from orfeon.workbench.serve.served_model import ServedModel

_MOST_CLASSES = 12
#: A page may run its own script and style, by their digests, and send requests to this service.
_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


def model_page(served: ServedModel) -> str:
    example = served.example_row()
    columns = [{**column.facts(), "example": example[column.name]} for column in served.columns]
    model = {
        "columns": columns,
        "target": None if served.preparation is None else served.preparation.target,
        "has_probabilities": served.has_probabilities,
        "early_decision": served.early_decision,
        "n_members": served.n_members,
    }
    return _page("model.html", served, lead=_lead(served), facts=_facts(served), model=model)


def documentation_page(served: ServedModel, document: dict[str, Any]) -> str:
    row = served.example_row()
    error = {
        "error": {"kind": "wrong_value", "message": "...", "where": {"row": 0, "column": "..."}}
    }
    return _page(
        "docs.html",
        served,
        document=document,
        objects=_json({"rows": [row]}),
        lists=_json({"rows": [list(row.values())]}),
        csv=csv_example(row),
        answer=json.dumps({"predictions": served.classes[:1] or [0.5]}),
        columns=[(column, _allowed(column.facts())) for column in served.columns],
        errors=REFUSALS,
        error=json.dumps(error),
    )


def page_policy(text: str) -> str:
    """The content security policy of a page: only its own script and style."""
    if not text.startswith("<!doctype html>"):
        return _POLICY
    policy = f"{_POLICY}; img-src data:; connect-src 'self'"
    for name, tag in (("style-src", "<style>"), ("script-src", "<script>")):
        inside = re.findall(f"{tag}(.*?)</{tag[1:]}", text, re.DOTALL)
        digests = [hashlib.sha256(each.encode()).digest() for each in inside]
        sources = [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]
        if sources:
            policy += f"; {name} {' '.join(sources)}"
    return policy


def curl_example(served: ServedModel) -> str:
    """A request as a command, to the default address."""
    body = _json({"rows": [served.example_row()]}).replace("'", "'\\''")
    return (
        "curl -H 'Content-Type: application/json' \\\n"
        f"     -d '{body}' \\\n"
        "     http://127.0.0.1:8000/predict"
    )


def _page(name: str, served: ServedModel, **values: Any) -> str:
    assets = resources.files("orfeon.workbench.serve") / "assets"
    return render(
        "orfeon.workbench.serve",
        name,
        served=served,
        command=curl_example(served),
        style=theme_css() + (assets / "page.css").read_text(encoding="utf-8"),
        script=(assets / "page.js").read_text(encoding="utf-8"),
        address=(assets / "address.js").read_text(encoding="utf-8"),
        **values,
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _lead(served: ServedModel) -> str:
    target = "" if served.preparation is None else f"{served.preparation.target}: "
    kind = "a number" if served.task == "regression" else f"one of {_some(served.classes)}"
    return f"Predicts {target}{kind}."


def _some(values: list[Any]) -> str:
    listed = ", ".join(map(str, values[:_MOST_CLASSES]))
    more = len(values) - _MOST_CLASSES
    return listed + (f" and {more} more" if more > 0 else "")


def _facts(served: ServedModel) -> list[tuple[str, Any]]:
    about, confidence = served.facts, served.early_decision
    facts = [
        ("model", about.get("model", type(served.model).__name__)),
        ("columns", len(served.columns)),
        ("members", f"{served.n_members:,}" if served.n_members > 1 else None),
        ("nodes", f"{about['n_nodes']:,}" if about.get("n_nodes") else None),
    ]
    if confidence is not None:
        facts.append(
            ("early decision", "exact" if confidence == 1 else f"confidence {confidence:g}")
        )
    return [fact for fact in facts if fact[1] is not None]


def _allowed(facts: dict[str, Any]) -> str:
    if facts["kind"] == "number":
        return "a finite number, or null"
    if facts["kind"] == "date":
        return f"a date as {facts['written']}, or null"
    if facts["kind"] == "category":
        return f"{_some(facts['categories'])}, or null"
    return "a number, a string, true, false or null"
