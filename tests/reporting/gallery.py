"""The pictures of docs/gallery, as a browser shows the pages: `python -m tests.reporting.gallery`.

Needs Chromium, its driver and poppler (pdftoppm). The pages are those of the example and of two like it.
"""

from __future__ import annotations

import base64
import io
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

from tests.command_line import call
from tests.conftest import ROOT
from tests.reporting.browser import PAPER, browser, opened, printed

FOLDER = ROOT / "docs" / "gallery"
WIDE, NARROW = 1280, 390
EDGE = 14  # around what is shown
COLOURS = 160  # a page is few colours; more would make the pictures large
DOTS = 75  # to the inch, of printed sheets


def releases(folder: Path) -> dict[str, str]:
    """The example, the same with a column published as it is, and the same in bands of five years."""
    assert call("init", "--example", folder).exit == 0
    place = folder / "privacy.yml"
    safe = place.read_text(encoding="utf-8")
    weak = safe.replace("    drop: [survey_weight, hours_per_week]\n", WEAK)
    unsafe = safe.replace("{age: 2, sex: 0, zip: 2, marital_status: 1, education: 2}", "{age: 1, zip: 1}")
    assert len({safe, weak, unsafe}) == 3
    return {"safe": safe, "weak": weak, "unsafe": unsafe}


WEAK = """    insensitive: {columns: [hours_per_week], acknowledge: the recipient studies working hours}
    drop: [survey_weight]
"""


def pages(folder: Path) -> dict[str, Path]:
    """A report of each for those inside, and of the example for everybody."""
    made = {}
    for name, project in releases(folder).items():
        (folder / "privacy.yml").write_text(project, encoding="utf-8")
        call("run", "--project", folder, "--overwrite")
        call("search", "--project", folder)
        told = call("report", "--project", folder, "--audience", "internal")
        assert told.exit == 0, told.everything
        made[name] = (folder / "target" / "report" / "people.html").rename(folder / f"{name}.html")
        if name == "safe":
            told = call("report", "--project", folder, "--audience", "public")
            assert told.exit == 0, told.everything
            made["public"] = (folder / "target" / "report" / "people.html").rename(folder / "public.html")
    return made


def picture(driver: Any, element: str) -> Image.Image:
    """One part of the page at hand."""
    box = driver.execute_script(
        "const b = document.querySelector(arguments[0]).getBoundingClientRect();"
        "return {x: b.x + scrollX, y: b.y + scrollY, width: b.width, height: b.height}",
        element,
    )
    box = {"x": max(0, box["x"] - EDGE), "y": max(0, box["y"] - EDGE), "width": box["width"] + 2 * EDGE,
           "height": box["height"] + 2 * EDGE}  # fmt: skip
    asked = {"captureBeyondViewport": True, "clip": {**box, "scale": 1}}
    taken = driver.execute_cdp_cmd("Page.captureScreenshot", asked)
    return Image.open(io.BytesIO(base64.b64decode(taken["data"])))


def save(picture: Image.Image, name: str) -> None:
    """As a small file."""
    FOLDER.mkdir(exist_ok=True)
    plain = picture.convert("RGB")
    # the commonest colours as they are, so that no background is tinted
    found = sorted(plain.getcolors(plain.width * plain.height) or [], reverse=True)[:COLOURS]
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for _, colour in found for part in colour])
    plain.quantize(palette=palette, dither=Image.Dither.NONE).save(FOLDER / f"{name}.png", optimize=True)


def dark(driver: Any, wanted: bool) -> None:
    """The theme the reader has chosen."""
    chosen = {"name": "prefers-color-scheme", "value": "dark" if wanted else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": [chosen]})


def on_paper(driver: Any, page: Path, size: str, place: Path) -> Image.Image:
    """The two sheets that are signed, side by side, as they come out of the printer."""
    opened(driver, page)
    pdf = place / f"{page.stem}_{size}.pdf"
    pdf.write_bytes(printed(driver, size))
    told = ["pdftoppm", "-r", str(DOTS), "-png", "-l", "2", str(pdf), str(pdf.with_suffix(""))]
    subprocess.run(told, check=True)
    sheets = [Image.open(sheet) for sheet in sorted(place.glob(f"{pdf.stem}-*.png"))]
    both = Image.new("RGB", (sum(s.width for s in sheets) + 20, sheets[0].height), "#8a94a2")
    for number, sheet in enumerate(sheets):
        both.paste(sheet, (number * (sheets[0].width + 20), 0))
    return both


def main() -> int:
    """Every picture of the gallery."""
    with tempfile.TemporaryDirectory() as place, browser() as driver:
        folder = Path(place) / "city_health_survey"
        made = pages(folder)
        for name, page in made.items():
            for theme in ("light", "dark"):
                dark(driver, theme == "dark")
                ending = "" if theme == "light" else "_dark"
                opened(driver, page, WIDE)
                save(picture(driver, ".sheet.first"), f"{name}_decision{ending}")
                save(picture(driver, ".sheet.second"), f"{name}_checked{ending}")
            dark(driver, False)
            opened(driver, page, NARROW)
            save(picture(driver, ".sheet.first"), f"{name}_decision_narrow")
            save(picture(driver, ".sheet.second"), f"{name}_checked_narrow")
            for size in PAPER if name == "safe" else ("a4",):
                save(on_paper(driver, page, size, Path(place)), f"{name}_printed_{size}")
        opened(driver, made["safe"], WIDE)
        driver.execute_script("document.getElementById('skyline-grid').open = true")
        for part in ("worst_case", "disclosure", "skyline", "options", "risk", "divergence", "provenance"):
            save(picture(driver, f"#{part}"), part)
    return 0


if __name__ == "__main__":
    sys.exit(main())
