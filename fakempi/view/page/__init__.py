"""The interactive HTML page of a run: zoom, search, replay, and follow messages. One file without dependencies.

packing     compresses columns of numbers to bytes that a browser unpacks
contents    selects the contents of a trace for the page
assemble    combines markup, style, scripts and data

The scripts are plain JavaScript, in the order of their numbers, and share one scope. They contain a few hundred lines of
drawing code, less than any library would add to each file.
"""
