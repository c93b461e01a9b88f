"""What a run of the tests consists of, and data that many tests grow trees from."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import settings
from tests import shared, warming

from orfeon.datasets import make_friedman1, make_waveform

# The same cases in every run, so that a change is judged by what it changes; with
# HYPOTHESIS_PROFILE=search they are drawn anew.
settings.register_profile("fixed", derandomize=True)
settings.register_profile("search", derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of a longer run."""
    text = "run scikit-learn's checks and the extremes with all settings, not with the defaults"
    parser.addoption("--thorough", action="store_true", help=text)


def pytest_configure(config: pytest.Config) -> None:
    """Make the option known to the modules of tests, which are imported after this."""
    shared.thorough = config.getoption("--thorough")
    config.addinivalue_line("markers", "tools: tests of benchmarks, pages, browsers and servers")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of tools, unless ``-m`` or the name of their file asks for them."""
    if config.option.markexpr:
        return
    named = {config.invocation_params.dir / arg.partition("::")[0] for arg in config.args}
    tools = {i for i in items if i.get_closest_marker("tools") and not _is_named(i.path, named)}
    config.hook.pytest_deselected(items=list(tools))
    items[:] = [item for item in items if item not in tools]


def _is_named(path: Path, named: set[Path]) -> bool:
    """Whether a file, or a folder in the folder of tests, was given to pytest."""
    tests = Path(__file__).parent
    return any(one == path or (one in path.parents and tests in one.parents) for one in named)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of a parallel run whether kernels are to be compiled: all act alike."""
    node.workerinput["cold"] = warming.is_cold()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Compile the kernels of a long run once, not once per worker."""
    # What was collected stays: the garbage collector need not look at it again and again.
    gc.collect()
    gc.freeze()
    worker = _worker(session)
    if worker.get("cold") and len(session.items) >= warming.LONG_RUN:
        warming.warm_up_together(_number(worker), worker["workercount"], worker["testrunuid"])


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Leave nothing of the warm-up behind."""
    worker = _worker(session)
    if worker.get("cold"):
        warming.leave(_number(worker), worker["testrunuid"])


def _worker(session: pytest.Session) -> dict[str, Any]:
    """What a worker of a parallel run was told; nothing in a run of one process."""
    return getattr(session.config, "workerinput", {})


def _number(worker: dict[str, Any]) -> int:
    return int(worker["workerid"].removeprefix("gw"))


Problem = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]


@pytest.fixture(scope="session")
def waveform() -> Problem:
    """The classic 300 samples of 21 features and 3 classes; read-only."""
    return _frozen(*make_waveform(300, random_state=0))


@pytest.fixture(scope="session")
def friedman() -> Problem:
    """200 samples of a regression problem; read-only."""
    return _frozen(*make_friedman1(200, random_state=0))


def _frozen(*arrays: npt.NDArray[np.generic]) -> Problem:
    for array in arrays:
        array.setflags(write=False)
    return arrays  # type: ignore[return-value]
