// The panels below the timeline: summary, wait states, blocks, critical path. Times refer to the selected interval.

const FEW = 1024;   // maximum number of ranks in the panel of blocks

function table(heads, rows) {
  const made = make("table", {}, heads.every(([words]) => !words) ? null : make("thead", {}, make("tr", {}, ...heads.map(([words, number]) => make("th", { className: number ? "number" : "", scope: "col" }, words)))));
  const body = make("tbody");
  for (const row of rows) body.append(make("tr", {}, ...row.map((cell, i) => make("td", { className: heads[i][1] ? "number" : "" }, ...typeof cell === "string" ? unbroken(cell) : [cell]))));
  made.append(body);
  return made;
}

const bar = (share, color, room = 160) => make("span", { className: "bar", style: `width:${Math.max(share * room, 1)}px;background:${color}` });

/** The width and the height for the contents of a panel without scrolling, in pixels. */
function spaceIn(panel) {
  const { paddingLeft, paddingTop } = getComputedStyle(panel), { clientWidth, clientHeight } = panel.parentElement;
  return [clientWidth - 2 * parseFloat(paddingLeft), (clientHeight || 300) - 2 * parseFloat(paddingTop) - 6];
}

/** The length of the part of [start, end] inside the interval. */
const within = (interval, start, end) => Math.min(end, interval[1]) - Math.max(start, interval[0]);

function drawSummary(runs, panel, timeline, interval) {
  const theme = readTheme();
  const named = new Map(runs.flatMap(run => run.facts).map(([name, , meaning]) => [name, meaning]));  // some runs have more facts
  const facts = [...named].map(([name, meaning]) => {
    const values = runs.map(run => (run.facts.find(fact => fact[0] === name) || [name, "–"])[1]);
    return [name, ...values, meaning ? make("small", {}, meaning) : ""];
  });
  const heads = [["", 0], ...runs.map(run => [runs.length > 1 ? run.title : "", 0]), ["", 0]];
  const time = make("div", {}, make("h2", {}, "Time by state"));
  for (const run of runs) {
    const span = interval || [0, run.time], [comm, comp] = busyTime(run, span), whole = run.ranks * (span[1] - span[0]), all = whole || 1;
    const idle = Math.max(whole - comm - comp, 0), parts = [["communicating", comm, theme.comm], ["idle", idle, theme.idle], ["computing", comp, theme.comp]];
    time.append(make("div", { className: "stack", role: "img", ariaLabel: parts.map(([name, spent]) => `${name} ${percent(spent / all)}`).join(", ") },
      ...parts.map(([, spent, color]) => make("span", { style: `width:${100 * spent / all}%;background:${color}` }))));
    time.append(table([["", 0], ["all ranks", 1], ["share", 1]], parts.map(([name, spent]) => [name, seconds(spent), percent(spent / all)])));
    if (runs.length > 1) time.append(make("p", { className: "quiet" }, run.title));
  }
  const regions = runs.map(run => regionTable(run, interval)).filter(Boolean);
  panel.replaceChildren(make("div", { className: "columns" }, make("div", {}, make("h2", {}, "Measures"), Object.assign(table(heads, facts), { className: "facts" })), time, ...regions));
}

/** The time of all ranks in communicating and in computing. */
function busyTime(run, interval) {
  const { span } = run, spent = [0, 0];
  for (let i = 0; i < span.first[run.ranks]; i++) {
    const inside = within(interval, span.from[i], span.to[i]);
    if (inside > 0) spent[span.kind[i]] += inside;
  }
  return spent;
}

