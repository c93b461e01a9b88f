"""Studies: compare methods on data, reproduce published tables, test, store and report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orfeon._lazy import lazy_names

#: Public names and the modules they live in; imported on first use.
_HOMES = {
    "METHODS": "workbench.methods",
    "PROTOCOLS": "reproducing.protocols",
    "Comparison": "reproducing.comparison",
    "NothingToRunError": "reproducing.plan",
    "Reproduction": "reproducing.reproduction",
    "StudyOutcome": "workbench.outcome",
    "list_tables": "reproducing.protocols",
    "reproduce": "reproducing.running",
    "run_study": "workbench.studying",
}
_PACKAGES = ("cluster", "preparation", "report", "reproducing", "statistics", "store")

if TYPE_CHECKING:
    from orfeon.study import cluster as cluster
    from orfeon.study import preparation as preparation
    from orfeon.study import report as report
    from orfeon.study import reproducing as reproducing
    from orfeon.study import statistics as statistics
    from orfeon.study import store as store
    from orfeon.study.reproducing.comparison import Comparison
    from orfeon.study.reproducing.plan import NothingToRunError
    from orfeon.study.reproducing.protocols import PROTOCOLS, list_tables
    from orfeon.study.reproducing.reproduction import Reproduction
    from orfeon.study.reproducing.running import reproduce
    from orfeon.study.workbench.methods import METHODS
    from orfeon.study.workbench.outcome import StudyOutcome
    from orfeon.study.workbench.studying import run_study

__all__ = [
    "METHODS",
    "PROTOCOLS",
    "Comparison",
    "NothingToRunError",
    "Reproduction",
    "StudyOutcome",
    "list_tables",
    "reproduce",
    "run_study",
]

__getattr__ = lazy_names(__name__, _HOMES, _PACKAGES)


def __dir__() -> list[str]:
    return sorted([*__all__, *_PACKAGES])
