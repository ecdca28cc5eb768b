"""`run(trace=True, cpu_scale=1)`: the trace also has the calls of each rank, so that `fakempi replay` can execute it.

The wrappers are those of `python -m fakempi.record` (fakempi/extensions/recorder). They surround public calls inside the CPU
meter, so their own time is not charged to the ranks. Runs without `cpu_scale` or without a trace have no such wrappers.

subscriber   CallRecording: the subscriber to public calls; recorded_calls: the context of a run
rank         RankOfRun: the recording of a rank; its lines, communicators and sizes of objects
partitions   partitioned messages: each partition is a message
"""
