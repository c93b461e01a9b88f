"""The performance page, written from what the suites measured.

``python -m benchmarks page --from FOLDER --write FILE`` reads every ``*.jsonl`` file of a folder.
Only the sentences about each suite are written by hand.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import accuracy_page
from benchmarks.report import seconds_text

RESULTS, PAGE = Path("benchmarks/results"), Path("docs/performance.md")
RATIOS, TARGETS = "performance_ratios.png", "performance_targets.png"
Record = Mapping[str, Any]

#: Suites in the order of the page: a title, and what is measured.
FAMILIES = {
    "trees": ("Trees", "Growing, pruning and prediction by the engine, on one thread."),
    "ensembles": ("Ensembles", "`fit`, `predict` and memory of whole ensembles, on one thread."),
    "tables": (
        "Real tables",
        "Categories, missing values, few values: `fit` and `predict` on one thread.",
    ),
    "accuracy": (
        "Accuracy of boosting",
        "Gradient boosting by the defaults of each library, on the same five folds of every table. "
        "Only judged tables decide. They took no part in choosing orfeon's defaults, but two of "
        "them, titanic and berkeley, revealed a fault: on rows that repeat each other early "
        "stopping failed. Figures are over all tables (sizes are tables x libraries): "
        "p-values of Holm's procedure on mean ranks (1 where orfeon is behind), geometric means of "
        "orfeon's loss over that of the other, and of the processor time of the other over "
        "orfeon's.",
    ),
    "boosting-defaults": (
        "Defaults of boosting",
        "Settings tried on the development tables (sizes are tables x settings): the geometric "
        "mean of the loss over the lowest of each table, and how much worse each value of a "
        "setting is than the best value.",
    ),
    "boosting": ("Boosting", "A whole `fit`, with the same number of rounds on both sides."),
    "calibration": (
        "Probabilities",
        "Log loss of ensembles on five folds of real tables (at most 1,000 rows each; sizes are "
        "rows x tables): geometric means of the ratio to scikit-learn's calibration of the same "
        "ensemble, which trains it five times, by the better of its two methods on each table; and "
        "processor times of all fits.",
    ),
    "ordering": (
        "Ordering and pruning",
        "From a matrix of votes (sizes are members x samples) to the order and its error curve; "
        "then what prediction costs before and after pruning.",
    ),
    "sizes": ("Automatic size", "How many members to keep, measured on new splits."),
    "perceptrons": ("Parallel perceptrons", "Training, selection of samples, and boosting."),
    "inspection": ("Inspection and combining", "Diversity, maps, rules of combination, stacks."),
    "coverage": (
        "Intervals and sets",
        "How often prediction intervals and sets hold the truth, and how wide they are.",
    ),
    "explanations": (
        "Explanations",
        "Shapley values against the package shap, partial dependence against prediction at every "
        "point; sizes are rows x features.",
    ),
    "automl": (
        "Studies against AutoML",
        "`orfeon study` and AutoML systems with the same time and two threads: a quarter of each "
        "table (sizes are rows x features) is predicted by the model that each delivers, chosen by "
        "log loss, or squared error for numbers. Figures over all tables (sizes are splits of "
        "tables x systems) compare mean ranks and losses.",
    ),
    "files": ("Model files", "Saving and loading, against joblib."),
    "exports": ("ONNX", "Rows on which onnxruntime and orfeon predict differently, and its time."),
    "serving": ("Service", "`orfeon serve` under load on the loopback address."),
    "start": ("First use", "A fresh process, kernels compiled or not yet."),
    "studies": ("Studies", "What a study adds to its fits, and how long a first one takes."),
    "scale": (
        "Unusual sizes",
        "Trees, forests and boosting on many rows, classes or features, in fresh processes.",
    ),
}
_INTRODUCTION = """# Performance

Written by `python -m benchmarks page` from the measurements in `benchmarks/results`; not edited by
hand.

