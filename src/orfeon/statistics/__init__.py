"""Statistics of comparisons: tests of two methods and of many, ranks, records and their picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orfeon.utils.lazy import lazy_names

#: Public names and the modules they live in; imported on first use.
_HOMES = {
    "ControlComparison": "holm_correction",
    "CriticalDifferenceDisplay": "critical_difference_display",
    "FiveByTwoTest": "five_by_two",
    "FriedmanTest": "friedman",
    "HolmCorrection": "holm_correction",
    "McNemarTest": "mcnemar",
    "NemenyiTest": "rank_differences",
    "PairedTTest": "t_tests",
    "SignTest": "sign_record",
    "WilcoxonTest": "signed_ranks",
    "WinDrawLoss": "win_records",
    "average_ranks": "friedman",
    "compare_with_control": "holm_correction",
    "corrected_resampled_t_test": "t_tests",
    "critical_difference": "rank_differences",
    "five_by_two_cv_test": "five_by_two",
    "friedman_test": "friedman",
    "holm": "holm_correction",
    "mcnemar_test": "mcnemar",
    "nemenyi": "rank_differences",
    "paired_t_test": "t_tests",
    "sign_test": "sign_record",
    "wilcoxon_test": "signed_ranks",
    "win_draw_loss": "win_records",
}

if TYPE_CHECKING:
    from orfeon.statistics.critical_difference_display import CriticalDifferenceDisplay
    from orfeon.statistics.five_by_two import FiveByTwoTest, five_by_two_cv_test
    from orfeon.statistics.friedman import FriedmanTest, average_ranks, friedman_test
    from orfeon.statistics.holm_correction import (
        ControlComparison,
        HolmCorrection,
        compare_with_control,
        holm,
    )
    from orfeon.statistics.mcnemar import McNemarTest, mcnemar_test
    from orfeon.statistics.rank_differences import NemenyiTest, critical_difference, nemenyi
    from orfeon.statistics.sign_record import SignTest, sign_test
    from orfeon.statistics.signed_ranks import WilcoxonTest, wilcoxon_test
    from orfeon.statistics.t_tests import (
        PairedTTest,
        corrected_resampled_t_test,
        paired_t_test,
    )
    from orfeon.statistics.win_records import WinDrawLoss, win_draw_loss

__all__ = [
    "ControlComparison",
    "CriticalDifferenceDisplay",
    "FiveByTwoTest",
    "FriedmanTest",
    "HolmCorrection",
    "McNemarTest",
    "NemenyiTest",
    "PairedTTest",
    "SignTest",
    "WilcoxonTest",
    "WinDrawLoss",
    "average_ranks",
    "compare_with_control",
    "corrected_resampled_t_test",
    "critical_difference",
    "five_by_two_cv_test",
    "friedman_test",
    "holm",
    "mcnemar_test",
    "nemenyi",
    "paired_t_test",
    "sign_test",
    "wilcoxon_test",
    "win_draw_loss",
]

__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
