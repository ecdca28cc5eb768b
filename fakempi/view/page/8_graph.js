// The wait-for graph of a run that failed: its nodes and edges, their places, and the file that contains it as SVG.

const SINGLE = 24;  // maximum number of blocked ranks with a node each
const FONTS = ["12px sans-serif", "10.5px sans-serif"];  // of the first and of the second line of a node

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

/** The texts of a node: ranks, and their call if there are few nodes. */
function nodeLines(node, few) {
  const label = node.ranks.length > 1 && !node.key.startsWith("…") ? rankWords(node.ranks) : node.key;
  return few ? [label, node.small] : [label];
}

/** The width of the widest text, so that no text is cut. */
function widest(nodes) {
  const c = document.createElement("canvas").getContext("2d");
  return Math.max(...nodes.flatMap(node => node.lines.map((line, i) => { c.font = FONTS[i]; return c.measureText(line).width; })));
}

/** Place the nodes: the ranks of the cycle form an ellipse; all others are in columns left of it, or alone if there is no cycle. */
function placeNodes(ring, others, [w, h], few) {
  const columns = Math.ceil(others.length / 8), rows = Math.ceil(others.length / Math.max(columns, 1));
  const upright = ring.length === 2 && others.length > 0;  // two nodes are side by side unless others point at them
  const side = columns * (w + 44), radius = ring.length > 1 && !upright ? Math.max(w * 0.75, ring.length * (few ? 30 : 15)) : 0;
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
  return [W, H];
}

/** The middle of an edge: bent as little as keeps it clear of all other nodes. */
function bendOf({ from, to, miss }, edges, all, [w, h]) {
  const [dx, dy] = [to.x - from.x, to.y - from.y], length = Math.hypot(dx, dy) || 1;
  const least = miss ? 60 : edges.some(other => other.from === to && other.to === from) ? 26 : 10;
  const middle = bend => [(from.x + to.x) / 2 - dy / length * bend, (from.y + to.y) / 2 + dx / length * bend];
  const hits = ([mx, my]) => all.filter(node => node !== from && node !== to).some(node => {
    for (let k = 1; k < 24; k++) {
      const t = k / 24, x = (1 - t) ** 2 * from.x + 2 * t * (1 - t) * mx + t * t * to.x, y = (1 - t) ** 2 * from.y + 2 * t * (1 - t) * my + t * t * to.y;
      if (Math.abs(x - node.x) < w / 2 + 4 && Math.abs(y - node.y) < h / 2 + 4) return true;
    }
    return false;
  });
  return [least, -least, 40, -40, 80, -80, 130, -130, 200, -200].filter(bend => Math.abs(bend) >= least).map(middle).find(each => !hits(each)) || middle(least);
}