function regionTable(run, interval) {
  const span = interval || [0, run.end], spent = new Map(), { region, times } = run;
  for (let row = 0; row < region.rank.length; row++) {
    if (region.parent[row] >= 0) continue;
    const inside = within(span, times[region.start[row]], Math.min(run.at(region.end[row]), run.end));
    if (inside < 0) continue;
    const name = run.regionName(row), entry = spent.get(name) || [0, 0];
    spent.set(name, [entry[0] + 1, entry[1] + inside]);
  }
  if (!spent.size) return null;
  const all = run.ranks * (span[1] - span[0]) || 1;
  const rows = [...spent].sort((one, other) => other[1][1] - one[1][1]).slice(0, 12);
  return make("div", {}, make("h2", {}, "Collective calls and regions"), table([["", 0], ["entered", 1], ["mean", 1], ["share of all ranks' time", 1]],
    rows.map(([name, [count, total]]) => [name, whole(count), seconds(total / count), percent(total / all)])));
}

function drawWaits(run, panel, interval) {
  const span = interval || [0, run.time], { wait, times } = run, found = new Map();
  for (let row = 0; row < wait.rank.length; row++) {
    const inside = within(span, times[wait.start[row]], times[wait.end[row]]);
    if (inside <= 0) continue;
    const entry = found.get(wait.state[row]) || { spent: 0, calls: new Map() };
    entry.spent += inside;
    entry.calls.set(wait.call[row], (entry.calls.get(wait.call[row]) || 0) + inside);
    found.set(wait.state[row], entry);
  }
  if (!found.size) { panel.replaceChildren(make("p", { className: "empty" }, interval ? "No rank was idle in this interval." : "No rank was idle.")); return; }
  const all = run.ranks * (span[1] - span[0]) || 1, rows = [...found].sort((one, other) => other[1].spent - one[1].spent);
  const most = rows[0][1].spent, idle = rows.reduce((sum, [, entry]) => sum + entry.spent, 0);
  panel.replaceChildren(
    make("h2", {}, `Idle for ${percent(idle / all)} of all ranks' time`),
    table([["wait state", 0], ["all ranks", 1], ["share", 1], ["", 0], ["mostly in", 0], ["", 0]], rows.map(([state, entry]) => {
      const [call, spent] = [...entry.calls].sort((one, other) => other[1] - one[1])[0];
      const place = run.place(call);
      return [run.states[state][0], seconds(entry.spent), percent(entry.spent / all), bar(entry.spent / most, WAITS[state], 120),
        place ? place + (spent < entry.spent ? ` (${percent(spent / entry.spent)})` : "") : "", make("small", {}, run.states[state][1])];
    })));
}

/** Which rank can hold which block at a time: after a message its receiver can hold all blocks that its sender held. */
function drawBlocks(run, panel, moment) {
  if (run.ranks > FEW) {
    panel.replaceChildren(make("p", { className: "empty" }, `Blocks are shown for at most ${whole(FEW)} ranks; this run has ${whole(run.ranks)}.`));
    return;
  }
  const { ranks, message } = run, words = Math.ceil(ranks / 32), holds = new Uint32Array(ranks * words), fresh = new Uint8Array(ranks * ranks);
  for (let rank = 0; rank < ranks; rank++) holds[rank * words + (rank >> 5)] |= 1 << (rank & 31);
  const time = moment ?? 0, under = [];  // in transit: [arrived, dest, blocks]
  const land = limit => {
    under.sort((one, other) => one[0] - other[0]);
    while (under.length && under[0][0] <= limit) {
      const [, dest, what] = under.shift();
      for (let w = 0; w < words; w++) {
        const gained = what[w] & ~holds[dest * words + w];
        if (gained) { holds[dest * words + w] |= gained; for (let bit = 0; bit < 32; bit++) if (gained >>> bit & 1) fresh[dest * ranks + 32 * w + bit] = limit >= time ? 1 : 0; }
      }
    }
  };
  let earliest = Infinity;  // earliest arrival of a message in transit; it may equal the start of the next one
  for (let i = 0; i < run.messages && run.start(i) <= time; i++) {
    if (earliest <= run.start(i)) { land(run.start(i)); earliest = under.length ? under[0][0] : Infinity; }
    earliest = Math.min(earliest, run.arrived(i));
    under.push([run.arrived(i), message.dest[i], holds.slice(message.source[i] * words, (message.source[i] + 1) * words)]);
  }
  land(time);
  const theme = readTheme(), side = limited(Math.min(...spaceIn(panel)), 100, 460);
  const cell = Math.max(1, Math.floor(side / ranks)), gap = cell > 4 ? 1 : 0;
  const canvas = make("canvas", { width: ranks * cell, height: ranks * cell, role: "img" }), c = canvas.getContext("2d");
  let total = 0;
  for (let rank = 0; rank < ranks; rank++) {
    for (let block = 0; block < ranks; block++) {
      const there = holds[rank * words + (block >> 5)] >>> (block & 31) & 1;
      total += there;
      c.fillStyle = there ? (moment !== null && fresh[rank * ranks + block] ? theme.comp : theme.comm) : theme.soft;
      c.fillRect(block * cell, rank * cell, cell - gap, cell - gap);
    }
  }
  canvas.ariaLabel = `${percent(total / ranks ** 2)} of all blocks have arrived`;
  panel.replaceChildren(make("div", { className: "map" }, canvas, make("div", {},
    make("h2", {}, "Blocks that each rank can hold"), make("p", { className: "quiet" }, "Rows are ranks, columns are the blocks of ranks."),
    make("p", {}, `At ${seconds(time)}: ${percent(total / ranks ** 2)} of all blocks.`),
    make("p", { className: "quiet" }, "After a message, its receiver can hold all blocks that its sender held. Press Play to see them spread."))));
}

