"""Code that builds the site. mkdocs calls `site`; `tests/docs` and `site` run the programs on pages through `blocks`.

blocks      run the code blocks of a page and compare their output
generated   pages generated from the code: command line, catalogue, MPI names, findings, demos
course      pages generated from the exercises of `fakempi learn`
site        hooks of mkdocs: add generated pages, repository files and timelines
"""
