"""Protocols of published tables: which methods, with which settings, on which splits.

They are read from the TOML files in ``tables``. Nothing is tuned to a cell: the settings are those
that the text gives, the same for all problems.
"""

from __future__ import annotations

import importlib
import inspect
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

import orfeon
from orfeon.errors import UserError
from orfeon.workbench.reproduction.conclusions import COMPARISONS, CONCLUSIONS
from orfeon.workbench.reproduction.measures import MEASURES, Timed
from orfeon.workbench.reproduction.published import (
    PublishedCell,
    config_text,
    published_cells,
    read_config,
)
from orfeon.workbench.reproduction.results import Cell, Results
from orfeon.workbench.reproduction.rules import KINDS, POINTS, Rule
from orfeon.workbench.reproduction.significance import report_tests
from orfeon.workbench.reproduction.splits import (
    DESIGNS,
    DRAWN_BY,
    SYNTHETIC,
    Design,
    Partition,
)
from orfeon.workbench.reproduction.study import Variant, quick_run
from orfeon.workbench.reproduction.table_files import pick, read_settings, reject, table_names
from orfeon.workbench.reproduction.win_table import report_records

if TYPE_CHECKING:
    from orfeon.workbench.reproduction.comparison import Comparison, Report
    from orfeon.workbench.reproduction.reproduction import Reproduction

#: Reports that are not a table of comparisons.
REPORTS: dict[str, Callable[[Reproduction], Report]] = {
    "records of wins": report_records,
    "p-values": report_tests,
}
AS_PUBLISHED = Variant()
#: Placeholders in the settings of an estimator.
_PLACES = ("$members", "$seed", "$jobs", "$none")
#: Where the network of published tables is.
_NETWORK = "orfeon.workbench.reproduction.network"


@dataclass(frozen=True)
class Build:
    """Makes an estimator from the number of members, the seed and the number of threads."""

    table: str
    key: str
    settings: Mapping[str, Any] = field(hash=False)

    def __post_init__(self) -> None:
        self._check(self.settings, self.key)

    def __call__(self, members: int, random_state: int, n_jobs: int | None) -> Any:
        places = dict(zip(_PLACES, (members, random_state, n_jobs, None), strict=True))
        return self._estimator(self.settings, self.key, places)

    def _check(self, value: Any, key: str) -> None:
        """Reject classes of other packages; scikit-learn's are imported when they are needed."""
        if isinstance(value, list):
            for item in value:
                self._check(item, key)
        if isinstance(value, Mapping):
            package, _, name = str(value.get("class", "")).rpartition(".")
            if package == "orfeon":
                pick(self.table, f"{key}.class", name, orfeon.__all__)
            elif package != _NETWORK and not package.startswith("sklearn."):
                must_be = "must be orfeon.NAME or sklearn.PACKAGE.NAME"
                reject(self.table, f"{key}.class", f"{must_be}; got {value.get('class')!r}")
            for name, part in value.items():
                self._check(part, f"{key}.{name}")

    def _estimator(self, settings: Mapping[str, Any], key: str, places: Mapping[str, Any]) -> Any:
        package, _, name = settings["class"].rpartition(".")
        try:
            kind = getattr(importlib.import_module(package), name)
        except (ImportError, AttributeError) as error:
            reject(self.table, f"{key}.class", f"cannot be imported: {error}")
        given = {}
        for name, value in settings.items():
            if name != "class":
                pick(self.table, f"{key}.{name}", name, inspect.signature(kind).parameters)
                make = partial(self._estimator, key=f"{key}.{name}", places=places)
                given[name] = _filled(value, places, make)
        return kind(**given)


def _filled(
    value: Any, places: Mapping[str, Any], make: Callable[..., Any], *, is_inner: bool = False
) -> Any:
    """A value of a TOML file as an estimator takes it."""
    if isinstance(value, Mapping):
        return make(value)
    if isinstance(value, list):
        items = [_filled(item, places, make, is_inner=True) for item in value]
        # Steps and members are lists of pairs; all other arrays are tuples.
        has_pairs = any(isinstance(item, list) for item in value) and not is_inner
        return items if has_pairs else tuple(items)
    return places[value] if isinstance(value, str) and value in places else value


@dataclass(frozen=True)
class TimedBuild(Build):
    """Makes an estimator that is fitted only to see how long it takes."""

    def __call__(self, members: int, random_state: int, n_jobs: int | None) -> Any:
        return Timed(partial(super().__call__, members, random_state, n_jobs))


