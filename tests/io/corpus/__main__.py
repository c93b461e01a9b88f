"""The corpus: write that of the running release, add what it lacks, or check those of all releases.

``python -m tests.io.corpus {write,add,check}``
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.io.corpus.releases import FOLDER, difference, models, release, releases


def main() -> int:
    """Write or check; 1 if anything differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.io.corpus", description=__doc__)
    parser.add_argument("what", choices=("write", "add", "check"))
    parser.add_argument("--into", type=Path, help="write there, and not into the repository")
    options = parser.parse_args()
    if options.what != "check":
        from tests.io.corpus.writing import write  # it fits; checking does not

        folder = FOLDER / release() if options.into is None else options.into
        n_files, n_bytes = write(folder, only_new=options.what == "add")
        print(f"{n_files} models, {n_bytes / 1000:.0f} kB, in {folder}")
        return 0
    found = [(model, difference(model)) for folder in releases() for model in models(folder)]
    wrong = [f"{model.name}: {what}" for model, what in found if what]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    version = ".".join(map(str, sys.version_info[:3]))
    print(f"{len(found)} models under Python {version}, {len(wrong)} of them differ")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
