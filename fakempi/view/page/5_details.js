// What there is to say of a moment of a rank: in the tooltip, and in the card of what is chosen.

/** An element with properties and children; text is never read as markup. */
function make(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made && name !== "list") made[name] = value; else made.setAttribute(name, value);
  }
  made.append(...children.filter(child => child !== null && child !== undefined));
  return made;
}

function pairs(items) {
  const list = make("dl", { className: "pairs" });
  for (const [name, value] of items) if (value) list.append(make("dt", {}, name), make("dd", {}, value));
  return list;
}

/** What is at a moment of a rank: a message, computing, a wait, for ever or not, and the regions around. */
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
  const late = awaited > posted && awaited <= start;
  const reason = waited <= 0 ? "" : `${seconds(waited)} for ${late ? "its receive" : "a port that was busy"}`;
  return {
    title: run.place(message.call[i]) || "message",
    items: [
      ["from, to", `rank ${message.source[i]} to rank ${message.dest[i]}`],
      ["bytes", `${exactly(message.nbytes[i])}, tag ${message.tag[i]}`],
      ["sent", seconds(posted, 6)],
      ["started", seconds(start, 6)],
      ["arrived", seconds(run.arrived(i), 6)],
      ["received", isFinite(awaited) ? `${run.place(message.receive_call[i]) || "receive"}, posted ${seconds(awaited, 6)}` : "by nobody"],
      ["waited", reason],
      ["part of", message.region[i] >= 0 ? run.regionName(message.region[i]) : ""],
    ],
  };
}

/** A title, and names with values. */
function describe(run, found) {
  const { times } = run;
  if (found.stuck) {
    const { call, site, since, wants, polls } = found.stuck;
    return { title: `${call} at ${site}`, items: [[`rank ${found.rank}`, polls ? "polls in vain" : "waits for ever"], ["since", seconds(since, 6)], ["for", wants.map(want => want.words).join("; ")]] };
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

/** What is under the pointer: in a lane what the rank does; between lanes the arrow. */
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
    const told = found && !found.label ? describe(found.band.run, found) : null;
    if (!told) return this.hide();
    const { band } = found, folded = band.fold > 1;
    this.element.replaceChildren(
      make("h3", {}, told.title), pairs(told.items),
      ...(folded ? [make("div", { style: "opacity:.65;margin-top:4px" }, `One of ${band.fold} ranks in this row: Shift and wheel unfolds.`)] : []));
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

/** The card of what is chosen, with ways to go on from there. */
function drawChosen(timeline, element, go) {
  const { chosen } = timeline;
  if (element.of === chosen) return;
  element.of = chosen;
  if (!chosen) {
    element.replaceChildren(make("h2", {}, "Nothing is chosen"),
      make("p", { className: "quiet" }, "Click a bar to see the message behind it, and click once more to follow it to its other end."));
    return;
  }
  const { run } = chosen.band, told = describe(run, chosen) || { title: "", items: [] };
  const acts = make("div", { className: "acts" });
  const act = (words, what) => acts.append(make("button", { type: "button", onclick: what }, words));
  if (chosen.message >= 0) {
    const { source, dest } = run.message;
    act(`sender, ${source[chosen.message]}`, () => go.end(source[chosen.message]));
    act(`receiver, ${dest[chosen.message]}`, () => go.end(dest[chosen.message]));
  }
  act("before", () => go.next(-1));
  act("after", () => go.next(1));
  element.replaceChildren(make("h2", {}, `Rank ${chosen.rank}`), make("p", {}, told.title === `rank ${chosen.rank}` ? "" : told.title), pairs(told.items), acts);
}
