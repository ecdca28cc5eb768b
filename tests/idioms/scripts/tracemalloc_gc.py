# ranks: 1
import gc
import tracemalloc

tracemalloc.start()
data = [bytearray(1000) for _ in range(100)]
now, peak = tracemalloc.get_traced_memory()
print(now > 100_000, peak >= now)
tracemalloc.stop()
gc.collect()
gc.freeze()
print(gc.get_freeze_count() > 0)
gc.unfreeze()
print(gc.get_freeze_count(), gc.isenabled())
# when: full
