// The sections above the table of rows.

/** A metric has a card if they are at most as many, and a line that opens otherwise. */
const maxCards = 12;
const hasCards = data.metrics.length <= maxCards;

/** The letter of a run of two. */
const runLabel = (run) => isComparison && [make("b", { class: `run ${"ab"[run]}` }, labels[run]), " "];
const small = (text) => text && make("small", null, text);
const note = (text) => make("p", { class: "note" }, text);

// Folds: the start of what is long is in view, and the rest opens.

const rest = (title, content) => make("details", { class: "rest" }, make("summary", null, title), content);
function folded(text) {
  const all = make("bdi", null, text);
  return text.length > 160 ? rest(make("bdi", null, `${[...text].slice(0, 100).join("")}…`), all) : all;
}
function foldedLines(lines) {
  const first = lines.length <= 3 ? 3 : 2;
  const nodes = lines.map((line) => make("div", null, folded(line)));
  return [nodes.slice(0, first), lines.length > first && rest(`${lines.length - first} more`, nodes.slice(first))];
}
function foldedTable(metric, entries, of) {
  const first = entries.length <= 10 ? 10 : 8;
  const table = (entries) => entriesTable(metric, entries, of);
  return [table(entries.slice(0, first)), entries.length > first && rest(`${entries.length - first} more ${of}s`, table(entries.slice(first)))];
}

// Parts and groups

/** The groups of a metric, worst first. */
function sortedGroups({ groups, lower_is_better: isLowerBetter }) {
  const rank = ({ runs }) => {
    const mean = runs.map((run) => run.mean).findLast((mean) => mean !== null);
    return mean === undefined ? Infinity : isLowerBetter ? -mean : mean;
  };
  const ranked = groups.map((group) => [rank(group), group]);
  return ranked.sort(([a], [b]) => (a === b ? 0 : a - b)).map(([, group]) => group);
}

/** The parts or groups of a metric, with a row for each run. */
function entriesTable(metric, entries, of) {
  const hasChange = isComparison && of === "group";
  const aroundAll = of === "group" && scaleAround(metric.groups.flatMap(({ runs }) => runs));
  const scale = ({ runs }) => aroundAll || scaleOf(of === "group" ? metric.runs : runs);
  const changeCell = (change, rowspan) => make("td", { class: `number ${verdictClass(change)}`, rowspan }, change && [
    changeText(change.difference, metric.kind === "bool"),
    make("small", null, change.ci95 && change.ci95.map((end) => changeText(end, metric.kind === "bool")).join(" to ")),
  ]);
  const rows = entries.map((entry, at) => {
    const name = entry.name ?? "(none)";
    const rowspan = entry.runs.length;
    const ofRun = (run, place) => make("tr", { class: place > 0 ? "second" : at === entries.length - 1 && "last" },
      place === 0 && make("th", { scope: "rowgroup", rowspan, dir: "auto" }, name),
      make("td", { class: "number" }, runLabel(place), meanText(run)),
      make("td", { class: "plot" },
        track(run, scale(entry), of === "group" ? metric.runs[place].mean : null),
        small(`${intervalText(run)} · ${plural(run.rows, "row")}`)),
      hasChange && place === 0 && changeCell(entry.change, rowspan));
    const title = make("tr", { class: "name" }, make("th", { scope: "rowgroup", colspan: hasChange ? 3 : 2, dir: "auto" }, name));
    return [isComparison && title, entry.runs.map(ofRun)];
  });
  const column = (name, style) => make("th", { scope: "col", class: style }, name);
  return make("table", { class: `plain entries${isComparison ? " two" : ""}${hasChange ? " changes" : ""}` },
    make("thead", null, make("tr", null,
      column(of === "group" ? "Group" : "Part"), column("Score", "number"), column("95% interval", "plot"), hasChange && column("B − A", "number"))),
    make("tbody", null, rows));
}

// Metrics

const verdictClass = (change) => (["better", "worse"].includes(change?.verdict) ? change.verdict : "");
const metricTitle = ({ name, lower_is_better: isLowerBetter }) =>
  make("h3", null, make("code", { dir: "auto" }, name), isLowerBetter && small("lower is better"));

