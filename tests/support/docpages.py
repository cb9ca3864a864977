"""The pages of docs/, as what stands in them: fenced blocks, headings, links."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

_FENCE = re.compile(r"(?P<indent> *)(?P<ticks>`{3,})(?P<language>\w*) *")
_REMARK = re.compile(r" *<!-- (.*) -->")
_HEADING = re.compile(r"(#{1,6}) (.*)")
_LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)(?: \"[^\"]*\")?\)")
_CODE = re.compile(r"`[^`]*`")
_COMMAND = re.compile(r"`((?:kubectl|lldap-operator|make|docker) [^`]+)`")
_FILE = re.compile(r"# ([\w./-]+\.ya?ml)")


@dataclass(frozen=True)
class Block:
    """A fenced block. `remark` is the HTML comment in the line above it, "" without one."""

    page: Path
    line: int
    language: str
    text: str
    remark: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def not_run(self) -> str:
        """Why it is not run; "" if it is."""
        return self.remark.removeprefix("not run: ") if self.remark.startswith("not run: ") else ""

    @property
    def becomes(self) -> str:
        """The reason that the objects in it come to."""
        return self.remark.removeprefix("becomes: ") if self.remark.startswith("becomes: ") else ""

    @property
    def file(self) -> str:
        """The file that readers save it in, by its first line; "" if it names none."""
        found = _FILE.fullmatch(self.text.partition("\n")[0])
        return found[1] if found else ""


def pages() -> list[Path]:
    """All pages."""
    return sorted(DOCS.rglob("*.md"))


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    lines = page.read_text(encoding="utf-8").splitlines()
    number = 0
    while number < len(lines):
        found = _FENCE.fullmatch(lines[number])
        if not found:
            number += 1
            continue
        begin, indent = number, found["indent"]
        number += 1
        body = []
        while lines[number].strip() != found["ticks"]:
            body.append(lines[number].removeprefix(indent))
            number += 1
        number += 1
        remark = _REMARK.fullmatch(lines[begin - 1]) if begin else None
        text = "\n".join(body) + "\n"
        yield Block(page, begin + 1, found["language"], text, remark[1] if remark else "")


def prose(page: Path) -> str:
    """The page without its fenced blocks."""
    kept, fence = [], ""
    for line in page.read_text(encoding="utf-8").splitlines():
        found = _FENCE.fullmatch(line)
        if fence:
            fence = "" if line.strip() == fence else fence
        elif found:
            fence = found["ticks"]
        else:
            kept.append(line)
    return "\n".join(kept)


def inline_commands(page: Path) -> set[str]:
    """The commands within the sentences of a page. A single word names a program."""
    return set(_COMMAND.findall(prose(page).replace("\n", " ")))


def links(page: Path) -> list[str]:
    """The targets of the page's links and pictures."""
    return _LINK.findall(_CODE.sub("``", prose(page)))


def anchors(page: Path) -> set[str]:
    """The anchors of the page's headings, as Python-Markdown and GitHub make them."""
    found = {_HEADING.fullmatch(line) for line in prose(page).splitlines()}
    return {_anchor(heading[2]) for heading in found if heading}


def _anchor(title: str) -> str:
    kept = re.sub(r"[^\w\s-]", "", title.replace("`", "")).strip().lower()
    return re.sub(r"[-\s]+", "-", kept)
