"""Schedules as data: import, verify, run and export.

schedule        Schedule: the steps of every rank
step            Step, Range: one operation, with buffer ranges and dependencies
errors          InvalidScheduleError
recording       derive a schedule from an algorithm's code
recorder        the objects that the code receives while it is recorded
independent     steps whose order depends on timing
contracts       what an operation demands of the outputs
contract_files  what each rank must end with, in a JSON file
matching        execute a schedule without data: which messages match, and which steps never end
ordering        which steps are ordered, and races between those that are not
monitor         progress and time limit of a verification
work            limits of the work of a verification, and an estimate of it
contents        symbolic contents of buffers
verification    find faults
content_faults  wrong contents of outputs
faults          Fault
running         the algorithm of a schedule, and its exact claims
formats         load and save files
json_format     schedules in JSON
goal            read and write GOAL, the text format of LogGOPSim
msccl           read the XML of MSCCL
msccl_in_place  where the buffers of an MSCCL file in place are
msccl_writing   write the XML of MSCCL
msccl_xml       parse the XML of MSCCL
"""

from __future__ import annotations

from collectives.schedules.errors import InvalidScheduleError
from collectives.schedules.faults import Fault
from collectives.schedules.formats import load, save
from collectives.schedules.recording import record
from collectives.schedules.running.execution import algorithm
from collectives.schedules.schedule import Schedule, register_functions
from collectives.schedules.step import Range, Step
from collectives.schedules.verification import verify

__all__ = ["Fault", "InvalidScheduleError", "Range", "Schedule", "Step", "load", "record"]

register_functions(algorithm=algorithm, save=save, verify=verify)
