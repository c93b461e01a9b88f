"""The pages of the service: one to try the model, one of its requests. Nothing else is fetched."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from importlib import resources
from typing import Any

from orfeon.workbench.report.theme import theme_css
from orfeon.workbench.serve.openapi import REFUSALS, csv_example
from orfeon.workbench.serve.served_model import ServedModel

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""
_MOST_CLASSES = 12
#: What a page may do: its own script and style, by their digests, and asking this service.
_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


def model_page(served: ServedModel) -> str:
    """The page to try the model."""
    example = served.example_row()
    columns = [{**column.facts(), "example": example[column.name]} for column in served.columns]
    model = {
        "columns": columns,
        "target": None if served.preparation is None else served.preparation.target,
        "has_probabilities": served.has_probabilities,
        "early_decision": served.early_decision,
        "n_members": served.n_members,
    }
    body = f"""\
<header>
<h1>{_text(served.name)}</h1>
<p class="lead">{_text(_lead(served))}</p>
<dl class="facts">{_facts(served)}</dl>
</header>
<main>
<section aria-labelledby="try">
<h2 id="try">Try it</h2>
<div class="try">
<form id="row" novalidate>
<div class="fields" id="fields"></div>
<div class="buttons"><button id="ask">Predict</button>
<button class="plain" type="button" id="clear">Empty all fields</button></div>
</form>
<div class="result" id="result" role="status" aria-live="polite">
<p class="muted">An empty field is a missing value.</p></div>
</div>
<noscript><p>The form needs JavaScript; the requests below do not.</p></noscript>
</section>
<section aria-labelledby="programs">
<h2 id="programs">From a program</h2>
<pre id="command">{_text(curl_example(served))}</pre>
</section>
</main>
<footer><nav><a href="docs">All requests</a><a href="model">Model</a>
<a href="openapi.json">OpenAPI</a></nav></footer>
<script type="application/json" id="model">{_script_json(model)}</script>
<script>{_asset("page.js")}</script>"""
    return _page(f"{served.name}: try it", body)


def documentation_page(served: ServedModel, document: dict[str, Any]) -> str:
    """The page of the requests that the service answers."""
    columns = "".join(
        f"<tr><td><code>{_text(column.name)}</code></td><td>{column.kind}</td>"
        f"<td>{_text(_allowed(column.facts()))}</td></tr>"
        for column in served.columns
    )
    refusals = "".join(
        f"<tr><td>{status}</td><td>{_text(meaning)}</td></tr>"
        for status, meaning in REFUSALS.items()
    )
    others = "".join(
        f'<div class="endpoint"><h3><span class="method">{method.upper()}</span>'
        f"<code>{_text(path)}</code></h3><p>{_text(operation['summary'])}.</p></div>"
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if path != "/predict"
    )
    row = served.example_row()
    answer = {"predictions": served.classes[:1] or [0.5]}
    error = {
        "error": {"kind": "wrong_value", "message": "...", "where": {"row": 0, "column": "..."}}
    }
    shares = (
        "<p>With <code>?probabilities=true</code> the share of each class is added.</p>"
        if served.has_probabilities
        else ""
    )
    body = f"""\
<header><h1>{_text(served.name)}: requests</h1>
<p class="lead">{_text(document["info"]["description"])}</p></header>
<main>
<section aria-labelledby="predict">
<h2 id="predict"><span class="method">POST</span><code>/predict</code></h2>
<p>Rows as JSON objects by name, or as lists in the order of the columns:</p>
<pre>{_text(_shortened_json({"rows": [row]}))}</pre>
<pre>{_text(_shortened_json({"rows": [list(row.values())]}))}</pre>
<p>As <code>text/csv</code>, with a header:</p>
<pre>{_text(csv_example(row))}</pre>
<p>Or as <code>application/vnd.apache.arrow.stream</code>, not compressed. The answer is JSON, or
what <code>Accept</code> asks for of these three:</p>
<pre>{_text(json.dumps(answer))}</pre>
{shares}
<pre>{_text(curl_example(served))}</pre>
</section>
<section aria-labelledby="columns"><h2 id="columns">Columns</h2>
<div class="wide"><table><thead><tr><th>name</th><th>kind</th><th>what it takes</th></tr></thead>
<tbody>{columns}</tbody></table></div></section>
<section aria-labelledby="refusals"><h2 id="refusals">Refusals</h2>
<pre>{_text(json.dumps(error))}</pre>
<div class="wide"><table><thead><tr><th>status</th><th>meaning</th></tr></thead>
<tbody>{refusals}</tbody></table></div></section>
<section aria-labelledby="others"><h2 id="others">Other requests</h2>{others}</section>
</main>
<footer><nav><a href="./">Try it</a><a href="openapi.json">OpenAPI</a></nav></footer>"""
    return _page(f"{served.name}: requests", body)


def page_policy(text: str) -> str:
    """The content security policy of a page: its own script and style, nothing from elsewhere."""
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
    """A request as a command; the address is that of a service with the defaults."""
    body = _shortened_json({"rows": [served.example_row()]}).replace("'", "'\\''")
    return (
        "curl -H 'Content-Type: application/json' \\\n"
        f"     -d '{body}' \\\n"
        "     http://127.0.0.1:8000/predict"
    )


def _page(title: str, body: str) -> str:
    return _PAGE.format(title=_text(title), style=theme_css() + _asset("page.css"), body=body)


def _asset(name: str) -> str:
    return (
        resources.files("orfeon.workbench.serve")
        .joinpath("assets", name)
        .read_text(encoding="utf-8")
    )


def _text(text: object) -> str:
    return html.escape(str(text).encode("utf-8", "replace").decode())


def _script_json(value: Any) -> str:
    """JSON that ends no script, whatever names a model has."""
    text = json.dumps(value)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _shortened_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _lead(served: ServedModel) -> str:
    target = "" if served.preparation is None else f"{served.preparation.target}, "
    if served.task == "regression":
        return f"Predicts {target}a number."
    classes = [str(label) for label in served.classes[:_MOST_CLASSES]]
    more = len(served.classes) - len(classes)
    listed = ", ".join(classes) + (f" and {more} more" if more > 0 else "")
    return f"Predicts {target}one of {listed}."


def _facts(served: ServedModel) -> str:
    about = served.facts
    facts = [
        ("model", about.get("model", type(served.model).__name__)),
        ("columns", len(served.columns)),
        ("members", f"{served.n_members:,}" if served.n_members > 1 else None),
        ("nodes", f"{about['n_nodes']:,}" if about.get("n_nodes") else None),
        (
            "early decision",
            _early_text(served.early_decision),
        ),
    ]
    return "".join(
        f"<div><dt>{_text(name)}</dt><dd>{_text(value)}</dd></div>"
        for name, value in facts
        if value is not None
    )


def _early_text(confidence: float | None) -> str | None:
    if confidence is None:
        return None
    return "exact" if confidence == 1 else f"confidence {confidence:g}"


def _allowed(facts: dict[str, Any]) -> str:
    if facts["kind"] == "number":
        return "a finite number, or null"
    if facts["kind"] == "date":
        return f"a date as {facts['written']}, or null"
    if facts["kind"] == "category":
        names = [str(category) for category in facts["categories"][:_MOST_CLASSES]]
        more = len(facts["categories"]) - len(names)
        return ", ".join(names) + (f" and {more} more" if more > 0 else "") + ", or null"
    return "a number, a word, true, false or null"
