// The panel of the communication matrix: cells, axes of ranks, and a scale with units.

const CELLS = 128;  // rows and columns, at most
const MARGIN = { left: 60, top: 38, right: 84, bottom: 4 };  // pixels for the axis of senders, of receivers, and for the scale
const STRETCH = 1.8;   // cells are at most this much wider than high
const FOR_TEXT = 260;    // pixels for the texts right of the matrix

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
  const found = matrixOf(run, interval), { count, bytes, levels } = found, byMessages = state.by === "messages";
  const amounts = byMessages ? count : bytes, words = byMessages ? number => many(number, "message") : exactly;
  const top = amounts.reduce((most, each) => Math.max(most, each), 0), sum = amounts.reduce((total, each) => total + each, 0);
  if (!count.some(Boolean)) { panel.replaceChildren(make("p", { className: "empty" }, interval ? "No messages in this interval." : "No messages in this run.")); return; }
  const [width, height] = plotSize(panel, MARGIN.right);
  const canvas = make("canvas", { role: "img", tabIndex: 0, "aria-describedby": "cell", ariaLabel: `Communication matrix: ${many(run.ranks, "rank")}, at most ${words(top)}. Arrow keys move from cell to cell.` });
  const lines = boundaries({ levels }, 0, run.ranks, Math.min(width, height) / 2);  // at least eight pixels apart
  const paint = cell => paintMatrix(canvas, found, lines, amounts, top, [width, height], byMessages ? short : amount, cell);
  const details = make("p", { id: "cell", role: "status" }, "Point at a cell, or press an arrow key in the matrix, for details.");
  readCells(canvas, run, found, [width, height], (from, to, text) => { details.replaceChildren(...unbroken(text)); paint([from, to]); });
  paint(null);
  const choice = make("select", { ariaLabel: "Count bytes or messages" }, make("option", {}, "bytes"), make("option", {}, "messages"));
  choice.value = state.by || "bytes";
  choice.addEventListener("change", () => { state.by = choice.value; drawMatrix(run, panel, interval, state); panel.querySelector("select").focus(); });
  const perCell = [...new Set(sizesOf(found.firsts.slice(0, -1).map((first, i) => [first, found.firsts[i + 1]])))].join(" to ");
  drawFitting(panel, most => {
    const [list, rows] = largest(found, amounts, byMessages ? whole : amount, most);
    panel.replaceChildren(make("div", { className: "map" }, canvas, make("div", {},
      make("h2", {}, "Communication matrix"), make("p", { className: "quiet" }, `Rows are senders, columns are receivers${found.size < run.ranks ? `, ${perCell} ranks per cell` : ""}.`),
      ...lines.length ? [make("p", { className: "levels" }, ...lines.map(([level]) => levelKey(level)))] : [],
      make("p", {}, choice), make("p", {}, ...unbroken(`${words(sum)} in total, at most ${words(top)} in a cell.`)), details, list)));
    return rows;
  });
}

const cellName = ({ firsts }, index) => firsts[index + 1] - firsts[index] === 1 ? `rank ${firsts[index]}` : `ranks ${firsts[index]} to ${firsts[index + 1] - 1}`;

/** Calls `show` with the row, the column and the description of the cell under the pointer, or chosen by arrow keys. */
function readCells(canvas, run, found, [width, height], show) {
  const { firsts, size, count, bytes } = found;
  let at = [0, 0];
  const tell = (from, to) => {
    const cell = from * size + to;
    at = [from, to];
    show(from, to, `${cellName(found, from)} to ${cellName(found, to)}: ${many(count[cell], "message")}, ${exactly(bytes[cell])}`);
  };
  canvas.addEventListener("pointermove", event => {
    const box = canvas.getBoundingClientRect(), cell = share => rowOf(firsts, limited(Math.floor(share * run.ranks), 0, run.ranks - 1));
    tell(cell((event.clientY - box.top - MARGIN.top) / height), cell((event.clientX - box.left - MARGIN.left) / width));
  });
  canvas.addEventListener("keydown", event => {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    tell(...at.map((index, i) => limited(index + step[i], 0, size - 1)));
  });
}

/** The cells with the largest amounts as a table with at most so many rows, and how many rows there can be. */
function largest(found, amounts, unit, most) {
  const order = [...amounts.keys()].filter(cell => found.count[cell]).sort((one, other) => amounts[other] - amounts[one] || one - other).slice(0, 20);
  const rows = order.slice(0, most).map(cell => [`${cellName(found, Math.floor(cell / found.size))} to ${cellName(found, cell % found.size)}`, unit(amounts[cell])]);
  return [make("div", { className: "apart" }, make("h2", { className: "long" }, "Largest"), table([["cell", 0, true], ["amount", 1, true]], rows)), order.length];
}

/** The context of a canvas with axes left of and above a plot of this size. */
function sized(canvas, across, down) {
  const ratio = window.devicePixelRatio || 1, width = MARGIN.left + across, height = MARGIN.top + down + MARGIN.bottom, c = canvas.getContext("2d");
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  [canvas.style.width, canvas.style.height] = [width + "px", height + "px"];
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.font = "12px system-ui, sans-serif";
  c.textBaseline = "middle";
  return c;
}

