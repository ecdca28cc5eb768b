"""The tour: pages of a few words and a few lines of code, which are shown and then run. Nothing in them is canned.

pages/        one Markdown file a station: a title, words, a program, commands
page          reads them
walk          shows and runs them, on a console that it is handed
"""

from fakempi.tour.page import Page, pages
from fakempi.tour.walk import Walk

__all__ = ["Page", "Walk", "pages"]