const counts = (entries) => make("ul", { class: "counts" }, entries.map(([count, text, isAlarm]) =>
  make("li", { class: isAlarm && "alarm" }, make("b", null, whole(count)), ` ${text}`)));

/** How a metric differs in B, or why it is not compared. The details are failed rows and rows that are not compared. */
function changeNodes(change) {
  if (change.not_compared) return make("p", { class: "change" }, `not compared: ${change.not_compared}`);
  const [text, ...details] = change.sentence.split("; ");
  if (change.compared_although) details.unshift(`compared although ${change.compared_although}`);
  const same = [change.ties, "same"];
  return [
    make("p", { class: `change ${verdictClass(change)}` }, text, small(details.join("; "))),
    counts(change.is_corpus ? [same] : [[change.wins, "better in B"], [change.losses, "worse"], same]),
  ];
}

/** The denominators of a run: rows in the mean, failed rows, and rows in no mean. */
function countsOf({ counts: it, rows, is_bool, passed }, place) {
  const inMean = is_bool ? [passed[0], `of ${whole(passed[1])} true`] : [it.scored, `of ${whole(rows)} scored`];
  const others = [
    [it.gated, "gated"], [it.skipped, "skipped"], [it.abstained, "abstained"], [it.not_needed, "not needed"],
    [it.not_sampled, "not sampled"], [it.absent, "without a result"], [it.missing, "with a missing field"],
  ];
  const list = counts([inMean, [it.failed, "failed", it.failed > 0], ...others.filter(([count]) => count > 0)]);
  if (isComparison) list.prepend(make("li", null, runLabel(place)));
  return [list, it.judged_offline > 0 && note(`${plural(it.judged_offline, "row")} judged by offline-lexical`)];
}

/** The settings of a metric in each run whose manifest has it; once if they are the same in all runs. */
function settingsNodes({ runs }) {
  const texts = runs.map(({ settings }) => settings);
  const isSame = texts.every((text) => text === texts[0]);
  const shown = isSame ? texts.slice(0, 1) : texts;
  return shown.map((text, place) => text !== null && make("div", { class: "note" }, !isSame && runLabel(place), folded(text)));
}

const distribution = (metric, place) => [
  metric.change && changeNodes(metric.change),
  metric.histogram && histogram(metric, place),
  metric.runs.map(countsOf),
  settingsNodes(metric),
];

function metricCard(metric, place) {
  const scale = scaleOf(metric.runs);
  const figure = (run, place) => [
    make("div", { class: "figure" },
      make("p", { class: `value${run.mean === null ? " missing" : ""}` }, runLabel(place), meanText(run)),
      make("p", { class: "range" }, run.ci95 && [small("95% interval"), " "], intervalText(run))),
    track(run, scale),
  ];
  return make("article", { class: "card" }, metricTitle(metric), metric.runs.map(figure), distribution(metric, place));
}

function metricLine(metric, place) {
  const scale = scaleOf(metric.runs);
  const { change } = metric;
  const figure = (run, place) =>
    make("span", null, runLabel(place), make("b", null, meanText(run)), track(run, scale), small(intervalText(run)));
  const difference = change?.not_compared ? small("not compared") : [small("B − A"), " ", changeText(change?.difference, metric.kind === "bool")];
  return make("details", { class: "card line" },
    make("summary", null,
      metricTitle(metric),
      make("span", { class: "runs" }, metric.runs.map(figure)),
      change && make("span", { class: `difference ${verdictClass(change)}` }, difference)),
    distribution(metric, place),
    metric.parts.length > 0 && foldedTable(metric, metric.parts, "part"),
    metric.groups.length > 0 && foldedTable(metric, sortedGroups(metric), "group"));
}

/** The parts or groups of each metric that has any. */
const tables = (entriesOf, of) => data.metrics.map((metric) => {
  const entries = entriesOf(metric);
  if (entries.length === 0) return null;
  const table = foldedTable(metric, entries, of);
  if (data.metrics.length <= 6) return make("article", { class: "card" }, metricTitle(metric), table);
  return make("details", { class: "card line" }, make("summary", null, metricTitle(metric), small(plural(entries.length, of))), table);
});

