"""What mkdocs calls: pages from the code are added, what pages link to is made a page too, and timelines are made."""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # `mkdocs build` does not have it there, as `python -m mkdocs build` does

from docs.hooks import blocks, made  # noqa: E402

LINK = re.compile(r"(?<=\]\()(?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?(?=\))")
FRAME = re.compile(r'<iframe[^>]* src="((?:\.\./)*timelines/([^"/]+))"')
LANGUAGES = {".py": "py", ".ipynb": "json", ".toml": "toml"}
PICTURES = {".png", ".svg"}


def on_config(config: Any) -> Any:
    """The parts of the navigation that the code decides on."""
    config.nav = list(filled(config.nav))
    return config


def filled(nav: list[Any]) -> Iterator[Any]:
    """Where a list is empty, the pages that are made for it."""
    pages = {"Catalogue": made.catalogue, "Demos": made.demos}
    for entry in nav:
        if isinstance(entry, dict):
            (title, below), *_ = entry.items()
            if title in pages and not below:
                below = sorted(pages[title](), key=lambda path: (not path.endswith("index.md"), "_" in path, path))
            yield {title: list(filled(below)) if isinstance(below, list) else below}
        else:
            yield entry


def pages() -> dict[str, str]:
    """All pages that are made from code."""
    one = {"reference/command_line.md": made.command_line(), "reference/mpi.md": made.mpi()}
    return {**one, **made.findings(), **made.catalogue(), **made.demos()}


def on_files(files: Any, config: Any) -> Any:
    """Add what the code says, what pages link to outside of docs, and timelines."""
    from mkdocs.structure.files import File

    texts = {file.src_uri: file.content_string for file in files.documentation_pages()}
    for path, text in pages().items():
        texts[path] = text
        files.append(File.generated(config, path, content=text))
    todo = list(texts.items())
    while todo:
        page, text = todo.pop()
        for path in outside(page, text):
            at = place(path)
            if at in texts or files.get_file_from_path(at):
                continue
            if Path(path).suffix in PICTURES:
                files.append(File.generated(config, at, abs_src_path=str(ROOT / path)))
                continue
            texts[at] = as_page(path)
            files.append(File.generated(config, at, content=texts[at]))
            todo.append((at, texts[at]))
    for name, content in timelines(texts).items():
        files.append(File.generated(config, f"timelines/{name}", content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links to files of the repository lead to the pages that are made of them."""
    return redirected(page.file.src_uri, markdown)


def redirected(page: str, text: str) -> str:
    """A page's text with such links."""

    def replace(match: re.Match[str]) -> str:
        path = target(page, match[1])
        if path is None:
            return match[0]
        return posixpath.relpath(place(path), posixpath.dirname(page) or ".") + (match[2] or "")

    return "".join(part if odd else LINK.sub(replace, part) for odd, part in parts(text))


def parts(text: str) -> list[tuple[bool, str]]:
    """Words, and blocks of code, in which nothing is a link."""
    return [(bool(index % 2), part) for index, part in enumerate(re.split(r"(^```.*?^```$)", text, flags=re.M | re.S))]


def home(page: str) -> str:
    """The folder, as seen from the repository, that links start at: on pages made of files, that of the file."""
    if page.startswith("files/"):
        return posixpath.dirname(page.removeprefix("files/"))
    return posixpath.dirname(f"docs/{page}")


def target(page: str, link: str) -> str | None:
    """The file of the repository, outside of docs, that a link means."""
    path = posixpath.normpath(posixpath.join(home(page), link))
    if path.startswith("..") or not (ROOT / path).is_file():
        return None
    return path if page.startswith("files/") or not path.startswith("docs/") else None


def outside(page: str, text: str) -> Iterator[str]:
    """All such files of a page."""
    for odd, part in parts(text):
        for match in () if odd else LINK.finditer(part):
            if (path := target(page, match[1])) is not None:
                yield path


def place(path: str) -> str:
    """Where a file of the repository is on the site."""
    folder, _, name = path.rpartition("/")
    if folder == "docs" or folder.startswith("docs/"):
        return path.removeprefix("docs/")
    if path == "README.md":
        return "index.md"
    if folder == "fakempi/checks/explanations":
        return f"findings/{name}"
    if folder == "demos" and re.match(r"\d\d_.*\.py$", name):
        return f"demos/{Path(name).stem}.md"
    if Path(path).suffix in PICTURES:
        return path
    return f"files/{path}" if name.endswith(".md") else f"files/{path}.md"


def as_page(path: str) -> str:
    """A file as a page: words as they are, all else as it stands there."""
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".md"):
        return text
    return f"# {path}\n\n```{LANGUAGES.get(Path(path).suffix, 'text')}\n{text.rstrip()}\n```\n"


def timelines(texts: dict[str, str]) -> dict[str, str]:
    """The pages that programs on pages write, where a page shows them in a frame."""
    found: dict[str, str] = {}
    for page, text in texts.items():
        names = [match[2] for match in FRAME.finditer(text)]
        if not names:
            continue
        with TemporaryDirectory(prefix="fakempi_site_") as folder:
            wrong = blocks.perform(text, Path(folder))
            if wrong:
                raise SystemExit(f"{page}:{wrong[0].line} does not do what it says:\n{wrong[0].said}\n{wrong[0].printed}")
            found |= {name: Path(folder, name).read_text(encoding="utf-8") for name in names}
    return found
