// The panels below the timeline: summary, wait states, blocks, critical path. Times refer to the selected interval.

const ROW = 19;     // pixels: the height of a row of a table, about
const FEW = 1024;   // maximum number of ranks in the panel of blocks

/** A table. Each column has a head, whether it contains numbers, and whether its head is only for screen readers. */
function table(heads, rows) {
  const head = heads.map(([words, number, unseen]) => make("th", { className: number ? "number" : "", scope: "col" }, unseen ? make("span", { className: "unseen" }, words) : words));
  const made = make("table", { className: heads.every(([, , unseen]) => unseen) ? "headless" : "" }, make("thead", {}, make("tr", {}, ...head))), body = make("tbody");
  for (const row of rows) body.append(make("tr", {}, ...row.map((cell, i) => make("td", { className: heads[i][1] ? "number" : "" }, ...typeof cell === "string" ? unbroken(cell) : [cell]))));
  made.append(body);
  return made;
}

const bar = (share, color, room = 160) => make("span", { className: "bar", style: `width:${Math.max(share * room, 1)}px;background:${color}` });

/** The width and the height for the contents of a panel without scrolling, in pixels. */
function spaceIn(panel) {
  const { paddingLeft, paddingTop } = getComputedStyle(panel), { clientWidth, clientHeight } = panel.parentElement;
  return [clientWidth - 2 * parseFloat(paddingLeft), (clientHeight || 300) - 2 * parseFloat(paddingTop) - 6 - panel.reserved];
}

/**
 * Draw a panel with as many rows in its lists as fit: `draw` gets the maximum number of rows, and returns how many there are in the longest list.
 * A button shows all of them.
 */
function drawFitting(panel, draw) {
  const scroller = panel.parentElement, height = () => panel.offsetHeight + panel.reserved - scroller.clientHeight;
  let most = draw(Infinity), rows = most;
  while (rows > 3 && height() > 0) draw(rows = Math.max(3, Math.min(rows - 1, rows - Math.floor(height() / ROW))));
  if (rows < most) {
    const all = make("button", { type: "button", className: "more", onclick: () => { draw(Infinity); panel.focus(); } }, `Show all ${most} rows`);
    panel.querySelector("h2.long").prepend(all);
  }
}

function drawSummary(runs, panel, timeline, interval) {
  const theme = readTheme();
  const named = new Map(runs.flatMap(run => run.facts).map(([name, , meaning]) => [name, meaning]));  // some runs have more facts
  const two = runs.length > 1, heads = [["measure", 0, !two], ...runs.map(run => [two ? run.title : "value", 0, !two]), ["meaning", 0, true]];
  const facts = [...named].map(([name, meaning]) => {
    const values = runs.map(run => (run.facts.find(fact => fact[0] === name) || [name, "–"])[1]);
    return [name, ...values, meaning ? make("small", {}, meaning) : ""];
  });
  const measures = () => make("div", {}, make("h2", {}, "Measures"), Object.assign(table(heads, facts), { className: two ? "facts" : "facts headless" }));
  drawFitting(panel, most => {
    const regions = runs.map(run => regionTable(run, interval, most, two)), tables = regions.map(each => each.shown).filter(Boolean);
    const time = stateTable(runs, interval, theme);
    panel.replaceChildren(make("div", { className: "summary" }, measures(), ...two ? [time, ...tables] : [make("div", {}, time, ...tables)]));
    return Math.max(...regions.map(each => each.rows), 0);
  });
}

/** The time of all ranks by state: a bar for each run, and a table. */
function stateTable(runs, interval, theme) {
  const two = runs.length > 1, time = make("div", {}, make("h2", {}, "Time by state")), found = runs.map(run => stateTimes(run, interval || [0, run.time]));
  const colors = { communicating: theme.comm, computing: theme.comp, blocked: theme.stuck, idle: theme.idle };
  const states = Object.keys(colors).filter(name => name !== "blocked" || runs.some(run => run.stuckOf.size));
  const share = (times, name) => percent(times[name] / (times.whole || 1));
  found.forEach((times, i) => {
    const words = states.map(name => `${name} ${share(times, name)}`).join(", ");
    time.append(make("div", { className: "stack", role: "img", ariaLabel: (two ? `${runs[i].title}: ` : "") + words },
      ...states.map(name => make("span", { style: `width:${100 * times[name] / (times.whole || 1)}%;background:${colors[name]}` }))));
  });
  const heads = [["state", 0, !two], ...runs.flatMap(run => [[two ? run.title : "all ranks", 1], ["share", 1]])];
  time.append(table(heads, states.map(name => [name, ...found.flatMap(times => [seconds(times[name]), share(times, name)])])));
  return time;
}

function regionTable(run, interval, most, titled) {
  const spent = regionTimes(run, interval || [0, run.time], row => run.regionName(row));
  if (!spent.size) return { rows: 0, shown: null };
  const [from, to] = clipped(run, interval || [0, run.time]), length = run.ranks * (to - from) || 1;
  const rows = [...spent].sort((one, other) => other[1][1] - one[1][1]), shown = rows.slice(0, most);
  return { rows: rows.length, shown: make("div", { className: "apart" }, make("h2", { className: "long" }, `Collective calls and regions${titled ? ` of ${run.title}` : ""}`), table([["name", 0, true], ["entered", 1], ["mean", 1], ["share", 1]],
    shown.map(([name, [count, total]]) => [name, whole(count), seconds(total / count), percent(total / length)]))) };
}

