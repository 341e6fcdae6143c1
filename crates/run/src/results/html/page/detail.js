// Details of a row

const textNode = (value, name) => {
  const [text, isJson] = inFull(value);
  return make("div", { class: `text${isJson ? " json" : ""}${name ? ` ${name}` : ""}`, dir: "auto" }, text);
};
const box = (title, ...content) => make("div", { class: "box" }, make("h4", { dir: "auto" }, title), ...content);

/** Gold and predictions of a field, with a word diff. */
function comparedNodes(row, goldName, predName) {
  const gold = row.gold[goldName];
  const nodes = [];
  labels.forEach((label, run) => {
    const pred = predOf(row, run);
    if (!isObject(pred) || isEmpty(pred[predName])) return;
    const { text, diff, others } = nearest(gold, inFull(pred[predName])[0]);
    const side = label ? ` ${label}` : "";
    const plain = (value) => make("div", { class: "text", dir: "auto" }, value);
    const expected = diff ? make("div", { class: "text", dir: "auto" }, ...marked(diff.left, "del")) : plain(text);
    const predicted = diff ? make("div", { class: "text", dir: "auto" }, ...marked(diff.right, "ins")) : textNode(pred[predName]);
    const more = others.length > 0 ? make("small", null, `${others.length} more accepted: ${oneLine(others)}`) : null;
    nodes.push(make("div", { class: "pairs" }, box(`Gold · ${goldName}`, expected, more), box(`Prediction${side} · ${predName}`, predicted)));
  });
  return nodes;
}

function sideNodes(row) {
  const nodes = [];
  const shownGold = new Set();
  const shownPred = new Set();
  for (const run of labels.keys()) {
    for (const [goldName, predName] of comparedFields(row, run)) {
      if (!shownGold.has(goldName)) nodes.push(...comparedNodes(row, goldName, predName));
      shownGold.add(goldName);
      shownPred.add(predName);
    }
  }
  const rest = (value, hidden) => (isObject(value) ? fieldsOf(value).filter((name) => !hidden.has(name)).map((name) => [name, value[name]]) : isEmpty(value) ? [] : [["", value]]);
  const inputs = rest(row.gold, shownGold).map(([name, value]) => box(`Gold · ${name}`, textNode(value)));
  const outputs = labels.flatMap((label, run) =>
    rest(predOf(row, run), shownPred).map(([name, value]) => box(`Prediction${label ? ` ${label}` : ""} · ${name}`, textNode(value))));
  return [...inputs, ...nodes, ...outputs];
}

const facts = (entries) => {
  const list = make("dl", { class: "fields" });
  for (const [name, value, style] of entries) {
    if (isEmpty(value) || value === "" || (isObject(value) && Object.keys(value).length === 0)) continue;
    list.append(make("dt", { dir: "auto" }, name), make("dd", null, value instanceof Node ? value : textNode(value, style)));
  }
  return list.childElementCount > 0 ? list : null;
};

function scoreNodes(name, score, metric, label) {
  const line = make("div", { class: "score" },
    make("span", null, label ? make("b", { class: `run ${label.toLowerCase()}` }, label) : "", label ? "" : make("code", { dir: "auto" }, name)),
    make("span", { class: `big ${classOf(score, metric)}` }, shown(score, metric)));
  const extra = [];
  if (!isEmpty(score.passed) && metric?.kind !== "bool") extra.push(score.passed ? "passed" : "not passed");
  if (!isEmpty(score.confidence)) extra.push(`confidence ${number(score.confidence)}`);
  if (score.cost_msats) extra.push(`${whole(score.cost_msats)} msat`);
  if (score.gated_by) extra.push(`gated by ${score.gated_by}`);
  if (!isEmpty(score.budget_msats)) extra.push(`budget ${whole(score.budget_msats)} msat`);
  if (score.judged_offline) extra.push("judged offline");
  if (extra.length > 0) line.append(make("small", null, extra.join(" · ")));
  const parts = Object.entries(score.parts ?? {}).map(([part, value]) => [part, number(value)]);
  const isText = ([, value]) => typeof value === "string";
  const metadata = Object.entries(score.metadata ?? {}).sort((a, b) => isText(b) - isText(a));
  const list = facts([
    ["error", score.error, "error"], ["feedback", score.feedback], ["details", score.details],
    ["missing fields", score.missing?.join(", ")], ...parts, ...metadata,
  ]);
  const components = Object.entries(score.components ?? {}).flatMap(([component, inner]) => scoreNodes(component, inner));
  return [line, list, components.length > 0 ? make("div", { class: "nested" }, ...components) : null].filter(Boolean);
}

