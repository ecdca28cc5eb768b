"""The words that the project does not use."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture import words


def test_no_file_has_a_banned_word() -> None:
    """CONTRIBUTING.md has the rules; `python tests/architecture/words.py PATH` lists the places."""
    found = words.report()
    assert found == [], f"{len(found)} places"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("This mends it", "mends"),  # words: ok
        ("as he Told us", "Told"),  # words: ok
        ("it ends. Who waits is stopped.", "Who"),  # words: ok
        ("What is a rank?", None),
        ("a menders' guild, retold", None),
        ("mend  # words: ok", None),
    ],
)
def test_the_check_finds_banned_words(text: str, expected: str | None) -> None:
    """In any case, as whole words; questions may start with a pronoun."""
    found = [word for _, word, _ in words.found_in(text)]
    assert found == ([] if expected is None else [expected])


def test_an_archive_of_the_sources_is_checked_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has the files of the repository, and what its tests generate."""
    monkeypatch.setattr(words, "ROOT", tmp_path)
    for name in ("a.md", "b/c.py", "b/__pycache__/c.py", ".ci/d.py", "site/e.html"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("Some text mends it")  # words: ok
    assert sorted(words.tracked()) == [".ci/d.py", "a.md", "b/c.py"]
    assert words.tracked("b", "a.md") == ["b/c.py", "a.md"]
    assert {line.partition(":")[0] for line in words.report()} == {".ci/d.py", "a.md", "b/c.py"}
