// The parts of the script are joined in the order of `SCRIPT` in `mod.rs`. Everything from a row is shown as text: no
// part parses HTML. The data is the JSON of `view.rs` and `rows.rs`.
"use strict";

const find = (id) => document.getElementById(id);
const data = JSON.parse(find("data").textContent);
const isComparison = data.runs.length === 2;
const labels = isComparison ? ["A", "B"] : [""];
const collator = new Intl.Collator(undefined, { numeric: true });

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isEmpty = (value) => value === null || value === undefined;

/** Creates an element. Attributes have fixed names; children are elements, strings, which become text, or lists of both. */
const make = (tag, attributes, ...children) => fillIn(document.createElement(tag), attributes, children);
const svgNamespace = document.querySelector("svg").namespaceURI;
const makeSvg = (tag, attributes, ...children) => fillIn(document.createElementNS(svgNamespace, tag), attributes, children);

function fillIn(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (!isEmpty(value) && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => !isEmpty(child) && child !== false));
  return node;
}

const fileName = (path) => path.split(/[/\\]/).at(-1);

// Names and values are pairs in the data, which keeps their order.

function nameValues(score) {
  for (const name of ["parts", "metadata", "components"]) {
    if (score[name]) score[name] = Object.fromEntries(score[name]);
  }
  Object.values(score.components ?? {}).forEach(nameValues);
}
for (const run of data.rows.flatMap((row) => row.runs).filter(Boolean)) {
  run.attributes = Object.fromEntries(run.attributes ?? []);
  run.scores.filter(Boolean).forEach(nameValues);
}

// Theme

const theme = find("theme");
const isDark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};
function showTheme(name) {
  if (name) document.documentElement.dataset.theme = name;
  const other = isDark() ? "Light" : "Dark";
  find("theme-name").textContent = other;
  theme.setAttribute("aria-label", `${other} theme`);
}
// A browser may refuse storage to a file.
const stored = (name) => {
  try {
    if (name) localStorage.setItem("dsrs-metrics-theme", name);
    return localStorage.getItem("dsrs-metrics-theme");
  } catch {
    return null;
  }
};
const remembered = stored();
showTheme(remembered === "dark" || remembered === "light" ? remembered : undefined);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => showTheme());
theme.addEventListener("click", () => {
  const name = isDark() ? "light" : "dark";
  showTheme(name);
  stored(name);
});

// Values

/** A value on one line. */
function oneLine(value) {
  if (isEmpty(value)) return "";
  if (typeof value === "string") return value.length > 400 ? value.slice(0, 400) : value;
  if (Array.isArray(value)) return value.slice(0, 20).map(oneLine).join(" | ");
  return JSON.stringify(value).slice(0, 400);
}

/** A value in full, and whether it is JSON. */
function inFull(value) {
  if (typeof value === "string") return [value, false];
  const lines = Array.isArray(value) && value.every((item) => typeof item === "string");
  return lines ? [value.join("\n"), false] : [JSON.stringify(value, null, 2), true];
}

/** A number with this many decimals, rounded as on the terminal: a tie to the even digit, and zero without a sign. */
function fixed(value, places) {
  const digits = value.toFixed(60);
  const [cut, rest] = [digits.slice(0, places - 60), digits.slice(places - 60)];
  const isTieToCut = /^50*$/.test(rest) && "02468".includes(cut.at(-1));
  return (isTieToCut ? cut : value.toFixed(places)).replace(/^-(?=[0.]+$)/, "");
}
const isFar = (value) => value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-4);
const scientific = (value, places) => value.toExponential(places).replace("e+", "e");
const number = (value) => (isFar(value) ? scientific(value, 3) : Number.isInteger(value) ? String(value) : fixed(value, 4));
/** Scores of a metric have the same decimals in all rows. */
for (const [at, metric] of data.metrics.entries()) {
  const values = data.rows.flatMap((row) => row.runs.map((run) => run?.scores[at]?.value ?? 0));
  metric.isWhole = values.every(Number.isInteger);
}
const decimals = (value, metric) => (metric && !metric.isWhole && Number.isInteger(value) ? fixed(value, 4) : number(value));
const whole = (value) => value.toLocaleString("en");
const plural = (count, noun) => `${whole(count)} ${noun}${count === 1 ? "" : "s"}`;
const words = { metric_failed: "failed", program_failed: "program failed" };
const outcomeOf = (score) => score.outcome ?? "scored";
const isFailure = (score) => outcomeOf(score) in words;

function shown(score, metric) {
  if (!score) return "–";
  if (isEmpty(score.value)) return words[outcomeOf(score)] ?? outcomeOf(score);
  if (metric?.kind === "bool") return score.value >= 1 ? "✓ true" : "✕ false";
  return decimals(score.value, metric);
}
function classOf(score, metric) {
  if (!score || isEmpty(score.value)) return score && isFailure(score) ? "fail" : "outcome";
  if (metric?.kind !== "bool") return score.passed === false ? "fail" : "";
  return score.value >= 1 ? "pass" : "fail";
}

// Two runs

const scoreOf = (row, run, metric) => row.runs[run]?.scores[metric];
/** The value that counts in the mean: a failure counts as 0. */
const counted = (score) => (!score ? null : isFailure(score) ? 0 : score.value ?? null);
const verdict = (score, metric) =>
  !score ? null : score.passed ?? (data.metrics[metric].kind === "bool" && isFailure(score) ? false : null);

/** B minus A, where both count. A metric that is not the same in both runs is not compared. */
function difference(row, metric) {
  if (!data.metrics[metric]?.is_compared) return null;
  const [a, b] = [0, 1].map((run) => counted(scoreOf(row, run, metric)));
  if (a === null || b === null) return null;
  // Scores that differ by rounding are equal.
  return Math.abs(b - a) <= 4 * Number.EPSILON * Math.max(Math.abs(a), Math.abs(b)) ? 0 : b - a;
}
/** How much better B is. */
const gain = (row, metric) => {
  const change = difference(row, metric);
  return change === null ? null : data.metrics[metric].lower_is_better ? -change : change;
};
function isFlip(row, metric) {
  if (!data.metrics[metric]?.is_compared) return false;
  const [a, b] = [0, 1].map((run) => verdict(scoreOf(row, run, metric), metric));
  return a !== null && b !== null && a !== b;
}
const signed = (value, metric) => (value > 0 ? "+" : value < 0 ? "−" : "") + decimals(Math.abs(value), metric);

