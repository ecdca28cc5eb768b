// The findings of a run, or its failure, with the wait-for graph of a deadlock.

const SINGLE = 24;  // maximum number of blocked ranks with a node each

function drawFindings(run, panel, choose) {
  const report = make("div", { id: "findings" }), graph = make("div", { id: "waits" });
  const lines = text => make("div", { className: "report" }, ...text.split("\n").map(line => make("div", {}, ...unbroken(line + "\n"))));
  if (run.ended) report.append(lines(run.ended.text));
  for (const finding of run.findings) {
    const [first] = finding.ranks, known = first < run.ranks;
    report.append(make("div", { className: "finding" },
      known ? make("button", { type: "button", onclick: () => choose(first) }, `rank ${first}`) : null,
      lines(finding.text)));
  }
  if (run.about.died) report.append(lines(`died: ${run.about.died.map(one => `rank ${one.rank} at ${seconds(one.time)}`).join(", ")}`));
  if (run.schedule?.why) report.append(lines(`why: ${run.schedule.why}`));
  const stuck = run.ended?.stuck || [];
  const wrong = make("div", { className: "wrong" + (stuck.length ? "" : " alone") }, report);
  if (stuck.length) {
    graph.append(waitGraph(run, choose));
    wrong.append(graph);
  }
  panel.replaceChildren(wrong);
  if (!report.childElementCount) {
    panel.append(make("p", { className: "empty" }, run.checked ? "The run completed, and has no findings." : "The file does not contain findings or the end of the run."));
  }
  return report;
}

/** Nodes and edges: every blocked rank, or, of many, those of the cycle and one node for each call of the others. */
function waitNodes(run) {
  const { stuck, cycle = [], misses = [] } = run.ended, nodes = new Map(), edges = [];
  const inCycle = new Set(cycle), few = stuck.length <= SINGLE;
  let shown = few ? cycle : cycle.length > 12 ? [...cycle.slice(0, 8), ...cycle.slice(-3)] : cycle;
  const skipped = cycle.length - shown.length;
  const nodeOf = new Map(), small = /^(Dead|Live)lock/.test(run.ended.kind) ? "has ended" : "not blocked";
  const add = (key, node) => { if (!nodes.has(key)) nodes.set(key, { key, ranks: [], ...node }); return nodes.get(key); };
  const shownSet = new Set(shown);
  for (const one of stuck) {
    const alone = few || shownSet.has(one.rank), hidden = !alone && inCycle.has(one.rank);
    const key = alone ? `rank ${one.rank}` : hidden ? "…" : `${one.call} at ${one.site}`;
    const node = add(key, { circle: inCycle.has(one.rank), small: `${one.call} at ${one.site}` });
    node.ranks.push(one.rank);
    nodeOf.set(one.rank, node);
  }
  for (const one of stuck) {
    for (const want of one.wants) {
      for (const rank of want.awaits.slice(0, few ? 8 : 1)) {
        const to = nodeOf.get(rank) || add(`rank ${rank}`, { over: true, small, ranks: [rank] });
        const at = cycle.indexOf(one.rank), circle = at >= 0 && cycle[(at + 1) % cycle.length] === rank;
        const edge = edges.find(each => each.from === nodeOf.get(one.rank) && each.to === to);
        if (edge) edge.circle ||= circle;
        else if (nodeOf.get(one.rank) !== to || cycle.length === 1) edges.push({ from: nodeOf.get(one.rank), to, circle, title: `${one.call}: ${want.words}` });
      }
    }
  }
  for (const miss of misses.slice(0, 12)) {
    const [from, to] = [nodeOf.get(miss.sender) || add(`rank ${miss.sender}`, { over: true, small, ranks: [miss.sender] }), nodeOf.get(miss.rank)];
    if (from && to && from !== to) edges.push({ from, to, miss: true, title: `near miss: a message with tag ${miss.tag}, ${miss.but}` });
  }
  const middle = nodes.get("…");
  let order = shown.map(rank => nodeOf.get(rank));
  if (!order.length) order = [...nodes.values()].filter(node => node.over);  // without a cycle: the ranks that are not blocked
  if (middle && skipped) order.splice(8, 0, middle);
  if (middle) middle.key = `… ${whole(skipped)} more …`;
  return { ring: order, others: [...nodes.values()].filter(node => !order.includes(node)), edges };
}

