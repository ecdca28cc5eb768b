"""The tour: pages of a short text and a short program. Each program is shown and then run.

pages/       one Markdown file per page: a title, a text, a program, commands
page         parses a page
presenter    shows a page on a console and runs its program and commands
"""

from fakempi.apps.tour.page import Page, pages
from fakempi.apps.tour.presenter import Presenter

__all__ = ["Page", "Presenter", "pages"]