function metricNodes(row) {
  const order = [state.metric, ...data.metrics.keys()].filter((metric, at, all) => all.indexOf(metric) === at);
  return order.filter((metric) => data.metrics[metric]).map((metric) => {
    const { name } = data.metrics[metric];
    const change = isComparison ? difference(row, metric) : null;
    const sides = labels.map((label, run) => {
      const score = scoreOf(row, run, metric);
      const nodes = score ? scoreNodes(name, score, data.metrics[metric], label) : [make("p", { class: "outcome" }, `${label || "run"}: the row has no score`)];
      return make("div", { class: "box" }, ...nodes);
    });
    const isBetter = gain(row, metric) > 0;
    const size = data.metrics[metric].kind === "bool" || !change ? "" : `${signed(change, data.metrics[metric])}, `;
    const words = change === null ? "" : ` ${size}${change === 0 ? "same in A and B" : isBetter ? "better in B" : "worse in B"}`;
    const title = make("h3", null, make("code", { dir: "auto" }, name), words);
    return make("div", null, ...(isComparison ? [title] : []), make("div", { class: "pairs" }, ...sides));
  });
}

function runNodes(row) {
  return labels.map((label, run) => {
    const it = row.runs[run];
    if (!it) return null;
    const list = facts([
      ["latency", isEmpty(it.latency_s) ? null : `${number(it.latency_s)} s`],
      ["tokens", isEmpty(it.input_tokens) ? null : `${whole(it.input_tokens)} in, ${whole(it.output_tokens ?? 0)} out`],
      ["cost", isEmpty(it.cost_msats) ? null : `${whole(it.cost_msats)} msat`],
      ...Object.entries(it.attributes ?? {}), ["traceback", it.traceback],
    ]);
    return list && make("div", { class: "box" }, label ? make("h4", null, make("b", { class: `run ${label.toLowerCase()}` }, label)) : null, list);
  }).filter(Boolean);
}

const [dialog, content] = ["detail", "content"].map(find);

function fillDetail() {
  const row = data.rows[state.order[state.current]];
  find("detail-title").textContent = row.id || "(no id)";
  find("place").textContent = `${whole(state.current + 1)} of ${whole(state.order.length)}`;
  find("previous").disabled = state.current === 0;
  find("next").disabled = state.current === state.order.length - 1;
  const [sides, runs] = [sideNodes(row), runNodes(row)];
  const section = (title, nodes) => (nodes.length > 0 ? [make("h3", null, title), make("div", { class: "stack" }, ...nodes)] : []);
  content.replaceChildren(
    ...section("Gold and prediction", sides),
    ...section("Scores", metricNodes(row)),
    ...section("Run", runs),
  );
  content.scrollTop = 0;
}
function openDetail() {
  fillDetail();
  dialog.showModal();
  find("detail-title").focus();
}
function step(by) {
  if (state.current + by < 0 || state.current + by >= state.order.length) return;
  makeCurrent(state.current + by);
  fillDetail();
}
find("previous").addEventListener("click", () => step(-1));
find("next").addEventListener("click", () => step(1));
find("close").addEventListener("click", () => dialog.close());
dialog.addEventListener("close", focusCurrent);
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});
dialog.addEventListener("keydown", (event) => {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (by && !event.ctrlKey && !event.metaKey && !event.altKey) step(by);
});

