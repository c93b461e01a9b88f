"""The model files that mutants are made of: those of the corpora, and some made here.

Those made here hold what no corpus has: generators that predictions draw from, dates, and parts
saved by skops. They are made of scikit-learn's estimators, so that no kernel is compiled for them.
"""

from __future__ import annotations

import importlib.util
import json
import re
import tempfile
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tests.io.corpus.releases import models, releases
from tests.io.mutations import Opened, opened, signed
from tests.io.zips import Part, zipped

import orfeon
from orfeon.io import read_model, save
from orfeon.io.archive import open_archive
from orfeon.io.model_file import encode_model


class Specimen(NamedTuple):
    """A saved model, and what is needed to make mutants of it quickly."""

    name: str
    data: bytes
    rows: Any
    parts: list[Part]
    text: str
    arrays: tuple[bytes, ...]
    foreign: tuple[bytes, ...]
    saved: bytes

    def open(self) -> Opened:
        """Its parts, to be changed."""
        return Opened(json.loads(self.text), list(self.arrays), list(self.foreign))


def specimens() -> list[Specimen]:
    """The models of all corpora."""
    return [
        specimen(one.name, one.path, one.rows) for folder in releases() for one in models(folder)
    ]


def specimen(name: str, path: Path, rows: Any) -> Specimen:
    data, content = path.read_bytes(), opened(path.read_bytes())
    with open_archive(str(path)) as archive:
        places = sorted(archive._places.items(), key=lambda item: item[1])
        parts = [Part(member.encode(), bytes(archive.contents(member))) for member, _ in places]
    return Specimen(
        name, data, rows, parts, json.dumps(content.content), tuple(content.arrays),
        tuple(content.foreign), encode_model(*read_model(path))[0],
    )  # fmt: skip


def made_specimens() -> list[Specimen]:
    """The models that are made here; those with parts saved by skops where it is installed."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 4))
    made = {**_drawing(X), **_prepared(X)}
    if importlib.util.find_spec("skops") is not None:
        made |= _foreign(X)
    found = []
    with tempfile.TemporaryDirectory(prefix="orfeon-specimens-") as folder:
        for name, (model, options) in made.items():
            path = Path(folder) / f"{name}.orfeon"
            save(model, path, **options)
            _without_addresses(path)
            rows = MIXED_ROWS if name == "prepared" else X[:4]
            found.append(specimen(f"made/{name}", path, rows))
    return found


Made = dict[str, tuple[Any, dict[str, Any]]]


def _labels(X: Any) -> Any:
    return np.array(["high", "low", "middle"])[np.argsort(X[:, 0]) % 3]


def _drawing(X: Any) -> Made:
    """Models whose predictions draw from a generator that is saved with them."""
    from sklearn.dummy import DummyClassifier
    from sklearn.ensemble import VotingClassifier
    from sklearn.pipeline import make_pipeline

    def dummy(state: Any, strategy: str = "stratified") -> Any:
        return DummyClassifier(strategy=strategy, random_state=state)

    y = _labels(X)
    state = np.random.RandomState
    vote = VotingClassifier([("one", dummy(state(1))), ("other", dummy(state(2)))])
    return {
        "drawn": (dummy(state(0)).fit(X, y), {}),
        "drawn_evenly": (dummy(state(np.random.Philox(0)), "uniform").fit(X, y), {}),
        "vote_of_drawn": (vote.fit(X, y), {}),
        "pipeline_of_drawn": (make_pipeline("passthrough", dummy(state(0))).fit(X, y), {}),
    }


#: A preparation of tables with a column of each kind.
PREPARATION = {
    "version": 1,
    "target": {"name": "target", "task": "classification", "classes": ["high", "low", "middle"]},
    "columns": [
        {"name": "first", "kind": "number", "levels": [], "has_other": False,
         "date_format": None, "parts": []},
        {"name": "letter", "kind": "category", "levels": ["a", "b", "(other)"], "has_other": True,
         "date_format": None, "parts": []},
        {"name": "second", "kind": "date", "levels": [], "has_other": False,
         "date_format": "%d/%m/%Y", "parts": ["days", "month"]},
    ],
}  # fmt: skip
MIXED_ROWS = np.array(
    [[0.5, "a", "29/02/2024", 1], [None, "c", "01/03/2024", 2], [1.5, None, None, 3],
     [-1.0, "b", "31/12/1999", 4]], dtype=object,
)  # fmt: skip
#: What ``orfeon fit`` writes beside a model.
ABOUT = {
    "method": "random-forest", "settings": {"max_depth": 3}, "seed": 0, "data": "rows", "rows": 24,
    "task": "classification", "target": "target", "seconds": 0.25,
    "training": {"error": 0.25, "oob_error": 0.5}, "made": "2026-01-01T00:00:00+00:00",
}  # fmt: skip


def _prepared(X: Any) -> Made:
    """A model with all that commands write beside one."""
    from sklearn.dummy import DummyClassifier

    model = DummyClassifier().fit(X, _labels(X))
    return {"prepared": (model, {"preparation": PREPARATION, "about": ABOUT})}


def _foreign(X: Any) -> Made:
    """Models with parts that skops saves: neighbours, a network with its generator, others."""
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
    from sklearn.linear_model import SGDClassifier
    from sklearn.naive_bayes import BernoulliNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler, PowerTransformer

    y = _labels(X)
    near = KNeighborsClassifier(3, algorithm="brute", metric="chebyshev")
    network = MLPClassifier((3,), solver="lbfgs", random_state=np.random.RandomState(0))
    fitted: Made = {
        "foreign_neighbours": (orfeon.BaggingClassifier(near, 1, random_state=0), {}),
        "foreign_network": (make_pipeline(PowerTransformer(), network), {}),
        "foreign_bayes": (make_pipeline(MaxAbsScaler(), BernoulliNB()), {}),
        "foreign_alone": (QuadraticDiscriminantAnalysis(reg_param=0.5), {}),
        "foreign_linear": (SGDClassifier(loss="log_loss", random_state=0), {}),
    }
    for model, _ in fitted.values():
        model.fit(X, y)
    return fitted


_ADDRESS = re.compile(rb"\d{11,}")


def _without_addresses(path: Path) -> None:
    """Number what skops names by its address in memory, so that every run has the same file."""
    content = opened(path.read_bytes())
    for at, data in enumerate(content.foreign):
        known: dict[bytes, bytes] = {}

        def number(found: re.Match[bytes], known: dict[bytes, bytes] = known) -> bytes:
            return known.setdefault(found[0], b"%d" % (100 + len(known)))

        members = skops_members(data)
        schema = _ADDRESS.sub(number, members.pop("schema.json"))
        renamed = {_ADDRESS.sub(number, name.encode()).decode(): members[name] for name in members}
        content.foreign[at] = skops_file({"schema.json": schema, **renamed})
    path.write_bytes(signed(content))


def skops_members(data: bytes) -> dict[str, bytes]:
    import io

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def skops_file(members: dict[str, bytes]) -> bytes:
    return zipped([Part(name.encode(), held) for name, held in sorted(members.items())])
