// Controls

function fill(select, entries, change) {
  select.replaceChildren(...entries.map(([value, text]) => make("option", { value }, text)));
  select.addEventListener("change", () => change(select.value));
}
function occurring(choices, isPresent) {
  return Object.entries(choices).filter(([name, [, accepts]]) => name === "all" || isPresent(accepts)).map(([name, [text]]) => [name, text]);
}
const present = (accepts) => data.rows.some((row) => row.runs.some((run) => run?.scores.some((score) => score && accepts(score))));
fill(find("metric"), data.metrics.map((metric, at) => [String(at), metric.name]), (value) => selectMetric(Number(value)));
fill(find("outcome"), occurring(outcomes, present), (value) => {
  state.outcome = value;
  update();
});
fill(find("change"), occurring(changes, () => true), (value) => {
  state.change = value;
  update();
});
find("change-label").hidden = !isComparison;
let timer = 0;
find("query").addEventListener("input", (event) => {
  clearTimeout(timer);
  timer = setTimeout(() => {
    state.query = event.target.value.trim().toLowerCase();
    update();
  }, data.rows.length > 2000 ? 150 : 0);
});
for (const [metric, { name }] of data.metrics.entries()) {
  const box = make("input", { type: "checkbox" });
  box.addEventListener("change", () => choose(metric, box.checked));
  find("choice").append(make("label", null, box, make("span", { dir: "auto" }, name)));
}
find("tools").addEventListener("submit", (event) => event.preventDefault());
find("tools").hidden = false;
table.hidden = false;
buildColumns();
update();

