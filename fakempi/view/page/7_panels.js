// The sheets below the timeline: summary, wait states, matrix, blocks, critical path. Those of time are about the interval.

const FEW = 1024;   // ranks whose blocks are followed
const CELLS = 128;  // rows and columns of the matrix, at most

function table(heads, rows) {
  const made = make("table", {}, make("thead", {}, make("tr", {}, ...heads.map(([words, number]) => make("th", { className: number ? "number" : "", scope: "col" }, words)))));
  const body = make("tbody");
  for (const row of rows) body.append(make("tr", {}, ...row.map((cell, i) => make("td", { className: heads[i][1] ? "number" : "" }, cell ?? ""))));
  made.append(body);
  return made;
}

const bar = (share, colour, room = 160) => make("span", { className: "bar", style: `width:${Math.max(share * room, 1)}px;background:${colour}` });

/** How much of a stretch lies in the interval. */
const within = (interval, start, end) => Math.min(end, interval[1]) - Math.max(start, interval[0]);

function drawSummary(runs, sheet, timeline, interval) {
  const theme = readTheme();
  const facts = runs[0].facts.map(([name, value, meaning], i) => {
    const others = runs.slice(1).map(run => run.facts[i][1]);
    return [name, value, ...others, meaning ? make("small", {}, meaning) : ""];
  });
  const heads = [["", 0], ...runs.map(run => [runs.length > 1 ? run.title : "", 0]), ["", 0]];
  const time = make("div", {}, make("h2", {}, "Where the time goes"));
  for (const run of runs) {
    const span = interval || [0, run.time], [comm, comp] = busyTime(run, span), all = run.ranks * (span[1] - span[0]) || 1;
    const idle = Math.max(all - comm - comp, 0), parts = [["communicating", comm, theme.comm], ["idle", idle, theme.idle], ["computing", comp, theme.comp]];
    time.append(make("div", { className: "stack", role: "img", ariaLabel: parts.map(([name, spent]) => `${name} ${percent(spent / all)}`).join(", ") },
      ...parts.map(([, spent, colour]) => make("span", { style: `width:${100 * spent / all}%;background:${colour}` }))));
    time.append(table([["", 0], ["all ranks", 1], ["share", 1]], parts.map(([name, spent]) => [name, seconds(spent), percent(spent / all)])));
    if (runs.length > 1) time.append(make("p", { className: "quiet" }, run.title));
  }
  const regions = runs.map(run => regionTable(run, interval)).filter(Boolean);
  sheet.replaceChildren(make("div", { className: "columns" }, make("div", {}, make("h2", {}, "The run"), Object.assign(table(heads, facts), { className: "facts" })), time, ...regions));
}

/** All ranks' time in communicating and in computing. */
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

function drawWaits(run, sheet, interval) {
  const span = interval || [0, run.time], { wait, times } = run, found = new Map();
  for (let row = 0; row < wait.rank.length; row++) {
    const inside = within(span, times[wait.start[row]], times[wait.end[row]]);
    if (inside <= 0) continue;
    const entry = found.get(wait.state[row]) || { spent: 0, calls: new Map() };
    entry.spent += inside;
    entry.calls.set(wait.call[row], (entry.calls.get(wait.call[row]) || 0) + inside);
    found.set(wait.state[row], entry);
  }
  if (!found.size) { sheet.replaceChildren(make("p", { className: "empty" }, interval ? "No rank was idle in this interval." : "No rank was ever idle.")); return; }
  const all = run.ranks * (span[1] - span[0]) || 1, rows = [...found].sort((one, other) => other[1].spent - one[1].spent);
  const most = rows[0][1].spent, idle = rows.reduce((sum, [, entry]) => sum + entry.spent, 0);
  sheet.replaceChildren(
    make("h2", {}, `Idle for ${percent(idle / all)} of all ranks' time`),
    table([["why", 0], ["all ranks", 1], ["share", 1], ["", 0], ["mostly in", 0], ["", 0]], rows.map(([state, entry]) => {
      const [call, spent] = [...entry.calls].sort((one, other) => other[1] - one[1])[0];
      const place = run.place(call);
      return [run.states[state][0], seconds(entry.spent), percent(entry.spent / all), bar(entry.spent / most, WAITS[state]),
        place ? place + (spent < entry.spent ? ` (${percent(spent / entry.spent)})` : "") : "", make("small", {}, run.states[state][1])];
    })));
}