Speed is reported as a ratio to a peer that does the same work in the same run. Contenders take
turns, so a busy moment of the machine affects all of them, and the median of the rounds counts.
*Spread* is the range of the rounds as a share of their median, the larger of the two. A dagger (†)
marks lines during which other programs used the processor. Test errors and further figures are in
the JSON lines. Targets are fixed in the suites; those that are missed stay on the page.
"""
_BUSY = "the machine was busy"
_MANY_NOTES = 20


def read_results(folder: Path) -> list[dict[str, Any]]:
    """All measurements of a folder, by suite in the order of the page."""
    records: list[dict[str, Any]] = []
    for path in sorted(folder.glob("*.jsonl")):
        lines = path.read_text(encoding="utf-8").splitlines()
        records += [{"suite": path.stem, "command": "", **json.loads(line)} for line in lines]
    if not records:
        raise SystemExit(f"--from {folder}: no measurements are there; python -m benchmarks all")
    places = {name: place for place, name in enumerate(FAMILIES)}
    return sorted(records, key=lambda record: places.get(record["suite"], len(places)))


def digest(records: Iterable[Record]) -> str:
    """A word that changes with what was measured; pictures carry it.

    Examples
    --------
    >>> digest([{"case": "a", "figure": 1.0}]) != digest([{"case": "a", "figure": 1.1}])
    True
    """
    text = json.dumps([dict(record) for record in records], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def room(record: Record) -> float | None:
    """How far inside its target a figure is: 2 is twice as good as required, below 1 is a miss.

    Examples
    --------
    >>> room({"target": ">= 12x", "figure": 18.0}), room({"target": "<= 50%", "figure": 0.4})
    (1.5, 1.25)
    >>> round(room({"target": "0.8-1.25", "figure": 1.0}), 2)
    1.25
    """
    if record["target"] is None:
        return None
    numbers = [float(text) for text in re.findall(r"\d+\.?\d*(?:e[+-]?\d+)?", record["target"])]
    if "%" in record["target"]:
        numbers = [number / 100 for number in numbers]
    figure = record["figure"]
    if figure <= 0 or min(numbers) <= 0:
        return None
    if record["target"].startswith(">="):
        return float(figure / numbers[0])
    if record["target"].startswith("<="):
        return float(numbers[0] / figure)
    return float(min(figure / numbers[0], numbers[1] / figure))


def figure_text(record: Record) -> str:
    """The figure with its unit.

    Examples
    --------
    >>> figure_text({"figure": 14.03, "unit": "x"}), figure_text({"figure": 0.4, "unit": "share"})
    ('14x', '40%')
    """
    figure, unit = record["figure"], record["unit"]
    number = f"{figure:,.0f}" if abs(figure) >= 1000 else f"{figure:.3g}"
    if unit == "share":
        return f"{100 * figure:.4g}%"
    return number + {"x": "x", "ratio": ""}.get(unit, f" {unit}")


def is_busy(record: Record) -> bool:
    """Whether other programs used the processor during the measurement."""
    return any(_BUSY in note for note in record["notes"])


def _row(record: Record) -> str:
    # A single round has no spread.
    spreads = [spread for spread in (record["spread"], record["peer_spread"]) if spread]
    verdict = {None: "", True: "met", False: "**missed**"}[record["ok"]]
    cells = (
        record["case"] + (" †" if is_busy(record) else ""),
        f"{record['n']:,} x {record['d']:,}",
        record["peer"] or "",
        seconds_text(record["seconds"]).replace("us", "µs").removesuffix("-"),
        seconds_text(record["peer_seconds"]).replace("us", "µs").removesuffix("-"),
        f"{max(spreads):.0%}" if spreads else "",
        figure_text(record),
        (record["target"] or "").replace(">=", "at least").replace("<=", "at most"),
        verdict,
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _notes(records: Sequence[Record]) -> list[str]:
    """Notes, and the lines that they apply to; omissions are counted."""
    holders: dict[str, list[Record]] = {}
    for record in records:
        for note in dict.fromkeys(record["notes"]):
            is_its_own = note.startswith(record["case"].split(",")[0])
            if _BUSY not in note and (record["ok"] is False or not is_its_own):
                holders.setdefault(note, []).append(record)
    # With many notes, those of one or two lines are left to the JSON lines.
    least = 1 if len(holders) <= _MANY_NOTES else 3
    lines, n_left_out = [], 0
    for note, held in holders.items():
        if len(held) < least and not any(record["ok"] is False for record in held):
            n_left_out += 1
            continue
        part = f" ({len(held)} of {len(records)} lines)" if len(held) < len(records) else ""
        lines.append(f"- {note}{part}")
    if n_left_out:
        lines.append(f"- {n_left_out} more notes, of one or two lines each, are in the JSON lines.")
    return lines


def _where(records: Sequence[Record]) -> str:
    """When, at which commit and on what some measurements were made."""
    dates = sorted(record["date"] for record in records)
    first, last = (date[:16].replace("T", " ") for date in (dates[0], dates[-1]))
    until = f" to {last[11:] if last[:10] == first[:10] else last}" if last != first else ""
    machines = {
        "{processor}, {cores} cores, {system}".format(**record["machine"]) for record in records
    }
    commits = sorted({record.get("commit", "unknown") for record in records})
    return f"{first}{until} UTC, commit {', '.join(commits)}, {'; '.join(sorted(machines))}"


def family(suite: str, records: Sequence[Record]) -> str:
    """The section of a suite."""
    title, question = FAMILIES.get(suite, (suite.replace("_", " ").capitalize(), ""))
    hurried = any(record["quick"] for record in records)
    lines = [f"## {title}", "", question, ""]
    lines += ["This is the **quick form**: less work, rougher figures.", ""] if hurried else []
    lines += [f"{_where(records)}:", ""]
    commands = dict.fromkeys(record["command"] for record in records if record["command"])
    lines += ["```bash", *commands, "```", ""] if commands else []
    if suite == "accuracy":
        lines += accuracy_page.tables(records)
        records = [record for record in records if not accuracy_page.is_of_one_table(record)]
    lines += ["| case | size | against | orfeon | peer | spread | measured | target | |"]
    lines += ["|---|---|---|---|---|---|---|---|---|", *map(_row, records), ""]
    notes = _notes(records)
    return "\n".join([*lines, *notes, *([""] if notes else [])])


def _summary(records: Sequence[Record]) -> str:
    judged = [record for record in records if record["ok"] is not None]
    missed = [record for record in judged if not record["ok"]]
    lines = ["## At a glance", "", f"{len(judged) - len(missed)} of {len(judged)} targets are met."]
    if missed:
        lines += ["", "Missed:", ""]
        for record in missed:
            title = FAMILIES.get(record["suite"], (record["suite"], ""))[0]
            peer = f" against {record['peer']}" if record["peer"] else ""
            busy = " (the machine was busy)" if is_busy(record) else ""
            lines.append(
                f"- {title}, {record['case']}{peer}: {figure_text(record)}, "
                f"target {record['target']}{busy}"
            )
    lines.append("")
    for name, alternative in pictures(records).items():
        lines += [f"![{alternative}](images/{name})", ""]
    return "\n".join(lines)


def pictures(records: Sequence[Record]) -> dict[str, str]:
    """The pictures for which there are measurements."""
    from benchmarks.page_pictures import compared

    shown = {}
    if compared(records):
        shown[RATIOS] = "How many times as fast as other libraries orfeon is, case by case"
    if any(room(record) is not None for record in records):
        shown[TARGETS] = "How far inside or outside its target each figure is"
    return shown


def _versions(records: Sequence[Record]) -> str:
    used = dict.fromkeys(tuple(record["versions"].items()) for record in records)
    lines = ["- " + ", ".join(f"{name} {version}" for name, version in one) for one in used]
    return "\n".join(["## Versions", "", *lines, ""])


_REPEAT = """## How to repeat it

