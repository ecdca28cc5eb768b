"""Print how many of the wrong programs are found, and how many correct ones have a finding."""

from __future__ import annotations

import sys

from tests.reports.mbi.test_windows import verdicts

found = list(verdicts().values())
wrong = [bool(kinds & set(case.kinds)) for case, kinds in found if case.origin == "MBI" and case.is_wrong]
correct = [bool(kinds) for case, kinds in found if not case.is_wrong]
sys.stdout.write(
    f"{sum(wrong)} of {len(wrong)} wrong programs found; "
    f"{sum(correct)} of {len(correct)} correct ones with a finding\n"
)
