"""Run `fakempi lint` over the packages of docs/packages.md, and update the figures of docs/lint.md.

    python benchmarks/lint.py SOURCES             missing sdists are downloaded to this directory
    python benchmarks/lint.py SOURCES --check     change no page; fail if an alarm is not explained there

Lines are counted in all Python files, and in those that import mpi4py or mention a communicator. Every alarm was judged
by reading the code: docs/lint.md has a row for each. A file that is in two packages counts twice. The files are only
parsed, and never run.
"""

import argparse
import html
import io
import re
import sys
import tarfile
import urllib.parse
import urllib.request
import zipfile
from collections import Counter
from pathlib import Path
from time import monotonic, process_time

from fakempi.apps.lint.linting import lint_bytes
from fakempi.apps.lint.rules.catalogue import TITLES

DOCS = Path(__file__).parents[1] / "docs"
INDEX = "https://pypi.org/simple"
MENTIONS = re.compile(
    rb"mpi4py|\b\w*comm\.(rank|size|Get_|[a-z]*bcast|[a-z]*reduce|[a-z]*gather|[a-z]*send|[a-z]*recv|[bB]arrier)"
)


def packages():
    """The names and versions of the packages on the page; mpi4py.futures is a part of mpi4py."""
    text = (DOCS / "packages.md").read_text(encoding="utf-8")
    table = text[text.index("<!-- table -->") : text.index("<!-- end of table -->")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[3:]]
    return [(row[0], row[1]) for row in rows if row[0] != "mpi4py.futures"]


def unpacked(name, version, directory):
    """The directory of a package's source; the sdist, or else a wheel, is downloaded if it is missing."""
    project = re.sub("[-_.]+", "-", name).lower()
    target = directory / f"{project}-{version}"
    if target.exists():
        return target
    page = f"{INDEX}/{project}/"
    with urllib.request.urlopen(page, timeout=60) as answer:
        links = [
            urllib.parse.urljoin(page, html.unescape(each)) for each in re.findall(r'href="([^"#]+)', answer.read().decode())
        ]
    ends = (f"-{version}.tar.gz", f"-{version}.zip")
    chosen = [link for link in links if link.lower().endswith(ends)]
    chosen += [link for link in links if link.endswith(".whl") and f"-{version}-" in link]
    with urllib.request.urlopen(chosen[0], timeout=300) as answer:
        data = io.BytesIO(answer.read())
    part = target.with_suffix(".part")
    if chosen[0].endswith(".tar.gz"):
        with tarfile.open(fileobj=data) as archive:
            archive.extractall(part, filter="data")
    else:
        zipfile.ZipFile(data).extractall(part)
    part.rename(target)
    return target


def linted(name, root, lines):
    """Lint all files of a package; yield (package, path, line, code)."""
    for file in sorted(root.rglob("*.py")):
        if not file.is_file():
            continue
        data = file.read_bytes()
        count = data.count(b"\n")
        lines["all"] += count
        lines["mpi"] += count if MENTIONS.search(data) else 0
        lines["files"] += 1
        began = process_time()
        for found in lint_bytes(data, str(file)):
            if found.code in TITLES:  # some packages have templates and files for Python 2
                path = file.relative_to(root).as_posix().split("/", 1)[-1]
                yield name, path, found.line, found.code
            else:
                lines["syntax"] += 1
        lines["slowest"] = max(lines["slowest"], process_time() - began)


def explained(page):
    """The rows of the table of alarms: {(package, path, line, code): verdict}."""
    table = page[page.index("<!-- alarms -->") : page.index("<!-- end of alarms -->")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[3:]]
    return {
        (package, *re.match(r"`(.*):(\d+)`", place).groups(), code): verdict for package, place, code, verdict, _ in rows
    }


def figures(alarms, verdicts, lines, seconds):
    """The table of figures."""
    rows = ["| rule | alarms | mistakes | false alarms |", "|---|--:|--:|--:|"]
    for code in TITLES:
        found = [verdicts.get((a[0], a[1], str(a[2]), a[3]), "?") for a in alarms if a[3] == code]
        counts = Counter(found)
        rows.append(f"| {code} | {len(found)} | {counts['mistake']} | {counts['false']} |")
    total = Counter(verdicts.get((a[0], a[1], str(a[2]), a[3]), "?") for a in alarms)
    rows.append(f"| all | {len(alarms)} | {total['mistake']} | {total['false']} |")
    size = f"{lines['files']:,} files of {lines['packages']} packages have {lines['all']:,} lines"
    used = f"{lines['mpi']:,} of them are in files that import mpi4py or use a communicator"
    time = f"{seconds:.0f} s of CPU time, of which the slowest file takes {lines['slowest']:.1f} s"
    text = f"{size}; {used}.\n{lines['syntax']} files have no syntax tree (templates, Python 2). The run takes {time}."
    return f"{text}\n\n" + "\n".join(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", type=Path, help="directory of unpacked sdists")
    parser.add_argument(
        "--check", action="store_true", help="fail if an alarm is not explained, or an explained one is gone"
    )
    options = parser.parse_args()
    options.sources.mkdir(parents=True, exist_ok=True)
    lines, alarms, began = Counter(), [], process_time()
    for name, version in packages():
        root, start = unpacked(name, version, options.sources), monotonic()
        found = list(linted(name, root, lines))
        lines["packages"] += 1
        alarms += found
        print(f"{name:20} {len(found):3} alarms, {monotonic() - start:.1f} s", file=sys.stderr, flush=True)
    page = (DOCS / "lint.md").read_text(encoding="utf-8")
    verdicts = explained(page)
    known = {(package, path, str(line), code) for package, path, line, code in alarms}
    for each in sorted(known ^ verdicts.keys()):
        print("not explained:" if each in known else "not found:", *each)
    if options.check:
        return int(known != verdicts.keys())
    begin, end = "<!-- figures -->\n", "<!-- end of figures -->"
    head, rest = page.split(begin)
    text = f"{head}{begin}{figures(alarms, verdicts, lines, process_time() - began)}\n{end}{rest.split(end)[1]}"
    (DOCS / "lint.md").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
