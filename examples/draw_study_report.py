"""Draw the two pictures of a study's report that the pages show.

Runs two small studies, opens their reports in Chromium without a window, and writes
docs/images/study_report.png (the summary and the scores of all methods) and
docs/images/study_charts.png (what the report shows of the model). Needs playwright and Chromium:

    python examples/draw_study_report.py
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from orfeon.datasets import load_dataset
from orfeon.workbench import Study

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
SPACE, PAPER = 24, "#FFFFFF"


#: Methods that Shapley values explain.
OF_TREES = ["random_forest", "extra_trees", "gradient_boosting", "selection"]


def report_of(name: str, folder: Path, methods: list[str] | None = None) -> str:
    """The address of the report of a study of a synthetic problem."""
    data = load_dataset(name)
    settings = {"repetitions": 1, "members": 100, "methods": methods}
    study = Study(data.frame, data.target_name, name=data.name, **settings)
    path = study.run().report(folder / f"{data.name}.html")
    return Path(str(path)).as_uri()


def pictures(tab: Any, address: str, places: list[str]) -> list[Any]:
    """Pictures of elements of a page."""
    from PIL import Image

    tab.goto(address)
    found = [tab.locator(place).first.screenshot() for place in places]
    return [Image.open(io.BytesIO(data)).convert("RGB") for data in found]


def stacked(rows: list[list[Any]]) -> Any:
    """Pictures in rows, from left to right and from top to bottom."""
    from PIL import Image

    heights = [max(one.height for one in row) for row in rows]
    width = max(sum(one.width + SPACE for one in row) + SPACE for row in rows)
    whole = Image.new("RGB", (width, sum(heights) + SPACE * (len(rows) + 1)), PAPER)
    top = SPACE
    for row, height in zip(rows, heights, strict=True):
        left = SPACE
        for one in row:
            whole.paste(one, (left, top))
            left += one.width + SPACE
        top += height + SPACE
    return whole


def save(rows: list[list[Any]], path: Path) -> None:
    """Write pictures in rows, with few colours: the file is a third as large."""
    stacked(rows).quantize(128, dither=0).save(path, optimize=True)


def draw(images: Path) -> None:
    """Write both pictures."""
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    program = next(filter(None, map(shutil.which, names)), None)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        opening = report_of("waveform", Path(folder))
        charts = report_of("threenorm:600", Path(folder), OF_TREES)
        chromium = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 1080, "height": 900})
        summary, scores = pictures(page, opening, [".opening", "#methods-2"])
        save([[summary], [scores]], images / "study_report.png")
        places = ["#predictions-2", "#predictions-4", "#mistakes-3", "figure.boxes[id^=features]"]
        roc, calibration, threshold, shapley = pictures(page, charts, places)
        rows = [[roc, calibration], [threshold], [shapley]]
        save(rows, images / "study_charts.png")
        chromium.close()


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
