"""Views of a run: functions that return rich renderables, SVG or HTML. Only `loading` prints.

Every view is legible at 80 columns, in 16 colors, without color, and in a file: characters carry the same information as
colors.

numbers       formats numbers; chooses the ticks of an axis
lines         breaks lines between words to fit the terminal
plot          line plots
rows          groups ranks into the rows of a view
timeline      the states of every rank over time; two runs side by side
calls         the timeline colored by MPI call
matrix        bytes or messages between all pairs of ranks
blocks        the blocks that each rank can hold, by round
critical      the critical path
waits         the wait states
summary       a run in a dozen lines; two runs compared
run_end       how a run failed, and its findings
comparison    tables and plots that compare algorithms
catalogue     the list of algorithms
palette       24-bit colors
gallery       the views by name
replay        frames with messages in motion
export        SVG from any view
drawing       timelines and matrices as vector graphics
loading       collects the metadata of traces, shows traces
latex         LaTeX tables
figure/       figures for papers, with matplotlib
page/         the interactive HTML page
"""
