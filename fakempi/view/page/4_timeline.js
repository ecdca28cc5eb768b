// The timeline: lanes of one run, or of two on one scale, a ruler, messages as arrows, and what lies over them.

const RULER = 28, TITLE = 20, LEAST = 2, ARROWS = 1500, SAMPLE = 400;
const ROOMY = 1000, APART_BY = 16;  // pixels: two runs stand side by side from this width on, so far from each other
const BUDGET = 60000;  // stretches that are painted at once, at most; of more, some ranks until the view rests, and then all by and by
const SLICE = 10;      // milliseconds of that at a time

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
    this.side = runs.length > 1 && Boolean(runs[0].schedule);  // two schedules differ in one place: side by side, if there is room
    this.arrows = true;
    this.critical = false;
    this.chosen = null;      // {band, rank, span, wait, message}
    this.interval = null;    // [start, end]
    this.moment = null;      // of the player
    this.hover = null;       // {x, y}
    this.listeners = [];
    new ResizeObserver(() => this.resize()).observe(element);
  }

  // -- what is seen ---------------------------------------------------------------------------------------------

  resize() {
    this.tallest = Math.max(76, innerHeight * 0.1);  // of a lane: few ranks leave room for the sheets
    this.roomy = this.runs.length > 1 && this.element.clientWidth >= ROOMY;
    this.beside = this.roomy && this.side;
    const heights = this.runs.map(run => run.ranks * this.tallest + TITLE);
    this.element.style.maxHeight = RULER + 6 + (this.beside ? Math.max(...heights) : heights.reduce((sum, each) => sum + each)) + "px";
    const box = this.element.getBoundingClientRect();
    this.ratio = window.devicePixelRatio || 1;
    [this.width, this.height] = [this.element.clientWidth || box.width, this.element.clientHeight || box.height];
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
    const { beside } = this, two = this.bands.length > 1, room = this.height - RULER - (two ? (beside ? 1 : 2) * TITLE : 0) - 4;
    const wanted = this.bands.map(band => band.run.ranks);
    const all = wanted.reduce((sum, each) => sum + each, 0);
    const column = beside ? (this.width - APART_BY) / 2 : this.width;
    this.wide = column - this.gutter;  // of the time that is seen, in each
    let top = RULER;
    for (const [i, band] of this.bands.entries()) {
      if (beside) top = RULER;
      if (two) top += TITLE;
      band.left = this.gutter + (beside ? i * (column + APART_BY) : 0);
      const height = two && !beside ? room * limited(wanted[i] / all, 0.2, 0.8) : room;
      band.lane = Math.min(height / band.count, this.tallest);
      [band.top, band.height] = [top, band.lane * band.count];
      band.fold = band.lane >= LEAST ? 1 : 2 ** Math.ceil(Math.log2(LEAST / band.lane));
      top += height;
    }
  }

  x(time, band) { return band.left + (time - this.t0) / (this.t1 - this.t0) * this.wide; }
  time(x, band = this.column(x)) { return this.t0 + (x - band.left) / this.wide * (this.t1 - this.t0); }
  right(band) { return band.left + this.wide; }

  /** Whose time it is at x: of two runs one above the other, it is the same. */
  column(x) { return this.columns.findLast(band => x >= band.left - this.gutter) || this.bands[0]; }
  get columns() { return this.beside ? this.bands : this.bands.slice(0, 1); }
  y(band, rank) { return band.top + (rank - band.lo) * band.lane; }
  middle(band, rank) { return this.y(band, rank) + (this.inner(band)[0] + this.inner(band)[1] / 2); }

  /** Where in a lane the bar is: how far from its top, and how high. */
  inner(band) {
    const { lane, fold } = band;
    if (fold > 1 || lane < 6) return [0, lane];
    const strip = lane >= 26 ? Math.min(lane * 0.32, 20) : 0, gap = Math.min(Math.max(lane * 0.12, 1), 7);
    return [strip + gap / 2, lane - strip - gap];
  }

  /** Rows of ranks that are visible: [first, after the last]. */
  rows(band) {
    const rows = [];
    for (let first = Math.floor(band.lo / band.fold) * band.fold; first < Math.min(band.lo + band.count, band.run.ranks); first += band.fold) {
      rows.push([first, Math.min(first + band.fold, band.run.ranks)]);
    }
    return rows;
  }

  /** What lies at a point. */
  at(x, y) {
    const here = this.beside ? [this.column(x)] : this.bands, band = here.find(each => y >= each.top && y < each.top + each.height);
    if (!band || x < band.left) return { band, time: this.time(x), rank: band ? this.#rank(band, y) : -1, label: true };
    return { band, rank: this.#rank(band, y), time: this.time(x) };
  }
  #rank(band, y) { return limited(Math.floor(band.lo + (y - band.top) / band.lane), 0, band.run.ranks - 1); }

  // -- moving ---------------------------------------------------------------------------------------------------

  show(t0, t1, loose = true) {
    const least = Math.max(this.end * 1e-9, 1e-18), span = limited(t1 - t0, least, this.end);
    if (t1 - t0 !== span) [t0, t1] = [(t0 + t1 - span) / 2, (t0 + t1 + span) / 2];
    const slack = loose ? span * 0.4 : 0;  // so that what is at an end can be moved to the middle
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

  /** Move as little as it takes to see a rank and a time. */
  reveal(band, rank, start, end = start) {
    if (rank < band.lo || rank + 1 > band.lo + band.count) this.showRanks(band, rank + 0.5 - band.count / 2, band.count);
    if (band.fold > 1) this.showRanks(band, rank - 12, 25);
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

  /** What is seen, for tests and for scripts of others: times, ranks, and the rank that is chosen. */
  #tell() {
    const { lo, count, run } = this.bands[0], last = Math.min(Math.ceil(lo + count - 1e-9), run.ranks) - 1;
    Object.assign(this.element.dataset, {
      range: `${this.t0} ${this.t1}`, ranks: `${Math.floor(lo + 1e-9)} ${last}`, selected: this.chosen ? this.chosen.rank : "",
      layout: this.beside ? "beside" : "stacked",
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
    this.shares = null;
    let coarse = false;
    for (const [i, band] of this.bands.entries()) {
      coarse = this.#drawBand(c, band) || coarse;
      if (this.bands.length > 1) this.#drawTitle(c, band, i);
    }
    this.#drawRuler(c);
    this.drawOver();
    this.spent = performance.now() - started;
    this.element.dataset.frame = this.spent.toFixed(1);
    this.#tell();
    this.onshares?.(this.shares, this.bands[0].drawn);
    clearTimeout(this.rest);
    if (coarse) this.rest = setTimeout(() => this.#refine(), 150);
  }

  /** Once it rests: all ranks, a few rows at a time, so that the page answers meanwhile; then the picture is exchanged. */
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

  /** A painting with a canvas that holds it. */
  #kept(painting) {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [painting.image.width, painting.image.height];
    canvas.getContext("2d").putImageData(painting.image, 0, 0);
    return Object.assign(painting, { canvas, planes: null, image: null, mix: null });
  }

  #drawBand(c, band) {
    const { run } = band, rows = this.rows(band), [inset, high] = this.inner(band);
    const pixels = Math.round(this.wide * this.ratio);
    const key = [this.t0, this.t1, rows[0], rows.length, band.fold, pixels, this.mode, this.theme.of].join();
    if (band.painting?.key !== key) {  // what was painted and has not changed is there still
      const scheme = colouring(run, this.mode, this.theme), cost = visibleSpans(run, rows, this.t0, this.t1) * (scheme.wait ? 2 : 1);
      const painting = new Painting(run, rows, this.t0, this.t1, pixels, scheme, this.mode, limited(Math.ceil(cost / BUDGET), 1, band.fold));
      painting.paint();
      band.painting = Object.assign(this.#kept(painting), { key });
    }
    const { canvas, sums, scheme, stride } = band.painting;
    band.stride = stride;
    if (!this.shares) this.shares = { scheme, sums };
    c.save();
    c.beginPath();
    c.rect(band.left - 12, band.top, this.wide + 12, band.height);
    c.clip();
    c.imageSmoothingEnabled = false;
    const { wide } = this, step = band.lane * band.fold;
    if (!inset) c.drawImage(canvas, band.left, this.y(band, rows[0]?.[0] ?? 0), wide, rows.length * step);  // rows without gaps
    else for (const [i, [first]] of rows.entries()) c.drawImage(canvas, 0, i, pixels, 1, band.left, this.y(band, first) + inset, wide, high);
    if (band.lane >= 6 && band.fold === 1) this.#hatch(c, band, rows);
    if (band.lane >= 26) this.#drawNames(c, band, rows, inset, high);
    if (this.arrows) this.#drawArrows(c, band);
    if (this.critical) this.#drawPath(c, band);
    if (run.schedule?.words) drawDeciding(this, c, band);
    c.restore();
    this.#drawLabels(c, band, rows);
    return stride > 1;
  }

  /** Stripes where a rank waits for ever, so that it is not the colour alone that tells. */
  #hatch(c, band, rows) {
    const { run } = band, [inset, high] = this.inner(band);
    if (!run.stuckOf.size) return;
    c.strokeStyle = this.theme.sheet;
    c.lineWidth = 1.5;
    for (const [rank] of rows) {
      const stuck = run.stuckOf.get(rank);
      if (!stuck) continue;
      const x0 = Math.max(this.x(stuck.since, band), band.left), x1 = Math.min(this.x(run.end, band), this.right(band)), y = this.y(band, rank) + inset;
      c.save();
      c.beginPath();
      let reach = x0;
      const end = run.span.first[rank + 1];  // not where it still receives what others send
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

  /** Regions above the bars, and what is called inside of them, where there is room for words. */
  #drawNames(c, band, rows, inset, high) {
    const { run } = band, { region, regionsOf, span, times } = run, { scheme } = band.painting;
    const { busy } = classesOf(run, this.mode, scheme), inks = scheme.classes.map(one => inkOn(one.colour));
    c.textBaseline = "middle";
    for (const [rank] of rows) {
      const top = this.y(band, rank), strip = inset - 3;
      c.font = this.font(Math.min(11, strip * 0.75));
      for (let i = regionsOf.from[rank]; i < regionsOf.from[rank + 1]; i++) {
        const row = regionsOf.order[i], depth = region.parent[row] < 0 ? 0 : 1;
        const x0 = Math.max(this.x(times[region.start[row]], band), band.left), x1 = Math.min(this.x(Math.min(run.at(region.end[row]), run.end), band), this.right(band));
        if (x1 - x0 < 1.5 || depth) continue;
        c.fillStyle = this.theme.soft;
        c.fillRect(x0, top + 2, x1 - x0 - 1, strip);
        this.#words(c, run.regionName(row), x0 + 5, top + 2 + strip / 2, x1 - x0 - 10, this.theme.ink);
      }
      if (high < 15 || this.mode === "wait") continue;
      c.font = this.font(11);
      const end = span.first[rank + 1];
      for (let i = firstWhere(span.first[rank], end, i => span.to[i] > this.t0); i < end && span.from[i] < this.t1; i++) {
        const x0 = Math.max(this.x(span.from[i], band), band.left), x1 = Math.min(this.x(span.to[i], band), this.right(band));
        if (x1 - x0 < 24) continue;
        this.#words(c, this.spanWords(run, rank, i), x0 + 6, top + inset + high / 2 + 0.5, x1 - x0 - 12, inks[busy[i]]);
      }
    }
  }

  spanWords(run, rank, i) {
    const thing = run.span.what[i];
    if (run.span.kind[i] === COMPUTES) return "computes";
    const { source, dest } = run.message;
    return source[thing] === rank ? `to ${dest[thing]}` : `from ${source[thing]}`;
  }

  #words(c, words, x, y, room, colour) {
    if (room < 10) return;
    let shown = words;
    if (c.measureText(shown).width > room) {
      shown = shown.slice(0, Math.floor(shown.length * room / c.measureText(shown).width) - 1);
      if (shown.length < 3) return;
      shown += "…";
    }
    c.fillStyle = colour;
    c.fillText(shown, x, y);
  }

  #drawArrows(c, band) {
    const { run } = band, { source, dest } = run.message;
    const first = run.firstFrom(this.t0 - run.longest), last = run.firstFrom(this.t1);
    const low = band.lo - 1, high = band.lo + band.count;
    const inside = i => run.arrived(i) >= this.t0 && Math.max(source[i], dest[i]) >= low && Math.min(source[i], dest[i]) <= high;
    const stride = Math.max(1, Math.ceil((last - first) / 20000));  // look at no more than so many
    let found = [];
    for (let i = first; i < last; i += stride) if (inside(i)) found.push(i);
    const all = found.length * stride;
    if (all > ARROWS) {  // more would only be a haze
      const step = found.length / SAMPLE;
      found = Array.from({ length: Math.min(SAMPLE, found.length) }, (_, k) => found[Math.floor(k * step)]);
    }
    [band.arrowsAt, band.drawn] = [found, { shown: found.length, all, crowded: all > ARROWS }];
    const alpha = limited(6 / Math.sqrt(found.length + 1), 0.1, 0.75);
    c.strokeStyle = c.fillStyle = `rgb(${this.theme.arrow} / ${alpha})`;
    c.lineWidth = found.length < 200 ? 1.25 : 0.75;
    c.beginPath();
    const heads = found.length < 400 && band.lane >= 8, shortest = found.length > 200 ? 2 : 0;
    for (const i of found) {
      const [x0, y0, x1, y1] = this.arrow(band, i);
      if (x1 - x0 < shortest) continue;  // many that take no time to be seen would be a block of ink
      c.moveTo(x0, y0);
      c.lineTo(x1, y1);
    }
    c.stroke();
    if (heads) for (const i of found) this.head(c, ...this.arrow(band, i), 6);
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
    const least = this.large ? 19 : 15, height = band.lane * band.fold, every = 2 ** Math.max(0, Math.ceil(Math.log2(least / height)));
    for (const [first, after] of rows) {
      if (Math.floor(first / band.fold) % every) continue;
      let y = band.fold === 1 ? this.middle(band, first) : this.y(band, first) + height / 2;
      if (height < least) y = limited(y, band.top + 6, band.top + band.height - 4);
      if (y < band.top + 4 || y > band.top + band.height - 2) continue;
      const mine = this.chosen?.band === band && this.chosen.rank >= first && this.chosen.rank < after;
      c.font = this.font(12, mine ? "700" : "");
      c.fillStyle = mine ? this.theme.ink : this.theme.quiet;
      c.fillText(after - first > 1 && every === 1 ? `${first}-${after - 1}` : String(first), band.left - 10, y);
    }
    c.textAlign = "left";
  }

  #drawTitle(c, band, i) {
    c.font = this.font(12, "600");
    c.fillStyle = this.theme.ink;
    c.textBaseline = "middle";
    c.fillText(`${band.run.title || "run " + (i + 1)}: ${seconds(band.run.time)}`, band.left, band.top - TITLE / 2 + 1);
  }

  #drawRuler(c) {
    const { found, digits } = ticks(this.t0, this.t1, this.wide / (this.large ? 150 : 110));
    c.font = this.font(12);
    c.textBaseline = "middle";
    c.fillStyle = this.theme.quiet;
    for (const band of this.columns) {
      c.textAlign = "right";
      c.fillText("rank", band.left - 10, RULER / 2);
      c.textAlign = "center";
      for (const tick of found) {
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

  /** What changes with every move of the pointer or of the player, on a canvas of its own. */
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

  /** The interval, and the moment of the player or that under the pointer. */
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
    const { band, rank, message } = chosen;
    c.save();
    c.beginPath();
    c.rect(band.left - 3, band.top, this.wide + 3, band.height);
    c.clip();
    const y = this.y(band, rank);
    c.strokeStyle = this.theme.accent;
    c.lineWidth = 1.5;
    c.strokeRect(band.left - 2, y + 0.5, this.wide + 1, Math.max(band.lane - 1, 1));
    if (message >= 0) {
      const ends = this.arrow(band, message);
      c.strokeStyle = c.fillStyle = this.theme.ink;
      c.lineWidth = 3;
      c.beginPath(); c.moveTo(ends[0], ends[1]); c.lineTo(ends[2], ends[3]); c.stroke();
      this.head(c, ...ends, 11);
      c.beginPath(); c.arc(ends[0], ends[1], 4, 0, 7); c.fill();
    }
    c.restore();
  }

  /** The player's moment: messages under way are dots on its line, as far between the lanes as they have come. */
  #drawMoment(c, column) {
    const x = this.x(this.moment, column);
    c.strokeStyle = c.fillStyle = this.theme.path;
    c.lineWidth = 1.5;
    c.beginPath(); c.moveTo(x, RULER - 6); c.lineTo(x, this.height); c.stroke();
    c.beginPath(); c.moveTo(x - 6, RULER - 10); c.lineTo(x + 6, RULER - 10); c.lineTo(x, RULER - 2); c.fill();
    for (const band of this.beside ? [column] : this.bands) {
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
