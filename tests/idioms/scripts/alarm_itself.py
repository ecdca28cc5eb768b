# ranks: 1
import signal

hits = []
signal.signal(signal.SIGALRM, lambda number, frame: hits.append(signal.Signals(number).name))
signal.setitimer(signal.ITIMER_REAL, 0.05)
signal.pause()
print(hits, signal.getitimer(signal.ITIMER_REAL)[0] == 0)
# when: full