function waitGraph(run, choose) {
  // The ranks of the cycle form a circle; all others are in columns left of it, or alone if there is no cycle.
  const { ring, others, edges } = waitNodes(run), all = [...ring, ...others], words = all.length <= 8;
  const [w, h] = words ? [150, 42] : [84, 26], columns = Math.ceil(others.length / 8), rows = Math.ceil(others.length / Math.max(columns, 1));
  const upright = ring.length === 2 && others.length > 0;  // two nodes are side by side unless others point at them
  const side = columns * (w + 44), radius = ring.length > 1 && !upright ? Math.max(w * 0.75, ring.length * (words ? 30 : 15)) : 0;
  const W = side + 2 * radius + w + 16, H = Math.max(2 * Math.max(radius * 0.62, ring.length > 2 || others.length ? 74 : 34) + h + 12, rows * (h + 14) + 10);
  const [cx, cy] = [side + radius + w / 2 + 8, H / 2];
  const turn = ring.length === 2 && !upright ? Math.PI : -Math.PI / 2;
  ring.forEach((node, i) => {
    const angle = 2 * Math.PI * i / ring.length + turn;
    [node.x, node.y] = [cx + radius * Math.cos(angle), cy + (ring.length > 1 ? cy - h / 2 - 6 : 0) * Math.sin(angle)];
  });
  others.forEach((node, i) => {
    const column = Math.floor(i / rows), here = Math.min(rows, others.length - column * rows);
    [node.x, node.y] = [w / 2 + 8 + column * (w + 44), (i % rows + 0.5) * H / here];
  });
  const svg = parseSvg(`<svg role="img"></svg>`);
  const cycle = run.ended.cycle || [];
  svg.setAttribute("aria-label", cycle.length ? `Wait-for graph with a cycle: ${cycle.slice(0, 12).join(", ")}${cycle.length > 12 ? ", …" : ""}, ${cycle[0]}` : "Wait-for graph without a cycle");
  const draw = (tag, attributes, text, title) => {
    const made = document.createElementNS(svg.namespaceURI, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text) made.textContent = text;
    if (title) { const label = document.createElementNS(svg.namespaceURI, "title"); label.textContent = title; made.append(label); }
    svg.append(made);
    return made;
  };
  const reach = [0, 0, W, H];  // bounding box of nodes and arcs
  for (const { from, to, circle, miss, title } of edges) {
    const kind = circle ? "circle" : miss ? "miss" : "", [dx, dy] = [to.x - from.x, to.y - from.y], length = Math.hypot(dx, dy) || 1;
    const bend = miss ? 60 : edges.some(other => other.from === to && other.to === from) ? 26 : 10;
    const [mx, my] = [(from.x + to.x) / 2 - dy / length * bend, (from.y + to.y) / 2 + dx / length * bend];
    const edgePoint = (node, x, y) => {  // intersection of the line with the node's box
      const [ex, ey] = [x - node.x, y - node.y], t = Math.min(w / 2 / Math.abs(ex || 1e-9), h / 2 / Math.abs(ey || 1e-9));
      return [node.x + ex * Math.min(t, 1), node.y + ey * Math.min(t, 1)];
    };
    const [sx, sy] = edgePoint(from, mx, my), [tx, ty] = edgePoint(to, mx, my), angle = Math.atan2(ty - my, tx - mx);
    draw("path", { class: kind, d: `M${sx} ${sy}Q${mx} ${my} ${tx} ${ty}` }, "", title);
    const [topX, topY] = [(sx + 2 * mx + tx) / 4, (sy + 2 * my + ty) / 4];
    reach.splice(0, 4, Math.min(reach[0], topX - 4), Math.min(reach[1], topY - 4), Math.max(reach[2], topX + 4), Math.max(reach[3], topY + 4));
    const side = turn => `${tx - 10 * Math.cos(angle + turn)} ${ty - 10 * Math.sin(angle + turn)}`;
    draw("path", { class: `head ${kind}`, d: `M${tx} ${ty}L${side(0.4)}L${side(-0.4)}Z` });
  }
  for (const node of all) {
    const label = node.ranks.length > 1 && !node.key.startsWith("…") ? rankWords(node.ranks) : node.key;
    const kind = node.circle ? " circle" : node.over ? " over" : "";
    const box = draw("rect", { class: "node" + kind, x: node.x - w / 2, y: node.y - h / 2, width: w, height: h, rx: 8 }, "", `${rankWords(node.ranks)}: ${node.small}`);
    box.addEventListener("click", () => choose(node.ranks[0]));
    const fit = (text, letters) => text.length > letters ? text.slice(0, letters - 1) + "…" : text;
    draw("text", { x: node.x, y: node.y + (words ? -3 : 4) }, words ? fit(label, 21) : fit(label, 12));
    if (words) draw("text", { class: "small", x: node.x, y: node.y + 12 }, fit(node.small, 26));
  }
  svg.setAttribute("viewBox", `${reach[0]} ${reach[1]} ${reach[2] - reach[0]} ${reach[3] - reach[1]}`);
  const key = make("p", { className: "quiet" }, cycle.length ? "Arrows lead to the awaited rank; thick arrows are the cycle." : "Arrows lead to the awaited rank; there is no cycle.",
    run.ended.misses?.length ? " Dashed: a near miss, a message that differs from the receive in one property." : "");
  return make("figure", {}, svg, key);
}