function drawPath(run, panel, controls) {
  const { path, times } = run, spent = [0, 0, 0], calls = new Map();
  for (let i = 0; i < path.kind.length; i++) {
    const length = times[path.end[i]] - times[path.start[i]];
    spent[path.kind[i]] += length;
    calls.set(path.call[i], (calls.get(path.call[i]) || 0) + length);
  }
  if (!path.kind.length) { panel.replaceChildren(make("p", { className: "empty" }, "The run took no modeled time, so it has no critical path.")); return; }
  const theme = readTheme(), colors = [theme.comp, theme.comm, theme.idle], steps = [...path.kind.keys()];
  const longest = steps.sort((one, other) => (times[path.end[other]] - times[path.start[other]]) - (times[path.end[one]] - times[path.start[one]])).slice(0, 30).sort((one, other) => one - other);
  const show = make("button", { type: "button", onclick: () => { const box = document.getElementById("critical"); if (!box.checked) box.click(); } }, "Show it in the timeline");
  panel.replaceChildren(make("div", { className: "columns" },
    make("div", {}, make("h2", {}, `Critical path: ${many(path.kind.length, "step")}`),
      table([["", 0], ["time", 1], ["share", 1], ["", 0]], ON_PATH.map((name, kind) => [name, seconds(spent[kind]), percent(spent[kind] / (run.time || 1)), bar(spent[kind] / (run.time || 1), colors[kind])])),
      make("p", { style: "margin-top:10px" }, show)),
    make("div", {}, make("h2", {}, "By call"), table([["", 0], ["time", 1], ["share", 1]],
      [...calls].sort((one, other) => other[1] - one[1]).slice(0, 8).map(([call, time]) => [run.place(call) || "(no call)", seconds(time), percent(time / (run.time || 1))]))),
    make("div", {}, make("h2", {}, longest.length < path.kind.length ? `The ${longest.length} longest steps` : "Steps"),
      table([["start", 1], ["length", 1], ["", 0], ["", 0]], longest.map(i => [seconds(times[path.start[i]]), seconds(times[path.end[i]] - times[path.start[i]]),
        path.kind[i] === 1 ? `${path.source[i]} → ${path.dest[i]}, ${amount(path.nbytes[i])}` : `${path.rank[i]} ${path.kind[i] ? "waits" : "computes"}`, run.place(path.call[i])])))));
}