On a machine that does nothing else, in a checkout with the peers installed:

```bash
pip install -e '.[test,bench]'
python -m benchmarks all --minutes 25 --out benchmarks/results
python -m benchmarks page --from benchmarks/results --write docs/performance.md
```

`python -m benchmarks SUITE` runs one suite in full, `--case TEXT` some of its cases, `--quick` less
work with the same code, and `--strict` fails on a missed target. A peer that is not installed is
left out and named.
"""


def page(records: Sequence[Record]) -> str:
    """The whole page."""
    suites = dict.fromkeys(record["suite"] for record in records)
    sections = [
        family(suite, [record for record in records if record["suite"] == suite])
        for suite in suites
    ]
    parts = [_INTRODUCTION, _summary(records), *sections, _versions(records), _REPEAT]
    return "\n".join(part.rstrip() + "\n" for part in parts)


def write_page(results: Path, path: Path) -> int:
    """Write the page and its pictures."""
    from benchmarks.page_pictures import draw_ratios, draw_targets

    records = read_results(results)
    images = path.parent / "images"
    images.mkdir(parents=True, exist_ok=True)
    wanted = pictures(records)
    for name, draw in ((RATIOS, draw_ratios), (TARGETS, draw_targets)):
        if name in wanted:
            draw(records, images / name)
        else:
            (images / name).unlink(missing_ok=True)
    path.write_text(page(records), encoding="utf-8")
    print(f"{path} is written from {len(records)} measurements.")
    return 0
