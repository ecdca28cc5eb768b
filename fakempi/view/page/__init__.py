"""One HTML file in which a run can be looked at: zoomed, searched, played, and followed message by message.

packing     columns of numbers as bytes that a browser unpacks
contents    what of a trace goes into the page
assemble    the file: markup, style, scripts and data, put together

The scripts are plain JavaScript without a library, in the order of their numbers, and share one scope; what they need of a
drawing is a few hundred lines, less than any library would add to each file.
"""