// The page

/** How the figures are computed, and what is not shown. */
function notes() {
  const simple = "Wilson's for true or false, Student's t for numbers";
  const method = data.group === null ? simple : `cluster-robust by ${data.group}; of a single group, ${simple}`;
  const shown = Math.max(...data.metrics.map(({ parts }) => parts.length));
  return [
    `95% intervals: ${method}. Failed rows count as the failure score in the mean; gated, skipped and abstained rows are excluded from every mean.`,
    data.metrics.some(({ parts, part_count: count }) => parts.length < count) && `The first ${shown} parts of each metric are shown.`,
    data.hidden_groups > 0 && `${whole(data.hidden_groups)} more groups with fewer rows are not shown.`,
  ].filter(Boolean).map(note);
}

/** `1,188 rows in both, 2 only in A` */
function pairingText({ rows, is_positional: isPositional }) {
  const single = data.runs.map((run, place) => run.rows > rows && `${whole(run.rows - rows)} only in ${labels[place]}`);
  return [`${whole(rows)} rows in both`, isPositional && "paired by position", ...single].filter(Boolean).join(", ");
}

/** Which rows the table has, if not all. */
function ruleText({ shown, all, changed, failed, others, worst, sampled, seed }) {
  const category = ([shown, all], what) =>
    all > 0 && (shown === all ? `all ${whole(all)} ${what}` : `${whole(shown)} of the ${whole(all)} ${what}, sampled`);
  const ofOthers = others === all ? "" : `of the ${whole(others)} others `;
  const parts = [
    category(changed, "rows whose outcome or verdict changed"),
    category(failed, changed[1] > 0 ? "other rows that failed" : "rows that failed"),
    worst > 0 && `${ofOthers}the ${whole(worst)} with the worst scores${isComparison ? " in B" : ""}, the same number for each metric`,
    sampled > 0 && `${whole(sampled)} others, sampled`,
  ];
  return `The table has ${whole(shown)} of ${whole(all)} rows: ${parts.filter(Boolean).join("; ")} (seed ${seed}). Search, filters and `
    + "their counts cover only the rows in the table; everything above covers all rows.";
}

function section(id, title, ...content) {
  const heading = make("h2", { id: `${id}-title` }, title);
  find("rows").before(make("section", { "aria-labelledby": `${id}-title` }, heading, content));
}

find("eyebrow").textContent = isComparison ? "Comparison" : "Evaluation";
const runSpan = ({ name, rows }, run) => make("span", null, runLabel(run), make("bdi", null, fileName(name)), ` · ${plural(rows, "row")}`);
find("meta").append(...data.runs.map(runSpan), ...ifAny(data.pairing, (pairing) => make("span", null, pairingText(pairing))));

section("about", isComparison ? "Runs" : "Run", factList(factsOf(aboutRun), "about"),
  data.differences.length > 0 && make("div", { class: "note" }, make("p", null, "Differences between the runs:"), foldedLines(data.differences)));
if (hasCards) {
  section("metrics", "Scores", make("div", { class: "cards" }, data.metrics.map(metricCard)), notes());
} else {
  const lines = data.metrics.map(metricLine);
  section("metrics", "Scores", lines.slice(0, 60), lines.length > 60 && rest(`${lines.length - 60} more metrics`, lines.slice(60)), notes());
}
if (hasCards && data.metrics.some(({ parts }) => parts.length > 0)) {
  section("parts", "Parts", make("div", { class: "cards wide" }, tables(({ parts }) => parts, "part")));
}
if (hasCards && data.group !== null) {
  const style = data.metrics.length <= 6 ? "roomy" : "wide";
  section("groups", ["By ", make("code", { dir: "auto" }, data.group)], make("div", { class: `cards ${style}` }, tables(sortedGroups, "group")));
}
const usageFacts = factsOf(usageOf);
if (usageFacts.length > 0) section("usage", "Cost and time", factList(usageFacts));
if (data.table !== null) {
  find("rule").textContent = ruleText(data.table);
  find("rule").hidden = false;
}
find("empty").textContent = `No row${data.table === null ? "" : " in the table"} matches. Change the search or the filters.`;

