"""Typical mistakes of students: a sentence that names the mistake, in addition to what failed.

evidence    the known facts: the source, and the failure
syntax      mistakes that Python's parser rejects
in_source   mistakes that are certain from the source
in_failure  mistakes that are likely for this failure

The order is that of certainty: what the source proves, then the mistakes that the exercise lists in its notes.md (`## If:`),
then what the failure suggests. A rule yields sentences if it applies; the first one counts. A sentence names the mistake and
the remedy for this one line; it does not contain the solution of the exercise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from fakempi.apps.course.mistakes.evidence import MistakeEvidence
from fakempi.apps.course.mistakes.in_failure import IN_FAILURE
from fakempi.apps.course.mistakes.in_source import IN_SOURCE
from fakempi.apps.course.mistakes.syntax import syntax_mistake
from fakempi.apps.course.wrong import Wrong


def find_mistake(text: str, wrong: Wrong, of_exercise: Iterable[tuple[str, str]] = ()) -> str:
    """Return a sentence on the mistake behind a failure, or an empty string if none is recognized."""
    if wrong.kind == "syntax":
        return syntax_mistake(text)
    evidence = MistakeEvidence(text, wrong)
    if certain := next((found for rule in IN_SOURCE for found in rule(evidence)), ""):
        return certain
    failure = f"{wrong.kind}: {wrong.sentence}\n{wrong.report}"
    for pattern, sentence in of_exercise:
        if re.search(pattern, failure, re.DOTALL):
            return " ".join(sentence.split())
    return next((found for rule in IN_FAILURE for found in rule(evidence)), "")