@dataclass(frozen=True)
class Run:
    """One fit, which fills one cell or several, of one table or several.

    Parameters
    ----------
    name : str
        What is fitted.
    cells : tuple of Cell
        The cells that it fills.
    members : int
        Number of members that are trained.
    build : callable
        Makes the estimator from ``members``, ``random_state`` and ``n_jobs``.
    measure : callable
        Gives the results of the cells from the fitted estimator and the split.
    expected_warning : str, optional
        Pattern of a warning that the published settings are known to cause.
    on_request : bool, default=False
        Whether it is so slow that it is only run when its method is named.
    pool_setting : str, default="initial_size"
        The setting with the number of members that a cell needs, where it is about the first ones.
    drawn : mapping of str to str, optional
        Settings of its cells that change how samples are drawn.

    Examples
    --------
    >>> from orfeon.workbench import PROTOCOLS
    >>> [(run.name, run.members) for run in PROTOCOLS["martinez-3.2"].runs]
    [('cart', 1), ('igp_tree', 1)]
    """

    name: str
    cells: tuple[Cell, ...]
    members: int
    build: Callable[[int, int, int | None], Any]
    measure: Callable[[Any, Partition], Results]
    expected_warning: str | None = None
    on_request: bool = False
    pool_setting: str = "initial_size"
    drawn: Mapping[str, str] = field(default_factory=dict, hash=False)

    def is_whole(self, cell: Cell, whole: Run) -> bool:
        """Whether a cell has the members that it has in the whole run."""
        pool = read_config(cell.config).get(self.pool_setting)
        return self.members >= (whole.members if pool is None else int(pool))

    def at_most(self, members: int) -> Run:
        """The same run with fewer members.

        Parameters
        ----------
        members : int
            Largest number of members.

        Returns
        -------
        Run
            Without the cells of pools that are larger than that.

        Examples
        --------
        >>> from orfeon.workbench import PROTOCOLS
        >>> (run,) = PROTOCOLS["martinez-5.4"].runs
        >>> len(run.cells), run.members, len(run.at_most(100).cells), run.at_most(100).members
        (33, 1000, 12, 100)
        """
        members = min(members, self.members)
        settings = [read_config(cell.config) for cell in self.cells]
        pools = [int(found.get(self.pool_setting, 1)) for found in settings]
        cells = [cell for cell, pool in zip(self.cells, pools, strict=True) if pool <= members]
        return replace(self, members=members, cells=tuple(cells))


@dataclass(frozen=True)
class Protocol:
    """How a published table was made, read from its TOML file.

    Parameters
    ----------
    table : str
        The table.
    settings : mapping
        The content of its TOML file.
    design : Design
        How training and test sets are drawn.
    runs : tuple of Run
        The fits that fill its cells.
    family : str
        The table whose seeds are used: tables that share their fits share their seeds.
    alias : str, optional
        Another name of the table.
    quick_runs : tuple of Run, optional
        The fits of a quick run, where fewer members do not make it quick; their names differ.

    Examples
    --------
    >>> from orfeon.workbench import PROTOCOLS
    >>> PROTOCOLS["martinez-3.2"].design.files["german"]
    'german_numeric'
    """

    table: str
    settings: Mapping[str, Any] = field(hash=False, repr=False)
    design: Design
    runs: tuple[Run, ...]
    family: str
    alias: str = ""
    quick_runs: tuple[Run, ...] = ()

    @property
    def source(self) -> str:
        """The table whose cells are run: its own, or the one that it follows from."""
        return str(self.settings.get("follows_from", self.table))

    @property
    def title(self) -> str:
        """A short title of the table."""
        return str(self.settings["title"])

    @property
    def is_timed(self) -> bool:
        """Whether it reports seconds: then nothing else runs at the same time."""
        return bool(self.settings.get("timed", False))

    @property
    def quick_datasets(self) -> tuple[str, ...]:
        """The data sets of a quick run that names none; all if empty."""
        return tuple(self.settings.get("quick_datasets", ()))

    @property
    def quick_note(self) -> str:
        """How quick runs differ from full ones."""
        return str(self.settings.get("quick_note", ""))

    @property
    def rivals(self) -> tuple[str, ...]:
        """The methods that the others are tested against."""
        return tuple(self.settings.get("tested_against", ()))

    @property
    def conclude(self) -> Callable[[Reproduction], str] | None:
        """Gives the text about all cells together."""
        return CONCLUSIONS.get(self.settings.get("conclusions", ""))

    @property
    def compare(self) -> Callable[[Reproduction], list[Comparison]] | None:
        """Gives the comparisons, where they are not of the cells one by one."""
        return COMPARISONS.get(self.settings.get("comparisons", ""))

    @property
    def report(self) -> Callable[[Reproduction], Report] | None:
        """Gives the report, where it is not a table of comparisons."""
        return REPORTS.get(self.settings.get("report", ""))

    @cached_property
    def _rules(self) -> list[tuple[Mapping[str, Any], Rule]]:
        entries = enumerate(self.settings.get("rules", []), start=1)
        return [(entry, _rule(self.table, number, entry)) for number, entry in entries]

    def rule(self, cell: PublishedCell) -> Rule:
        """The rule by which a cell agrees: the first one that fits, or that of errors."""
        for entry, rule in self._rules:
            metrics = entry.get("metric", cell.metric)
            is_metric = cell.metric in ([metrics] if isinstance(metrics, str) else metrics)
            if is_metric and entry.get("config", text := config_text(cell.config)) == text:
                return rule
        return POINTS

    @property
    def on_request(self) -> frozenset[str]:
        """The methods that are only run when they are named."""
        return frozenset(
            cell.method
            for run in self.runs
            for cell in run.cells
            if run.on_request and cell.table == self.source
        )

    def random_state(self, split: int) -> int:
        """Seed of all fits on a split.

        Parameters
        ----------
        split : int
            Number of the split.

        Returns
        -------
        int
            The same for every method.

        Examples
        --------
        >>> from orfeon.workbench import PROTOCOLS
        >>> protocol = PROTOCOLS["martinez-3.2"]
        >>> protocol.random_state(0) == protocol.random_state(1)
        False
        """
        seed = zlib.crc32(self.family.encode())
        words = np.random.SeedSequence([seed, split])
        return int(words.generate_state(1)[0] >> 1)


