// The table. Only the rows in view are in the document, and the current row, which has the focus.

const [table, head, body] = ["table", "head", "body"].map(find);
/** The texts of a row are below its scores, and on a phone below each other. */
const stacked = matchMedia("(max-width: 1000px)");
const phone = matchMedia("(max-width: 640px)");
const drawn = new Map();
let rowHeight = 48;
/** The lines of the texts of a row on a phone, for the longest texts. */
let mostLines = 0;

function clear() {
  for (const node of drawn.values()) node.remove();
  drawn.clear();
  rowHeight = phone.matches ? 62 + 19 * mostLines : stacked.matches ? 98 : 48;
  body.style.setProperty("--row-height", `${rowHeight}px`);
  body.style.height = `${state.order.length * rowHeight}px`;
}

function draw() {
  const first = Math.max(0, Math.floor(table.scrollTop / rowHeight) - 6);
  const last = Math.min(state.order.length, Math.ceil((table.scrollTop + table.clientHeight) / rowHeight) + 6);
  for (const [place, node] of drawn) {
    if ((place < first || place >= last) && place !== state.current) {
      node.remove();
      drawn.delete(place);
    }
  }
  for (let place = first; place < last; place += 1) show(place);
  if (state.current < state.order.length) show(state.current);
}

function show(place) {
  if (drawn.has(place)) return;
  const node = rowNode(place);
  node.style.transform = `translateY(${place * rowHeight}px)`;
  drawn.set(place, node);
  body.append(node);
}

function rowNode(place) {
  const row = data.rows[state.order[place]];
  const cells = { id: [], text: [], score: [] };
  for (const { kind, text, style } of columns) {
    const attributes = { role: kind === "id" ? "rowheader" : "cell", dir: kind === "score" ? undefined : "auto", class: kind === "id" ? "id" : style?.(row) };
    const button = () => make("button", { type: "button", tabindex: place === state.current ? "0" : "-1" }, make("span", { class: "clamp" }, text(row) || "(no id)"));
    cells[kind].push(make("div", attributes, kind === "id" ? button() : make("span", { class: "clamp" }, text(row))));
  }
  const node = make("div", { class: "row", role: "row", "aria-rowindex": String(place + 2) }, ...groupCells(cells));
  node.dataset.place = String(place);
  node.classList.toggle("current", place === state.current);
  return node;
}

const groupCells = (cells) => [
  ...cells.id,
  make("div", { class: "texts", role: "none" }, ...cells.text),
  make("div", { class: "scores", role: "none" }, ...cells.score),
];

/** A name that breaks after an underscore, rather than within a word. */
const breakable = (name) => name.split(/(?<=[_.])/).flatMap((part) => [part, make("wbr")]);

function buildColumns() {
  columns = [
    { kind: "id", name: "id", text: (row) => row.id },
    ...textColumns().map((column) => ({ kind: "text", ...column })),
    ...scoreColumns().map((column) => ({ kind: "score", ...column })),
  ];
  if (!columns[state.sort?.column]) state.sort = null;
  for (const [kind, width] of Object.entries(widths)) {
    const ofKind = columns.filter((column) => column.kind === kind);
    table.style.setProperty(`--${kind}-widths`, ofKind.map(width).join(" "));
  }
  if (phone.matches) {
    const texts = columns.filter((column) => column.kind === "text").slice(0, 4);
    const lines = (row) => texts.reduce((sum, { text }) => sum + (text(row).length > 40 ? 2 : 1), 0);
    mostLines = data.rows.reduce((most, row) => Math.max(most, lines(row)), 0);
  }
  showChoice();
  const cells = { id: [], text: [], score: [] };
  columns.forEach(({ kind, name }, column) => {
    const isSorted = state.sort?.column === column;
    const direction = state.sort?.isDescending ? "descending" : "ascending";
    const mark = make("span", { "aria-hidden": "true" }, isSorted ? (state.sort.isDescending ? "↓" : "↑") : "");
    const button = make("button", { type: "button" }, make("span", { dir: "auto", class: "clamp" }, ...breakable(name)), mark);
    button.addEventListener("click", () => sortBy(column));
    cells[kind].push(make("div", { role: "columnheader", "aria-sort": isSorted ? direction : "none", title: name }, button));
  });
  head.replaceChildren(make("div", { class: "row", role: "row", "aria-rowindex": "1" }, ...groupCells(cells)));
}

/** How many metrics have a column, and which. */
function showChoice() {
  const [shown, total] = [shownMetrics(), data.metrics.length];
  find("choose").hidden = isComparison || total <= maxMetrics();
  find("choose").textContent = `Columns: ${shown.length} of ${whole(total)} metrics`;
  find("more").hidden = !isComparison || total < 2;
  find("more").textContent = `The columns show ${data.metrics[state.metric]?.name}, 1 of ${whole(total)} metrics. Open a row to see all of them.`;
  find("choice").querySelectorAll("input").forEach((box, metric) => {
    box.checked = shown.includes(metric);
    box.disabled = metric === state.metric;
  });
}

/** Gives a metric a column, in place of the one that was chosen first if there is no space, or removes its column. */
function choose(metric, isChosen) {
  const others = shownMetrics().filter((other) => other !== metric);
  state.chosen = isChosen ? [metric, ...others] : others;
  showMetrics();
}

/** Selects the metric of the filters. */
function selectMetric(metric) {
  state.metric = metric;
  showMetrics();
}

function showMetrics() {
  if (state.sort && columns[state.sort.column].kind === "score" && !isComparison) state.sort = null;
  buildColumns();
  update();
}

/** The first click sorts, the second one the other way round, the third one restores the order. */
function sortBy(column) {
  const { sort } = state;
  const startsDescending = isComparison && column === columns.length - 1;
  if (sort?.column !== column) state.sort = { column, isDescending: startsDescending };
  else state.sort = sort.isDescending === startsDescending ? { column, isDescending: !startsDescending } : null;
  buildColumns();
  update();
  head.querySelectorAll("button")[column]?.focus();
}

function makeCurrent(place) {
  table.classList.add("used");
  const previous = state.current;
  state.current = Math.max(0, Math.min(state.order.length - 1, place));
  const top = state.current * rowHeight;
  const bottom = top + rowHeight + head.offsetHeight;
  if (top < table.scrollTop) table.scrollTop = top;
  else if (bottom > table.scrollTop + table.clientHeight) table.scrollTop = bottom - table.clientHeight;
  draw();
  for (const at of [previous, state.current]) {
    const node = drawn.get(at);
    node?.classList.toggle("current", at === state.current);
    node?.querySelector("button").setAttribute("tabindex", at === state.current ? "0" : "-1");
  }
}
const focusCurrent = () => drawn.get(state.current)?.querySelector("button").focus({ preventScroll: true });

let isScheduled = false;
table.addEventListener("scroll", () => {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(() => {
    isScheduled = false;
    draw();
  });
});
body.addEventListener("click", (event) => {
  const node = event.target.closest(".row");
  if (!node || String(getSelection())) return;
  makeCurrent(Number(node.dataset.place));
  openDetail();
});
body.addEventListener("keydown", (event) => {
  const page = Math.max(1, Math.floor(table.clientHeight / rowHeight) - 1);
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
  if (!(event.key in steps) || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  makeCurrent(state.current + steps[event.key]);
  focusCurrent();
});
new ResizeObserver(() => draw()).observe(table);
for (const layout of [stacked, phone]) {
  layout.addEventListener("change", () => {
    buildColumns();
    clear();
    draw();
  });
}