/** The width and the height of a plot with axes in a panel, next to its texts, or above them if the panel is narrow. */
function plotSize(panel, right) {
  const [wide, high] = spaceIn(panel), space = wide - MARGIN.left - right;
  const height = limited(Math.min(high - MARGIN.top - MARGIN.bottom, space), 60, 640);
  return [wide < 560 ? height : limited(space - FOR_TEXT, height, STRETCH * height), height];
}

/** Cells, boundaries of levels, both axes, and the scale. `chosen` is the cell with a frame: [row, column]. */
function paintMatrix(canvas, { firsts, size, count }, lines, amounts, top, [across, down], unit, chosen) {
  const c = sized(canvas, across + MARGIN.right, down), theme = readTheme(), low = rgb(theme.soft), high = rgb(theme.comm);
  const color = share => css(mixed(high, low, 0.2 + 0.8 * Math.sqrt(share)));
  const ranks = firsts[size], x = rank => MARGIN.left + Math.round(rank * across / ranks), y = rank => MARGIN.top + Math.round(rank * down / ranks);
  const boxOf = (row, column) => [x(firsts[column]), y(firsts[row]), x(firsts[column + 1]) - x(firsts[column]), y(firsts[row + 1]) - y(firsts[row])];
  const inks = share => inkOn(mixed(high, low, 0.2 + 0.8 * Math.sqrt(share)));
  c.textAlign = "center";
  const roomy = down / size >= 16 && amounts.every((each, cell) => !count[cell] || c.measureText(unit(each)).width < across / size - 6);  // all values or none
  amounts.forEach((each, cell) => {
    if (!count[cell]) return;
    const [left, above, wide, tall] = boxOf(Math.floor(cell / size), cell % size), share = each / (top || 1);
    c.fillStyle = color(share);
    c.fillRect(left, above, wide, tall);
    if (!roomy) return;
    c.fillStyle = inks(share);
    c.fillText(unit(each), left + wide / 2, above + tall / 2 + 0.5);
  });
  c.strokeStyle = theme.quiet;
  c.globalAlpha = 0.5;
  for (const [level, begins] of lines) {
    const [width, dashes] = penOf(level);
    c.lineWidth = width;
    c.setLineDash(dashes);
    c.beginPath();
    for (const rank of begins) {
      const shift = width % 2 / 2;
      c.moveTo(x(rank) + shift, MARGIN.top);
      c.lineTo(x(rank) + shift, MARGIN.top + down);
      c.moveTo(MARGIN.left, y(rank) + shift);
      c.lineTo(MARGIN.left + across, y(rank) + shift);
    }
    c.stroke();
  }
  c.setLineDash([]);
  [c.globalAlpha, c.lineWidth] = [1, 1];
  c.strokeStyle = theme.line;
  c.strokeRect(MARGIN.left - 0.5, MARGIN.top - 0.5, across + 1, down + 1);
  if (chosen) {
    [c.strokeStyle, c.lineWidth] = [theme.path, 2];
    c.strokeRect(...boxOf(...chosen));
    c.lineWidth = 1;
  }
  drawAxes(c, firsts, [across, down], theme, ["from rank", "to rank"]);
  drawScale(c, across, down, theme, color, share => unit(share * top));
}

/** Both axes: the names of rows and columns, and the first rank of some cells. */
function drawAxes(c, firsts, [across, down], theme, [rows, columns]) {
  const size = firsts.length - 1, ranks = firsts[size];
  c.fillStyle = theme.quiet;
  const named = (pixels, length) => {  // at least so many pixels apart
    const every = 2 ** Math.max(0, Math.ceil(Math.log2(pixels * size / length))), found = [];
    let before = -Infinity;
    for (let i = 0; i < size; i += every) {
      const middle = (firsts[i] + firsts[i + 1]) / 2 * length / ranks;
      if (middle - before >= pixels - 1) { found.push([String(firsts[i]), middle]); before = middle; }
    }
    return found;
  };
  const digits = c.measureText(String(ranks - 1)).width;
  c.textAlign = "right";
  for (const [name, place] of named(16, down)) c.fillText(name, MARGIN.left - 8, MARGIN.top + place);
  c.textAlign = "center";
  for (const [name, place] of named(Math.max(34, digits + 12), across)) c.fillText(name, MARGIN.left + place, MARGIN.top - 10);
  c.fillText(columns, MARGIN.left + across / 2, 10);
  c.save();
  c.translate(10, MARGIN.top + down / 2);
  c.rotate(-Math.PI / 2);
  c.fillText(rows, 0, 0);
  c.restore();
}

/** The scale: 0 to the maximum of a cell, with its unit. */
function drawScale(c, across, down, theme, color, words) {
  const x = MARGIN.left + across + 16;
  for (let y = 0; y < down; y++) {
    c.fillStyle = color(1 - y / down);
    c.fillRect(x, MARGIN.top + y, 12, 1.5);
  }
  c.fillStyle = theme.quiet;
  c.textAlign = "left";
  for (const share of down > 100 ? [1, 0.5, 0] : [1, 0]) c.fillText(words(share), x + 18, limited(MARGIN.top + (1 - share) * down, MARGIN.top + 6, MARGIN.top + down - 6));
}
