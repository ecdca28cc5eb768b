// The search: the calls, messages and regions that a text names, and the list of them below its box.

const LISTED = 200;    // maximum number of entries in the list
const LIVE = 100000;   // with more messages, a search starts with Enter instead of each letter: it takes a tenth of a second

/** For each site of a call, whether it is that of a collective: the messages of it are parts of one call. */
function collectiveSites(run) {
  const found = new Uint8Array(run.calls.length);
  for (const call of run.region.call) found[call] = 1;
  found[0] = 0;
  return found;
}

/** Whether a region lies in the call of a region: a collective that another one uses, or a step of it. */
function inCall(run, row) {
  const { parent, call } = run.region;
  for (let at = parent[row]; at >= 0; at = parent[at]) if (call[at]) return true;
  return false;
}

/**
 * The calls and regions with a name; if there are none, those whose name, file, line or algorithm contains the text. A call is one hit: its
 * messages, and the calls that its algorithm uses, are not.
 */
function searched(run, text) {
  const words = text.toLowerCase().replace(/\s+/g, " ").trim(), name = words.replace(/^(mpi_|comm\.)/, "").replace(/\(\)?$/, "");
  if (!words) return [];
  const equal = candidate => candidate.toLowerCase() === name, contains = candidate => candidate.toLowerCase().includes(words);
  const site = ([called, file, line]) => `${called} at ${file}:${line}`;
  const exact = hitsOf(run, run.calls.map(([called, , line]) => line > 0 && equal(called)), row => equal(run.names[run.region.name[row]]), equal);
  return exact.length ? exact : hitsOf(run, run.calls.map(call => call[2] > 0 && contains(site(call))), row => contains(run.regionName(row)), contains);
}

/** Hits by time: `fits` tells for each site, `named` for each region, and `blocked` for a text whether it matches. */
function hitsOf(run, fits, named, blocked) {
  const hits = [], { message, compute, region, wait, times } = run, collective = collectiveSites(run), used = collective.slice(), unfinished = new Set();
  const add = (rank, start, end, words, more = {}) => hits.push({ rank, start, end: Math.min(end, run.end), words, message: -1, ...more });
  for (let row = 0; row < region.rank.length; row++) {
    if (!(fits[region.call[row]] || named(row)) || inCall(run, row)) continue;
    if (run.at(region.end[row]) > run.time) unfinished.add(region.rank[row]);
    const name = run.regionName(row), place = run.place(region.call[row]);
    add(region.rank[row], times[region.start[row]], run.at(region.end[row]), place ? `${name}, ${place}` : name);
  }
  const sends = new Map(), key = (call, rank, time) => `${call} ${rank} ${time}`;
  for (let i = 0; i < run.messages; i++) {
    const call = message.call[i], received = message.receive_call[i];
    if (fits[call] && !collective[call]) {
      const each = key(call, message.source[i], message.posted[i]);
      sends.set(each, (sends.get(each) || 0) + 1);
      add(message.source[i], times[message.posted[i]], times[message.sent[i]], run.place(call), { message: i });
    }
    used[call] = used[received] = 1;
  }
  for (let i = 0; i < run.messages; i++) {  // a Sendrecv that has sent, too, is a hit already
    const call = message.receive_call[i], rank = message.dest[i];
    if (!fits[call] || collective[call]) continue;
    const each = key(call, rank, message.awaited[i]);
    if (sends.get(each)) sends.set(each, sends.get(each) - 1);
    else add(rank, Math.min(run.at(message.awaited[i]), run.arrived(i)), run.arrived(i), run.place(call), { message: i });
  }
  for (let row = 0; row < compute.rank.length; row++) {
    const call = compute.call[row];
    if (fits[call]) add(compute.rank[row], times[compute.start[row]], times[compute.end[row]], run.place(call));
    used[call] = 1;
  }
  for (let row = 0; row < wait.rank.length; row++) {  // calls that send and receive nothing themselves, such as Wait
    const call = wait.call[row];
    if (fits[call] && !used[call]) add(wait.rank[row], times[wait.start[row]], times[wait.end[row]], run.place(call));
  }
  for (const stuck of run.stuckOf.values()) {
    if (unfinished.has(stuck.rank)) continue;  // the collective that the rank is blocked in
    const [called] = stuck.call.split("(");
    if (blocked(called) || blocked(`${called} at ${stuck.site}`)) add(stuck.rank, stuck.since, run.end, `${called} at ${stuck.site}, blocked`);
  }
  return hits.sort((one, other) => one.start - other.start || one.rank - other.rank);
}

