// The parts of the script are joined in the order of `SCRIPT` in `mod.rs`. Everything from a row is shown as text: no
// part parses HTML. The data is the JSON of `rows.rs`.
"use strict";

const find = (id) => document.getElementById(id);
const data = JSON.parse(find("data").textContent);
const isComparison = data.runs.length === 2;
const labels = isComparison ? ["A", "B"] : [""];
const collator = new Intl.Collator(undefined, { numeric: true });

/** Creates an element. Attributes have fixed names; children that are strings become text. */
function make(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
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

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isEmpty = (value) => value === null || value === undefined;

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

const number = (value) => {
  if (Math.abs(value) >= 1e6 || (value !== 0 && Math.abs(value) < 1e-4)) return value.toExponential(3);
  return Number.isInteger(value) ? String(value) : value.toFixed(4);
};
/** Scores of a metric have the same decimals in all rows. */
for (const [at, metric] of data.metrics.entries()) {
  const values = data.rows.flatMap((row) => row.runs.map((run) => run?.scores[at]?.value ?? 0));
  metric.isWhole = values.every(Number.isInteger);
}
const decimals = (value, metric) => (metric && !metric.isWhole && Number.isInteger(value) ? value.toFixed(4) : number(value));
const whole = (value) => value.toLocaleString("en");
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

