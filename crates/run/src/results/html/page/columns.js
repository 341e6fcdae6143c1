// Columns

const fieldsOf = (value) => (isObject(value) ? Object.keys(value) : []);
const predOf = (row, run) => row.runs[run]?.pred;
/** The fields of a prediction that gold has, too; otherwise the only field of each. */
function comparedFields(row, run) {
  const [gold, pred] = [fieldsOf(row.gold), fieldsOf(predOf(row, run))];
  const both = gold.filter((name) => pred.includes(name)).map((name) => [name, name]);
  return both.length === 0 && pred.length === 1 && gold.length === 1 ? [[gold[0], pred[0]]] : both;
}

function textColumns() {
  const sample = data.rows.slice(0, 50);
  const complete = sample.find((row) => isObject(row.gold) && row.runs.some((run) => isObject(run?.pred)));
  const runs = labels.map((label, run) => [label, run]);
  const prefix = (label) => (label ? `${label}: ` : "");
  if (!complete) {
    const note = (run) => (row) => {
      const score = scoreOf(row, run, state.metric);
      return score?.feedback ?? score?.details ?? score?.error ?? "";
    };
    return runs.map(([label, run]) => ({ name: `${prefix(label)}explanation`, text: note(run) }));
  }
  const compared = comparedFields(complete, complete.runs.findIndex((run) => isObject(run?.pred)))[0];
  const input = fieldsOf(complete.gold).find((name) => name !== compared?.[0]);
  const expected = compared?.[0];
  const predicted = compared?.[1] ?? fieldsOf(complete.runs.find((run) => isObject(run?.pred)).pred)[0];
  const gold = (name) => (row) => oneLine(isObject(row.gold) ? row.gold[name] : row.gold);
  const pred = (run) => (row) => {
    const value = predOf(row, run);
    return oneLine(isObject(value) ? value[predicted] : value);
  };
  const columns = [];
  if (input !== undefined) columns.push({ name: input, text: gold(input) });
  if (expected !== undefined) columns.push({ name: `gold: ${expected}`, text: gold(expected) });
  const predictions = runs.map(([label, run]) => ({ name: `${label || "pred"}: ${predicted}`, text: pred(run) }));
  return columns.concat(predictions);
}

/** The number of metrics whose columns fit beside each other. */
const maxMetrics = () => (stacked.matches ? 3 : 4);
/** The metrics that have a column: the selected one, then those that were chosen last. */
const shownMetrics = () => [...new Set([state.metric, ...state.chosen])].slice(0, maxMetrics()).filter((metric) => data.metrics[metric]);

const longest = ({ name, text }) => Math.max(name.length, ...data.rows.slice(0, 50).map((row) => text(row).length));
/** Text columns share their space by their longest strings, so that none is cut beside one that is half empty. */
const widths = {
  id: (column) => `${Math.min(Math.max(longest(column) * 0.48 + 0.5, 4), 11)}rem`,
  text: (column) => `minmax(0, ${Math.min(Math.max(longest(column), 8), 60)}fr)`,
  score: ({ name }) => `${Math.min(Math.max(name.length * 0.5 + 0.8, 5), 8)}rem`,
};

function scoreColumns() {
  const column = (metric, run, name) => ({
    name,
    key: (row) => counted(scoreOf(row, run, metric)),
    text: (row) => shown(scoreOf(row, run, metric), data.metrics[metric]),
    style: (row) => classOf(scoreOf(row, run, metric), data.metrics[metric]),
  });
  if (!isComparison) {
    return shownMetrics().map((metric) => column(metric, 0, data.metrics[metric].name));
  }
  const change = (row) => {
    const value = difference(row, state.metric);
    if (value === null) return "–";
    const metric = data.metrics[state.metric];
    return metric.kind === "number" ? signed(value, metric) : ["✕ worse", "same", "✓ better"][Math.sign(gain(row, state.metric)) + 1];
  };
  return [
    column(state.metric, 0, "A"),
    column(state.metric, 1, "B"),
    {
      name: "Change",
      key: (row) => gain(row, state.metric),
      text: change,
      style: (row) => `${["down", "", "up"][Math.sign(gain(row, state.metric) ?? 0) + 1]}${isFlip(row, state.metric) ? " flip" : ""}`,
    },
  ];
}

