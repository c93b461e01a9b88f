"""Which differences are significant: the tests of the source, made again on our splits.

A test agrees with the published one when its verdict is the same: better, alike or worse at the
level of the source. P-values depend on the number of splits. With fewer than published, a
difference that is not significant is not comparable with one that is; with fewer than ten, nothing
is.

The source has paired two-tailed t-tests over the splits. Splits of one file share their samples,
which such a test does not know: the test corrected for this (Nadeau and Bengio) is given too.
Synthetic problems are drawn afresh for each split, so that nothing is to be corrected there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from orfeon.utils.text import aligned
from orfeon.workbench.reproduction.comparison import Report, verdict_text
from orfeon.workbench.reproduction.published import (
    ERROR,
    PublishedCell,
    PublishedTest,
    config_text,
    published_sizes,
    published_tests,
)
from orfeon.workbench.reproduction.splits import is_synthetic

if TYPE_CHECKING:
    from orfeon.workbench.reproduction.reproduction import Reproduction


#: Level of the tests of significance, that of the source.
LEVEL = 0.005
_SENTENCE = (
    "A test agrees when its verdict at {level:g} is the published one. With fewer splits than "
    "published, a difference that is not significant is not comparable with one that is; with "
    "fewer than ten, nothing is."
)
_FEWEST = 10


@dataclass(frozen=True)
class Significance:
    """A test of a method against another on the same splits."""

    dataset: str
    method: str
    config: str
    rival: str
    difference: float
    p_value: float
    corrected_p_value: float
    n_splits: int
    level: float
    published_p_value: float | None
    published_difference: float
    rival_config: str = ""
    n_published_splits: int = 0
    is_reduced: bool = False

    def verdict(self, p_value: float, difference: float | None = None) -> str:
        """What a p-value means for the method."""
        if p_value > self.level:
            return "alike"
        its = self.difference if difference is None else difference
        return "better" if its < 0 else "worse"

    @property
    def agrees(self) -> bool | None:
        """Whether the verdict is the published one; None where the two are not comparable."""
        if self.published_p_value is None or self.is_reduced or self.n_splits < _FEWEST:
            return None
        ours = self.verdict(self.p_value)
        if ours == self.published_verdict:
            return True
        return None if ours == "alike" and self.n_splits < self.n_published_splits else False

    @property
    def published_verdict(self) -> str:
        """What the published p-value means for the method."""
        assert self.published_p_value is not None
        return self.verdict(self.published_p_value, self.published_difference)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON."""
        return asdict(self) | {
            "verdict": self.verdict(self.p_value),
            "corrected_verdict": self.verdict(self.corrected_p_value),
            "agrees": self.agrees,
        }


def significance_tests(
    found: Reproduction, rivals: Sequence[str], level: float
) -> list[Significance]:
    """Test the methods of a table against some of them."""
    if not rivals:
        return []
    printed = {
        (test.dataset, test.method, test.config, test.rival): test.p_value
        for test in published_tests(found.protocol.source)
    }
    return [
        _test(
            found, cell, other, level,
            printed.get((cell.dataset, cell.method, config_text(cell.config), rival)),
        )
        for rival in rivals
        for cell, other in found.pairs(rival)
        if cell.metric == ERROR
    ]  # fmt: skip


def published_again(found: Reproduction, level: float = LEVEL) -> list[Significance]:
    """The tests of a table of p-values, of those methods that were run."""
    places = {
        (cell.dataset, cell.method, config_text(cell.config)): cell
        for cell in found.cells
        if cell.metric == ERROR and len(found.values(cell)) > 1
    }
    tests = []
    for printed in published_tests(found.protocol.table):
        cell = places.get((printed.dataset, printed.method, printed.config))
        rival = _rival(places, printed)
        if cell is not None and rival is not None:
            tests.append(_test(found, cell, rival, level, printed.p_value))
    return tests


def _rival(
    places: Mapping[tuple[str, str, str], PublishedCell], test: PublishedTest
) -> PublishedCell | None:
    """The cell that is tested against: of the given settings, the same ones, or the only one."""
    its = {
        place[2]: cell for place, cell in places.items() if place[:2] == (test.dataset, test.rival)
    }
    if test.rival_config is not None:
        return its.get(test.rival_config)
    same = its.get(test.config)
    return next(iter(its.values())) if same is None and len(its) == 1 else same


