// The timeline: rows of one run, or of two on the same scale, a ruler, messages as arrows, and overlays.

const RULER = 28, TITLE = 20, LEAST = 2, ARROWS = 1500;
const DENSITY = 4, DENSE = 4000;  // pixels per cell of the density of messages, and messages that are counted in it
const ROOMY = 1000, RUN_GAP = 16;  // pixels: minimum width for two runs side by side, and their distance
const BUDGET = 60000;  // maximum number of intervals painted at once; above, a sample of ranks while the view moves, then all in steps
const SLICE = 10;      // milliseconds per step

/** The row that contains a rank. */
const rowOf = (groups, rank) => firstWhere(0, groups.length, i => groups[i] > rank) - 1;

/** The least and the largest number of ranks in a row; the last row, which may have fewer because the run ends, does not count. */
function sizesOf(rows) {
  const sizes = rows.map(([first, after]) => after - first), [most, last] = [Math.max(...sizes, 1), sizes.at(-1)];
  return [Math.min(...last < most && rows.length > 1 ? sizes.slice(0, -1) : sizes, most), most];
}

class Timeline {
  constructor(runs, element) {
    this.runs = runs;
    this.element = element;
    this.base = element.querySelector("#base");
    this.over = element.querySelector("#over");
    this.bands = runs.map(run => ({ run, lo: 0, count: run.ranks, top: 0, height: 0 }));
    this.end = Math.max(...runs.map(run => run.end));
    [this.t0, this.t1] = [0, this.end];
    this.mode = "state";
    this.side = runs.length > 1 && Boolean(runs[0].schedule);  // two schedules differ in one place: side by side, if the window is wide enough
    this.arrows = true;
    this.critical = false;
    this.chosen = null;      // {band, rank, span, wait, message}
    this.interval = null;    // [start, end]
    this.moment = null;      // of the player
    this.hover = null;       // {x, y}
    this.listeners = [];
    new ResizeObserver(() => this.resize()).observe(element);
  }

  // -- the visible part -----------------------------------------------------------------------------------------

  resize() {
    this.tallest = Math.max(76, innerHeight * 0.1);  // height of a row: leaves space for the panels if there are few ranks
    this.roomy = this.runs.length > 1 && this.element.clientWidth >= ROOMY;
    this.sideBySide = this.roomy && this.side;
    const heights = this.runs.map(run => run.ranks * this.tallest + TITLE);
    this.element.style.maxHeight = RULER + 6 + (this.sideBySide ? Math.max(...heights) : heights.reduce((sum, each) => sum + each)) + "px";
    const box = this.element.getBoundingClientRect();
    this.ratio = window.devicePixelRatio || 1;
    [this.width, this.height] = [this.element.clientWidth || box.width || 1, this.element.clientHeight || box.height];
    for (const canvas of [this.base, this.over]) {
      canvas.width = Math.max(1, Math.round(this.width * this.ratio));
      canvas.height = Math.max(1, Math.round(this.height * this.ratio));
    }
    this.large = window.innerWidth >= 2000;
    this.font = (size, weight = "") => `${weight} ${this.large ? size * 1.3 : size}px system-ui, "Segoe UI", "Noto Sans", sans-serif`;
    const digits = Math.max(...this.runs.map(run => String(run.ranks - 1).length));
    this.gutter = Math.round((this.large ? 1.3 : 1) * Math.max(56, 26 + 8 * (digits > 2 ? 2 * digits + 1 : digits)));
    this.draw();
    for (const listener of this.listeners) listener();
  }

