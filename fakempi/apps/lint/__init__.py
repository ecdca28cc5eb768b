"""`fakempi lint`: MPI mistakes that are visible in the source, found without running it.

linting     lints texts and files
selection   which rules apply to a file: options and pyproject.toml
file_search  the files in directories
noqa        comments that suppress findings
findings    a finding: where, what, the two paths, the fix
reports     findings as text, JSON, SARIF and annotations of GitHub
rules       one rule per file
analysis    abstract interpretation of a file
"""
