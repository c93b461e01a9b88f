"""Save and load models: ``save()``, ``load()``, ``read_model()``."""

from __future__ import annotations

import hashlib
import os
import platform
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from orfeon.io import limits
from orfeon.io.archive import Archive, Member, open_archive, write_archive
from orfeon.io.arrays import Layout, entry_bytes
from orfeon.io.budget import check_budget
from orfeon.io.decoding import Decoder
from orfeon.io.document import NAME, plain_json, read_document, write_document
from orfeon.io.encoding import Encoder
from orfeon.io.errors import ForeignPartsError, ModelFileError

Path = str | os.PathLike[str]


class ModelContent(NamedTuple):
    """The contents of a model file.

    Parameters
    ----------
    model : estimator
        The model.
    preparation : dict or None
        How to prepare raw tables for the model, as passed to :func:`save`.
    about : object
        What else was saved, as plain JSON values.

    Examples
    --------
    >>> import os, tempfile
    >>> from orfeon import StumpClassifier, save
    >>> from orfeon.io import read_model
    >>> stump = StumpClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.orfeon")
    ...     save(stump, path, about={"data": "two points"})
    ...     found = read_model(path)
    >>> found.model, found.preparation, found.about
    (StumpClassifier(), None, {'data': 'two points'})
    """

    model: Any
    preparation: dict[str, Any] | None
    about: Any


def save(model: Any, path: Path, *, preparation: Any = None, about: Any = None) -> None:
    """Save a model to a file, without pickle.

    Parameters
    ----------
    model : estimator
        Fitted or not. Inner scikit-learn estimators that orfeon does not know need the package
        skops.
    path : str or path
        The file, by convention ``*.orfeon``. An existing file is replaced once the new one is
        completely on disk; if saving fails, it stays as it was.
    preparation : object with ``to_dict()``, dict or None, default=None
        How to prepare raw tables for the model.
    about : object, default=None
        Anything to store with the model: scores, dates, names. Plain JSON values; numbers that are
        not finite become None.

    See Also
    --------
    load : Load the model.

    Notes
    -----
    Equal models give equal files, byte for byte. The loaded model predicts the same as the saved
    one, bit for bit. The sample weights of boosting are not saved, so ``warm_start=True`` cannot
    continue a loaded booster; other ensembles can be continued.

    Examples
    --------
    >>> import orfeon, os, tempfile
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> bag = orfeon.BaggingClassifier(n_estimators=50, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.orfeon")
    ...     orfeon.save(bag, path, about={"data": "waveform"})
    ...     loaded = orfeon.load(path)
    >>> (loaded.predict_proba(X) == bag.predict_proba(X)).all()
    np.True_
    """
    document, members = encode_model(model, preparation, about)
    write_archive(os.fspath(path), [Member(NAME, [document]), *members])


def encode_model(
    model: Any, preparation: Any = None, about: Any = None
) -> tuple[bytes, list[Member]]:
    """The document that :func:`save` writes, and the other members."""
    if not _is_model(model):
        raise ModelFileError(
            f"model={str(model)[:200]} is not an estimator, so it cannot be saved."
        )
    encoder = Encoder()
    root = encoder.encode(model)
    layouts = [Layout.of(array) for array in encoder.arrays]
    entries = [entry_bytes(*pair) for pair in zip(encoder.arrays, layouts, strict=True)]
    _check_limits(encoder)
    if hasattr(preparation, "to_dict"):
        preparation = preparation.to_dict()
    content = {
        "about": plain_json(about, "about"),
        "arrays": [
            [*layout.to_json(), hashlib.sha256(data).hexdigest()]
            for layout, data in zip(layouts, entries, strict=True)
        ],
        "foreign": [hashlib.sha256(data).hexdigest() for data in encoder.foreign],
        "made_by": _versions(),
        "model": root,
        "objects": encoder.objects,
        "preparation": plain_json(preparation, "preparation"),
    }
    members = [
        Member(_array_name(at), [layout.header(), data])
        for at, (layout, data) in enumerate(zip(layouts, entries, strict=True))
    ]
    members += [Member(_foreign_name(at), [data]) for at, data in enumerate(encoder.foreign)]
    return write_document(content), members


def _check_limits(encoder: Encoder) -> None:
    """Reject a model that could not be loaded."""
    n_members = len(encoder.arrays) + len(encoder.foreign)
    held = sum(array.nbytes for array in encoder.arrays)
    what = ""
    if n_members >= limits.MAX_MEMBERS:
        what = f"it has {n_members} arrays and foreign estimators"
    elif len(encoder.objects) > limits.MAX_OBJECTS:
        what = f"it has {len(encoder.objects)} objects"
    elif encoder.n_bytes_used > limits.MAX_USES * held + limits.FREE_USES:
        what = "too many of its objects share its arrays"
    if what:
        raise ModelFileError(f"the model cannot be saved: {what}.")
    try:
        foreign = [len(data) for data in encoder.foreign]
        arrays = [array.nbytes for array in encoder.arrays]
        check_budget(encoder.objects, arrays, foreign, held + sum(foreign))
    except ModelFileError as error:
        raise ModelFileError(f"the model cannot be saved: {error}") from error


