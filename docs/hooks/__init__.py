"""What makes the site, beside its pages. mkdocs calls `site`; `tests/docs` and `site` run what pages show by `blocks`."""
