"""Data: synthetic problems with their Bayes rules and errors, files, data sets by name."""

from orfeon.datasets._problem import (
    BayesErrorEstimate,
    ClassificationProblem,
    Problem,
    RegressionProblem,
)
from orfeon.datasets.files import read_file
from orfeon.datasets.folder import (
    FOLDER_VARIABLE,
    DataSet,
    data_file,
    has_data_file,
    read_data,
)
from orfeon.datasets.friedman import (
    Friedman1,
    Friedman2,
    Friedman3,
    make_friedman1,
    make_friedman2,
    make_friedman3,
)
from orfeon.datasets.gaussian import (
    GaussianClouds,
    RingNorm,
    ThreeClouds,
    ThreeNorm,
    TwoNorm,
    make_gaussian_clouds,
    make_ringnorm,
    make_three_clouds,
    make_threenorm,
    make_twonorm,
)
from orfeon.datasets.geometric import (
    Circle,
    Diagonal,
    NestedSpheres,
    make_circle,
    make_diagonal,
    make_nested_spheres,
)
from orfeon.datasets.named import (
    DatasetInfo,
    find_data,
    list_datasets,
    list_problems,
    load_dataset,
    problem,
)
from orfeon.datasets.waveform import Waveform, make_waveform
from orfeon.utils.lazy import lazy_names

__all__ = [
    "FOLDER_VARIABLE",
    "BayesErrorEstimate",
    "Circle",
    "ClassificationProblem",
    "DataSet",
    "DatasetInfo",
    "Diagonal",
    "Friedman1",
    "Friedman2",
    "Friedman3",
    "GaussianClouds",
    "NestedSpheres",
    "Problem",
    "RegressionProblem",
    "RingNorm",
    "ThreeClouds",
    "ThreeNorm",
    "TwoNorm",
    "Waveform",
    "data_file",
    "find_data",
    "has_data_file",
    "list_datasets",
    "list_problems",
    "load_dataset",
    "make_circle",
    "make_diagonal",
    "make_friedman1",
    "make_friedman2",
    "make_friedman3",
    "make_gaussian_clouds",
    "make_nested_spheres",
    "make_ringnorm",
    "make_three_clouds",
    "make_threenorm",
    "make_twonorm",
    "make_waveform",
    "problem",
    "read_data",
    "read_file",
]

__getattr__ = lazy_names(__name__, {}, moved={"load": "orfeon.datasets.load_dataset"})


def __dir__() -> list[str]:
    return sorted(__all__)
