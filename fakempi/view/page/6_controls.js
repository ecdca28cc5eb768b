// User input: wheel, drag, click, keys, search, playback, and the view in the address.

class Controls {
  constructor(timeline, tooltip) {
    this.timeline = timeline;
    this.tooltip = tooltip;
    this.element = timeline.element;
    this.current = timeline.bands[0];
    this.#pointer();
    this.#keys();
    this.search = new Search(this);
    this.#player();
    this.#address();
    const on = (id, act) => document.getElementById(id).addEventListener("click", act);
    on("in", () => timeline.zoom(1 / 1.5));
    on("out", () => timeline.zoom(1.5));
    on("all", () => this.everything());
    on("theme", () => this.swapTheme());
    on("ask", () => document.getElementById("help").showModal());
    for (const radio of document.querySelectorAll("input[name=color]")) {
      radio.addEventListener("change", () => { timeline.mode = radio.value; timeline.changed(); });
    }
    for (const id of ["arrows", "critical"]) {
      document.getElementById(id).addEventListener("change", event => { timeline[id] = event.target.checked; timeline.changed(); });
    }
    const sideBySide = document.getElementById("side-by-side");
    sideBySide.closest("label").hidden = timeline.runs.length < 2;
    sideBySide.checked = timeline.side;
    sideBySide.addEventListener("change", () => { timeline.side = sideBySide.checked; timeline.resize(); });
    timeline.listeners.push(() => { sideBySide.disabled = !timeline.roomy; });
  }

  swapTheme() {
    const root = document.documentElement;
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    this.timeline.changed();
  }

  everything() {
    const { timeline } = this;
    for (const band of timeline.bands) timeline.showRanks(band, 0, band.run.ranks);
    timeline.show(0, timeline.end, false);
  }

  // -- choosing -------------------------------------------------------------------------------------------------

  choose(found) {
    const { timeline } = this;
    if (!found) { timeline.choose(null); return; }
    this.current = found.band;
    timeline.choose(found);
    const described = describe(found.band.run, found);
    document.getElementById("said").textContent = described ? `Rank ${found.rank}. ${described.title}. ${described.items.map(([name, value]) => value && `${name}: ${value}`).filter(Boolean).join(". ")}` : `Rank ${found.rank}`;
  }

  chooseMessage(band, i, rank) {
    const { run } = band;
    const time = rank === run.message.dest[i] ? (run.start(i) + run.arrived(i)) / 2 : run.start(i);
    this.choose({ band, rank, time, span: -1, wait: -1, stuck: null, message: i });
    this.timeline.reveal(band, rank, run.start(i), run.arrived(i));
  }

  /** Select an end of the selected message: the one at `rank`, by default the other one. */
  follow(rank) {
    const { chosen } = this.timeline;
    if (!chosen || chosen.message < 0) return;
    const { source, dest } = chosen.band.run.message, i = chosen.message;
    this.chooseMessage(chosen.band, i, rank ?? (chosen.rank === source[i] ? dest[i] : source[i]));
  }

  /** Select the next or the previous interval of the selected rank. */
  next(step) {
    const { chosen } = this.timeline;
    if (!chosen) return;
    const { band, rank } = chosen, { run } = band, { first, from, to, kind, what } = run.span;
    let at = chosen.span >= 0 ? chosen.span + step : firstWhere(first[rank], first[rank + 1], i => to[i] > chosen.time);
    if (chosen.span < 0 && step < 0) at--;
    else if (chosen.span < 0 && chosen.message >= 0 && at < first[rank + 1] && what[at] === chosen.message) at++;
    if (at < first[rank] || at >= first[rank + 1]) return;
    const message = kind[at] === COMMUNICATES ? what[at] : -1;
    this.choose({ band, rank, time: (from[at] + to[at]) / 2, span: at, wait: -1, stuck: null, message });
    this.timeline.reveal(band, rank, from[at], to[at]);
  }

  chooseRank(band, rank) {
    const { timeline } = this, middle = (timeline.t0 + timeline.t1) / 2;
    this.choose({ band, ...lookUp(band.run, rank, limited(middle, 0, band.run.time)) });
    if (rank < band.lo || rank + 1 > band.lo + band.count) timeline.showRanks(band, rank + 0.5 - band.count / 2, band.count);
    if (band.folded) timeline.showRanks(band, rank - 24, 49);
  }