function waitGraph(run, choose) {
  const { ring, others, edges } = waitNodes(run), all = [...ring, ...others], few = all.length <= 8;
  for (const node of all) node.lines = nodeLines(node, few);
  const [w, h] = [Math.max(widest(all) + 20, few ? 110 : 70), few ? 42 : 26], [W, H] = placeNodes(ring, others, [w, h], few);
  const svg = parseSvg(`<svg role="group"></svg>`), cycle = run.ended.cycle || [];
  svg.setAttribute("aria-label", cycle.length ? `Wait-for graph with a cycle: ${cycle.slice(0, 12).join(", ")}${cycle.length > 12 ? ", …" : ""}, ${cycle[0]}` : "Wait-for graph without a cycle");
  const draw = (parent, tag, attributes, text, title) => {
    const made = document.createElementNS(svg.namespaceURI, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text) made.textContent = text;
    if (title) { const label = document.createElementNS(svg.namespaceURI, "title"); label.textContent = title; made.append(label); }
    parent.append(made);
    return made;
  };
  const reach = [0, 0, W, H];  // bounding box of nodes and arcs
  for (const edge of edges) {
    const { from, to, circle, miss, title } = edge, kind = circle ? "circle" : miss ? "miss" : "", [mx, my] = bendOf(edge, edges, all, [w, h]);
    const edgePoint = (node, x, y) => {  // intersection of the line with the node's box
      const [ex, ey] = [x - node.x, y - node.y], t = Math.min(w / 2 / Math.abs(ex || 1e-9), h / 2 / Math.abs(ey || 1e-9));
      return [node.x + ex * Math.min(t, 1), node.y + ey * Math.min(t, 1)];
    };
    const [sx, sy] = edgePoint(from, mx, my), [tx, ty] = edgePoint(to, mx, my), angle = Math.atan2(ty - my, tx - mx);
    draw(svg, "path", { class: kind, d: `M${sx} ${sy}Q${mx} ${my} ${tx} ${ty}` }, "", title);
    const [topX, topY] = [(sx + 2 * mx + tx) / 4, (sy + 2 * my + ty) / 4];
    reach.splice(0, 4, Math.min(reach[0], topX - 4), Math.min(reach[1], topY - 4), Math.max(reach[2], topX + 4), Math.max(reach[3], topY + 4));
    const side = turn => `${tx - 10 * Math.cos(angle + turn)} ${ty - 10 * Math.sin(angle + turn)}`;
    draw(svg, "path", { class: `head ${kind}`, d: `M${tx} ${ty}L${side(0.4)}L${side(-0.4)}Z` });
  }
  for (const node of all) {
    const awaited = edges.filter(edge => edge.from === node && !edge.miss).map(edge => edge.to.lines[0]).join(", ");
    const name = `${node.lines[0]} ${node.small}${awaited ? `, waits for ${awaited}` : ""}`;
    const box = draw(svg, "g", { role: "button", tabindex: 0, "aria-label": name });
    draw(box, "rect", { class: "node" + (node.circle ? " circle" : node.over ? " over" : ""), x: node.x - w / 2, y: node.y - h / 2, width: w, height: h, rx: 8 }, "", few ? "" : name);
    node.lines.forEach((line, i) => draw(box, "text", { class: i ? "small" : "", x: node.x, y: node.y + (i ? 12 : few ? -3 : 4) }, i ? line : line + " "));  // the blank separates the words of a screen reader
    box.addEventListener("click", () => choose(node.ranks[0]));
    box.addEventListener("keydown", event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(node.ranks[0]); } });
  }
  svg.setAttribute("viewBox", `${reach[0]} ${reach[1]} ${reach[2] - reach[0]} ${reach[3] - reach[1]}`);
  const key = make("p", { className: "quiet" }, cycle.length ? "Arrows lead to the awaited rank; thick arrows are the cycle." : "Arrows lead to the awaited rank; there is no cycle.",
    run.ended.misses?.length ? " Dashed: a near miss, a message that differs from the receive in one property." : "");
  const save = make("button", { type: "button", id: "save-graph", onclick: () => download(`${(run.title || "run").replace(/\.[^.]*$/, "").replace(/[^\w.-]+/g, "_")}-wait-for-graph.svg`, standalone(svg)) }, "Save as SVG");
  return make("figure", {}, svg, make("figcaption", {}, save, key));
}

/** The style of the graph in its file: light, since it is for papers. */
const GRAPH_STYLE = `svg{font-family:"Helvetica Neue",Arial,"Noto Sans",sans-serif;font-size:12px}.node{fill:#f0f0ea;stroke:#626b7a}
.node.circle{stroke:#b8420a;stroke-width:2}.node.over{stroke-dasharray:3 3;fill:none}text{fill:#1b2230;text-anchor:middle}text.small{fill:#565f6d;font-size:10.5px}
path{fill:none;stroke:#626b7a;stroke-width:1.3}path.circle{stroke:#b8420a;stroke-width:2.2}path.miss{stroke:#1f5fa8;stroke-dasharray:4 4}
path.head{fill:#626b7a;stroke:none}path.head.circle{fill:#b8420a}path.head.miss{fill:#1f5fa8}`;

/** The text of an SVG file with the graph: its style and its title are in it. */
function standalone(svg) {
  const copy = svg.cloneNode(true), { x, y, width, height } = svg.viewBox.baseVal, part = tag => document.createElementNS(svg.namespaceURI, tag);
  for (const node of copy.querySelectorAll("[tabindex]")) for (const name of ["tabindex", "role", "aria-label"]) node.removeAttribute(name);
  copy.setAttribute("role", "img");
  for (const [name, value] of Object.entries({ width: Math.ceil(width), height: Math.ceil(height) })) copy.setAttribute(name, value);
  const [title, style, ground] = ["title", "style", "rect"].map(part);
  title.textContent = svg.getAttribute("aria-label");
  style.textContent = GRAPH_STYLE;
  for (const [name, value] of Object.entries({ x, y, width, height, fill: "#fff" })) ground.setAttribute(name, value);
  copy.prepend(title, style, ground);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(copy)}\n`;
}

function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" })), link = make("a", { href: url, download: name });
  document.body.append(link);  // Firefox ignores a link outside the document
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** An svg element without the URL of its namespace, which would look like a network access. */
function parseSvg(text) {
  const holder = document.createElement("div");
  holder.innerHTML = text;
  return holder.firstElementChild;
}
