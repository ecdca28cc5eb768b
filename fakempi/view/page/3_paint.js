// Rows of the timeline as pixels. Every interval adds its coverage to its class, as differences: a picture costs one step
// per visible interval and one per pixel.

const SERIES = ["#4477aa", "#e07b39", "#2f8f5b", "#c9a227", "#55bcd9", "#a8326e", "#7a6fd0", "#8c5a3c", "#6aa84f"];
const REST = "#9aa0a8";
/** By number of the state in fakempi/trace/wait_names.py: late sender, late receiver, barrier, N x N, ... */
const WAITS = ["#e08a2e", "#c9552f", "#8a5fb0", "#b04f93", "#5c79c4", "#2f9db5", "#3f7f9f",
  "#6b5b95", "#9c7fc0", "#4f8f6b", "#b5893a", "#cfa15c", "#a3475f", "#8a8f3c", "#6f9f4a", "#7d5a3c",
  "#c47a8f", "#57a08f", "#b7c4d6", "#d8c3a5", "#9aa0a8"];

const rgb = color => [1, 3, 5].map(at => parseInt(color.slice(at, at + 2), 16));
const mixed = (one, other, share) => one.map((part, i) => part * share + other[i] * (1 - share));
/** Black or white, whichever has more contrast with a color. */
const inkOn = color => {
  const [r, g, b] = color.map(part => (part / 255) ** 2.2);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#10151f" : "#fff";
};
const css = color => `rgb(${color.map(Math.round).join(" ")})`;

let themeRead = { of: null };

/** The current colors of the style sheet: light or dark. */
function readTheme() {
  const of = document.documentElement.dataset.theme;
  if (themeRead.of === of) return themeRead;
  const style = getComputedStyle(document.documentElement), found = { of };
  for (const name of ["ground", "panel", "ink", "quiet", "line", "soft", "accent", "comm", "idle", "comp", "stuck", "path", "lane", "arrow", "between"]) {
    found[name] = style.getPropertyValue("--" + name).trim();
  }
  return themeRead = found;
}

/** The classes of intervals with colors and names: by state, by call, or by wait state. */
function coloring(run, mode, theme) {
  const stuck = { color: mixed(rgb(theme.stuck), rgb(theme.panel), 0.75), name: "blocked" };
  if (mode === "call") {
    const shown = run.kindsByUse.slice(0, run.kindsByUse.length > SERIES.length ? SERIES.length - 1 : SERIES.length);
    const place = new Map(shown.map((kind, i) => [kind, i])), other = shown.length;
    const busy = [...shown.map((kind, i) => ({ color: rgb(SERIES[i]), name: run.kinds[kind] })), { color: rgb(REST), name: "other" }];
    const idle = busy.map(one => ({ color: mixed(one.color, rgb(theme.panel), 0.3), name: "" }));
    const classOf = kind => place.get(kind) ?? other;
    return {
      classes: [...busy, ...idle, stuck], ground: rgb(theme.soft), idle: "",
      busy: (kind, thing) => classOf(kind === COMPUTES ? run.kindOfCompute(thing) : run.kindOfMessage(thing)),
      wait: row => run.wait.call[row] ? busy.length + classOf(run.kindOfCall(run.wait.call[row])) : -1,
      note: "pale where the rank waits in that call; a region includes all that happens in it",
    };
  }
  if (mode === "wait") {
    const busy = { color: mixed(rgb(theme.comm), rgb(theme.panel), 0.28), name: "busy" };
    const states = run.states.map(([name], i) => ({ color: rgb(WAITS[i]), name }));
    return { classes: [busy, ...states, stuck], ground: rgb(theme.soft), idle: "", busy: () => 0, wait: row => 1 + run.wait.state[row] };
  }
  const classes = [{ color: rgb(theme.comm), name: "communicating" }, { color: rgb(theme.comp), name: "computing" }, stuck];
  return { classes, ground: rgb(theme.idle), idle: "idle", busy: kind => kind, wait: null };
}

/** The class of every interval and of every wait, by number; computed once and cached. */
function classesOf(run, mode, scheme) {
  run.classes ??= {};
  if (!run.classes[mode]) {
    const { kind, what } = run.span, busy = new Uint8Array(kind.length), waits = new Int8Array(run.wait.rank.length);
    for (let i = 0; i < busy.length; i++) busy[i] = scheme.busy(kind[i], what[i]);
    for (let row = 0; row < waits.length; row++) waits[row] = scheme.wait ? scheme.wait(row) : -1;
    run.classes[mode] = { busy, waits };
  }
  return run.classes[mode];
}

/** Rows of ranks, from t0 to t1, as an image with one pixel per row. `stride` skips ranks; rows can be painted in steps. */
class Painting {
  constructor(run, rows, t0, t1, width, scheme, mode, stride = 1) {
    Object.assign(this, { run, rows, t0, t1, width, scheme, stride, next: 0 });
    this.classes = classesOf(run, mode, scheme);
    this.planes = scheme.classes.map(() => new Float32Array(width + 2));
    this.image = new ImageData(width, Math.max(rows.length, 1));
    this.touched = new Uint8Array(scheme.classes.length);  // classes that occur in the row
  }