def read_protocol(
    table: str,
    settings: Mapping[str, Any],
    known: Mapping[str, Protocol] | None = None,
    variant: Variant = AS_PUBLISHED,
) -> Protocol:
    """The protocol of a table from the content of its TOML file."""
    _check_names(table, settings)
    other = settings.get("follows_from") or settings.get("like")
    like = None if other is None else (known or PROTOCOLS)[other]
    source = settings.get("follows_from", table)
    quick: tuple[Run, ...] = ()
    if "study" in settings:
        runs = tuple(_study_runs(table, settings, variant))
        quick = tuple(quick_run(run, settings["study"]) for run in runs)
    elif "runs" in settings:
        entries = enumerate(settings["runs"], start=1)
        runs = tuple(run for entry in entries for run in _runs(table, *entry, settings))
    else:
        assert like is not None
        runs = tuple(run for run in like.runs if any(cell.table == source for cell in run.cells))
    design = Design(**settings["design"])
    family = source if like is None else like.family
    protocol = Protocol(table, settings, design, runs, family, settings.get("alias", ""), quick)
    protocol._rules  # noqa: B018 - a mistake in them is found now, not after the runs
    return protocol


def _check_names(table: str, settings: Mapping[str, Any]) -> None:
    """Reject unknown names, and missing settings that a name requires."""
    design = settings["design"]
    pick(table, "design.kind", design["kind"], DESIGNS)
    pick(table, "design.synthetic", design.get("synthetic", SYNTHETIC[0]), SYNTHETIC)
    for name in design.get("drawn_by", ()):
        pick(table, "design.drawn_by", name, DRAWN_BY)
    registries: dict[str, Collection[str]] = {
        "conclusions": CONCLUSIONS, "comparisons": COMPARISONS, "report": REPORTS,
    }  # fmt: skip
    for key, known in registries.items():
        if key in settings:
            pick(table, key, settings[key], known)
    needed = ["reference"] if "comparisons" in settings else []
    needed += ["note", "main"] if settings.get("conclusions") == "models" else []
    for key in needed:
        if key not in settings:
            reject(table, key, "is missing")


