// Bars of histograms. A bar is a filter: the rows whose score is in its bin. A histogram is one stop of Tab, and the arrow keys
// move between its bars.

const chip = find("bar");
const inBar = (row, { run, metric, least, most }) => {
  const value = scoreOf(row, run, metric)?.value;
  return !isEmpty(value) && least <= value && value <= most;
};

/** Filters the rows by a bar, or by none. */
function filterBy(node) {
  state.bar?.node.setAttribute("aria-pressed", "false");
  state.bar = null;
  chip.hidden = !node;
  if (node) {
    const { bin, ...bounds } = node.dataset;
    const [metric, run, least, most] = ["metric", "run", "least", "most"].map((name) => Number(bounds[name]));
    state.bar = { node, metric, run, least, most };
    node.setAttribute("aria-pressed", "true");
    const text = `${data.metrics[metric].name}${labels[run] && ` in ${labels[run]}`}: ${bin}`;
    chip.replaceChildren(make("span", { dir: "auto" }, text), make("span", { "aria-hidden": "true" }, "✕"));
    chip.setAttribute("aria-label", `Remove the filter ${text}`);
    find("metric").value = String(metric);
    selectMetric(metric);
    find("rows").scrollIntoView();
    chip.focus({ preventScroll: true });
  } else {
    update();
  }
}
chip.addEventListener("click", () => {
  filterBy(null);
  find("metric").focus();
});

for (const chart of document.querySelectorAll(".histogram svg")) {
  const bars = [...chart.querySelectorAll(".bar")];
  const focusBar = (at) => {
    bars.forEach((bar, place) => bar.setAttribute("tabindex", place === at ? "0" : "-1"));
    bars[at].focus();
  };
  chart.setAttribute("role", "group");
  for (const bar of bars) {
    const attributes = { role: "button", "aria-pressed": "false", "aria-label": bar.textContent, tabindex: bar === bars[0] ? "0" : "-1" };
    for (const [name, value] of Object.entries(attributes)) bar.setAttribute(name, value);
    const toggle = () => filterBy(state.bar?.node === bar ? null : bar);
    bar.addEventListener("click", toggle);
    bar.addEventListener("keydown", (event) => {
      const at = bars.indexOf(bar);
      const place = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: bars.length - 1 }[event.key];
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Enter" || event.key === " ") toggle();
      else if (bars[place]) focusBar(place);
      else return;
      event.preventDefault();
    });
  }
}

