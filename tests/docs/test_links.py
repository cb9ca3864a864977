"""Every page is in the navigation, and every link of a page leads somewhere."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.docpages import DOCS, ROOT, anchors, links, pages

CONFIG = ROOT / "mkdocs.yml"
OUTSIDE = re.compile(r"https?://")
# Documents of the repository that people read beside the site.
BESIDE = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
KNOWN_HOSTS = {
    "github.com/lldap/lldap",
    "kubernetes.io",
    "kyverno.io",
    "external-secrets.io",
    "semver.org",
    "www.rfc-editor.org",
}


def site() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(CONFIG.read_text())
    return found


def in_navigation(entries: list[Any]) -> Iterator[str]:
    for entry in entries:
        for value in entry.values():
            if isinstance(value, str):
                yield value
            else:
                yield from in_navigation(value)


def test_every_page_is_in_the_navigation_once() -> None:
    listed = list(in_navigation(site()["nav"]))
    assert sorted(listed) == sorted(set(listed))
    below = [str(page.relative_to(DOCS)) for page in pages()]
    runbooks = {name for name in below if name.startswith("operations/runbooks/Lldap")}
    assert set(below) - runbooks == set(listed), "put the page into nav of mkdocs.yml"


def test_the_site_takes_nothing_from_elsewhere() -> None:
    config = site()
    assert config["theme"]["highlightjs"] is False
    assert config["strict"] is True
    assert not {"extra_javascript", "extra_css", "google_analytics", "site_url"} & config.keys()


@pytest.mark.parametrize("page", [*pages(), *BESIDE], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_pages_files_and_headings(page: Path) -> None:
    broken = [link for link in links(page) if not leads_somewhere(page, link)]
    assert not broken


def leads_somewhere(page: Path, link: str) -> bool:
    if OUTSIDE.match(link):
        return any(link.removeprefix("https://").startswith(host) for host in KNOWN_HOSTS)
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists():
        return False
    if page.is_relative_to(DOCS) and not target.is_relative_to(DOCS):
        return False  # it is not on the site
    return not anchor or (target.suffix == ".md" and anchor in anchors(target))


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_has_one_title_and_it_comes_first(page: Path) -> None:
    lines = [line for line in page.read_text().splitlines() if not line.startswith("<!--")]
    first = next(line for line in lines if line)
    assert first.startswith("# ")