function drawMatrix(run, sheet, interval, state) {
  const fold = Math.ceil(run.ranks / CELLS), size = Math.ceil(run.ranks / fold), { message } = run;
  const bytes = new Float64Array(size * size), count = new Float64Array(size * size);
  for (let i = 0; i < run.messages; i++) {
    if (interval && (run.start(i) > interval[1] || run.arrived(i) < interval[0])) continue;
    const cell = Math.floor(message.source[i] / fold) * size + Math.floor(message.dest[i] / fold);
    bytes[cell] += message.nbytes[i];
    count[cell]++;
  }
  const amounts = state.by === "messages" ? count : bytes, words = state.by === "messages" ? number => many(number, "message") : exactly;
  const top = Math.max(...amounts), theme = readTheme(), low = rgb(theme.soft), high = rgb(theme.comm);
  if (!top && !Math.max(...count)) { sheet.replaceChildren(make("p", { className: "empty" }, interval ? "No message travels in this interval." : "No rank sent a message.")); return; }
  const image = new ImageData(size, size);
  amounts.forEach((amount, cell) => {
    const colour = count[cell] ? mixed(high, low, 0.2 + 0.8 * Math.sqrt(amount / (top || 1))) : rgb(theme.sheet);
    image.data.set([...colour, 255], 4 * cell);
  });
  const canvas = make("canvas", { width: size, height: size, role: "img", ariaLabel: `Who sends to whom: ${many(run.ranks, "rank")}, at most ${words(top)}` });
  canvas.getContext("2d").putImageData(image, 0, 0);
  const side = Math.max(size, Math.floor(limited((sheet.parentElement.clientHeight || 300) - 32, 250, 640) / size) * size);
  canvas.style.width = canvas.style.height = side + "px";
  const name = index => fold === 1 ? `rank ${index}` : `ranks ${index * fold} to ${Math.min((index + 1) * fold, run.ranks) - 1}`;
  const told = make("p", {}, "Point at a cell."), sum = amounts.reduce((total, each) => total + each, 0);
  canvas.addEventListener("pointermove", event => {
    const box = canvas.getBoundingClientRect(), cell = part => limited(Math.floor(part * size), 0, size - 1);
    const from = cell((event.clientY - box.top) / box.height), to = cell((event.clientX - box.left) / box.width), at = from * size + to;
    told.textContent = `${name(from)} to ${name(to)}: ${many(count[at], "message")}, ${exactly(bytes[at])}`;
  });
  const choice = make("select", { ariaLabel: "Count bytes or messages" }, make("option", {}, "bytes"), make("option", {}, "messages"));
  choice.value = state.by || "bytes";
  choice.addEventListener("change", () => { state.by = choice.value; drawMatrix(run, sheet, interval, state); });
  sheet.replaceChildren(make("div", { className: "map" }, canvas, make("div", {},
    make("h2", {}, "Who sends to whom"), make("p", { className: "quiet" }, `Senders down, receivers across${fold > 1 ? `, ${fold} ranks a cell` : ""}.`),
    make("p", {}, choice, ` ${words(sum)} in all, at most ${words(top)} in a cell.`), told)));
}