  /** Paint until a time of the page's clock; returns whether all rows are painted. */
  paint(until = Infinity) {
    while (this.next < this.rows.length) {
      this.#row(this.next++);
      if (performance.now() > until) break;
    }
    return this.next === this.rows.length;
  }

  #row(row) {
    const { run, planes, stride } = this, [firstRank, lastRank] = this.rows[row];
    for (let which = 0; which < planes.length; which++) if (this.touched[which]) planes[which].fill(0);
    this.touched.fill(0);
    let counted = 0;
    for (let rank = firstRank; rank < lastRank; rank += stride) {
      counted++;
      this.#busy(rank);
      if (this.scheme.wait) this.#waits(rank);
      const stuck = run.stuckOf.size && run.stuckOf.get(rank);
      if (stuck) this.#cover(planes.length - 1, stuck.since, run.end);
    }
    this.#color(row, counted);
  }

  #cover(which, start, end) {
    const plane = this.planes[which], scale = this.width / (this.t1 - this.t0), x0 = Math.max((start - this.t0) * scale, 0), x1 = Math.min((end - this.t0) * scale, this.width);
    if (!(x1 > x0)) return;
    this.touched[which] = 1;
    let i = x0 | 0, part = x0 - i;
    plane[i] += 1 - part; plane[i + 1] += part;
    i = x1 | 0; part = x1 - i;
    plane[i] -= 1 - part; plane[i + 1] -= part;
  }

  /** `cover` for each interval of a rank, inlined: most of the time is spent here. */
  #busy(rank) {
    const { planes, touched, width, t0, t1 } = this, { first, from, to } = this.run.span, { busy } = this.classes, scale = width / (t1 - t0);
    let i = first[rank], end = first[rank + 1];
    for (let high = end; i < high;) {  // the first that ends after t0
      const middle = (i + high) >> 1;
      if (to[middle] > t0) high = middle; else i = middle + 1;
    }
    for (; i < end && from[i] < t1; i++) {
      const plane = planes[busy[i]];
      touched[busy[i]] = 1;
      let x = (from[i] - t0) * scale;
      if (x < 0) x = 0;
      let at = x | 0, part = x - at;
      plane[at] += 1 - part; plane[at + 1] += part;
      x = (to[i] - t0) * scale;
      if (x > width) x = width;
      at = x | 0; part = x - at;
      plane[at] -= 1 - part; plane[at + 1] -= part;
    }
  }

  #waits(rank) {
    const { t0, t1, run } = this, { times, wait } = run, { from, order } = run.waitsOf, { waits } = this.classes, last = from[rank + 1];
    for (let i = firstWhere(from[rank], last, i => times[wait.end[order[i]]] > t0); i < last; i++) {
      const start = times[wait.start[order[i]]], which = waits[order[i]];
      if (start >= t1) break;
      if (which >= 0) this.#cover(which, start, times[wait.end[order[i]]]);
    }
  }

  /** Convert differences to shares, and shares to colors: class by class, so that each loop is short. */
  #color(row, counted) {
    const { planes, width, run, t0, t1 } = this, { classes, ground } = this.scheme, each = 1 / counted;
    const { left, red, green, blue, pixels } = this.mix ??= {
      left: new Float32Array(width), red: new Float32Array(width), green: new Float32Array(width), blue: new Float32Array(width),
      pixels: new Uint32Array(this.image.data.buffer),
    };
    left.fill(1);  // blocked ranks are the last class, drawn only in the remaining part
    red.fill(ground[0] + 0.5); green.fill(ground[1] + 0.5); blue.fill(ground[2] + 0.5);
    for (let which = 0; which < planes.length; which++) {
      const plane = planes[which], [r, g, b] = classes[which].color.map((part, i) => part - ground[i]);
      if (!this.touched[which]) continue;
      let total = 0;
      for (let x = 0; x < width; x++) {
        total += plane[x];
        let share = total * each;
        if (share > left[x]) share = left[x];
        if (share < 1e-4) continue;
        left[x] -= share; red[x] += share * r; green[x] += share * g; blue[x] += share * b;
      }
    }
    const scale = width / (t1 - t0), begin = limited((0 - t0) * scale, 0, width), finish = limited(((run.timeless ? 0 : run.end) - t0) * scale, 0, width);
    for (let x = 0, at = width * row; x < width; x++, at++) {
      const alpha = 255 * Math.max(Math.min(x + 1, finish) - Math.max(x, begin), 0);  // transparent before the start and after the end
      pixels[at] = (alpha << 24 | blue[x] << 16 | green[x] << 8 | red[x]) >>> 0;
    }
  }
}

/** An estimate of the number of visible intervals: the cost of a picture. */
function visibleSpans(run, rows, t0, t1) {
  if (!rows.length) return 0;
  const { first, from, to } = run.span, low = rows[0][0], high = rows[rows.length - 1][1];
  if (t0 <= 0 && t1 >= run.time) return first[high] - first[low];
  let found = 0, seen = 0;
  for (let rank = low; rank < high; rank += Math.ceil((high - low) / 64), seen++) {  // a sample of 64 ranks
    const start = firstWhere(first[rank], first[rank + 1], i => to[i] > t0);
    found += firstWhere(start, first[rank + 1], i => from[i] >= t1) - start;
  }
  return found / seen * (high - low);
}
