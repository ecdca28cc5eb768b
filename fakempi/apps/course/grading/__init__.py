"""Grades of many students.

rows      checks students' directories: a row for each
students  finds students' directories in a directory
weights   the points of exercises
reports   rows as CSV, JSON, and in the formats of Gradescope and PrairieLearn
feedback  a file for each student: what failed, with timelines
"""
