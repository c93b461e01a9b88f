"""What gradient boosting needs of its parameters and its features to take sparse rows."""

from __future__ import annotations

from orfeon.boosting.gradient_parameters import GradientParameters
from orfeon.data.schema import Schema


def sparse_obstacle(parameters: GradientParameters) -> tuple[str, str] | None:
    """The parameter that needs dense data and what to give instead; None if there is none."""
    if parameters.tree_method == "exact":
        return 'tree_method="exact"', 'tree_method="histogram"'
    if parameters.tree_shape == "symmetric":
        return 'tree_shape="symmetric"', 'tree_shape="free"'
    if parameters.multi_strategy == "multi_output_tree":
        return 'multi_strategy="multi_output_tree"', 'multi_strategy="auto"'
    if parameters.order == 1:
        return "order=1", "order=2"
    return None


def check_trains_sparse(parameters: GradientParameters) -> None:
    """Reject parameters that need dense data."""
    obstacle = sparse_obstacle(parameters)
    if obstacle is not None:
        raise TypeError(
            f"Sparse data was passed for X, but {obstacle[0]} needs dense data; give "
            f"{obstacle[1]}, or use X.toarray()."
        )


def check_routes_sparse(schema: Schema) -> None:
    """Reject sparse rows where features are categories."""
    if not schema.all_ordered:
        raise TypeError(
            "Sparse data was passed for X, but the model was trained on categories; pass the "
            "features as they were trained on, or use X.toarray()."
        )
