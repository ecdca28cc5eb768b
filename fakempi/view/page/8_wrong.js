// The findings of a run, or its failure, and the deciding choice of a schedule.

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