/** The deciding choice of a schedule: a diamond, its message, and a description. */
function drawDeciding(timeline, c, band) {
  const { theme, large } = timeline, { left: begin } = band, end = timeline.right(band), { schedule } = band.run, size = large ? 10 : 8;
  const x = timeline.x(schedule.time, band), y = timeline.middle(band, schedule.rank);
  c.strokeStyle = c.fillStyle = theme.path;
  if (schedule.message >= 0) {
    const ends = timeline.arrow(band, schedule.message);
    c.lineWidth = large ? 4 : 3;
    c.beginPath(); c.moveTo(ends[0], ends[1]); c.lineTo(ends[2], ends[3]); c.stroke();
    timeline.head(c, ...ends, 11);
  }
  if (x < begin - size || x > end) return;
  c.beginPath();
  c.moveTo(x, y - size); c.lineTo(x + size, y); c.lineTo(x, y + size); c.lineTo(x - size, y);
  c.closePath();
  c.fill();
  c.lineWidth = 2;
  c.strokeStyle = theme.panel;
  c.stroke();
  c.font = timeline.font(12, "600");
  c.textBaseline = "middle";
  const wide = c.measureText(schedule.words).width + 16, high = large ? 26 : 20;
  if (wide > end - begin) return;
  const before = x - size - 6 - wide, after = x + size + 6;  // do not cover the message: left of it, right of it, above it, or below it
  const fits = before >= begin || after + wide <= end, above = y - size - 6 - high;
  const left = before >= begin ? before : fits ? after : limited(x - wide / 2, begin, end - wide);
  const level = fits ? y - high / 2 : above >= band.top ? above : y + size + 6;
  const top = limited(level, band.top, band.top + band.height - high);
  c.fillStyle = theme.panel;
  c.strokeStyle = theme.path;
  c.beginPath(); c.roundRect(left, top, wide, high, 5); c.fill(); c.stroke();
  c.fillStyle = theme.ink;
  c.fillText(schedule.words, left + 8, top + high / 2 + 0.5);
}

/** An svg element without the URL of its namespace, which would look like a network access. */
function parseSvg(text) {
  const holder = document.createElement("div");
  holder.innerHTML = text;
  return holder.firstElementChild;
}
