// A run: the unpacked columns of its trace, and the busy intervals of each rank.

const COMMUNICATES = 0, COMPUTES = 1;
const ON_PATH = ["computing", "message", "waiting"];

/** The bytes in a data element: base64, deflated. */
async function unpack(text) {
  const raw = atob(text.trim());
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Head and columns from bytes; fakempi/view/page/packing.py defines the format. */
function columnsOf(bytes) {
  const size = new DataView(bytes.buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
  const columns = {};
  let at = 4 + size;
  for (const [name, length, kind] of head.columns) {
    if (kind === "d") {
      const joined = new Uint8Array(8 * length);
      for (let plane = 0; plane < 8; plane++) for (let i = 0; i < length; i++) joined[8 * i + plane] = bytes[at++];
      columns[name] = new Float64Array(joined.buffer);
    } else {
      const column = columns[name] = new Int32Array(length);
      const [a, b, c, d] = [at, at + length, at + 2 * length, at + 3 * length];
      for (let i = 0, sum = 0; i < length; i++) {
        sum = (sum + (bytes[a + i] | bytes[b + i] << 8 | bytes[c + i] << 16 | bytes[d + i] << 24)) | 0;
        column[i] = sum;
      }
      at += 4 * length;
    }
  }
  return [head, columns];
}

/** Rows grouped by rank: `order` has the rows, those of rank r from `from[r]` to `from[r + 1]`. */
function grouped(ranks, count) {
  const from = new Int32Array(count + 1), order = new Int32Array(ranks.length);
  for (const rank of ranks) from[rank + 1]++;
  for (let rank = 0; rank < count; rank++) from[rank + 1] += from[rank];
  const next = from.slice();
  for (let row = 0; row < ranks.length; row++) order[next[ranks[row]]++] = row;
  return { from, order };
}

/** The levels of the machine from the outermost one: the part of each rank, and the distance from the level node, outward positive. */
function levelsOf(stored = []) {
  const node = stored.findIndex(level => level.name === "node");
  return stored.map(({ name, parts }, i) => (
    { name, distance: node - i, part: Int32Array.from(parts.flatMap(([part, count]) => new Array(count).fill(part))) }));
}

/**
 * The first rank of each row, and the number of ranks at the end. Each row lies in one part of each level (such as a node) or has
 * whole parts. A row has at least `least` ranks, unless the next larger parts have fewer.
 */
function groupsOf(run, least) {
  least = Math.max(Math.ceil(least - 1e-9), 1);
  if (run.groups?.least === least) return run.groups.firsts;
  const firsts = [];
  const divide = (low, high, depth) => {
    const level = run.levels[depth], size = high - low;
    if (least === 1 || !level) {
      let step = least;  // a divisor of the size if there is one below twice the minimum, otherwise a power of two
      while (depth && step < 2 * least && size % step) step++;
      if (!depth || step >= 2 * least) step = 2 ** Math.ceil(Math.log2(least) - 1e-9);
      for (let rank = low; rank < high; rank += step) firsts.push(rank);
      return;
    }
    let from = low, after = low;  // small parts from `from` on are collected in a row
    while (after < high) {
      const begin = after;
      do after++; while (after < high && level.part[after] === level.part[begin]);
      if (after - begin >= least) {
        if (from < begin) firsts.push(from);
        divide(begin, after, depth + 1);
        from = after;
      } else if (after - from >= least) {
        firsts.push(from);
        from = after;
      }
    }
    if (from < high) firsts.push(from);
  };
  divide(0, run.ranks, 0);
  firsts.push(run.ranks);
  run.groups = { least, firsts };
  return firsts;
}

/** For each level, the ranks at which a part begins and no part of an outer level does. */
function findBegins(levels, ranks) {
  const found = levels.map(() => []);
  for (let rank = 1; rank < ranks; rank++) {
    const outermost = levels.findIndex(({ part }) => part[rank] !== part[rank - 1]);
    if (outermost >= 0) found[outermost].push(rank);
  }
  levels.forEach((level, i) => { level.begins = found[i]; });
}

/** Boundaries between two ranks as [level, ranks]; inner levels are omitted if lines would be closer than four pixels. */
function boundaries(run, lo, hi, pixels) {
  const found = [];
  let total = 0;
  for (const level of run.levels) {
    const { begins } = level, inside = begins.slice(firstWhere(0, begins.length, i => begins[i] >= lo), firstWhere(0, begins.length, i => begins[i] >= hi));
    total += inside.length;
    if (total * 4 > pixels) break;
    if (inside.length) found.push([level, inside]);
  }
  return found;
}

/** The pen of a boundary: outer levels are thicker, levels within a node are dashed. */
const penOf = ({ distance }) => [distance > 0 ? Math.min(1 + distance, 4) : 1, distance < 0 ? [distance < -1 ? 2 : 6, 4] : []];

class Run {
  constructor(head, columns) {
    Object.assign(this, head);
    this.times = columns.times;
    for (const table of ["message", "compute", "region", "wait", "path"]) this[table] = {};
    for (const [name, column] of Object.entries(columns)) {
      const [table, field] = name.split(".");
      if (field) this[table][field] = column; else this[name] = column;
    }
    this.messages = this.message.start.length;
    const levels = levelsOf(this.about.levels);
    this.node = levels.find(level => level.name === "node")?.part ?? null;
    this.levels = levels.filter(level => new Set(level.part).size < this.ranks);
    findBegins(this.levels, this.ranks);
    /** Where the picture ends: the endless part of a deadlock is drawn as a fifth of the time before. */
    this.end = this.ended?.stuck?.length ? Math.max(this.time, this.ended.time || 0) * 1.2 || 1e-6 : this.time || 1e-6;
    this.timeless = this.end !== this.time && !this.ended?.stuck?.length;  // all events are at time 0
    this.longest = 0;
    for (let i = 0; i < this.messages; i++) this.longest = Math.max(this.longest, this.arrived(i) - this.start(i));
    this.regionsOf = grouped(this.region.rank, this.ranks);
    this.waitsOf = grouped(this.wait.rank, this.ranks);
    this.stuckOf = new Map((this.ended?.stuck || []).map(one => [one.rank, one]));
    this.#makeSpans();
    this.#makeKinds();
  }

  start(i) { return this.times[this.message.start[i]]; }
  arrived(i) { return this.times[this.message.arrived[i]]; }
  at(number) { return number < 0 ? Infinity : this.times[number]; }

  /** For each rank, disjoint intervals in which it computes or communicates; computing has precedence. */
  #makeSpans() {
    const { message, compute, ranks, messages } = this;
    const sides = new Int32Array(2 * messages);
    for (let i = 0; i < messages; i++) { sides[2 * i] = message.source[i]; sides[2 * i + 1] = message.dest[i]; }
    const events = grouped(sides, ranks), work = grouped(compute.rank, ranks);
    let size = 2 * messages + 2 * compute.rank.length + 16, count = 0;
    let from = new Int32Array(size), to = new Int32Array(size), what = new Int32Array(size), kind = new Uint8Array(size);
    const add = (start, end, thing, sort) => {
      if (count === size) {
        size *= 2;
        const larger = (old, made) => { made.set(old); return made; };
        from = larger(from, new Int32Array(size)); to = larger(to, new Int32Array(size));
        what = larger(what, new Int32Array(size)); kind = larger(kind, new Uint8Array(size));
      }
      from[count] = start; to[count] = end; what[count] = thing; kind[count++] = sort;
    };
    const first = new Int32Array(ranks + 1);
    for (let rank = 0; rank < ranks; rank++) {
      first[rank] = count;
      let k = work.from[rank], worked = -1, reach = -1;
      const lastWork = work.from[rank + 1];
      const workUntil = limit => {  // all computing that starts before the limit
        for (; k < lastWork && compute.start[work.order[k]] < limit; k++) {
          const row = work.order[k], start = Math.max(compute.start[row], worked);
          if (compute.end[row] > start) { add(start, compute.end[row], row, COMPUTES); worked = compute.end[row]; }
        }
      };
      for (let e = events.from[rank]; e < events.from[rank + 1]; e++) {
        const side = events.order[e], i = side >> 1;
        const end = side & 1 ? message.arrived[i] : message.sent[i];
        let start = Math.max(message.start[i], reach);
        if (end <= start) continue;
        reach = end;
        workUntil(start + 1);
        start = Math.max(start, worked);
        while (start < end) {  // the parts between compute intervals
          const next = k < lastWork ? compute.start[work.order[k]] : Infinity;
          if (next >= end) { add(start, end, i, COMMUNICATES); break; }
          if (next > start) add(start, next, i, COMMUNICATES);
          workUntil(next + 1);
          start = Math.max(next, worked);
        }
      }
      workUntil(Infinity);
    }
    first[ranks] = count;
    const times = numbers => { const found = new Float64Array(count); for (let i = 0; i < count; i++) found[i] = this.times[numbers[i]]; return found; };
    this.span = { first, from: times(from), to: times(to), what: what.slice(0, count), kind: kind.slice(0, count) };
  }

  /** Kinds of calls, which have colors: the name of the outermost region, or of the call. */
  #makeKinds() {
    const kinds = new Map(), names = [];
    const number = name => { if (!kinds.has(name)) { kinds.set(name, names.length); names.push(name); } return kinds.get(name); };
    const ofCall = this.calls.map(([name], i) => i ? number(name) : -1);
    const outermost = new Int32Array(this.region.rank.length);
    for (let row = 0; row < outermost.length; row++) {
      outermost[row] = this.region.parent[row] < 0 ? row : outermost[this.region.parent[row]];
    }
    const ofName = this.names.map(name => name ? number(name) : -1);
    this.kindOfRegion = row => ofName[this.region.name[outermost[row]]];
    this.kindOfMessage = i => this.message.region[i] >= 0 ? this.kindOfRegion(this.message.region[i]) : ofCall[this.message.call[i]];
    this.kindOfCompute = row => ofCall[this.compute.call[row]];
    // A wait has a call; the call of a collective has a region, which gives the kind.
    const regionOfCall = new Map();
    for (let row = 0; row < outermost.length; row++) {
      if (this.region.call[row]) regionOfCall.set(this.region.call[row], this.kindOfRegion(row));
    }
    this.kindOfCall = call => regionOfCall.get(call) ?? ofCall[call];
    this.kinds = names;
    const used = new Float64Array(names.length);
    for (let i = 0; i < this.messages; i++) { const kind = this.kindOfMessage(i); if (kind >= 0) used[kind] += 1; }
    for (let i = 0; i < this.compute.rank.length; i++) { const kind = this.kindOfCompute(i); if (kind >= 0) used[kind] += 1; }
    for (let i = 0; i < this.wait.rank.length; i++) { const kind = this.kindOfCall(this.wait.call[i]); if (kind >= 0) used[kind] += 0.1; }
    this.kindsByUse = [...names.keys()].filter(kind => used[kind]).sort((a, b) => used[b] - used[a]);
  }

  /** The interval of a rank that contains a time, or the nearest within `near`; -1 if there is none. */
  spanAt(rank, time, near = 0) {
    const { first, from, to } = this.span, end = first[rank + 1];
    const at = firstWhere(first[rank], end, i => to[i] > time);
    let best = -1, distance = near;
    for (const i of [at, at - 1]) {
      if (i < first[rank] || i >= end) continue;
      const away = Math.max(from[i] - time, time - to[i], 0);
      if (away <= distance) { best = i; distance = away; }
    }
    return best;
  }

  /** The wait of a rank that contains a time, or -1. */
  waitAt(rank, time) {
    const { from, order } = this.waitsOf;
    const at = firstWhere(from[rank], from[rank + 1], i => this.times[this.wait.end[order[i]]] > time);
    return at < from[rank + 1] && this.times[this.wait.start[order[at]]] <= time ? order[at] : -1;
  }

  /** Regions of a rank that contain a time, outermost first. */
  regionsAt(rank, time) {
    const { from, order } = this.regionsOf;
    return [...order.subarray(from[rank], from[rank + 1])].filter(
      row => this.times[this.region.start[row]] <= time && time < Math.min(this.at(this.region.end[row]), this.end));
  }

  place(call) {
    const [name, file, line] = this.calls[call] || [];
    return line ? `${name} at ${file}:${line}` : "";
  }

  regionName(row) {
    const { names, region } = this;
    return names[region.name[row]] + (region.algorithm[row] ? ` (${names[region.algorithm[row]]})` : "");
  }

  /** The first message that starts no earlier than a time. */
  firstFrom(time) { return firstWhere(0, this.messages, i => this.start(i) >= time); }
}