const state = { query: "", metric: 0, chosen: [0, 1, 2, 3], bar: null, outcome: "all", change: "all", sort: null, order: [], current: 0 };
let columns = [];

// Filters and order

const outcomes = {
  all: ["All", () => true],
  pass: ["Passed", (score) => score.passed === true],
  fail: ["Not passed", (score) => score.passed === false],
  scored: ["Scored", (score) => outcomeOf(score) === "scored"],
  failed: ["Failed", isFailure],
  gated: ["Gated", (score) => outcomeOf(score) === "gated"],
  skipped: ["Skipped", (score) => outcomeOf(score) === "skipped"],
  abstained: ["Abstained", (score) => outcomeOf(score) === "abstained"],
};
const changes = {
  all: ["All", () => true],
  flips: ["Flips", (row) => isFlip(row, state.metric)],
  better: ["B is better", (row) => gain(row, state.metric) > 0],
  worse: ["B is worse", (row) => gain(row, state.metric) < 0],
  same: ["Same score", (row) => gain(row, state.metric) === 0],
  single: ["Only in one run", (row) => !row.runs[0] || !row.runs[1]],
};

/** All strings and numbers in a value, as one lower-case string. */
function searchable(value, into = []) {
  if (typeof value === "object" && value !== null) {
    for (const item of Object.values(value)) searchable(item, into);
  } else if (!isEmpty(value)) {
    into.push(String(value));
  }
  return into;
}
const haystacks = [];
const haystack = (index) => (haystacks[index] ??= searchable(data.rows[index]).join("\n").toLowerCase());

function matches(index) {
  const row = data.rows[index];
  const accepts = outcomes[state.outcome][1];
  const scores = labels.map((_, run) => scoreOf(row, run, state.metric));
  return (
    (state.outcome === "all" || scores.some((score) => score && accepts(score))) &&
    (!isComparison || changes[state.change][1](row)) &&
    (!state.bar || inBar(row, state.bar)) &&
    state.query.split(/\s+/).every((word) => haystack(index).includes(word))
  );
}

/** Flips first, those where B is worse before the others, then by the size of the change. */
function byChange(a, b) {
  const rank = (row) => [isFlip(row, state.metric) ? 0 : 1, -Math.abs(gain(row, state.metric) ?? -1), gain(row, state.metric) ?? 0];
  const [x, y] = [rank(data.rows[a]), rank(data.rows[b])];
  return x[0] - y[0] || x[1] - y[1] || x[2] - y[2] || a - b;
}

function sortOrder(order) {
  if (state.sort === null) return isComparison ? order.sort(byChange) : order;
  const { column, isDescending } = state.sort;
  const { key, text } = columns[column];
  const value = new Map(order.map((index) => [index, (key ?? text)(data.rows[index])]));
  const compare = (a, b) => {
    const [x, y] = [value.get(a), value.get(b)];
    if (isEmpty(x) || isEmpty(y)) return isEmpty(x) - isEmpty(y) || a - b;
    const result = typeof x === "number" ? x - y : collator.compare(x, y);
    return (isDescending ? -result : result) || a - b;
  };
  return order.sort(compare);
}

function update() {
  const all = Array.from(data.rows.keys());
  state.order = sortOrder(all.filter(matches));
  state.current = 0;
  const [count, total] = [state.order.length, data.rows.length];
  find("count").textContent = count === total ? `${whole(total)} rows` : `${whole(count)} of ${whole(total)} rows`;
  find("empty").hidden = count > 0;
  table.hidden = count === 0;
  table.setAttribute("aria-rowcount", String(count + 1));
  table.scrollTop = 0;
  clear();
  draw();
}