/** The box, the number of hits, and their list: a combobox with a list box. */
class Search {
  constructor(controls) {
    this.controls = controls;
    [this.input, this.output, this.list] = ["search", "hits", "found"].map(id => document.getElementById(id));
    [this.hits, this.hit] = [[], -1];
    this.input.addEventListener("input", () => this.#typed(false));
    this.input.addEventListener("focus", () => this.#show(this.hits.length > 0));
    this.input.addEventListener("keydown", event => this.#key(event));
    this.input.closest(".find").addEventListener("focusout", event => {
      if (!event.currentTarget.contains(event.relatedTarget)) this.#show(false);
    });
    this.list.addEventListener("pointerdown", event => event.preventDefault());  // the box keeps the focus
    this.list.addEventListener("click", event => {
      const entry = event.target.closest("[role=option]");
      if (entry) this.go(Number(entry.dataset.hit));
    });
  }

  #key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, Enter: event.shiftKey ? -1 : 1 }[event.key];
    if (event.key === "Escape") { this.clear(); this.controls.element.focus(); event.stopPropagation(); }
    if (!step) return;
    event.preventDefault();
    const number = this.#rank();
    if (number === null) this.next(step);
    else if (number < this.controls.current.run.ranks) this.controls.chooseRank(this.controls.current, number);
  }

  /** The rank that the text names, or null. */
  #rank() {
    const found = /^\s*(?:rank\s*)?(\d+)\s*$/i.exec(this.input.value);
    return found ? Number(found[1]) : null;
  }

  /** Find the hits of the text in all runs, count and list them. */
  #typed(enter) {
    const text = this.input.value.trim(), rank = this.#rank(), { bands } = this.controls.timeline, { run } = this.controls.current;
    this.hit = -1;
    if (!enter && text && rank === null && bands.reduce((sum, band) => sum + band.run.messages, 0) > LIVE) {
      this.hits = [];
      this.output.textContent = "Press Enter to search.";
      this.#show(false);
      return;
    }
    this.hits = rank === null ? bands.flatMap(band => searched(band.run, text).map(hit => ({ ...hit, band }))) : [];
    const none = rank === null ? `No call, file or region matches “${text}”.` : rank < run.ranks ? "" : `The ranks are 0 to ${run.ranks - 1}.`;
    this.output.textContent = this.hits.length ? many(this.hits.length, "result") : text && none;
    this.#fill();
    this.#show(this.hits.length > 0);
  }

  #fill() {
    const { timeline } = this.controls, of = hit => timeline.bands.length > 1 ? `${timeline.titleOf(hit.band)}: ` : "";
    this.list.replaceChildren(...this.hits.slice(0, LISTED).map((hit, i) => make("li", { role: "option", id: `hit-${i}`, "aria-selected": "false", "data-hit": i },
      make("span", {}, `${of(hit)}rank ${hit.rank}`), make("b", {}, hit.words), make("span", { className: "when" }, seconds(hit.start, 4)))));
    const rest = this.hits.length - LISTED;
    if (rest > 0) this.list.append(make("li", { className: "quiet", role: "presentation" }, `and ${whole(rest)} more: Enter shows one after the other`));
    this.list.scrollTop = 0;
  }

  #show(open) {
    this.list.hidden = !open;
    const entry = open && document.getElementById(`hit-${this.hit}`);
    if (entry) this.input.setAttribute("aria-activedescendant", entry.id); else this.input.removeAttribute("aria-activedescendant");
    this.input.setAttribute("aria-expanded", open);
  }

  clear() {
    [this.hits, this.hit] = [[], -1];
    this.input.value = this.output.textContent = "";
    this.#fill();
    this.#show(false);
  }

  /** Go to the next or the previous hit, and around. */
  next(step) {
    if (!this.hits.length) { if (this.input.value.trim()) this.#typed(true); if (!this.hits.length) return; }
    this.go(this.hit < 0 && step < 0 ? this.hits.length - 1 : (this.hit + step + this.hits.length) % this.hits.length);
  }

  go(index) {
    this.hit = index;
    this.output.textContent = `${whole(index + 1)} of ${whole(this.hits.length)}`;
    this.list.querySelector("[aria-selected=true]")?.setAttribute("aria-selected", "false");
    const entry = document.getElementById(`hit-${index}`);
    if (entry) {
      entry.setAttribute("aria-selected", "true");
      entry.scrollIntoView({ block: "nearest" });
    }
    this.#show(document.activeElement === this.input);
    this.controls.showHit(this.hits[index]);
  }
}
