// Format numbers as fakempi/view/numbers.py does, and choose the ticks of an axis.

const PREFIXES = ["a", "f", "p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E"];

/** A number with a decimal prefix: 1.5k, 20µ, 0. */
function short(number, digits = 3) {
  if (number === 0 || !isFinite(number)) return String(number);
  number = Number(number.toPrecision(digits));
  const third = Math.min(Math.max(Math.floor(Math.log10(Math.abs(number)) / 3 + 1e-12), -6), 6);
  return Number((number / 1000 ** third).toPrecision(digits)) + PREFIXES[third + 6];
}

/** A time with its unit: 12.5 µs, 3 s. */
function seconds(time, digits = 3) {
  if (time === 0 || !isFinite(time)) return time === 0 ? "0 s" : "never";
  const rounded = Number(time.toPrecision(digits));
  for (const [limit, unit, name] of [[1e-6, 1e-9, "ns"], [1e-3, 1e-6, "µs"], [1, 1e-3, "ms"]]) {
    if (Math.abs(rounded) < limit) return Number((rounded / unit).toPrecision(digits)) + " " + name;
  }
  return Math.abs(rounded) >= 1000 ? whole(rounded) + " s" : rounded + " s";
}

/** A number of bytes with its unit: 512 B, 1.5 MB. */
function amount(bytes) {
  const text = short(bytes);
  return /[a-zµA-Z]$/.test(text) ? `${text.slice(0, -1)} ${text.slice(-1)}B` : `${text} B`;
}

/** The exact number of bytes, and the rounded one for large numbers. */
function exactly(bytes) {
  return `${bytes} byte${bytes === 1 ? "" : "s"}` + (bytes >= 10000 ? ` (${amount(bytes)})` : "");
}

/** A share as a percentage: whole, except "<1%" above 0 and ">99%" below 1. Sums of times have errors of rounding. */
function percent(share) {
  if (share > 1e-9 && share < 0.005) return "<1%";
  if (share >= 0.995 && share < 1 - 1e-9) return ">99%";
  return Math.round(100 * share) + "%";
}

const whole = number => number.toString().replace(/\B(?=(\d{3})+(?!\d))/g, ",");
const many = (number, word) => `${whole(number)} ${word}${number === 1 ? "" : "s"}`;

/** At most `most` round times from low to high, in steps of 1, 2 or 5 times a power of ten, and the digits they need. */
function ticks(low, high, most) {
  const rough = (high - low) / Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(factor => factor * power).find(each => each >= rough * 0.999) || 10 * power;
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9 && found.length < 200; k++) found.push(k * step);
  const digits = Math.max(3, Math.ceil(Math.log10(Math.max(Math.abs(low), Math.abs(high)) / step)) + 1);
  return { found, digits: Math.min(digits, 15) };
}

/** The first index below `end` at which a monotonic `test` holds (binary search). */
function firstWhere(start, end, test) {
  while (start < end) {
    const middle = (start + end) >> 1;
    if (test(middle)) end = middle; else start = middle + 1;
  }
  return start;
}

const limited = (number, low, high) => Math.min(Math.max(number, low), high);

/** Ranks as text: rank 3; ranks 0-7, 9. */
function rankWords(ranks) {
  const sorted = [...ranks].sort((a, b) => a - b), parts = [];
  for (let i = 0; i < sorted.length; i++) {
    const first = i;
    while (sorted[i + 1] === sorted[i] + 1) i++;
    parts.push(i > first + 1 ? `${sorted[first]}-${sorted[i]}` : sorted.slice(first, i + 1).join(", "));
  }
  return (sorted.length === 1 ? "rank " : "ranks ") + (parts.length > 8 ? parts.slice(0, 7).join(", ") + ", …" : parts.join(", "));
}
