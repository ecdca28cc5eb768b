"""The description of the package is README.md without what only works in the repository."""

from __future__ import annotations

import re
from pathlib import Path

from docs.hooks.description import description

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_links_to_files_become_paths_and_pictures_are_left_out() -> None:
    """Other links, and code, are unchanged."""
    short = description(
        "# name\n\n![a picture](pictures/x.png)\n\n<!-- a comment -->\n## Install\n\n"
        "[the tutorial](docs/t.md#first), [LICENSE](LICENSE),\n[here](#install), [perfetto](https://ui.perfetto.dev), "
        "[two\nlines](docs/u.md)\n\n```py\nx = [f](a)\n```\n"
    )
    assert short == (
        "# name\n\nFiles named here, such as `docs/tutorial.md`, are in the source distribution.\n\n## Install\n\n"
        "the tutorial (`docs/t.md`), LICENSE,\nhere, [perfetto](https://ui.perfetto.dev), two\nlines (`docs/u.md`)\n\n"
        "```py\nx = [f](a)\n```\n"
    )


def test_the_description_has_no_link_that_needs_the_repository() -> None:
    """Every file that the README links to is named, and the code blocks are those of the README."""
    text = description(README)
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert re.findall(r"\]\((?!https?:)", prose) == []
    assert "this repository" not in prose
    linked = set(re.findall(r"(?<!!)\[[^\]]*\]\((?!https?:)([^)#]+)", README)) - {"a"}
    assert len(linked) > 10
    assert {path for path in linked if path not in text} == set()
    assert re.findall(r"^```.*?^```$", text, re.MULTILINE | re.DOTALL) == re.findall(
        r"^```.*?^```$", README, re.MULTILINE | re.DOTALL
    )