def report_tests(found: Reproduction) -> Report:
    """Report a table of p-values."""
    tests = published_again(found)
    if not tests:
        return Report("No p-values: at least two splits of both methods are needed.", ())
    lines = [
        ["dataset", "method", "config", "versus", "splits", "difference", "p", "corrected",
         "published p", "verdict", "published", ""]
    ]  # fmt: skip
    for test in tests:
        versus = f"{test.rival} {test.rival_config if test.rival_config != test.config else ''}"
        lines.append(
            [test.dataset, test.method, test.config, versus.strip(), str(test.n_splits),
             *_figures(test)]
        )  # fmt: skip
    compared = [test for test in tests if test.agrees is not None]
    n_agreeing = sum(bool(test.agrees) for test in compared)
    parts = [f"{n_agreeing} of {len(compared)} verdicts agree."] * bool(compared)
    if len(compared) < len(tests):
        parts.append(f"{len(tests) - len(compared)} are not comparable.")
    text = (
        f"Paired two-tailed t-tests (corrected: for splits that share samples):\n"
        f"{aligned(lines, to_the_right={4, 5, 6, 7, 8})}\n\n"
        f"{_SENTENCE.format(level=LEVEL)}\n{' '.join(parts)}"
    )
    return Report(text, tuple(test.to_dict() for test in tests))


def _figures(test: Significance) -> list[str]:
    """The columns of a test that has a published p-value."""
    return [
        f"{test.difference:+.2f}", f"{test.p_value:.2g}", f"{test.corrected_p_value:.2g}",
        f"{test.published_p_value:g}", test.verdict(test.p_value), test.published_verdict,
        verdict_text(test.agrees),
    ]  # fmt: skip


def _test(
    found: Reproduction,
    cell: PublishedCell,
    rival: PublishedCell,
    level: float,
    published_p_value: float | None,
) -> Significance:
    from orfeon.statistics import corrected_resampled_t_test, paired_t_test

    ours, theirs = found.values(cell), found.values(rival)
    splits = sorted(ours.keys() & theirs.keys())
    first, second = [ours[split] for split in splits], [theirs[split] for split in splits]
    plain = paired_t_test(first, second)
    corrected = plain
    if not is_synthetic(cell.dataset):
        n_train, n_test = published_sizes(cell.table)[cell.dataset]
        corrected = corrected_resampled_t_test(first, second, n_train=n_train, n_test=n_test)
    return Significance(
        cell.dataset, cell.method, config_text(cell.config), rival.method, plain.mean_difference,
        plain.p_value, corrected.p_value, len(splits), level,
        published_p_value, cell.value - rival.value, config_text(rival.config), cell.n_splits,
        not (found.is_comparable(cell) and found.is_comparable(rival)),
    )  # fmt: skip


def significance_text(tests: Sequence[Significance]) -> str:
    """A summary of all tests."""
    rivals = dict.fromkeys(test.rival for test in tests)
    return "\n\n".join(_against(rival, [t for t in tests if t.rival == rival]) for rival in rivals)


def _against(rival: str, tests: Sequence[Significance]) -> str:
    title = (
        f"Paired two-tailed t-tests against {rival}, significant at {tests[0].level:g} "
        "(corrected: for splits that share samples):"
    )
    printed = [test for test in tests if test.published_p_value is not None]
    return f"{title}\n{_p_values(printed) if printed else _counts(tests)}"


def _p_values(tests: Sequence[Significance]) -> str:
    lines = [
        ["dataset", "method", "config", "difference", "p", "corrected", "published p", "verdict",
         "published", ""]
    ]  # fmt: skip
    lines += [[test.dataset, test.method, test.config, *_figures(test)] for test in tests]
    first = 3
    if not any(test.config for test in tests):
        lines, first = [line[:2] + line[3:] for line in lines], 2
    compared = [test for test in tests if test.agrees is not None]
    n_agreeing = sum(bool(test.agrees) for test in compared)
    rest = f" {len(tests) - len(compared)} are not comparable." * (len(compared) < len(tests))
    return (
        f"{aligned(lines, to_the_right=set(range(first, first + 4)))}\n"
        f"{n_agreeing} of {len(compared)} verdicts match the published ones.{rest}"
    )


def _counts(tests: Sequence[Significance]) -> str:
    places = dict.fromkeys((test.method, test.config) for test in tests)
    lines = [["method", "config", "better", "alike", "worse", "corrected"]]
    for method, config in places:
        its = [test for test in tests if (test.method, test.config) == (method, config)]
        plain = Counter(test.verdict(test.p_value) for test in its)
        corrected = Counter(test.verdict(test.corrected_p_value) for test in its)
        lines.append(
            [method, config, *(str(plain[word]) for word in ("better", "alike", "worse")),
             "/".join(str(corrected[word]) for word in ("better", "alike", "worse"))]
        )  # fmt: skip
    n_datasets = len({test.dataset for test in tests})
    return f"Number of data sets, of {n_datasets}:\n{aligned(lines, to_the_right={2, 3, 4, 5})}"
