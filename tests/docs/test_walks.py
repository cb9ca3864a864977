"""Every command and every manifest of every page is run and applied, in the page's order."""

from pathlib import Path

import pytest

from tests.support.docpages import DOCS, ROOT, Block, blocks, pages
from tests.support.docwalk import MANIFEST, SHELL, walk
from tests.support.kustomize import KUBECTL, NO_KUBECTL

# Pages that need Deployments and service accounts: test_cluster_walks.py.
ON_A_CLUSTER = {
    DOCS / name
    for name in (
        "quickstart.md",
        "run/install.md",
        "run/upgrade.md",
        "run/uninstall.md",
        "guides/tenants.md",
    )
}
OF_A_LIVE_LLDAP = {DOCS / name for name in ("move/from-lldap.md", "move/from-terraform.md")}
LANGUAGES = SHELL | MANIFEST | {"text"}
RUN = SHELL | MANIFEST
MOST_EXCEPTIONS = 6


def has_something_to_run(page: Path) -> bool:
    return any(block.language in RUN and not block.not_run for block in blocks(page))


HERE = [
    page
    for page in [*pages(), ROOT / "README.md"]
    if has_something_to_run(page) and page not in ON_A_CLUSTER
]


def all_blocks() -> list[Block]:
    return [block for page in pages() for block in blocks(page)]


@pytest.mark.slow
@pytest.mark.skipif(not KUBECTL, reason=NO_KUBECTL)
@pytest.mark.parametrize("page", HERE, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_reader_gets_through_the_page(page: Path, tmp_path: Path) -> None:
    with walk(tmp_path, peopled=page in OF_A_LIVE_LLDAP) as reader:
        reader.go(page)
        assert reader.ran


def test_what_is_not_run_is_little_and_says_why() -> None:
    exceptions = [block for block in all_blocks() if block.language in RUN and block.not_run]
    assert len(exceptions) <= MOST_EXCEPTIONS
    assert all(len(block.not_run) > 10 for block in exceptions)


def test_blocks_have_a_language_that_says_whether_they_are_run() -> None:
    assert {block.language for block in all_blocks()} <= LANGUAGES


def test_a_file_that_readers_save_is_used_by_a_command_that_follows() -> None:
    for page in [*pages(), ROOT / "README.md"]:
        found = list(blocks(page))
        for number, block in enumerate(found):
            if block.file and block.language in MANIFEST and not block.not_run:
                name = block.file.removesuffix("/kustomization.yaml")
                later = [each.text for each in found[number + 1 :] if each.language in SHELL]
                assert any(f" {name}" in text for text in later), str(block)