  layout() {
    const { sideBySide } = this, two = this.bands.length > 1, room = Math.max(this.height - RULER - (two ? (sideBySide ? 1 : 2) * TITLE : 0) - 4, 1);
    const wanted = this.bands.map(band => band.run.ranks);
    const all = wanted.reduce((sum, each) => sum + each, 0);
    const column = sideBySide ? (this.width - RUN_GAP) / 2 : this.width;
    this.wide = Math.max(column - this.gutter, 1);  // width of the visible time, in each run; the page may be hidden
    let top = RULER;
    for (const [i, band] of this.bands.entries()) {
      if (sideBySide) top = RULER;
      if (two) top += TITLE;
      band.left = this.gutter + (sideBySide ? i * (column + RUN_GAP) : 0);
      const height = two && !sideBySide ? room * limited(wanted[i] / all, 0.2, 0.8) : room;
      band.lane = Math.min(height / band.count, this.tallest);
      [band.top, band.height] = [top, band.lane * band.count];
      band.groups = groupsOf(band.run, LEAST / band.lane);
      band.folded = band.groups.length <= band.run.ranks;
      top += height;
    }
  }

  x(time, band) { return band.left + (time - this.t0) / (this.t1 - this.t0) * this.wide; }
  time(x, band = this.column(x)) { return this.t0 + (x - band.left) / this.wide * (this.t1 - this.t0); }
  right(band) { return band.left + this.wide; }

  titleOf(band) { return band.run.title || `run ${this.bands.indexOf(band) + 1}`; }

  /** The run at x: if two runs are one above the other, the first. */
  column(x) { return this.columns.findLast(band => x >= band.left - this.gutter) || this.bands[0]; }
  get columns() { return this.sideBySide ? this.bands : this.bands.slice(0, 1); }
  y(band, rank) { return band.top + (rank - band.lo) * band.lane; }
  middle(band, rank) { return this.y(band, rank) + (this.inner(band)[0] + this.inner(band)[1] / 2); }

  /** The bar in a row: its distance from the top, and its height. */
  inner(band) {
    const { lane, folded } = band;
    if (folded || lane < 6) return [0, lane];
    const strip = lane >= 26 ? limited(lane * 0.42, 12, 20) : 0, gap = Math.min(Math.max(lane * 0.12, 1), 7);
    return [strip + gap / 2, lane - strip - gap];
  }

  /** The visible rows of ranks: [first, after the last]. */
  rows(band) {
    const { groups, lo, count } = band, rows = [];
    for (let i = rowOf(groups, Math.floor(lo)); i < groups.length - 1 && groups[i] < lo + count; i++) rows.push([groups[i], groups[i + 1]]);
    return rows;
  }