/** Whose data can have reached whom at a moment: after a message its receiver can hold all that its sender held. */
function drawBlocks(run, sheet, moment) {
  if (run.ranks > FEW) {
    sheet.replaceChildren(make("p", { className: "empty" }, `Blocks are followed for up to ${whole(FEW)} ranks; this run has ${whole(run.ranks)}.`));
    return;
  }
  const { ranks, message } = run, words = Math.ceil(ranks / 32), holds = new Uint32Array(ranks * words), fresh = new Uint8Array(ranks * ranks);
  for (let rank = 0; rank < ranks; rank++) holds[rank * words + (rank >> 5)] |= 1 << (rank & 31);
  const time = moment ?? run.time, under = [];  // on the way: [arrived, dest, what]
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
  let earliest = Infinity;  // arrival of what is on the way; it may be the moment at which the next one starts
  for (let i = 0; i < run.messages && run.start(i) <= time; i++) {
    if (earliest <= run.start(i)) { land(run.start(i)); earliest = under.length ? under[0][0] : Infinity; }
    earliest = Math.min(earliest, run.arrived(i));
    under.push([run.arrived(i), message.dest[i], holds.slice(message.source[i] * words, (message.source[i] + 1) * words)]);
  }
  land(time);
  const theme = readTheme(), side = limited((sheet.parentElement.clientHeight || 300) - 32, 220, 460);
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
  canvas.ariaLabel = `${percent(total / ranks ** 2)} of all blocks are there`;
  sheet.replaceChildren(make("div", { className: "map" }, canvas, make("div", {},
    make("h2", {}, "Whose data can be where"), make("p", { className: "quiet" }, "Ranks down, the blocks of ranks across."),
    make("p", {}, `At ${seconds(time)}: ${percent(total / ranks ** 2)} of all blocks.`),
    make("p", { className: "quiet" }, "After a message its receiver can hold all that its sender held. Play, and watch them travel."))));
}

function drawPath(run, sheet, controls) {
  const { path, times } = run, spent = [0, 0, 0], calls = new Map();
  for (let i = 0; i < path.kind.length; i++) {
    const length = times[path.end[i]] - times[path.start[i]];
    spent[path.kind[i]] += length;
    calls.set(path.call[i], (calls.get(path.call[i]) || 0) + length);
  }
  if (!path.kind.length) { sheet.replaceChildren(make("p", { className: "empty" }, "The run took no time, so nothing decided when it ended.")); return; }
  const theme = readTheme(), colours = [theme.comp, theme.comm, theme.idle], steps = [...path.kind.keys()];
  const longest = steps.sort((one, other) => (times[path.end[other]] - times[path.start[other]]) - (times[path.end[one]] - times[path.start[one]])).slice(0, 30).sort((one, other) => one - other);
  const show = make("button", { type: "button", onclick: () => { const box = document.getElementById("critical"); if (!box.checked) box.click(); } }, "Show it in the timeline");
  sheet.replaceChildren(make("div", { className: "columns" },
    make("div", {}, make("h2", {}, `What decided when the run ended: ${many(path.kind.length, "step")}`),
      table([["", 0], ["time", 1], ["share", 1], ["", 0]], ON_PATH.map((name, kind) => [name, seconds(spent[kind]), percent(spent[kind] / (run.time || 1)), bar(spent[kind] / (run.time || 1), colours[kind])])),
      make("p", { style: "margin-top:10px" }, show)),
    make("div", {}, make("h2", {}, "In which calls"), table([["", 0], ["time", 1], ["share", 1]],
      [...calls].sort((one, other) => other[1] - one[1]).slice(0, 8).map(([call, time]) => [run.place(call) || "(no call)", seconds(time), percent(time / (run.time || 1))]))),
    make("div", {}, make("h2", {}, longest.length < path.kind.length ? `Its ${longest.length} longest steps` : "Its steps"),
      table([["from", 1], ["takes", 1], ["", 0], ["", 0]], longest.map(i => [seconds(times[path.start[i]]), seconds(times[path.end[i]] - times[path.start[i]]),
        path.kind[i] === 1 ? `${path.source[i]} → ${path.dest[i]}, ${amount(path.nbytes[i])}` : `${path.rank[i]} ${path.kind[i] ? "waits" : "computes"}`, run.place(path.call[i])])))));
}
