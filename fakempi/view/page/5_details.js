// Descriptions of a rank at a time: for the tooltip, and for the card of the selection.

/** An element with properties and children; text is not parsed as markup. */
function make(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made && name !== "list") made[name] = value; else made.setAttribute(name, value);
  }
  made.append(...children.filter(child => child !== null && child !== undefined));
  return made;
}

/** Expressions in a text: a call (with parentheses in its arguments), a time, a place, a rank or a tag, a number with its unit. */
const EXPRESSION = new RegExp([/[\w.]+\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\)/, /\bt = [\d.e+-]*\d(?: s\b)?/, /(?:at )?[^\s()]+:\d+/, /(?:ranks?|tag) \d[\d-]*/,
  /\d[\d.,]*(?:e[+-]?\d+)?(?: (?:[kMGTPE]?B|[mµn]?s|bytes?|messages?|ranks?)\b)?/].map(each => each.source).join("|"), "g");

/** A text as nodes; a line does not end within an expression unless the expression is longer than the line. */
function unbroken(text) {
  const nodes = [];
  let end = 0;
  for (const found of text.matchAll(EXPRESSION)) {
    if (!/[ (:+-]/.test(found[0])) continue;  // a line cannot end in it
    nodes.push(text.slice(end, found.index), make("span", { className: "unbroken" }, found[0]));
    end = found.index + found[0].length;
  }
  return [...nodes, text.slice(end)];
}

function pairs(items) {
  const list = make("dl", { className: "pairs" });
  for (const [name, value] of items) if (value) list.append(make("dt", {}, name), make("dd", {}, ...unbroken(value)));
  return list;
}

/** The message, compute interval or wait of a rank at a time; `stuck` if the rank is blocked then. */
function lookUp(run, rank, time, near = 0) {
  const found = { rank, time, span: -1, wait: -1, message: -1, stuck: null };
  const stuck = run.stuckOf.get(rank);
  found.span = run.spanAt(rank, time, near);
  if (found.span < 0 && stuck && time >= stuck.since) return { ...found, stuck };
  if (found.span < 0) found.wait = run.waitAt(rank, time);
  else if (run.span.kind[found.span] === COMMUNICATES) found.message = run.span.what[found.span];
  return found;
}

function ofMessage(run, i) {
  const { message, times } = run;
  const posted = times[message.posted[i]], start = run.start(i), awaited = run.at(message.awaited[i]);
  const waited = start - posted;
  const late = awaited > posted ? ["its receive", "", "its epoch"][message.protocol[i]] : "";  // synchronous, eager, of a window
  const reason = waited <= 0 ? "" : `${seconds(waited)} for ${late || "a port or link"}`;
  return {
    title: run.place(message.call[i]) || "message",
    items: [
      ["from, to", `rank ${message.source[i]} to rank ${message.dest[i]}`],
      ["bytes", `${exactly(message.nbytes[i])}, tag ${message.tag[i]}`],
      ["sent", seconds(posted, 6)],
      ["started", seconds(start, 6)],
      ["arrived", seconds(run.arrived(i), 6)],
      ["received", isFinite(awaited) ? `${run.place(message.receive_call[i]) || "receive"}, posted ${seconds(awaited, 6)}` : "not received"],
      ["waited", reason],
      ["part of", message.region[i] >= 0 ? run.regionName(message.region[i]) : ""],
    ],
  };
}

/** A title, and pairs of a name and a value. */
function describe(run, found) {
  const { times } = run;
  if (found.call) {  // a search result
    const { words, start, end } = found.call, name = words.replace(/, /, "\n").split("\n");
    return { title: name[0], items: [["call", name[1] || ""], ["from, to", `${seconds(start, 6)} to ${seconds(end, 6)}`], ["takes", seconds(end - start)]] };
  }
  if (found.stuck) {
    const { call, site, since, wants, polls } = found.stuck;
    return { title: `${call} at ${site}`, items: [[`rank ${found.rank}`, polls ? "polls without success" : "blocked"], ["since", seconds(since, 6)], ["waits for", wants.map(want => want.words).join("; ")]] };
  }
  if (found.message >= 0) return ofMessage(run, found.message);
  const around = run.regionsAt(found.rank, found.time).map(row => run.regionName(row)).join(" › ");
  if (found.span >= 0) {
    const row = run.span.what[found.span], { start, end, call } = run.compute;
    return {
      title: run.place(call[row]) || "computing",
      items: [[`rank ${found.rank}`, `computes for ${seconds(times[end[row]] - times[start[row]])}`],
        ["from, to", `${seconds(times[start[row]], 6)} to ${seconds(times[end[row]], 6)}`], ["part of", around]],
    };
  }
  if (found.wait >= 0) {
    const { start, end, state, call } = run.wait, row = found.wait, [name, meaning] = run.states[state[row]];
    return {
      title: run.place(call[row]) || `rank ${found.rank} is idle`,
      items: [[`rank ${found.rank}`, `idle for ${seconds(times[end[row]] - times[start[row]])}: ${name}`], ["that is", meaning],
        ["from, to", `${seconds(times[start[row]], 6)} to ${seconds(times[end[row]], 6)}`], ["part of", around]],
    };
  }
  return found.time >= 0 && found.time <= run.end
    ? { title: `rank ${found.rank}`, items: [["at", seconds(found.time, 6)], ["part of", around]] } : null;
}

/** The message whose arrow passes within a few pixels of a point, or -1. */
function arrowNear(timeline, band, x, y) {
  const { arrowsAt, drawn } = band;
  if (!timeline.arrows || !arrowsAt || drawn.crowded) return -1;
  let best = -1, closest = 4;
  for (const i of arrowsAt) {
    const [x0, y0, x1, y1] = timeline.arrow(band, i), length = (x1 - x0) ** 2 + (y1 - y0) ** 2 || 1;
    const along = limited(((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length, 0, 1);
    const away = Math.hypot(x - x0 - along * (x1 - x0), y - y0 - along * (y1 - y0));
    if (away < closest) { best = i; closest = away; }
  }
  return best;
}

/** The event under the pointer: of the rank in a row, or the arrow between rows. */
function under(timeline, x, y) {
  const { band, rank, time, label } = timeline.at(x, y);
  if (!band || label) return band ? { band, rank, time, label } : null;
  const near = 2 * (timeline.t1 - timeline.t0) / timeline.wide;
  const found = { band, ...lookUp(band.run, rank, time, near) };
  if (found.message < 0 && !found.stuck) {
    const passing = arrowNear(timeline, band, x, y);
    if (passing >= 0) return { ...found, span: -1, wait: -1, message: passing, rank: band.run.message.source[passing] };
  }
  return found;
}

class Tooltip {
  constructor(element) { this.element = element; }

  show(timeline, found, x, y) {
    const described = found && !found.label ? describe(found.band.run, found) : null;
    if (!described) return this.hide();
    const { band } = found, row = rowOf(band.groups, found.rank), ranks = band.groups[row + 1] - band.groups[row];
    this.element.replaceChildren(
      make("h3", {}, ...unbroken(described.title)), pairs(described.items),
      ...(ranks > 1 ? [make("div", { style: "opacity:.65;margin-top:4px" }, `One of ${ranks} ranks in this row; Shift and wheel shows fewer ranks.`)] : []));
    this.element.hidden = false;
    const { width, height } = this.element.getBoundingClientRect();
    this.element.style.left = (x + 18 + width > innerWidth ? Math.max(x - width - 14, 4) : x + 18) + "px";
    this.element.style.top = limited(y + 18, 4, Math.max(innerHeight - height - 6, 4)) + "px";
  }

  hide() {
    this.element.hidden = true;
    this.element.replaceChildren();
  }
}

/** The card of the selection, with buttons to move on from it. */
function drawChosen(timeline, element, go) {
  const { chosen } = timeline;
  if (element.of === chosen) return;
  element.of = chosen;
  if (!chosen) {
    element.replaceChildren(make("h2", {}, "No selection"),
      make("p", { className: "quiet" }, "Click a bar to select its message; click again to follow it to its other end."));
    return;
  }
  const { run } = chosen.band, described = describe(run, chosen) || { title: "", items: [] };
  const acts = make("div", { className: "acts" });
  const act = (label, handler) => acts.append(make("button", { type: "button", onclick: handler }, label));
  if (chosen.message >= 0) {
    const { source, dest } = run.message;
    act(`sender, ${source[chosen.message]}`, () => go.end(source[chosen.message]));
    act(`receiver, ${dest[chosen.message]}`, () => go.end(dest[chosen.message]));
  }
  act("previous", () => go.next(-1));
  act("next", () => go.next(1));
  element.replaceChildren(make("h2", {}, `Rank ${chosen.rank}`), make("p", {}, ...unbroken(described.title === `rank ${chosen.rank}` ? "" : described.title)), pairs(described.items), acts);
}