  /** The run, rank and time at a point. */
  at(x, y) {
    const here = this.sideBySide ? [this.column(x)] : this.bands, band = here.find(each => y >= each.top && y < each.top + each.height);
    if (!band || x < band.left) return { band, time: this.time(x), rank: band ? this.#rank(band, y) : -1, label: true };
    return { band, rank: this.#rank(band, y), time: this.time(x) };
  }
  #rank(band, y) { return limited(Math.floor(band.lo + (y - band.top) / band.lane), 0, band.run.ranks - 1); }

  // -- moving ---------------------------------------------------------------------------------------------------

  show(t0, t1, loose = true) {
    const least = Math.max(this.end * 1e-9, 1e-18), span = limited(t1 - t0, least, this.end);
    if (t1 - t0 !== span) [t0, t1] = [(t0 + t1 - span) / 2, (t0 + t1 + span) / 2];
    const slack = loose ? span * 0.4 : 0;  // an event at an end can be moved to the middle
    if (t0 < -slack) [t0, t1] = [-slack, span - slack];
    if (t1 > this.end + slack) [t0, t1] = [this.end + slack - span, this.end + slack];
    [this.t0, this.t1] = [t0, t1];
    this.changed();
  }

  zoom(factor, time = (this.t0 + this.t1) / 2) {
    const span = Math.min((this.t1 - this.t0) * factor, this.end);
    const share = (time - this.t0) / (this.t1 - this.t0), t0 = time - share * span;
    this.show(t0, t0 + span, span < this.end);
  }

  zoomRanks(factor, band = this.bands[0], y = band.top + band.height / 2) {
    const share = limited((y - band.top) / band.height, 0, 1), rank = band.lo + share * band.count;
    const count = limited(band.count * factor, Math.min(1, band.run.ranks), band.run.ranks);
    this.showRanks(band, rank - share * count, count);
  }

  showRanks(band, lo, count) {
    for (const each of this.bands) {
      if (each !== band && each.run.ranks !== band.run.ranks) continue;  // two runs of equal size move together
      each.count = limited(count, Math.min(1, each.run.ranks), each.run.ranks);
      each.lo = limited(lo, 0, each.run.ranks - each.count);
    }
    this.changed();
  }

  /** Move only as far as needed to show a rank and a time. */
  reveal(band, rank, start, end = start) {
    if (rank < band.lo || rank + 1 > band.lo + band.count) this.showRanks(band, rank + 0.5 - band.count / 2, band.count);
    if (band.folded) this.showRanks(band, rank - 12, 25);
    const span = this.t1 - this.t0, length = end - start;
    if (start < this.t0 || end > this.t1 || length < span / 400) {
      const wanted = length > 0 ? limited(span, length * 1.6, Math.max(length * 60, this.end * 1e-9)) : span;
      const middle = (start + end) / 2;
      this.show(limited(middle - wanted / 2, 0, Math.max(this.end - wanted, 0)), limited(middle - wanted / 2, 0, Math.max(this.end - wanted, 0)) + wanted);
    }
  }

  choose(chosen) {
    this.chosen = chosen;
    this.changed();
  }

  changed() {
    this.#tell();
    if (!this.pending) this.pending = requestAnimationFrame(() => { this.pending = 0; this.draw(); });
    for (const listener of this.listeners) listener();
  }

  /** The visible part, for tests and scripts: times, ranks, and the selected rank. */
  #tell() {
    const { lo, count, run } = this.bands[0], last = Math.min(Math.ceil(lo + count - 1e-9), run.ranks) - 1;
    Object.assign(this.element.dataset, {
      range: `${this.t0} ${this.t1}`, ranks: `${Math.floor(lo + 1e-9)} ${last}`, selected: this.chosen ? this.chosen.rank : "",
      layout: this.sideBySide ? "side-by-side" : "stacked",
    });
    if (run.schedule?.words) this.element.dataset.deciding = `${run.schedule.time} ${run.schedule.rank}`;
  }

  // -- drawing --------------------------------------------------------------------------------------------------

  draw() {
    if (!this.width) return;
    const started = performance.now(), c = this.base.getContext("2d");
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.clearRect(0, 0, this.width, this.height);
    this.theme = readTheme();
    this.layout();
    let coarse = false;
    for (const band of this.bands) {
      coarse = this.#drawBand(c, band) || coarse;
      if (this.bands.length > 1) this.#drawTitle(c, band);
    }
    this.#drawRuler(c);
    this.drawOver();
    this.spent = performance.now() - started;
    this.element.dataset.frame = this.spent.toFixed(1);
    this.#tell();
    this.ondrawn?.();
    clearTimeout(this.rest);
    if (coarse) this.rest = setTimeout(() => this.#refine(), 150);
  }

  /** When the view rests: paint all ranks, a few rows at a time so that the page stays responsive; then replace the picture. */
  #refine() {
    const band = this.bands.find(each => each.painting?.stride > 1);
    if (!band) return;
    const { key, rows, scheme } = band.painting;
    if (band.finer?.key !== key) {
      band.finer = new Painting(band.run, rows, this.t0, this.t1, band.painting.width, scheme, this.mode);
      band.finer.key = key;
    }
    if (band.finer.paint(performance.now() + SLICE)) {
      band.painting = this.#kept(band.finer);
      band.finer = null;
      this.draw();
    } else this.rest = setTimeout(() => this.#refine(), 0);
  }

  /** A painting with its canvas. */
  #kept(painting) {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [painting.image.width, painting.image.height];
    canvas.getContext("2d").putImageData(painting.image, 0, 0);
    return Object.assign(painting, { canvas, planes: null, image: null, mix: null });
  }

  #drawBand(c, band) {
    const { run } = band, rows = this.rows(band), [inset, high] = this.inner(band);
    const pixels = Math.round(this.wide * this.ratio), [least, most] = sizesOf(rows);
    band.perRow = [least, most];
    const key = [this.t0, this.t1, rows[0], rows.length, band.groups.length, pixels, this.mode, this.theme.of].join();
    if (band.painting?.key !== key) {  // reuse an unchanged painting
      const scheme = coloring(run, this.mode, this.theme), cost = visibleSpans(run, rows, this.t0, this.t1) * (scheme.wait ? 2 : 1);
      const painting = new Painting(run, rows, this.t0, this.t1, pixels, scheme, this.mode, limited(Math.ceil(cost / BUDGET), 1, most));
      painting.paint();
      band.painting = Object.assign(this.#kept(painting), { key });
    }
    const { canvas, stride } = band.painting;
    band.stride = stride;
    c.save();
    c.beginPath();
    const outside = this.t0 <= 0 ? 12 : 0;  // space for heads at time 0; later, lines that start earlier end at the edge
    c.rect(band.left - outside, band.top, this.wide + outside, band.height);
    c.clip();
    c.imageSmoothingEnabled = false;
    const { wide } = this, top = this.y(band, rows[0]?.[0] ?? 0);
    if (!inset && least === most) c.drawImage(canvas, band.left, top, wide, rows.length * band.lane * most);  // rows without gaps
    else if (!inset) rows.forEach(([first, after], i) => c.drawImage(canvas, 0, i, pixels, 1, band.left, this.y(band, first), wide, (after - first) * band.lane));
    else for (const [i, [first]] of rows.entries()) c.drawImage(canvas, 0, i, pixels, 1, band.left, this.y(band, first) + inset, wide, high);
    if (band.lane >= 6 && !band.folded) this.#hatch(c, band, rows);
    if (band.lane >= 26) this.#drawNames(c, band, rows, inset, high);
    if (this.arrows) this.#drawArrows(c, band);
    if (this.critical) this.#drawPath(c, band);
    if (run.schedule?.words) drawDeciding(this, c, band);
    c.restore();
    this.#drawLevels(c, band);
    this.#drawLabels(c, band, rows);
    return stride > 1;
  }

  /** Stripes where a rank is blocked, so that it can be seen without color. */
  #hatch(c, band, rows) {
    const { run } = band, [inset, high] = this.inner(band);
    if (!run.stuckOf.size) return;
    c.strokeStyle = this.theme.panel;
    c.lineWidth = 1.5;
    for (const [rank] of rows) {
      const stuck = run.stuckOf.get(rank);
      if (!stuck) continue;
      const x0 = Math.max(this.x(stuck.since, band), band.left), x1 = Math.min(this.x(run.end, band), this.right(band)), y = this.y(band, rank) + inset;
      c.save();
      c.beginPath();
      let reach = x0;
      const end = run.span.first[rank + 1];  // not while it still receives messages
      for (let i = firstWhere(run.span.first[rank], end, i => run.span.to[i] > stuck.since); i < end; i++) {
        c.rect(reach, y, Math.max(this.x(run.span.from[i], band) - reach, 0), high);
        reach = Math.max(reach, this.x(run.span.to[i], band));
      }
      c.rect(reach, y, Math.max(x1 - reach, 0), high);
      c.clip();
      c.beginPath();
      for (let x = x0 - high; x < x1; x += 7) { c.moveTo(x, y + high); c.lineTo(x + high, y); }
      c.stroke();
      c.restore();
    }
  }

