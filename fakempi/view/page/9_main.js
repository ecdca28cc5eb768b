// Entry point: reads the data, and creates the timeline, its controls, and the panels.

const PANELS = [["summary", "Summary"], ["waits", "Wait states"], ["matrix", "Matrix"], ["blocks", "Blocks"], ["critical", "Critical path"], ["findings", "Findings"]];
const element = id => document.getElementById(id);

async function main() {
  const root = document.documentElement;
  root.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  let redraw = () => {};
  addEventListener("message", event => {  // a page that embeds this one sends its theme: {"fakempi-theme": "dark"}
    const theme = event.source === parent && event.data?.["fakempi-theme"];
    if (theme === "dark" || theme === "light") { root.dataset.theme = theme; redraw(); }
  });
  const runs = [];
  for (const data of document.querySelectorAll("script.run")) {
    runs.push(new Run(...columnsOf(await unpack(data.textContent))));
    data.remove();
  }
  const [run] = runs, { first } = run;
  if (first.compact) root.dataset.compact = "";
  if (window.parent !== window) root.dataset.embedded = "";
  element("loading").remove();
  element("app").hidden = false;
  writeHead(runs);
  const timeline = new Timeline(runs, element("timeline"));
  timeline.resize();
  const tooltip = new Tooltip(element("tooltip")), controls = new Controls(timeline, tooltip);
  const panels = makePanels(runs, timeline, controls);
  let legend = 0;  // the legend is not updated in every frame of a move
  timeline.ondrawn = () => { clearTimeout(legend); legend = setTimeout(() => writeLegend(timeline), 100); };
  timeline.listeners.push(() => drawChosen(timeline, element("chosen"), { end: rank => controls.follow(rank), next: step => controls.next(step) }));
  const overview = new Overview(timeline, element("overview"));
  timeline.listeners.push(() => overview.draw());
  if (first.by !== "state") document.querySelector(`input[name=color][value=${first.by}]`).click();
  if (first.window) timeline.show(...first.window);
  if (first.ranks) timeline.showRanks(timeline.bands[0], first.ranks[0], first.ranks[1] - first.ranks[0] + 1);
  const tab = controls.readAddress();
  timeline.draw();
  writeLegend(timeline);  // before the panels: it takes space from them
  panels.open(PANELS.some(([name]) => name === tab) ? tab : first.tab || (run.ended || run.findings.some(one => !one.note) ? "findings" : "summary"));
  timeline.changed();
  addEventListener("resize", () => overview.draw());
  let size = "";
  new ResizeObserver(([{ contentRect: { width, height } }]) => {  // of the box, not of its contents
    if (size && size !== `${width} ${height}`) requestAnimationFrame(() => panels.draw());
    size = `${width} ${height}`;
  }).observe(document.querySelector(".panels"));
  // Print in light colors.
  let before = "";
  addEventListener("beforeprint", () => { before = root.dataset.theme; root.dataset.theme = "light"; timeline.resize(); });
  addEventListener("afterprint", () => { root.dataset.theme = before; timeline.resize(); });
  redraw = () => timeline.changed();
  root.dataset.ready = "";
}

function writeHead(runs) {
  const [run] = runs, { about } = run;
  const titles = runs.map(each => each.title).filter(Boolean).join(" and "), schedules = run.schedule && runs.length > 1;
  element("title").textContent = (schedules ? `Two schedules of ${about.command || "a program"}` : titles) || "A run of fakempi";
  const gist = schedules ? many(run.ranks, "rank")
    : runs.map(each => `${many(each.ranks, "rank")} · ${seconds(each.time)} · ${many(each.messages, "message")}`).join("   and   ");
  element("gist").append(gist);
  const why = element("why");
  why.hidden = !run.schedule?.why;
  if (run.schedule?.why) why.append(make("b", { ariaHidden: "true" }, run.schedule.words ? "◆ " : ""), `Why: ${run.schedule.why}.`);
  for (const each of runs) if (each.ended) element("gist").append(" · ", make("b", {}, ...unbroken(each.ended.headline)));
  const versions = Object.entries(about.versions || {}).map(([name, version]) => `${name} ${version}`).join(", ");
  element("about").textContent = [about.command, about.cost, about.date, versions].filter(Boolean).join(" · ");
}

