"""Class-switching on two classes of a plane: more members, and more samples, one map for each.

Every member is trained on labels of which four in ten are wrong, and on its own it is hardly better
than these. Many together draw the border precisely. The maps are those on the cover of
Martínez-Muñoz (2006), with a circle; ``--problem diagonal`` has the line of its figures 4.2 and
4.3, ``--margins`` shows how confident the votes are, and ``--grey`` does so in grey, with level
curves.

Run it with ``python examples/cover_mosaic.py``; it takes about half a minute, nearly all of it for
3,003 trees of up to 30,000 samples. With ``--out FILE`` it also draws the picture, which needs
matplotlib. ``--quick`` uses fewer samples and members, in a few seconds.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from orfeon import ClassSwitchingClassifier
from orfeon.datasets import Circle, Diagonal
from orfeon.inspection import MapMosaic, MapMosaicDisplay, map_mosaic

PROBLEMS = {"circle": Circle(), "diagonal": Diagonal()}
SQUARE = ((0.0, 1.0), (0.0, 1.0))
SIZES, QUICK_SIZES = (300, 3000, 30_000), (100, 1000)
MEMBERS, QUICK_MEMBERS = (1, 11, 101, 1001), (1, 11, 101)


def make_mosaic(problem: str, quick: bool, margins: bool) -> MapMosaic:
    """Maps of one ensemble for each number of samples.

    Its first members are the smaller ensembles: members are independent, so the first eleven of
    1001 are an ensemble of eleven.
    """
    known = PROBLEMS[problem]
    sizes, members = (QUICK_SIZES, QUICK_MEMBERS) if quick else (SIZES, MEMBERS)
    data = {f"{n:,} samples": known.sample(n, random_state=0) for n in sizes}
    # Trees that memorise the switched labels: four in ten, as on the cover.
    model = ClassSwitchingClassifier(switch_rate=0.4, n_jobs=-1, random_state=0)
    return map_mosaic(
        model, data, n_members=members, kind="margins" if margins else "classes",
        true_classes=known, box=SQUARE, grid_resolution=100 if quick else 300,
    )  # fmt: skip


def print_errors(mosaic: MapMosaic, problem: str) -> None:
    print(f"Share of the square that is on the wrong side of the {problem}\n")
    print(" " * 16 + "".join(f"{name:>14}" for name in mosaic.column_names))
    for name, errors in zip(mosaic.row_names, mosaic.errors, strict=True):
        print(f"{name:16}" + "".join(f"{error:14.1%}" for error in errors))


def draw(mosaic: MapMosaic, path: Path, n_colours: int, grey: bool) -> None:
    """Save the picture; as a PNG with as few colours as it needs, which make a small file."""
    import matplotlib
    from PIL import Image

    matplotlib.use("agg")
    levels = (0.25, 0.5, 0.75) if grey else ()
    display = MapMosaicDisplay(mosaic).plot(grey=grey, levels=levels)
    path.parent.mkdir(parents=True, exist_ok=True)
    display.figure_.savefig(path, dpi=200)
    matplotlib.pyplot.close(display.figure_)
    if path.suffix == ".png":
        with Image.open(path) as picture:
            few = picture.convert("RGB").quantize(n_colours, dither=Image.Dither.NONE)
        few.save(path, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--problem", choices=list(PROBLEMS), default="circle")
    parser.add_argument("--margins", action="store_true", help="show how confident the votes are")
    parser.add_argument("--grey", action="store_true", help="margins in grey, with level curves")
    parser.add_argument("--quick", action="store_true", help="fewer samples and members")
    parser.add_argument("--out", type=Path, help="file of the picture, such as mosaic.png")
    given = parser.parse_args()
    start = time.perf_counter()
    margins = given.margins or given.grey
    mosaic = make_mosaic(given.problem, given.quick, margins)
    print_errors(mosaic, given.problem)
    print(f"\nTrained and mapped in {time.perf_counter() - start:.1f} s")
    if given.out is not None:
        draw(mosaic, given.out, n_colours=256 if margins else 32, grey=given.grey)
        print(f"Drawn in {given.out}")


if __name__ == "__main__":
    main()
