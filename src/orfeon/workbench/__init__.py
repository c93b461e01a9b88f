"""The workbench: compare methods on data, reproduce published tables, store, report and serve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orfeon.utils.lazy import lazy_names

#: Public names and the modules they live in; imported on first use.
_HOMES = {
    "METHODS": "experiment.methods",
    "PROTOCOLS": "reproduction.protocols",
    "Comparison": "reproduction.comparison",
    "NothingToRunError": "reproduction.plan",
    "Report": "study",
    "Reproduction": "reproduction.reproduction",
    "Study": "study",
    "StudyOutcome": "experiment.outcome",
    "list_tables": "reproduction.protocols",
    "reproduce": "reproduction.running",
    "run_study": "experiment.run",
}
_PACKAGES = ("prepare", "report", "reproduction", "serve", "store", "tasks")

if TYPE_CHECKING:
    from orfeon.workbench import prepare as prepare
    from orfeon.workbench import report as report
    from orfeon.workbench import reproduction as reproduction
    from orfeon.workbench import serve as serve
    from orfeon.workbench import store as store
    from orfeon.workbench import tasks as tasks
    from orfeon.workbench.experiment.methods import METHODS
    from orfeon.workbench.experiment.outcome import StudyOutcome
    from orfeon.workbench.experiment.run import run_study
    from orfeon.workbench.reproduction.comparison import Comparison
    from orfeon.workbench.reproduction.plan import NothingToRunError
    from orfeon.workbench.reproduction.protocols import PROTOCOLS, list_tables
    from orfeon.workbench.reproduction.reproduction import Reproduction
    from orfeon.workbench.reproduction.running import reproduce
    from orfeon.workbench.study import Report, Study

__all__ = [
    "METHODS",
    "PROTOCOLS",
    "Comparison",
    "NothingToRunError",
    "Report",
    "Reproduction",
    "Study",
    "StudyOutcome",
    "list_tables",
    "reproduce",
    "run_study",
]

__getattr__ = lazy_names(__name__, _HOMES, _PACKAGES)


def __dir__() -> list[str]:
    return sorted([*__all__, *_PACKAGES])
