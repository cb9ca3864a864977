"""The site is built strictly: a broken link ends the build; nothing is loaded from elsewhere."""

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.support.docpages import DOCS, ROOT, pages

pytestmark = pytest.mark.slow

ELSEWHERE = re.compile(r"(https?:)?//")
# What a browser fetches by itself; other links are there to be followed.
LOADS = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src")}
SECONDS = 90.0


class Page(HTMLParser):
    """A page's anchors, its links, and what a browser loads for it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.loads: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.ids.add(value)
            if (tag, name) in LOADS and value:
                self.loads.add(value)
            if name in {"href", "src"} and value:
                self.links.add(value)


def build(config: Path, site: Path) -> subprocess.CompletedProcess[str]:
    # Not --quiet: with it mkdocs sees no warning, and so is not strict.
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(config), "-d", str(site)],
        cwd=config.parent,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Page]:
    folder = tmp_path_factory.mktemp("site")
    built = build(ROOT / "mkdocs.yml", folder)
    assert built.returncode == 0, built.stdout + built.stderr
    return {path: Page(path) for path in folder.rglob("*.html")}


def test_every_page_is_built(site: dict[Path, Page]) -> None:
    expected = {str(page.relative_to(DOCS)) for page in pages()}
    expected = {
        re.sub(r"(README)?\.md$", lambda m: "index.html" if m[1] else ".html", name)
        for name in expected
    }
    root = next(path.parent for path in site if path.name == "404.html")
    built = {str(path.relative_to(root)) for path in site}
    assert built == expected | {"404.html", "search.html"}


def test_a_browser_loads_nothing_from_elsewhere(site: dict[Path, Page]) -> None:
    loaded = {each for page in site.values() for each in page.loads}
    assert loaded
    assert not [each for each in loaded if ELSEWHERE.match(each)]


def test_every_link_leads_to_a_file_and_an_anchor_of_the_site(site: dict[Path, Page]) -> None:
    followed = 0
    for path, page in site.items():
        if path.name == "404.html":  # its links begin at the root of the server
            continue
        for link in page.links:
            if not ELSEWHERE.match(link):
                assert leads_somewhere(site, path, link), f"{path.name}: {link}"
                followed += 1
    assert followed > 1000


def leads_somewhere(site: dict[Path, Page], path: Path, link: str) -> bool:
    name, _, anchor = unquote(link).partition("#")
    target = (path.parent / name.partition("?")[0]).resolve() if name else path
    return target.exists() and (not anchor or anchor in site[target].ids)


@pytest.mark.parametrize("link", ["nowhere.md", "quickstart.md#nowhere", "/quickstart.md"])
def test_a_broken_link_ends_the_build(link: str, tmp_path: Path) -> None:
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text(f"# Home\n\n[there]({link})\n")
    (tmp_path / "docs/quickstart.md").write_text("# Quick start\n")
    config = tmp_path / "mkdocs.yml"
    text = config.read_text()
    config.write_text(text[: text.index("nav:")])
    built = build(config, tmp_path / "site")
    assert built.returncode == 1
    assert link.rpartition("#")[2] in built.stderr