  // -- pointer --------------------------------------------------------------------------------------------------

  #pointer() {
    const { element, timeline, tooltip } = this;
    let drag = null;
    const place = event => { const box = element.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    element.addEventListener("wheel", event => {
      if (!this.#takesWheel()) return;
      event.preventDefault();
      const [x, y] = place(event), { band } = timeline.at(x, y);
      const unit = event.deltaMode ? 30 : 1, dx = event.deltaX * unit, dy = event.deltaY * unit;
      if (event.shiftKey && !event.ctrlKey) timeline.zoomRanks(Math.exp((dy || dx) * 0.002), band, y);
      else if (band && (event.altKey || x < band.left)) timeline.showRanks(band, band.lo + dy / band.lane, band.count);
      else if (Math.abs(dx) > Math.abs(dy)) this.#move(dx);
      else timeline.zoom(Math.exp(dy * (event.ctrlKey ? 0.01 : 0.002)), Math.max(timeline.time(x), timeline.t0));
      tooltip.hide();
    }, { passive: false });
    element.addEventListener("pointerdown", event => {
      if (event.button) return;
      const [x, y] = place(event);
      drag = { x, y, t0: timeline.t0, t1: timeline.t1, moved: false, select: event.shiftKey || y < RULER, band: timeline.at(x, y).band, column: timeline.column(x) };
      drag.lo = drag.band?.lo;
      drag.from = timeline.time(x);
      element.setPointerCapture(event.pointerId);
    });
    element.addEventListener("pointermove", event => {
      const [x, y] = place(event);
      element.classList.toggle("choosing", drag ? drag.select : event.shiftKey || y < RULER);
      if (!drag) {
        timeline.hover = { x, y };
        timeline.drawOver();
        tooltip.show(timeline, y < RULER ? null : under(timeline, x, y), event.clientX, event.clientY);
        return;
      }
      if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < 4) return;
      drag.moved = true;
      tooltip.hide();
      if (drag.select) {
        const times = [drag.from, timeline.time(x, drag.column)].map(time => limited(time, 0, timeline.end)).sort((a, b) => a - b);
        this.setInterval(times, false);
        return;
      }
      element.classList.add("moving");
      const shift = (drag.x - x) / timeline.wide * (drag.t1 - drag.t0);
      if (drag.band && drag.band.count < drag.band.run.ranks) timeline.showRanks(drag.band, drag.lo + (drag.y - y) / drag.band.lane, drag.band.count);
      timeline.show(drag.t0 + shift, drag.t1 + shift);
    });
    const release = event => {
      if (!drag) return;
      element.classList.remove("moving");
      if (!drag.moved) this.#click(...place(event));
      else if (drag.select) this.setInterval(timeline.interval);
      drag = null;
    };
    element.addEventListener("pointerup", release);
    element.addEventListener("pointercancel", () => { drag = null; element.classList.remove("moving"); });
    element.addEventListener("pointerleave", () => { timeline.hover = null; timeline.drawOver(); tooltip.hide(); });
    element.addEventListener("dblclick", event => { const [x] = place(event); timeline.zoom(0.25, timeline.time(x)); });
  }