def _runs(
    table: str,
    number: int,
    entry: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> list[Run]:
    """The fits of one part ``runs``: one, or one for each variant."""
    where = f"runs[{number}]"
    pick(table, f"{where}.measure", entry["measure"], MEASURES)
    methods = entry.get("methods") or [entry.get("method", "")]
    tables = entry.get("tables", [table])
    for name in tables:
        pick(table, f"{where}.tables", name, table_names())
    published = [cell for name in tables for cell in published_cells(name)]
    for method in methods:
        pick(table, f"{where}.method", method, {cell.method: None for cell in published})
    places = dict.fromkeys(
        Cell(cell.table, cell.method, config_text(cell.config))
        for cell in published
        if cell.method in methods
    )
    for config in entry.get("configs", ()):
        pick(table, f"{where}.configs", config, {cell.config: None for cell in places})
    if "configs" in entry:
        places = {cell: None for cell in places if cell.config in entry["configs"]}
    name = entry.get("name", methods[0])
    found = []
    for config, changes in (entry.get("variants") or {None: {}}).items():
        cells = tuple(cell for cell in places if config is None or cell.config == config)
        if not cells:
            reject(table, f"{where}.variants", f"{config!r} is not a config of {methods[0]}")
        found.append(
            Run(
                name if config is None else f"{name} {config}",
                cells,
                entry.get("members", 1),
                _build(table, where, entry, changes),
                partial(MEASURES[entry["measure"]], cells=cells, **entry.get("options", {})),
                entry.get("expected_warning"),
                entry.get("on_request", False),
                entry.get("pool_setting", "initial_size"),
                _drawn(table, where, cells, settings["design"].get("drawn_by", ())),
            )
        )
    return found


def _study_runs(table: str, settings: Mapping[str, Any], variant: Variant) -> Iterator[Run]:
    for number, entry in enumerate(settings["runs"], start=1):
        if "original" in entry:
            Build(table, f"runs[{number}].original", entry["original"])  # checked in all forms
        for run in _runs(table, number, variant.entry(entry), settings):
            yield from variant.runs(run, entry, settings["study"])


def _drawn(table: str, where: str, cells: Sequence[Cell], names: Sequence[str]) -> dict[str, str]:
    """The settings that change how samples are drawn, the same for all cells of a run."""
    found = [
        {name: read_config(cell.config)[name] for name in names if name in read_config(cell.config)}
        for cell in cells
    ]
    if any(other != found[0] for other in found):
        reject(table, where, f"must fill cells of one {' and '.join(names)} only")
    return found[0]


def _build(table: str, where: str, entry: Mapping[str, Any], changes: Mapping[str, Any]) -> Build:
    key, estimator = f"{where}.estimator", {**entry["estimator"], **changes}
    kind = TimedBuild if entry["measure"] == "seconds to fit" else Build
    return kind(table, key, estimator)


def _rule(table: str, number: int, entry: Mapping[str, Any]) -> Rule:
    where = f"rules[{number}]"
    kind = KINDS[pick(table, f"{where}.kind", entry["kind"], KINDS)]
    given = {
        name: value for name, value in entry.items() if name not in ("kind", "metric", "config")
    }
    known = {part.name: part for part in fields(kind)}
    for name in given:
        pick(table, f"{where}.{name}", name, known)
    for name in known:
        if name not in given and name != "decimals":
            reject(table, f"{where}.{name}", "is missing")
    rule: Rule = kind(**given)
    return rule


def _read_all() -> dict[str, Protocol]:
    """Tables that others are like come first; the result is in the order of the chapters."""
    settings = {table: read_settings(table) for table in table_names()}
    found: dict[str, Protocol] = {}

    def read(table: str) -> None:
        other = settings[table].get("follows_from") or settings[table].get("like")
        if other is not None and other not in found:
            read(other)
        if table not in found:
            found[table] = read_protocol(table, settings[table], found)

    for table in settings:
        read(table)
    return {table: found[table] for table in settings}


#: The tables that can be reproduced, by name.
PROTOCOLS = _read_all()


def find_protocol(name: str, variant: Variant = AS_PUBLISHED) -> Protocol:
    """The protocol of a table, in one of its forms."""
    for protocol in PROTOCOLS.values():
        if name in (protocol.table, protocol.alias):
            return protocol if variant == AS_PUBLISHED else _formed(protocol.table, variant)
    raise UserError(f"table must be one of {', '.join(PROTOCOLS)}, got {name!r}")


@cache
def _formed(table: str, variant: Variant) -> Protocol:
    if "study" not in PROTOCOLS[table].settings:
        studies = [name for name, known in PROTOCOLS.items() if "study" in known.settings]
        raise UserError(
            f"models, settings, n_samples and folds can be chosen for {', '.join(studies)} only, "
            f"got table {table!r}"
        )
    return read_protocol(table, PROTOCOLS[table].settings, variant=variant)


def list_tables() -> list[str]:
    """Names of the tables that can be reproduced.

    Returns
    -------
    list of str
        By author, in the order of the chapters.

    Examples
    --------
    >>> from orfeon.workbench import list_tables
    >>> list_tables()[:4]
    ['cantador-6.1.1', 'cantador-6.3.1', 'cantador-6.3.2', 'cantador-6.3.3']
    """
    return list(PROTOCOLS)