def load(path: Path, *, memory_map: bool = False, foreign: bool = True) -> Any:
    """Load a model from a file that :func:`save` wrote.

    The file contains no code, and everything is checked before it is used: truncated, changed and
    malicious files are rejected.

    Parameters
    ----------
    path : str or path
        The file.
    memory_map : bool, default=False
        Whether arrays stay in the file, so that several processes share one copy. The file must
        then not be changed in place; saving another model under its name is safe.
    foreign : bool, default=True
        Whether to accept estimators of other packages, saved by skops, which loads only types that
        it trusts. False rejects files that contain any.

    Returns
    -------
    estimator
        The model.

    Raises
    ------
    ModelFileError
        If it is not a model file, was changed, or was saved by a newer orfeon.

    Examples
    --------
    >>> import orfeon, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "stump.orfeon")
    ...     orfeon.save(orfeon.StumpClassifier().fit([[0.0], [1.0]], ["no", "yes"]), path)
    ...     orfeon.load(path).predict([[0.9]])
    array(['yes'], dtype='<U3')
    """
    return read_model(path, memory_map=memory_map, foreign=foreign).model


def read_model(path: Path, *, memory_map: bool = False, foreign: bool = True) -> ModelContent:
    """Load the whole content of a model file.

    Parameters
    ----------
    path : str or path
        The file.
    memory_map, foreign : bool
        As in :func:`load`.

    Returns
    -------
    ModelContent
        The model, the preparation of its data as a dict, and ``about``.

    Examples
    --------
    >>> import orfeon, os, tempfile
    >>> from orfeon.io import read_model
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "tree.orfeon")
    ...     orfeon.save(orfeon.CARTRegressor(), path, about={"error": 0.25})
    ...     model, preparation, about = read_model(path)
    >>> model, preparation, about
    (CARTRegressor(), None, {'error': 0.25})
    """
    return read_parts(path, memory_map=memory_map, foreign=foreign).saved


class Parts(NamedTuple):
    """A model file after reading: its document, all objects (the model last) and its size."""

    content: dict[str, Any]
    objects: list[Any]
    n_bytes: int

    @property
    def saved(self) -> ModelContent:
        return ModelContent(self.objects[-1], self.content["preparation"], self.content["about"])


def read_parts(path: Path, *, memory_map: bool = False, foreign: bool = True) -> Parts:
    """Read and check a model file, and build its objects."""
    with open_archive(os.fspath(path), memory_map=memory_map) as archive:
        content = read_document(archive.contents(NAME))
        if content["foreign"] and not foreign:
            raise ForeignPartsError(
                "it holds an estimator saved by skops; pass foreign=True to load it."
            )
        arrays, foreign_parts = _read_arrays(archive, content), _foreign_bytes(archive, content)
        check_budget(
            content["objects"],
            [array.nbytes for array in arrays],
            [len(data) for data in foreign_parts],
            archive.n_bytes,
        )
        decoder = Decoder(arrays, _read_foreign(foreign_parts), archive.n_bytes)
        try:
            objects = decoder.read_objects(content["objects"])
            model = decoder.decode(content["model"])
        except ModelFileError as error:
            raise ModelFileError(f"{error}{_hint(content)}") from error
        if not _is_model(model):
            raise ModelFileError("it does not hold a model.")
        return Parts(
            content, [*(one for one in objects if one is not model), model], archive.n_bytes
        )


def _is_model(model: Any) -> bool:
    """Whether it is an estimator, or another object of ours that predicts, such as a forest."""
    is_ours = type(model).__module__.startswith("orfeon.") and hasattr(model, "predict")
    return not isinstance(model, type) and (is_ours or hasattr(model, "get_params"))


def _read_arrays(archive: Archive, content: dict[str, Any]) -> list[npt.NDArray[Any]]:
    """The arrays of a file; raises if a digest differs."""
    listed = content["arrays"]
    n_foreign = len(content["foreign"]) if type(content["foreign"]) is list else 0
    if type(listed) is not list or len(archive.names) != 1 + len(listed) + n_foreign:
        raise ModelFileError("its description lists another number of members.")
    arrays = []
    for at, one in enumerate(listed):
        if type(one) is not list or len(one) != 4:
            raise ModelFileError(
                "the description of an array must be its dtype, shape, order and digest."
            )
        layout = Layout.from_json(one[:3])
        name, header = _array_name(at), layout.header()
        data = archive.contents(name)
        if len(data) != len(header) + layout.n_bytes or data[: len(header)] != header:
            raise ModelFileError(f"its member {name} is not the array in its description.")
        entries = data[len(header) :]
        _check_digest(entries, one[3], name)
        arrays.append(layout.view(entries))
    return arrays


def _foreign_bytes(archive: Archive, content: dict[str, Any]) -> list[memoryview]:
    """The members written by skops; raises if a digest differs."""
    listed = content["foreign"]
    if type(listed) is not list:
        raise ModelFileError("its foreign estimators must be a list.")
    members = [archive.contents(_foreign_name(at)) for at in range(len(listed))]
    for at, digest in enumerate(listed):
        _check_digest(members[at], digest, _foreign_name(at))
    return members


def _read_foreign(members: list[memoryview]) -> list[Any]:
    if not members:
        return []
    from orfeon.io.foreign import load_foreign

    return [load_foreign(bytes(data)) for data in members]


def _check_digest(data: memoryview, digest: Any, name: str) -> None:
    if hashlib.sha256(data).hexdigest() != digest:
        raise ModelFileError(f"its member {name} was changed (the digest differs).")


def _array_name(at: int) -> str:
    return f"arrays/{at:05d}.npy"


def _foreign_name(at: int) -> str:
    return f"foreign/{at:05d}.skops"


def _versions() -> dict[str, str]:
    import sklearn

    from orfeon import __version__

    return {
        "numpy": np.__version__,
        "orfeon": __version__,
        "python": platform.python_version(),
        "scikit-learn": sklearn.__version__,
    }


def _hint(content: dict[str, Any]) -> str:
    """A note that another version of orfeon saved the file, which may be the reason."""
    from orfeon import __version__

    version = content["made_by"].get("orfeon")
    if type(version) is not str or version == __version__:
        return ""
    return f" It was made by orfeon {version[:40]}; this is {__version__}."
