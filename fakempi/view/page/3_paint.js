// Lanes as pixels. Every stretch of time adds what it covers to its class, in differences, whatever number of them fall on
// a pixel: a picture costs one step for each stretch that is visible, and one for each pixel.

const SERIES = ["#4477aa", "#e07b39", "#2f8f5b", "#c9a227", "#55bcd9", "#a8326e", "#7a6fd0", "#8c5a3c", "#6aa84f"];
const REST = "#9aa0a8";
/** By number of the state in fakempi/trace/waits.py: late sender, late receiver, barrier, N x N, ... */
const WAITS = ["#e08a2e", "#c9552f", "#8a5fb0", "#b04f93", "#5c79c4", "#2f9db5",
  "#4f8f6b", "#b5893a", "#a3475f", "#8a8f3c", "#d8c3a5", "#9aa0a8"];

const rgb = colour => [1, 3, 5].map(at => parseInt(colour.slice(at, at + 2), 16));
const mixed = (one, other, share) => one.map((part, i) => part * share + other[i] * (1 - share));
const css = colour => `rgb(${colour.map(Math.round).join(" ")})`;

/** The colours of the style sheet, as it is now: light or dark. */
function readTheme() {
  const style = getComputedStyle(document.documentElement), found = {};
  for (const name of ["ground", "sheet", "ink", "quiet", "line", "soft", "accent", "comm", "idle", "comp", "stuck", "path", "lane"]) {
    found[name] = style.getPropertyValue("--" + name).trim();
  }
  found.arrow = style.getPropertyValue("--arrow").trim();
  return found;
}

/** Which class a stretch belongs to, and what classes look like and are called: by state, by call, or by wait state. */
function colouring(run, mode, theme) {
  const stuck = { colour: mixed(rgb(theme.stuck), rgb(theme.sheet), 0.75), name: "waits for ever" };
  if (mode === "call") {
    const shown = run.kindsByUse.slice(0, run.kindsByUse.length > SERIES.length ? SERIES.length - 1 : SERIES.length);
    const place = new Map(shown.map((kind, i) => [kind, i])), other = shown.length;
    const busy = [...shown.map((kind, i) => ({ colour: rgb(SERIES[i]), name: run.kinds[kind] })), { colour: rgb(REST), name: "other" }];
    const idle = busy.map(one => ({ colour: mixed(one.colour, rgb(theme.sheet), 0.3), name: "" }));
    const classOf = kind => place.get(kind) ?? other;
    return {
      classes: [...busy, ...idle, stuck], ground: rgb(theme.soft), idle: "",
      busy: (kind, thing) => classOf(kind === COMPUTES ? run.kindOfCompute(thing) : run.kindOfMessage(thing)),
      wait: row => run.wait.call[row] ? busy.length + classOf(run.kindOfCall(run.wait.call[row])) : -1,
      note: "pale where the rank waits in that call",
    };
  }
  if (mode === "wait") {
    const busy = { colour: mixed(rgb(theme.comm), rgb(theme.sheet), 0.28), name: "busy" };
    const states = run.states.map(([name], i) => ({ colour: rgb(WAITS[i]), name }));
    return { classes: [busy, ...states, stuck], ground: rgb(theme.soft), idle: "", busy: () => 0, wait: row => 1 + run.wait.state[row] };
  }
  const classes = [{ colour: rgb(theme.comm), name: "communicating" }, { colour: rgb(theme.comp), name: "computing" }, stuck];
  return { classes, ground: rgb(theme.idle), idle: "idle", busy: kind => kind, wait: null };
}

/** Rows of ranks, from t0 to t1, as an image one pixel high a row. `stride` leaves ranks out while the view is moving. */
function paintRows(run, rows, t0, t1, width, scheme, stride = 1) {
  const { times, span, wait, waitsOf } = run;
  const { classes, ground, busy, wait: waitClass } = scheme;
  const planes = classes.map(() => new Float32Array(width + 2));
  const image = new ImageData(width, Math.max(rows.length, 1));
  const pixels = image.data, sums = new Float64Array(classes.length + 1), scale = width / (t1 - t0);
  const begin = limited((0 - t0) * scale, 0, width), finish = limited((run.end - t0) * scale, 0, width);
  const red = classes.map(one => one.colour[0] - ground[0]), green = classes.map(one => one.colour[1] - ground[1]);
  const blue = classes.map(one => one.colour[2] - ground[2]);

  function cover(plane, x0, x1) {
    if (x0 < 0) x0 = 0;
    if (x1 > width) x1 = width;
    if (!(x1 > x0)) return;
    let i = x0 | 0, part = x0 - i;
    plane[i] += 1 - part; plane[i + 1] += part;
    i = x1 | 0; part = x1 - i;
    plane[i] -= 1 - part; plane[i + 1] -= part;
  }

  for (let row = 0; row < rows.length; row++) {
    const [firstRank, lastRank] = rows[row];
    for (const plane of planes) plane.fill(0);
    let counted = 0;
    for (let rank = firstRank; rank < lastRank; rank += stride) {
      counted++;
      const end = span.first[rank + 1];
      for (let i = firstWhere(span.first[rank], end, i => times[span.to[i]] > t0); i < end; i++) {
        const start = times[span.from[i]];
        if (start >= t1) break;
        cover(planes[busy(span.kind[i], span.what[i])], (start - t0) * scale, (times[span.to[i]] - t0) * scale);
      }
      if (waitClass) {
        const { from, order } = waitsOf, last = from[rank + 1];
        for (let i = firstWhere(from[rank], last, i => times[wait.end[order[i]]] > t0); i < last; i++) {
          const start = times[wait.start[order[i]]], which = waitClass(order[i]);
          if (start >= t1) break;
          if (which >= 0) cover(planes[which], (start - t0) * scale, (times[wait.end[order[i]]] - t0) * scale);
        }
      }
      const stuck = run.stuckOf.get(rank);
      if (stuck) cover(planes[planes.length - 1], (stuck.since - t0) * scale, (run.end - t0) * scale);
    }
    const totals = new Float64Array(classes.length);
    for (let x = 0, at = 4 * width * row; x < width; x++, at += 4) {
      let r = ground[0], g = ground[1], b = ground[2];
      let left = 1;  // of waiting for ever, which comes last, only where nothing else is
      for (let which = 0; which < planes.length; which++) {
        let share = (totals[which] += planes[which][x]) / counted;
        if (share > left) share = left;
        left -= share;
        if (share > 1e-4) { r += share * red[which]; g += share * green[which]; b += share * blue[which]; sums[which] += share * (lastRank - firstRank); }
      }
      pixels[at] = r; pixels[at + 1] = g; pixels[at + 2] = b;
      pixels[at + 3] = 255 * (Math.min(x + 1, finish) - Math.max(x, begin));  // nothing before the start and after the end
    }
    sums[classes.length] += (finish - begin) * (lastRank - firstRank);
  }
  return { image, sums };
}

/** Stretches that are visible, at most: what a picture will cost. */
function visibleSpans(run, rows, t0, t1) {
  if (!rows.length) return 0;
  const { first, from, to } = run.span, low = rows[0][0], high = rows[rows.length - 1][1];
  if (t0 <= 0 && t1 >= run.time) return first[high] - first[low];
  let found = 0, seen = 0;
  for (let rank = low; rank < high; rank += Math.ceil((high - low) / 64), seen++) {  // 64 of them tell
    const start = firstWhere(first[rank], first[rank + 1], i => run.times[to[i]] > t0);
    found += firstWhere(start, first[rank + 1], i => run.times[from[i]] >= t1) - start;
  }
  return found / seen * (high - low);
}