function writeLegend(timeline) {
  const [band] = timeline.bands, { run, drawn } = band, { scheme } = band.painting, high = Math.min(Math.ceil(band.lo + band.count - 1e-9), run.ranks), items = [];
  const { found, empty } = legendShares(run, timeline.mode, scheme, [timeline.t0, timeline.t1], Math.floor(band.lo + 1e-9), high);
  const item = (color, name) => {
    const endless = run.stuckOf.size > 0 && (name === "blocked" || (name === "idle" && run.stuckOf.size < run.ranks));  // drawn after the end of the run
    if (!name || !(found.get(name) > 0 || endless)) return;
    items.push(make("span", {}, make("i", { style: `background:${css(color)}` }), make("b", {}, name), ...empty ? [] : [make("em", {}, percent(found.get(name) || 0))]));
  };
  for (const one of scheme.classes) item(one.color, one.name);
  item(scheme.ground, scheme.idle);
  if (scheme.note) items.push(make("span", {}, scheme.note));
  if (timeline.arrows && drawn?.crowded) items.push(make("span", {}, `density of ${short(drawn.all, 2)} visible messages`));
  if (timeline.arrows && drawn?.nodes) for (const [name, words] of [["arrow", "within a node"], ["between", "between nodes"]]) {
    items.push(make("span", {}, make("i", { style: `background:rgb(var(--${name}))` }), words));
  }
  items.push(...(timeline.bands[0].levels || []).map(levelKey));
  const { folded, perRow, stride } = timeline.bands[0];
  if (folded) items.push(make("span", {}, `${[...new Set(perRow)].join(" to ")} ranks per row` + (stride > 1 ? `, of which every ${stride}${["th", "st", "nd", "rd"][stride > 3 ? 0 : stride]} is drawn` : "")));
  items.push(make("span", {}, timeline.runs[0].time ? `shares of the visible part${timeline.runs.length > 1 ? ` of the ${timeline.sideBySide ? "left" : "upper"} run` : ""}` : "The run took no modeled time: all events are at 0 s."));
  element("legend").replaceChildren(...items);
}

/** The entry of a level in a legend: its line and its name. */
function levelKey(level) {
  const [width, dashes] = penOf(level);
  const line = make("i", { className: "boundary", style: `border-top: ${width}px ${dashes.length ? dashes[0] > 2 ? "dashed" : "dotted" : "solid"}` });
  return make("span", {}, line, `${level.name} boundary`);
}

/** Tabs and what is under them; drawn when looked at. */
function makePanels(runs, timeline, controls) {
  const [run] = runs, tabs = document.querySelector(".tabs"), holder = document.querySelector(".panels"), matrix = {};
  const panels = {}, buttons = {};
  const chooseRank = rank => {
    const band = timeline.bands[0], stuck = run.stuckOf.get(rank);
    controls.chooseRank(band, rank);
    if (stuck) controls.choose({ band, ...lookUp(run, rank, stuck.since) });
  };
  for (const [name, words] of PANELS) {
    panels[name] = make("div", { className: "panel", id: `panel-${name}`, role: "tabpanel", hidden: true, tabIndex: 0, "aria-labelledby": `tab-${name}` });
    buttons[name] = make("button", { type: "button", id: `tab-${name}`, role: "tab", "aria-controls": `panel-${name}`, onclick: () => open(name) }, words);
    holder.append(panels[name]);
    tabs.append(buttons[name]);
  }
  const wrong = (run.ended ? 1 : 0) + run.findings.length;
  if (wrong) {
    buttons.findings.textContent = run.ended ? "What is wrong" : `Findings (${wrong})`;
    buttons.findings.classList.toggle("alarm", Boolean(run.ended) || run.findings.some(one => !one.note));
  }
  drawFindings(run, panels.findings, chooseRank);
  let current = "summary";
  const drawers = {
    summary: () => drawSummary(runs, panels.summary, timeline, timeline.interval),
    waits: () => drawWaits(controls.current.run, panels.waits, timeline.interval),
    matrix: () => drawMatrix(controls.current.run, panels.matrix, timeline.interval, matrix),
    blocks: () => drawBlocks(controls.current.run, panels.blocks, timeline.moment),
    critical: () => drawPath(controls.current.run, panels.critical, controls),
    findings: () => {},
  };
  const ofOne = ["waits", "matrix", "blocks", "critical"];
  const draw = () => {
    const oneOf = runs.length > 1 && ofOne.includes(current), panel = panels[current];
    panel.reserved = oneOf ? 34 : 0;  // pixels for the line with the title of the run
    drawers[current]();
    if (!oneOf) return;
    const band = controls.current, other = timeline.bands.find(each => each !== band);
    const swap = make("button", { type: "button", className: "swap", onclick: () => { controls.current = other; draw(); panel.querySelector(".swap").focus(); } }, `show ${timeline.titleOf(other)}`);
    panel.prepend(make("p", { className: "quiet whose" }, `${timeline.titleOf(band)}; `, swap));
  };
  function open(name) {
    current = controls.tab = name;
    for (const [each, panel] of Object.entries(panels)) {
      panel.hidden = each !== name;
      buttons[each].setAttribute("aria-selected", each === name);
      buttons[each].tabIndex = each === name ? 0 : -1;
    }
    const [tab, row] = [buttons[name], tabs].map(one => one.getBoundingClientRect());
    if (tab.left < row.left || tab.right > row.right) tabs.scrollLeft += tab.left - row.left - 20;  // in a narrow window
    draw();
    for (const listener of timeline.listeners) listener();
  }
  tabs.addEventListener("keydown", event => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key], at = PANELS.findIndex(([name]) => name === current);
    if (!step) return;
    const [name] = PANELS[(at + step + PANELS.length) % PANELS.length];
    open(name);
    buttons[name].focus();
  });
  const note = element("interval");
  note.querySelector("button").addEventListener("click", () => controls.setInterval(null));
  controls.oninterval = interval => {
    note.hidden = !interval;
    if (interval) note.querySelector("span").textContent = `Only ${seconds(interval[0], 4)} to ${seconds(interval[1], 4)}`;
    draw();
  };
  controls.onmoment = () => { if (current === "blocks") draw(); };
  let theme = "";
  timeline.listeners.push(() => {  // colors of the panels follow the theme; tables follow the current run
    const now = document.documentElement.dataset.theme + runs.indexOf(controls.current.run);
    if (theme && now !== theme) draw();
    theme = now;
  });
  return { open, draw };
}