function drawWaits(run, panel, interval) {
  const window = interval || [0, run.time], found = waitTimes(run, window), states = stateTimes(run, window), whole = states.whole || 1;
  const rows = [...found].sort((one, other) => other[1].spent - one[1].spent).map(([state, entry]) => {
    const [call, spent] = [...entry.calls].sort((one, other) => other[1] - one[1])[0], place = run.place(call);
    return [entry.spent, WAITS[state], run.states[state][0], place ? place + (spent < entry.spent ? ` (${percent(spent / entry.spent)})` : "") : "", run.states[state][1]];
  });
  if (states.blocked) {
    const [first] = run.ended.stuck;
    rows.push([states.blocked, readTheme().stuck, "blocked", `${first.call} at ${first.site}`, "in a call that the rank never left: the run failed"]);
  }
  if (!rows.length) { panel.replaceChildren(make("p", { className: "empty" }, interval ? "No rank was idle in this interval." : "No rank was idle.")); return; }
  const most = Math.max(...rows.map(([spent]) => spent)), title = states.blocked ? `Idle for ${percent(states.idle / whole)}, blocked for ${percent(states.blocked / whole)} of all ranks' time`
    : `Idle for ${percent(states.idle / whole)} of all ranks' time`;
  const heads = [["wait state", 0], ["all ranks", 1], ["share", 1], ["share as a bar", 0, true], ["mostly in", 0], ["meaning", 0, true]];
  panel.replaceChildren(make("h2", {}, title), table(heads, rows.map(([spent, color, name, place, meaning]) => (
    [name, seconds(spent), percent(spent / whole), bar(spent / most, color, 120), place, make("small", {}, meaning)]))));
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
  const canvas = make("canvas", { role: "img" }), kind = new Uint8Array(ranks * ranks);  // 0: not there, 1: there, 2: has just arrived
  let total = 0;
  for (let rank = 0; rank < ranks; rank++) {
    for (let block = 0; block < ranks; block++) {
      const there = holds[rank * words + (block >> 5)] >>> (block & 31) & 1, cell = rank * ranks + block;
      total += there;
      kind[cell] = there && moment !== null && fresh[cell] ? 2 : there;
    }
  }
  paintBlocks(canvas, ranks, kind, plotSize(panel, 0));
  canvas.ariaLabel = `${percent(total / ranks ** 2)} of all blocks have arrived`;
  panel.replaceChildren(make("div", { className: "map" }, canvas, make("div", {},
    make("h2", {}, "Blocks that each rank can hold"), make("p", { className: "quiet" }, "Rows are ranks, columns are the blocks of ranks."),
    make("p", {}, `At ${seconds(time)}: ${percent(total / ranks ** 2)} of all blocks.`),
    make("p", { className: "quiet" }, "After a message, its receiver can hold all blocks that its sender held. Press Play to see them spread."))));
}

/** A cell for each rank and block, with both axes. */
function paintBlocks(canvas, ranks, kind, [across, down]) {
  const c = sized(canvas, across, down), theme = readTheme(), colors = [theme.soft, theme.comm, theme.comp];
  const x = block => MARGIN.left + Math.round(block * across / ranks), y = rank => MARGIN.top + Math.round(rank * down / ranks), gap = down / ranks > 4 ? 1 : 0;
  for (let rank = 0; rank < ranks; rank++) {
    for (let block = 0; block < ranks; block++) {
      c.fillStyle = colors[kind[rank * ranks + block]];
      c.fillRect(x(block), y(rank), x(block + 1) - x(block) - gap, y(rank + 1) - y(rank) - gap);
    }
  }
  drawAxes(c, [...new Array(ranks + 1).keys()], [across, down], theme, ["rank", "block of rank"]);
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
  const byLength = steps.sort((one, other) => (times[path.end[other]] - times[path.start[other]]) - (times[path.end[one]] - times[path.start[one]])).slice(0, 30);
  const show = () => make("button", { type: "button", onclick: () => { const box = document.getElementById("critical"); if (!box.checked) box.click(); } }, "Show it in the timeline");
  const ofCall = [...calls].sort((one, other) => other[1] - one[1]), all = run.time || 1;
  const step = i => [seconds(times[path.start[i]]), seconds(times[path.end[i]] - times[path.start[i]]),
    path.kind[i] === 1 ? `${path.source[i]} → ${path.dest[i]}, ${amount(path.nbytes[i])}` : `${path.rank[i]} ${path.kind[i] ? "waits" : "computes"}`, run.place(path.call[i])];
  drawFitting(panel, most => {
    const longest = byLength.slice(0, most).sort((one, other) => one - other);
    panel.replaceChildren(make("div", { className: "summary" },
      make("div", {}, make("h2", {}, `Critical path: ${many(path.kind.length, "step")}`),
        table([["part", 0, true], ["time", 1], ["share", 1], ["share as a bar", 0, true]], ON_PATH.map((name, kind) => [name, seconds(spent[kind]), percent(spent[kind] / all), bar(spent[kind] / all, colors[kind])])),
        make("p", { className: "apart" }, show()),
        make("h2", { className: "apart" }, "By call"), table([["call", 0, true], ["time", 1], ["share", 1]],
        ofCall.slice(0, Math.min(most, 8)).map(([call, time]) => [run.place(call) || "(no call)", seconds(time), percent(time / all)]))),
      make("div", {}, make("h2", { className: "long" }, longest.length < path.kind.length ? `The ${longest.length} longest steps` : "Steps"),
        table([["start", 1], ["length", 1], ["ranks", 0, true], ["call", 0, true]], longest.map(step)))));
    return byLength.length;
  });
}