  /** In a page that embeds this one, the wheel scrolls that page until the timeline has the focus. */
  #takesWheel() {
    if (!("embedded" in document.documentElement.dataset) || (document.hasFocus() && this.element.contains(document.activeElement))) return true;
    const hint = document.getElementById("hint");
    hint.hidden = false;
    clearTimeout(this.hinting);
    this.hinting = setTimeout(() => { hint.hidden = true; }, 1500);
    return false;
  }

  #click(x, y) {
    const { timeline } = this;
    if (y < RULER) { this.setMoment(limited(timeline.time(x), 0, timeline.end)); return; }
    const found = under(timeline, x, y), { chosen } = timeline;
    if (!found) return;
    if (found.label) this.chooseRank(found.band, found.rank);
    else if (chosen && found.message >= 0 && chosen.message === found.message && chosen.band === found.band) this.follow();
    else this.choose(found);
  }

  #move(pixels) {
    const { timeline } = this, shift = pixels / timeline.wide * (timeline.t1 - timeline.t0);
    timeline.show(timeline.t0 + shift, timeline.t1 + shift);
  }

  setInterval(interval, settled = true) {
    this.timeline.interval = interval && interval[1] > interval[0] ? interval : null;
    this.timeline.drawOver();
    if (settled) this.oninterval?.(this.timeline.interval);
  }

  // -- keys -----------------------------------------------------------------------------------------------------

  #keys() {
    const { timeline } = this, flip = id => document.getElementById(id).click();
    const color = value => document.querySelector(`input[name=color][value=${value}]`).click();
    const rank = step => {  // past the last rank of a run follows the first of the next run
      const { chosen, bands } = timeline, band = chosen?.band || bands[0], wanted = (chosen ? chosen.rank : -1) + step;
      const other = chosen && bands[bands.indexOf(band) + Math.sign(step)];
      if (other && wanted < 0) this.chooseRank(other, other.run.ranks - 1);
      else if (other && wanted >= band.run.ranks) this.chooseRank(other, 0);
      else this.chooseRank(band, limited(wanted, 0, band.run.ranks - 1));
    };
    const keys = {
      "+": () => timeline.zoom(1 / 1.5), "=": () => timeline.zoom(1 / 1.5), "-": () => timeline.zoom(1.5), "_": () => timeline.zoom(1.5),
      ArrowLeft: () => this.#move(-timeline.wide / 8), ArrowRight: () => this.#move(timeline.wide / 8),
      ArrowUp: () => rank(-1), ArrowDown: () => rank(1), PageUp: () => rank(-16), PageDown: () => rank(16),
      "[": () => timeline.zoomRanks(1.5, this.current), "]": () => timeline.zoomRanks(1 / 1.5, this.current),
      "<": () => this.#move(-timeline.wide / 2), ">": () => this.#move(timeline.wide / 2),
      "0": () => this.everything(), Home: () => this.everything(), Enter: () => this.follow(), n: () => this.nextHit(1), p: () => this.nextHit(-1),
      " ": () => this.toggle(), ".": () => this.stepTo(1), ",": () => this.stepTo(-1), m: () => flip("arrows"), c: () => flip("critical"), s: () => flip("side-by-side"),
      k: () => color({ state: "call", call: "wait", wait: "state" }[timeline.mode]), d: () => this.swapTheme(), 1: () => this.element.focus(),
      ...Object.fromEntries(PANELS.map(([name], i) => [i + 2, () => flip(`tab-${name}`)])),
      i: () => this.setInterval([timeline.t0, timeline.t1].map(time => limited(time, 0, timeline.end))),
      "/": () => document.getElementById("search").focus(), "?": () => document.getElementById("help").showModal(),
      Escape: () => { this.search.clear(); this.choose(null); this.setInterval(null); this.setMoment(null); this.tooltip.hide(); },
    };
    addEventListener("keydown", event => {
      if (document.getElementById("help").open) return;  // Escape closes it
      if (event.ctrlKey || event.metaKey || event.altKey || (usesKey(event.target, event.key) && event.key !== "Escape")) return;
      const act = keys[event.key];
      if (act) { event.preventDefault(); act(); }
    });
  }

  // -- search ---------------------------------------------------------------------------------------------------

  /** Select the next or the previous search result; without a search, the next or the previous interval of the selected rank. */
  nextHit(step) {
    if (this.search.hits.length) this.search.next(step); else this.next(step);
  }

  showHit(hit) {
    const { band, rank, start, end, message } = hit;
    if (message >= 0) { this.chooseMessage(band, message, rank); return; }
    this.choose({ band, rank, time: start, span: -1, wait: -1, message: -1, stuck: null, call: hit });
    this.timeline.reveal(band, rank, start, end);
  }

  // -- play -----------------------------------------------------------------------------------------------------

  #player() {
    const on = (id, act) => document.getElementById(id).addEventListener("click", act);
    on("play", () => this.toggle());
    on("step", () => this.stepTo(1));
    on("back", () => this.stepTo(-1));
  }

  setMoment(time) {
    const { timeline } = this;
    if (time === null) this.stop();
    timeline.moment = time;
    document.getElementById("moment").textContent = time === null ? "" : seconds(time, 5);
    timeline.drawOver();
    this.onmoment?.(time);
  }

  stop() {
    cancelAnimationFrame(this.playing);
    this.playing = 0;
    const button = document.getElementById("play");
    button.classList.remove("playing");
    button.ariaLabel = "Play";
  }

  /** Play the visible part, in eight seconds at speed 1. */
  toggle() {
    const { timeline } = this, button = document.getElementById("play");
    if (this.playing) { this.stop(); return; }
    const end = () => Math.min(timeline.t1, timeline.end), begin = Math.max(timeline.t0, 0);
    if (timeline.moment === null || timeline.moment >= end() || timeline.moment < begin) this.setMoment(begin);
    button.classList.add("playing");
    button.ariaLabel = "Pause";
    let before = performance.now();
    const frame = now => {
      const speed = Number(document.getElementById("speed").value);
      const time = timeline.moment + (now - before) / 8000 * speed * (timeline.t1 - timeline.t0);
      before = now;
      this.setMoment(Math.min(time, end()));
      if (time < end()) this.playing = requestAnimationFrame(frame); else this.stop();
    };
    this.playing = requestAnimationFrame(frame);
  }

  /** Move to the next, or the previous, start of a message. */
  stepTo(way) {
    this.stop();
    const { timeline } = this, { run } = this.current, seen = way > 0 ? (timeline.t0 > 0 ? timeline.t0 : -Infinity) : timeline.t1, now = timeline.moment ?? seen;
    const at = way > 0 ? firstWhere(0, run.messages, i => run.start(i) > now) : run.firstFrom(now) - 1;
    const time = at >= 0 && at < run.messages ? run.start(at) : way > 0 ? run.time : 0;
    this.setMoment(time);
    if (time < timeline.t0 || time > timeline.t1) timeline.show(time - (timeline.t1 - timeline.t0) / 2, time + (timeline.t1 - timeline.t0) / 2, false);
  }

  // -- the address ----------------------------------------------------------------------------------------------

  #address() {
    addEventListener("hashchange", () => { if (location.hash !== this.written) this.readAddress(); });
    this.timeline.listeners.push(() => {
      clearTimeout(this.writing);
      this.writing = setTimeout(() => this.writeAddress(), 250);
    });
  }

  readAddress() {
    const options = new URLSearchParams(location.hash.slice(1)), { timeline } = this, band = timeline.bands[0];
    const times = /^(.+?)\.\.(.+)$/.exec(options.get("t") || "");
    if (times && Number(times[2]) > Number(times[1])) timeline.show(Number(times[1]), Number(times[2]));
    const ranks = /^(\d+)-(\d+)$/.exec(options.get("ranks") || "");
    if (ranks && Number(ranks[2]) >= Number(ranks[1])) timeline.showRanks(band, Number(ranks[1]), Number(ranks[2]) - Number(ranks[1]) + 1);
    const rank = options.get("rank");
    if (rank !== null && /^\d+$/.test(rank) && Number(rank) < band.run.ranks) this.chooseRank(band, Number(rank));
    return options.get("tab");
  }

  writeAddress() {
    const { timeline } = this, parts = [], band = timeline.bands[0];
    if (timeline.t0 !== 0 || timeline.t1 !== timeline.end) parts.push(`t=${timeline.t0}..${timeline.t1}`);
    if (band.count < band.run.ranks) parts.push(`ranks=${timeline.element.dataset.ranks.replace(" ", "-")}`);
    if (timeline.chosen) parts.push(`rank=${timeline.chosen.rank}`);
    if (this.tab) parts.push(`tab=${this.tab}`);
    this.written = parts.length ? "#" + parts.join("&") : "";
    try { history.replaceState(null, "", this.written || location.pathname + location.search); } catch { /* in a frame without an address */ }
  }
}

/** Whether an element that has the focus, for example after a click, reacts to a key itself. */
function usesKey(target, key) {
  if (/^(select|textarea)$/i.test(target.tagName)) return true;
  if (/^input$/i.test(target.tagName) && !/^(checkbox|radio)$/.test(target.type)) return true;
  const role = target.getAttribute?.("role");
  if (target.type === "radio" || role === "tab") return /^( |Enter|Arrow.*)$/.test(key);
  if (/^(Arrow(Up|Down)|Page.*|Home|End)$/.test(key) && target.closest?.(".panels, #chosen, dialog")) return true;  // it scrolls
  return (/^(input|button|a)$/i.test(target.tagName) || role === "button") && /^( |Enter)$/.test(key);
}
