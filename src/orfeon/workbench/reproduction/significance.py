"""Which differences are significant: the tests of the source, made again on our splits.

The source has paired two-tailed t-tests over the splits. Splits of one file share their samples,
which such a test does not know: the test corrected for this (Nadeau and Bengio) is given too.
Synthetic problems are drawn afresh for each split, so that nothing is to be corrected there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from orfeon.utils.text import aligned
from orfeon.workbench.reproduction.published import (
    PublishedCell,
    config_text,
    published_p_values,
    published_sizes,
)
from orfeon.workbench.reproduction.splits import is_synthetic

if TYPE_CHECKING:
    from orfeon.workbench.reproduction.reproduction import Reproduction


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

    def verdict(self, p_value: float, difference: float | None = None) -> str:
        """What a p-value means for the method."""
        if p_value > self.level:
            return "alike"
        its = self.difference if difference is None else difference
        return "better" if its < 0 else "worse"

    @property
    def agrees(self) -> bool | None:
        """Whether the verdict is the published one; None where none is printed."""
        if self.published_p_value is None:
            return None
        published = self.verdict(self.published_p_value, self.published_difference)
        return self.verdict(self.p_value) == published

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
    return [
        _test(found, cell, other, level) for rival in rivals for cell, other in found.pairs(rival)
    ]


def _test(
    found: Reproduction, cell: PublishedCell, rival: PublishedCell, level: float
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
        published_p_values(cell.table).get(cell.dataset), cell.value - rival.value,
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
        ["dataset", "method", "difference", "p", "corrected", "published p", "verdict",
         "published", ""]
    ]  # fmt: skip
    for test in tests:
        assert test.published_p_value is not None
        lines.append(
            [test.dataset, test.method, f"{test.difference:+.2f}", f"{test.p_value:.2g}",
             f"{test.corrected_p_value:.2g}", f"{test.published_p_value:g}",
             test.verdict(test.p_value),
             test.verdict(test.published_p_value, test.published_difference),
             "" if test.agrees else "DIFFERS"]
        )  # fmt: skip
    n_agreeing = sum(bool(test.agrees) for test in tests)
    return (
        f"{aligned(lines, to_the_right={2, 5})}\n"
        f"{n_agreeing} of {len(tests)} verdicts match the published ones."
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
