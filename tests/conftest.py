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
from threadpoolctl import threadpool_limits

from orfeon.datasets import make_friedman1, make_waveform

# The same cases in every run, so that a change is judged by what it changes; with
# HYPOTHESIS_PROFILE=search they are drawn anew. A busy machine must not fail a test: no deadline.
settings.register_profile("fixed", derandomize=True, max_examples=25, deadline=None)
settings.register_profile("thorough", derandomize=True, max_examples=100, deadline=None)
settings.register_profile("search", derandomize=False, max_examples=100, deadline=None)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of a longer run."""
    text = "run the slow tests too, with every setting of every estimator and four times the cases"
    parser.addoption("--thorough", action="store_true", help=text)


def pytest_configure(config: pytest.Config) -> None:
    """Make the option known to the modules of tests, which are imported after this."""
    # One thread for BLAS and OpenMP: with small tables, more mostly wait for each other. Workers
    # and child processes inherit it; libraries that are loaded already have to be limited, too.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    threadpool_limits(int(os.environ["OMP_NUM_THREADS"]))
    shared.thorough = config.getoption("--thorough")
    profile = "thorough" if shared.thorough else "fixed"
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", profile))
    config.addinivalue_line(
        "markers",
        "tools: tests of benchmarks, pages, browsers, servers, clusters and other processes",
    )
    config.addinivalue_line("markers", "thorough: slow tests, run with --thorough")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import modules of which no test would be run: importing all takes seconds."""
    asked = config.option.markexpr
    if asked not in ("", "tools") or not collection_path.name.startswith("test_"):
        return None
    text = collection_path.read_text(encoding="utf-8")
    if asked == "tools":
        fixtures = collection_path.with_name("conftest.py")  # its fixtures may be marked
        text += fixtures.read_text(encoding="utf-8") if fixtures.exists() else ""
        return True if "pytest.mark.tools" not in text else None
    is_tool = "\npytestmark = pytest.mark.tools\n" in text
    return True if is_tool and not _is_named(collection_path, _named(config)) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests of tools unless ``-m`` or their path asks for them, and slow tests."""
    named = _named(config)

    def is_left_out(item: pytest.Item) -> bool:
        if item.get_closest_marker("thorough") and not shared.thorough:
            return True
        is_tool = item.get_closest_marker("tools") is not None
        return is_tool and not config.option.markexpr and not _is_named(item.path, named)

    left_out = {item for item in items if is_left_out(item)}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


def _named(config: pytest.Config) -> set[Path]:
    """The paths given to pytest."""
    return {config.invocation_params.dir / arg.partition("::")[0] for arg in config.args}


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
