"""Make the description of the package from README.md: it is read where no link to a file of the repository works."""

from __future__ import annotations

import re

FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"!\[[^\]]*\]\((?!https?:)[^)]*\)\n*")
LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|mailto:)([^)#]*)(#[^)]*)?\)")
COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
NOTE = "Files named here, such as `docs/tutorial.md`, are in the source distribution.\n\n"


def description(readme: str) -> str:
    """Return the text with paths in place of links to files, and without pictures. Code is unchanged."""
    parts, end = [], 0
    for block in FENCED.finditer(readme):
        parts += [_without_links(readme[end : block.start()]), block.group()]
        end = block.end()
    text = "".join([*parts, _without_links(readme[end:])])
    text = text.replace("this repository", "the source distribution")
    title, heading, rest = text.partition("\n## ")
    return f"{title}\n{NOTE}{heading.lstrip()}{rest}"


def _without_links(text: str) -> str:
    return LINK.sub(_path, COMMENT.sub("", PICTURE.sub("", text)))


def _path(link: re.Match[str]) -> str:
    text, path = link[1], link[2]
    return text if not path or path in text else f"{text} (`{path}`)"
