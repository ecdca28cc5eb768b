"""Files with the results of tests.

outcomes        a record of each test, for continuous integration
junit_report    one JUnit report for all ranks of `fakempi run -m pytest`
"""
