// Shares of time. The legend and the tables use the same sums, so that a percentage is the same in both.

/** The part of a window that belongs to the run: the endless part of a deadlock has no length. */
const clipped = (run, [from, to]) => [limited(from, 0, run.time), limited(to, 0, run.time)];

/** Calls `each` with the row, the start and the end of every busy interval of a rank in a window. */
function eachBusy(run, rank, from, to, each) {
  const { first, from: begins, to: ends } = run.span, last = first[rank + 1];
  for (let i = firstWhere(first[rank], last, i => ends[i] > from); i < last && begins[i] < to; i++) each(i, Math.max(begins[i], from), Math.min(ends[i], to));
}

/** The times of ranks in a window by state. `idle` is the rest; `whole` is the length of the window times the number of ranks. */
function stateTimes(run, window, low = 0, high = run.ranks) {
  const [from, to] = clipped(run, window), spent = [0, 0], whole = (high - low) * (to - from);
  let blocked = 0;
  for (let rank = low; rank < high; rank++) {
    eachBusy(run, rank, from, to, (i, start, end) => { spent[run.span.kind[i]] += end - start; });
    const since = Math.max(run.stuckOf.get(rank)?.since ?? to, from);
    if (since >= to) continue;
    blocked += to - since;
    eachBusy(run, rank, since, to, (_, start, end) => { blocked -= end - start; });  // it still receives messages
  }
  const idle = whole - spent[0] - spent[1] - blocked;
  return { communicating: spent[COMMUNICATES], computing: spent[COMPUTES], blocked, idle: idle > whole * 1e-9 ? idle : 0, whole };
}

/** For each wait state, its time in a window, and the same by call. */
function waitTimes(run, window, low = 0, high = run.ranks) {
  const [from, to] = clipped(run, window), { wait, times } = run, found = new Map();
  for (let row = 0; row < wait.rank.length; row++) {
    const inside = Math.min(times[wait.end[row]], to) - Math.max(times[wait.start[row]], from);
    if (inside <= 0 || wait.rank[row] < low || wait.rank[row] >= high) continue;
    const entry = found.get(wait.state[row]) || { spent: 0, calls: new Map() };
    entry.spent += inside;
    entry.calls.set(wait.call[row], (entry.calls.get(wait.call[row]) || 0) + inside);
    found.set(wait.state[row], entry);
  }
  return found;
}

/** For each name of an outermost region, how often it was entered and its time in a window; `nameOf` gives the name of a row. */
function regionTimes(run, window, nameOf, low = 0, high = run.ranks) {
  const [from, to] = clipped(run, window), { region, times } = run, found = new Map();
  for (let row = 0; row < region.rank.length; row++) {
    if (region.parent[row] >= 0 || region.rank[row] < low || region.rank[row] >= high) continue;
    const inside = Math.min(run.at(region.end[row]), to) - Math.max(times[region.start[row]], from);
    if (inside < 0) continue;
    const name = nameOf(row), [count, spent] = found.get(name) || [0, 0];
    found.set(name, [count + 1, spent + inside]);
  }
  return found;
}

/** For each kind of call, its time in a window: that of its regions if it has any, otherwise of its busy intervals and waits. */
function kindTimes(run, window, low = 0, high = run.ranks) {
  const [from, to] = clipped(run, window), { wait, times } = run, regions = regionTimes(run, window, run.kindOfRegion, low, high);
  const found = new Map([...regions].map(([kind, [, spent]]) => [kind, spent]));
  const add = (kind, spent) => { if (kind >= 0 && spent > 0 && !regions.has(kind)) found.set(kind, (found.get(kind) || 0) + spent); };
  for (let rank = low; rank < high; rank++) {
    eachBusy(run, rank, from, to, (i, start, end) => add(run.span.kind[i] === COMPUTES ? run.kindOfCompute(run.span.what[i]) : run.kindOfMessage(run.span.what[i]), end - start));
  }
  for (let row = 0; row < wait.rank.length; row++) {
    if (!wait.call[row] || wait.rank[row] < low || wait.rank[row] >= high) continue;
    add(run.kindOfCall(wait.call[row]), Math.min(times[wait.end[row]], to) - Math.max(times[wait.start[row]], from));
  }
  return found;
}

/** The shares that the legend shows, by name of the class: of the visible time and of the visible ranks. */
function legendShares(run, mode, scheme, window, low, high) {
  const states = stateTimes(run, window, low, high), whole = states.whole || 1, found = new Map();
  const put = (name, spent) => found.set(name, (found.get(name) || 0) + spent / whole);
  if (mode === "state") for (const name of ["communicating", "computing", "idle"]) put(name, states[name]);
  if (mode === "wait") {
    put("busy", states.communicating + states.computing);
    for (const [state, { spent }] of waitTimes(run, window, low, high)) put(run.states[state][0], spent);
  }
  if (mode === "call") {
    const names = new Set(scheme.classes.map(one => one.name));
    for (const [kind, spent] of kindTimes(run, window, low, high)) put(names.has(run.kinds[kind]) ? run.kinds[kind] : "other", spent);
  }
  if (run.stuckOf.size) put("blocked", states.blocked);
  return { found, empty: !states.whole };
}
