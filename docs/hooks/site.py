"""Hooks of mkdocs: add pages generated from the code, pages for linked repository files, and timelines."""

from __future__ import annotations

import json
import posixpath
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # `python -m mkdocs build` has it there, `mkdocs build` does not

from docs.hooks import blocks, course, families, generated  # noqa: E402

LINK = re.compile(r"(?<=\]\()(?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?(?=\))")
FRAME = re.compile(r'<iframe[^>]* src="((?:\.\./)*timelines/([^"/]+))"')
LANGUAGES = {".py": "py", ".ipynb": "json", ".toml": "toml"}
PICTURES = {".png", ".svg"}


def on_config(config: Any) -> Any:
    """Fill in the generated parts of the navigation."""
    config.nav = list(filled(config.nav))
    return config


def filled(nav: list[Any]) -> Iterator[Any]:
    """Replace an empty list by the pages generated for it."""
    pages = {
        "Catalogue": generated.catalogue,
        "Course": course.course,
        "Families": families.families,
        "Demos": generated.demos,
    }
    for entry in nav:
        if isinstance(entry, dict):
            (title, below), *_ = entry.items()
            if title in pages and not below:
                below = sorted(pages[title](), key=lambda path: (not path.endswith("index.md"), "_" in path, path))
            yield {title: list(filled(below)) if isinstance(below, list) else below}
        else:
            yield entry


def pages() -> dict[str, str]:
    """All generated pages, by path."""
    with blocks.environment():  # argparse breaks lines at COLUMNS
        one = {"reference/command_line.md": generated.command_line(), "reference/mpi.md": generated.mpi()}
        one["notebook.md"] = as_page("docs/notebook.ipynb")
        one |= {**generated.findings(), **generated.catalogue(), **families.families()}
        return {**one, **course.course(), **generated.demos()}


def on_files(files: Any, config: Any) -> Any:
    """Add generated pages, pages for files outside docs that pages link to, and timelines."""
    from mkdocs.structure.files import File

    texts = {file.src_uri: file.content_string for file in files.documentation_pages()}
    for path, text in pages().items():
        texts[path] = text
        files.append(File.generated(config, path, content=text))
    unvisited = list(texts.items())
    while unvisited:
        page, text = unvisited.pop()
        for path in outside(page, text):
            at = place(path)
            if at in texts or files.get_file_from_path(at):
                continue
            if Path(path).suffix in PICTURES:
                files.append(File.generated(config, at, abs_src_path=str(ROOT / path)))
                continue
            texts[at] = as_page(path)
            files.append(File.generated(config, at, content=texts[at]))
            unvisited.append((at, texts[at]))
    for name, content in timelines(texts).items():
        files.append(File.generated(config, f"timelines/{name}", content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Redirect links to repository files to the pages generated for them."""
    return redirected(page.file.src_uri, markdown)


def redirected(page: str, text: str) -> str:
    """The text of a page with redirected links."""

    def replace(match: re.Match[str]) -> str:
        path = target(page, match[1])
        if path is None:
            return match[0]
        return posixpath.relpath(place(path), posixpath.dirname(page) or ".") + (match[2] or "")

    return "".join(part if odd else LINK.sub(replace, part) for odd, part in parts(text))


def parts(text: str) -> list[tuple[bool, str]]:
    """Split a text into prose (False) and code blocks (True), in which nothing is a link."""
    return [(bool(index % 2), part) for index, part in enumerate(re.split(r"(^```.*?^```$)", text, flags=re.M | re.S))]


def home(page: str) -> str:
    """The directory in the repository that links of a page are relative to."""
    if page.startswith("files/"):
        return posixpath.dirname(page.removeprefix("files/"))
    return posixpath.dirname(f"docs/{page}")


def target(page: str, link: str) -> str | None:
    """The repository file outside docs that a link points to, if any."""
    path = posixpath.normpath(posixpath.join(home(page), link))
    if path.startswith("..") or not (ROOT / path).is_file():
        return None
    return path if page.startswith("files/") or not path.startswith("docs/") else None


def outside(page: str, text: str) -> Iterator[str]:
    """All repository files outside docs that a page links to."""
    for odd, part in parts(text):
        for match in () if odd else LINK.finditer(part):
            if (path := target(page, match[1])) is not None:
                yield path


def place(path: str) -> str:
    """The path of a repository file on the site."""
    directory, _, name = path.rpartition("/")
    if directory == "docs" or directory.startswith("docs/"):
        return path.removeprefix("docs/")
    if path == "README.md":
        return "index.md"
    if directory == "fakempi/core/reports/explanations":
        return f"findings/{name}"
    if directory == "demos" and re.match(r"\d\d_.*\.py$", name):
        return f"demos/{Path(name).stem}.md"
    if Path(path).suffix in PICTURES:
        return path
    return f"files/{path}" if name.endswith(".md") else f"files/{path}.md"


def as_page(path: str) -> str:
    """A file as a page: Markdown unchanged, anything else as a code block."""
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".md"):
        return text
    if path.endswith(".ipynb"):
        return notebook(text)
    return f"# {path}\n\n```{LANGUAGES.get(Path(path).suffix, 'text')}\n{text.rstrip()}\n```\n"


def notebook(text: str) -> str:
    """A notebook as a page: cells, and what they print."""
    found = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            found.append(source)
            continue
        found.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            printed = "\n".join(output["traceback"]) if output["output_type"] == "error" else "".join(output.get("text", ""))
            found += [f"```text\n{printed.rstrip()}\n```"] if printed else []
    return "\n\n".join(found) + "\n"


def timelines(texts: dict[str, str]) -> dict[str, str]:
    """The HTML files that programs on pages write and that pages show in a frame."""
    found: dict[str, str] = {}
    for page, text in texts.items():
        names = [match[2] for match in FRAME.finditer(text)]
        if not names:
            continue
        with TemporaryDirectory(prefix="fakempi_site_") as directory:
            wrong = blocks.perform(text, Path(directory))
            if wrong:
                line, expected, printed = wrong[0]
                raise SystemExit(f"{page}:{line} has the wrong output. Expected:\n{expected}\nPrinted:\n{printed}")
            found |= {name: Path(directory, name).read_text(encoding="utf-8") for name in names}
    return found