  /** Regions above the bars, and their names where they fit. */
  #drawNames(c, band, rows, inset, high) {
    const { run } = band, { region, regionsOf, span, times } = run, { scheme } = band.painting;
    const { busy } = classesOf(run, this.mode, scheme), inks = scheme.classes.map(one => inkOn(one.color));
    c.textBaseline = "middle";
    for (const [rank] of rows) {
      const top = this.y(band, rank), strip = inset - 3;
      c.font = this.font(limited(strip * 0.8, 9, 11));
      for (let i = regionsOf.from[rank]; i < regionsOf.from[rank + 1]; i++) {
        const row = regionsOf.order[i], depth = region.parent[row] < 0 ? 0 : 1;
        const x0 = Math.max(this.x(times[region.start[row]], band), band.left), x1 = Math.min(this.x(Math.min(run.at(region.end[row]), run.end), band), this.right(band));
        if (x1 - x0 < 1.5 || depth) continue;
        c.fillStyle = this.theme.soft;
        c.fillRect(x0, top + 2, x1 - x0 - 1, strip);
        this.#words(c, [run.regionName(row), run.names[region.name[row]]], x0 + 5, top + 2 + strip / 2, x1 - x0 - 10, this.theme.ink);
      }
      if (high < 12 || this.mode === "wait") continue;
      c.font = this.font(Math.min(11, high * 0.75));
      const end = span.first[rank + 1];
      for (let i = firstWhere(span.first[rank], end, i => span.to[i] > this.t0); i < end && span.from[i] < this.t1; i++) {
        const x0 = Math.max(this.x(span.from[i], band), band.left), x1 = Math.min(this.x(span.to[i], band), this.right(band));
        if (x1 - x0 < 24) continue;  // fewer than two characters
        this.#words(c, [this.spanWords(run, rank, i)], x0 + 6, top + inset + high / 2 + 0.5, x1 - x0 - 12, inks[busy[i]]);
      }
    }
  }

  spanWords(run, rank, i) {
    const thing = run.span.what[i];
    if (run.span.kind[i] === COMPUTES) return "computes";
    const { source, dest } = run.message;
    return source[thing] === rank ? `to ${dest[thing]}` : `from ${source[thing]}`;
  }

  /** The first of some texts that fits, if any does: a part of a word would be read as another word. */
  #words(c, candidates, x, y, room, color) {
    const shown = candidates.find(words => c.measureText(words).width <= room);
    if (!shown) return;
    c.fillStyle = color;
    c.fillText(shown, x, y);
  }

  #drawArrows(c, band) {
    const { run } = band, { source, dest } = run.message;
    const first = run.firstFrom(this.t0 - run.longest), last = run.firstFrom(this.t1);
    const low = band.lo - 1, high = band.lo + band.count;
    const inside = i => run.arrived(i) >= this.t0 && Math.max(source[i], dest[i]) >= low && Math.min(source[i], dest[i]) <= high;
    const stride = Math.max(1, Math.ceil((last - first) / 20000));  // a sample of at most 20,000
    let found = [];
    for (let i = first; i < last; i += stride) if (inside(i)) found.push(i);
    const all = found.length * stride, crowded = all > ARROWS;  // more lines could not be distinguished
    if (crowded) this.#drawDensity(c, band, found);
    [band.arrowsAt, band.drawn] = [crowded ? [] : found, { all, crowded, nodes: Boolean(run.node) }];
    if (crowded) return;
    const alpha = limited(6 / Math.sqrt(found.length + 1), 0.1, 0.75);
    const heads = found.length < 400 && band.lane >= 8, shortest = found.length > 200 ? 2 : 0;
    const between = i => Boolean(run.node) && run.node[source[i]] !== run.node[dest[i]];
    for (const [color, mine] of [[this.theme.arrow, found.filter(i => !between(i))], [this.theme.between, found.filter(between)]]) {
      c.strokeStyle = c.fillStyle = `rgb(${color} / ${alpha})`;
      c.lineWidth = found.length < 200 ? 1.25 : 0.75;
      c.beginPath();
      for (const i of mine) {
        const [x0, y0, x1, y1] = this.arrow(band, i);
        if (x1 - x0 < shortest) continue;  // many short arrows would only cover the picture
        c.moveTo(x0, y0);
        c.lineTo(x1, y1);
      }
      c.stroke();
      if (heads) for (const i of mine) this.head(c, ...this.arrow(band, i), 6);
    }
  }

  /** Many messages: how many of their lines cross each cell of a few pixels, the more the darker. */
  #drawDensity(c, band, found) {
    const { run } = band, { source, dest } = run.message, wide = Math.ceil(this.wide / DENSITY), high = Math.ceil(band.height / DENSITY);
    if (wide < 1 || high < 1) return;
    const counts = [new Float32Array(wide * high), new Float32Array(wide * high)], every = Math.max(1, Math.ceil(found.length / DENSE));
    for (let k = 0; k < found.length; k += every) {
      const i = found[k], [x0, y0, x1, y1] = this.arrow(band, i), cells = counts[run.node && run.node[source[i]] !== run.node[dest[i]] ? 1 : 0];
      const [cx, cy, dx, dy] = [(x0 - band.left) / DENSITY, (y0 - band.top) / DENSITY, (x1 - x0) / DENSITY, (y1 - y0) / DENSITY];
      const steps = Math.min(Math.ceil(Math.max(Math.abs(dx), Math.abs(dy), 1)), 4 * (wide + high));
      for (let step = 0; step < steps; step++) {
        const x = Math.floor(cx + dx * (step + 0.5) / steps), y = Math.floor(cy + dy * (step + 0.5) / steps);
        if (x >= 0 && x < wide && y >= 0 && y < high) cells[y * wide + x]++;
      }
    }
    let most = 1;
    for (let cell = 0; cell < wide * high; cell++) most = Math.max(most, counts[0][cell] + counts[1][cell]);
    const colors = [this.theme.arrow, this.theme.between].map(text => text.split(" ").map(Number));
    const canvas = document.createElement("canvas"), image = new ImageData(wide, high);
    for (let cell = 0; cell < wide * high; cell++) {
      const sum = counts[0][cell] + counts[1][cell];
      if (!sum) continue;
      for (let channel = 0; channel < 3; channel++) image.data[4 * cell + channel] = (colors[0][channel] * counts[0][cell] + colors[1][channel] * counts[1][cell]) / sum;
      image.data[4 * cell + 3] = 255 * 0.75 * Math.sqrt(sum / most);
    }
    [canvas.width, canvas.height] = [wide, high];
    canvas.getContext("2d").putImageData(image, 0, 0);
    c.save();
    c.imageSmoothingEnabled = true;
    c.drawImage(canvas, band.left, band.top, wide * DENSITY, high * DENSITY);
    c.restore();
  }

  /** A line above the first rank of each part of the machine. */
  #drawLevels(c, band) {
    const found = boundaries(band.run, band.lo, band.lo + band.count, band.height);
    band.levels = found.map(([level]) => level);
    c.strokeStyle = this.theme.ink;
    c.globalAlpha = 0.5;
    for (const [level, ranks] of found) {
      const [width, dashes] = penOf(level);
      c.lineWidth = width;
      c.setLineDash(dashes);
      c.beginPath();
      for (const rank of ranks) {
        const y = Math.round(this.y(band, rank)) + width % 2 / 2;
        c.moveTo(band.left - 8, y);
        c.lineTo(this.right(band), y);
      }
      c.stroke();
    }
    c.setLineDash([]);
    c.globalAlpha = 1;
  }

  arrow(band, i) {
    const { run } = band;
    return [this.x(run.start(i), band), this.middle(band, run.message.source[i]), this.x(run.arrived(i), band), this.middle(band, run.message.dest[i])];
  }

  head(c, x0, y0, x1, y1, size) {
    const angle = Math.atan2(y1 - y0, x1 - x0);
    c.beginPath();
    c.moveTo(x1, y1);
    c.lineTo(x1 - size * Math.cos(angle - 0.4), y1 - size * Math.sin(angle - 0.4));
    c.lineTo(x1 - size * Math.cos(angle + 0.4), y1 - size * Math.sin(angle + 0.4));
    c.fill();
  }

  #drawPath(c, band) {
    const { path, times } = band.run;
    c.strokeStyle = this.theme.path;
    c.lineJoin = "round";
    c.lineWidth = this.large ? 4 : 3;
    c.beginPath();
    for (let i = 0; i < path.kind.length; i++) {
      if (times[path.end[i]] < this.t0 || times[path.start[i]] > this.t1) continue;
      const message = path.kind[i] === 1;
      const y0 = this.middle(band, message ? path.source[i] : path.rank[i]), y1 = this.middle(band, message ? path.dest[i] : path.rank[i]);
      c.moveTo(this.x(times[path.start[i]], band), y0);
      c.lineTo(this.x(times[path.end[i]], band), y1);
    }
    c.stroke();
  }

  #drawLabels(c, band, rows) {
    c.textAlign = "right";
    c.textBaseline = "middle";
    const least = this.large ? 19 : 15, [, most] = band.perRow, every = 2 ** Math.max(0, Math.ceil(Math.log2(least / (band.lane * most))));
    const begin = rowOf(band.groups, rows[0]?.[0] ?? 0);
    let before = -Infinity;
    for (const [i, [first, after]] of rows.entries()) {
      if ((begin + i) % every) continue;
      const height = band.lane * (after - first);
      let y = band.folded ? this.y(band, first) + height / 2 : this.middle(band, first);
      if (y - before < least - 1) continue;  // rows have different numbers of ranks
      if (height < least) y = limited(y, band.top + 6, band.top + band.height - 4);
      if (y < band.top + 4 || y > band.top + band.height - 2) continue;
      const mine = this.chosen?.band === band && this.chosen.rank >= first && this.chosen.rank < after;
      c.font = this.font(12, mine ? "700" : "");
      c.fillStyle = mine ? this.theme.ink : this.theme.quiet;
      before = y;
      c.fillText(after - first > 1 && every === 1 ? `${first}-${after - 1}` : String(first), band.left - 10, y);
    }
    c.textAlign = "left";
  }

  #drawTitle(c, band) {
    c.font = this.font(12, "600");
    c.textBaseline = "middle";
    const time = seconds(band.run.time);
    this.#words(c, [`${this.titleOf(band)}: ${time}`, this.titleOf(band), time], band.left, band.top - TITLE / 2 + 1, this.wide, this.theme.ink);
  }

  #drawRuler(c) {
    const { found, digits } = ticks(this.t0, this.t1, this.wide / (this.large ? 150 : 110));
    c.font = this.font(12);
    c.textBaseline = "middle";
    c.fillStyle = this.theme.quiet;
    const shown = this.runs.every(run => run.timeless) ? [0] : found;
    for (const band of this.columns) {
      c.textAlign = "right";
      c.fillText("rank", band.left - 10, RULER / 2);
      c.textAlign = "center";
      for (const tick of shown) {
        const x = this.x(tick, band);
        if (x < band.left - 1) continue;
        c.strokeStyle = this.theme.line;
        c.lineWidth = 1;
        c.beginPath();
        c.moveTo(Math.round(x) + 0.5, RULER - 5);
        c.lineTo(Math.round(x) + 0.5, RULER);
        c.stroke();
        const words = seconds(Math.abs(tick) < (this.t1 - this.t0) * 1e-9 ? 0 : tick, digits), half = c.measureText(words).width / 2;
        if (x + half <= this.right(band) - 2) c.fillText(words, Math.max(x, band.left + half), RULER / 2);
      }
    }
    c.textAlign = "left";
  }

  /** Overlays that change with the pointer or the player, on a separate canvas. */
  drawOver() {
    const c = this.over.getContext("2d");
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.clearRect(0, 0, this.width, this.height);
    for (const band of this.columns) {
      c.save();
      c.beginPath();
      c.rect(band.left, 0, this.wide, this.height);
      c.clip();
      this.#drawTimes(c, band);
      c.restore();
    }
    this.#drawChosen(c);
  }

  /** The interval, and the time of the player or of the pointer. */
  #drawTimes(c, band) {
    if (this.interval) {
      const [x0, x1] = this.interval.map(time => this.x(time, band));
      c.fillStyle = this.theme.ground;
      c.globalAlpha = 0.6;
      c.fillRect(0, RULER, x0, this.height);
      c.fillRect(x1, RULER, this.width, this.height);
      c.globalAlpha = 1;
      c.fillStyle = this.theme.accent;
      c.fillRect(x0, RULER - 4, x1 - x0, 4);
    }
    if (this.moment !== null) this.#drawMoment(c, band);
    else if (this.hover && this.hover.x > this.column(this.hover.x).left) {
      const x = Math.round(this.x(this.time(this.hover.x), band)) + 0.5;
      c.strokeStyle = `rgb(${this.theme.arrow} / 0.35)`;
      c.lineWidth = 1;
      c.beginPath();
      c.moveTo(x, RULER - 4);
      c.lineTo(x, this.height);
      c.stroke();
    }
  }

  #drawChosen(c) {
    const { chosen } = this;
    if (!chosen) return;
    const { band, rank, message, call } = chosen;
    c.save();
    c.beginPath();
    c.rect(band.left - 3, band.top, this.wide + 3, band.height);
    c.clip();
    const y = this.y(band, rank);
    c.strokeStyle = this.theme.accent;
    c.lineWidth = 1.5;
    c.strokeRect(band.left - 2, y + 0.5, this.wide + 1, Math.max(band.lane - 1, 1));
    if (call) {  // a search result: its interval
      const x0 = this.x(call.start, band), x1 = Math.max(this.x(call.end, band), x0 + 2);
      c.lineWidth = 3;
      c.strokeRect(x0, y + 1.5, x1 - x0, Math.max(band.lane - 3, 1));
    }
    if (message >= 0) {
      if (this.t0 > 0) { c.beginPath(); c.rect(band.left, band.top, this.wide, band.height); c.clip(); }
      const ends = this.arrow(band, message);
      c.strokeStyle = c.fillStyle = this.theme.ink;
      c.lineWidth = 3;
      c.beginPath(); c.moveTo(ends[0], ends[1]); c.lineTo(ends[2], ends[3]); c.stroke();
      this.head(c, ...ends, 11);
      c.beginPath(); c.arc(ends[0], ends[1], 4, 0, 7); c.fill();
    }
    c.restore();
  }

  /** The time of the player: messages in transit are dots on its line, at their positions between the rows. */
  #drawMoment(c, column) {
    const x = this.x(this.moment, column);
    c.strokeStyle = c.fillStyle = this.theme.path;
    c.lineWidth = 1.5;
    c.beginPath(); c.moveTo(x, RULER - 6); c.lineTo(x, this.height); c.stroke();
    c.beginPath(); c.moveTo(x - 6, RULER - 10); c.lineTo(x + 6, RULER - 10); c.lineTo(x, RULER - 2); c.fill();
    for (const band of this.sideBySide ? [column] : this.bands) {
      const { run } = band;
      const first = run.firstFrom(this.moment - run.longest), last = firstWhere(first, run.messages, i => run.start(i) > this.moment);
      for (let i = first, step = Math.ceil((last - first) / 4000) || 1; i < last; i += step) {
        const start = run.start(i), arrived = run.arrived(i);
        if (arrived <= this.moment) continue;
        const done = (this.moment - start) / (arrived - start), y0 = this.middle(band, run.message.source[i]), y1 = this.middle(band, run.message.dest[i]);
        const y = y0 + done * (y1 - y0);
        if (y < band.top || y > band.top + band.height) continue;
        c.beginPath();
        c.arc(x, y, band.lane > 12 ? 5 : 2.5, 0, 7);
        c.fill();
      }
    }
  }
}