/** The whole run in a strip, with the visible window. */
class Overview {
  constructor(timeline, canvas) {
    Object.assign(this, { timeline, canvas });
    const move = event => {
      const box = canvas.getBoundingClientRect(), { gutter, end, t0, t1 } = timeline;
      const time = (event.clientX - box.left - gutter) / (box.width - gutter) * end;
      timeline.show(time - (t1 - t0) / 2, time + (t1 - t0) / 2, false);
    };
    canvas.addEventListener("pointerdown", event => { canvas.setPointerCapture(event.pointerId); move(event); });
    canvas.addEventListener("pointermove", event => { if (event.buttons) move(event); });
  }

  /** Shares of computing and communicating over time, of all ranks together. */
  shares(run, bins, end) {
    const found = [new Float64Array(bins + 2), new Float64Array(bins + 2)], { span } = run, scale = bins / end;
    for (let i = 0; i < span.first[run.ranks]; i++) {
      const plane = found[span.kind[i]];
      for (const [x, sign] of [[span.from[i] * scale, 1], [span.to[i] * scale, -1]]) {
        const at = x | 0;
        plane[at] += sign * (1 - x + at);
        plane[at + 1] += sign * (x - at);
      }
    }
    for (const plane of found) for (let x = 1; x < bins; x++) plane[x] += plane[x - 1];
    return found.map(plane => plane.map(each => each / run.ranks));
  }

  /** The run itself, which stays the same while the window moves. */
  strip(width, height, ratio, theme) {
    const { gutter, end } = this.timeline, strip = make("canvas", { width: width * ratio, height: height * ratio }), c = strip.getContext("2d");
    const wide = Math.max(Math.round(width - gutter), 1);
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (this.wide !== wide) { this.wide = wide; this.parts = this.shares(this.timeline.runs[0], wide, end); }
    const { run } = this.timeline.bands[0], last = Math.round(wide * run.time / end), room = height - 8;
    c.fillStyle = theme.idle;
    c.fillRect(gutter, 4, last, room);
    for (let x = 0; x < wide; x++) {
      const comm = this.parts[0][x] * room, comp = this.parts[1][x] * room;
      c.fillStyle = theme.comm;
      c.fillRect(gutter + x, 4 + room - comm, 1, comm);
      c.fillStyle = theme.comp;
      c.fillRect(gutter + x, 4 + room - comm - comp, 1, comp);
    }
    if (run.stuckOf.size) {
      c.fillStyle = theme.stuck;
      c.fillRect(gutter + last, 4, wide * Math.min(run.end / end, 1) - last, room * run.stuckOf.size / run.ranks);
    }
    return strip;
  }

  draw() {
    const { timeline, canvas } = this, ratio = window.devicePixelRatio || 1, { gutter, end, t0, t1 } = timeline;
    const width = canvas.clientWidth, height = 40, theme = readTheme(), key = [width, ratio, gutter, theme.of].join();
    if (!width) return;  // hidden, as in small frames
    if (this.key !== key) {
      [this.key, this.drawn] = [key, this.strip(width, height, ratio, theme)];
      [canvas.width, canvas.height] = [this.drawn.width, this.drawn.height];
    }
    const c = canvas.getContext("2d");
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, canvas.width, canvas.height);
    c.drawImage(this.drawn, 0, 0);
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    const [x0, x1] = [t0, t1].map(time => gutter + limited(time / end, 0, 1) * (width - gutter));
    c.fillStyle = theme.ground;
    c.globalAlpha = 0.72;
    c.fillRect(gutter, 0, x0 - gutter, height);
    c.fillRect(x1, 0, width - x1, height);
    c.globalAlpha = 1;
    c.strokeStyle = theme.quiet;
    c.strokeRect(x0 + 0.5, 1.5, Math.max(x1 - x0 - 1, 3), height - 3);
    c.fillStyle = theme.quiet;
    c.font = timeline.font(11);
    c.textAlign = "right";
    c.textBaseline = "middle";
    c.fillText("all", gutter - 10, height / 2);
  }
}

main().catch(error => {
  const notice = document.getElementById("loading") || document.body.appendChild(make("p", { className: "notice" }));
  notice.textContent = `This page could not be drawn: ${error.message}. It needs a browser of 2023 or later.`;
  throw error;
});
