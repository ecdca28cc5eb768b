// The panel of the communication matrix: cells, axes of ranks, and a scale with units.

const CELLS = 128;  // rows and columns, at most
const MARGIN = { left: 52, top: 34, right: 84, bottom: 4 };  // pixels for the axis of senders, of receivers, and for the scale

/** Messages and bytes between groups of ranks, by sender and receiver; `firsts` has the first rank of each group. */
function matrixOf(run, interval) {
  const firsts = groupsOf(run, run.ranks / CELLS), size = firsts.length - 1, { message } = run, group = new Int32Array(run.ranks);
  for (let i = 0; i < size; i++) group.fill(i, firsts[i], firsts[i + 1]);
  const bytes = new Float64Array(size * size), count = new Float64Array(size * size);
  for (let i = 0; i < run.messages; i++) {
    if (interval && (run.start(i) > interval[1] || run.arrived(i) < interval[0])) continue;
    const cell = group[message.source[i]] * size + group[message.dest[i]];
    bytes[cell] += message.nbytes[i];
    count[cell]++;
  }
  const levels = run.levels.filter(level => level.begins.every(rank => firsts[group[rank]] === rank));  // others have boundaries within cells
  return { firsts, size, bytes, count, levels };
}

function drawMatrix(run, panel, interval, state) {
  const found = matrixOf(run, interval), { firsts, size, bytes, count, levels } = found, byMessages = state.by === "messages";
  const amounts = byMessages ? count : bytes, words = byMessages ? number => many(number, "message") : exactly;
  const top = amounts.reduce((most, each) => Math.max(most, each), 0), sum = amounts.reduce((total, each) => total + each, 0);
  if (!count.some(Boolean)) { panel.replaceChildren(make("p", { className: "empty" }, interval ? "No messages in this interval." : "No messages in this run.")); return; }
  const [wide, high] = spaceIn(panel);
  const side = limited(Math.min(high - MARGIN.top - MARGIN.bottom, wide - MARGIN.left - MARGIN.right), 60, 640);
  const canvas = make("canvas", { role: "img", ariaLabel: `Communication matrix: ${many(run.ranks, "rank")}, at most ${words(top)}` });
  const lines = boundaries({ levels }, 0, run.ranks, side / 2);  // at least eight pixels apart
  paintMatrix(canvas, found, lines, amounts, top, side, byMessages ? short : amount);
  const name = index => firsts[index + 1] - firsts[index] === 1 ? `rank ${firsts[index]}` : `ranks ${firsts[index]} to ${firsts[index + 1] - 1}`;
  const perCell = [...new Set(sizesOf(firsts.slice(0, -1).map((first, i) => [first, firsts[i + 1]])))].join(" to ");
  const details = make("p", {}, "Point at a cell for details.");
  canvas.addEventListener("pointermove", event => {
    const box = canvas.getBoundingClientRect(), cell = pixels => rowOf(firsts, limited(Math.floor(pixels / side * run.ranks), 0, run.ranks - 1));
    const from = cell(event.clientY - box.top - MARGIN.top), to = cell(event.clientX - box.left - MARGIN.left), at = from * size + to;
    details.replaceChildren(...unbroken(`${name(from)} to ${name(to)}: ${many(count[at], "message")}, ${exactly(bytes[at])}`));
  });
  const choice = make("select", { ariaLabel: "Count bytes or messages" }, make("option", {}, "bytes"), make("option", {}, "messages"));
  choice.value = state.by || "bytes";
  choice.addEventListener("change", () => { state.by = choice.value; drawMatrix(run, panel, interval, state); });
  panel.replaceChildren(make("div", { className: "map" }, canvas, make("div", {},
    make("h2", {}, "Communication matrix"), make("p", { className: "quiet" }, `Rows are senders, columns are receivers${size < run.ranks ? `, ${perCell} ranks per cell` : ""}.`),
    ...lines.length ? [make("p", { className: "levels" }, ...lines.map(([level]) => levelKey(level)))] : [],
    make("p", {}, choice, ...unbroken(` ${words(sum)} in total, at most ${words(top)} in a cell.`)), details)));
}

function paintMatrix(canvas, { firsts, size, count }, lines, amounts, top, side, unit) {
  const ratio = window.devicePixelRatio || 1, width = MARGIN.left + side + MARGIN.right, height = MARGIN.top + side + MARGIN.bottom;
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  [canvas.style.width, canvas.style.height] = [width + "px", height + "px"];
  const c = canvas.getContext("2d"), theme = readTheme(), low = rgb(theme.soft), high = rgb(theme.comm);
  const color = share => css(mixed(high, low, 0.2 + 0.8 * Math.sqrt(share)));
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.font = "12px system-ui, sans-serif";
  const ranks = firsts[size], at = rank => Math.round(rank * side / ranks), edge = index => at(firsts[index]);
  amounts.forEach((each, cell) => {
    if (!count[cell]) return;
    const row = Math.floor(cell / size), column = cell % size;
    c.fillStyle = color(each / (top || 1));
    c.fillRect(MARGIN.left + edge(column), MARGIN.top + edge(row), edge(column + 1) - edge(column), edge(row + 1) - edge(row));
  });
  c.strokeStyle = theme.quiet;
  c.globalAlpha = 0.5;
  for (const [level, begins] of lines) {
    const [width, dashes] = penOf(level);
    c.lineWidth = width;
    c.setLineDash(dashes);
    c.beginPath();
    for (const rank of begins) {
      const place = at(rank) + width % 2 / 2;
      c.moveTo(MARGIN.left + place, MARGIN.top);
      c.lineTo(MARGIN.left + place, MARGIN.top + side);
      c.moveTo(MARGIN.left, MARGIN.top + place);
      c.lineTo(MARGIN.left + side, MARGIN.top + place);
    }
    c.stroke();
  }
  c.setLineDash([]);
  [c.globalAlpha, c.lineWidth] = [1, 1];
  c.strokeStyle = theme.line;
  c.strokeRect(MARGIN.left - 0.5, MARGIN.top - 0.5, side + 1, side + 1);
  // axes: the first rank of some cells, at least 34 pixels apart for receivers and 16 for senders
  c.fillStyle = theme.quiet;
  c.textBaseline = "middle";
  const named = pixels => {
    const every = 2 ** Math.max(0, Math.ceil(Math.log2(pixels * size / side))), found = [];
    let before = -Infinity;
    for (let i = 0; i < size; i += every) {
      const middle = (firsts[i] + firsts[i + 1]) / 2 * side / ranks;
      if (middle - before >= pixels - 1) { found.push([String(firsts[i]), middle]); before = middle; }
    }
    return found;
  };
  c.textAlign = "right";
  c.fillText("from", MARGIN.left - 8, 10);
  for (const [name, place] of named(16)) c.fillText(name, MARGIN.left - 8, MARGIN.top + place);
  c.textAlign = "left";
  c.fillText("to rank", MARGIN.left, 10);
  c.textAlign = "center";
  for (const [name, place] of named(34)) c.fillText(name, MARGIN.left + place, MARGIN.top - 9);
  // the scale: 0 to the maximum of a cell, with its unit
  const x = MARGIN.left + side + 16;
  for (let y = 0; y < side; y++) {
    c.fillStyle = color(1 - y / side);
    c.fillRect(x, MARGIN.top + y, 12, 1.5);
  }
  c.fillStyle = theme.quiet;
  c.textAlign = "left";
  for (const share of side > 100 ? [1, 0.5, 0] : [1, 0]) c.fillText(unit(share * top), x + 18, limited(MARGIN.top + (1 - share) * side, MARGIN.top + 6, MARGIN.top + side - 6));
}
