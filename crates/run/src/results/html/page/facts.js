// Facts with one value per run: what the runs measured, according to their manifests, and their cost and time. A fact is a
// name and its lines.

/** The text of a value, if there is one. */
const ifAny = (value, text) => (isEmpty(value) ? [] : [text(value)]);

function aboutRun({ manifest, unknown_identity: unknown }) {
  const isAnyUnknown = data.runs.some((run) => run.unknown_identity !== null);
  const identity = unknown !== null ? [`unknown: ${unknown}`] : isAnyUnknown ? ["by its manifest"] : [];
  return [["Identity", identity], ...(manifest ? aboutManifest(manifest) : [])];
}

function aboutManifest(run) {
  const others = Object.entries(run.judged_by_others ?? {});
  return [
    ["Label", ifAny(run.label, String)],
    ["Tags", Object.entries(run.tags ?? {}).map(([name, value]) => (value ? `${name}: ${value}` : name))],
    ["Metrics", [run.metrics.join(", ")]],
    // The models of all metrics, then the models that answered for each metric, as their providers reported them.
    ["Judges", [...run.models, ...run.judged_by,
      ...others.map(([metric, count]) => `${metric}: replies from other models or fingerprints: ${whole(count)}`)]],
    ["Data", (run.data ?? []).map(dataFile)],
    ["Run", measured(run)],
    ["Cost", run.process ? costs(run.process.totals) : []],
    ["Code", code(run)],
    ["Settings", settings(run)],
  ];
}

/** The first digits of a hash. */
const digits = (hash) => (hash.length > 12 ? `${hash.slice(0, 12)}…` : hash);

/** `rows.jsonl · 1,190 rows · 45,120 bytes · SHA-256 684ea9ca094d…` */
const dataFile = ({ name, rows, bytes, sha256, grew_by: growth }) => [
  name,
  ...ifAny(rows, (count) => plural(count, "row")),
  plural(bytes, "byte"),
  ...ifAny(sha256, (hash) => `SHA-256 ${digits(hash)}`),
  ...ifAny(growth, (count) => `grew by ${plural(count, "byte")} while it was read`),
].join(" · ");

/** When the run started, how long it took, and its rows. */
function measured({ process, rows, failed_rows, early, ending }) {
  const ended = early ?? (ending === "complete" ? null : `ended early: ${ending}`);
  return [
    ...ifAny(process, ({ started }) => started.replace(/^(.+)T(.+)Z$/, "$1 $2 UTC")),
    ...ifAny(process, ({ duration_s: seconds }) => `took ${duration(seconds)}`),
    `${plural(rows, "row")}, ${whole(failed_rows)} failed`,
    ...ifAny(ended, String),
  ];
}

/** `0.532 s`, `2 min 5 s`, `3 h 20 min` */
function duration(seconds) {
  if (seconds < 60) return `${fixed(seconds, 3)} s`;
  const rounded = Math.round(seconds);
  const minutes = Math.floor(rounded / 60);
  return minutes < 60 ? `${minutes} min ${rounded % 60} s` : `${whole(Math.floor(minutes / 60))} h ${minutes % 60} min`;
}

const costs = (totals) => [
  ...ifAny(totals.metrics_cost_msats || null, (cost) => `metrics: ${whole(cost)} msat`),
  ...ifAny(totals.program_cost_msats, (cost) => `program: ${whole(cost)} msat`),
  ...ifAny(totals.program_input_tokens, (count) => `program: ${whole(count)} tokens read`),
  ...ifAny(totals.program_output_tokens, (count) => `program: ${whole(count)} tokens written`),
  ...ifAny(totals.language_models, (calls) => `language models: ${calls}`),
];

/** The commit of the working folder and the version of the library. */
function code({ process, library }) {
  const { commit, is_changed: isChanged, error } = process?.git ?? {};
  const changed = isEmpty(isChanged) ? "" : isChanged ? ", with changed files" : ", unchanged";
  return [
    ...ifAny(commit, (hash) => `git ${digits(hash)}${changed}`),
    ...ifAny(error, (reason) => `git: ${reason}`),
    `dsrs-metrics ${library.version}`,
  ];
}

const settings = (run) => [
  ...ifAny(run.repeats, (times) => `repeats: ${times}`),
  ...ifAny(run.program_inputs, (fields) => `program inputs: ${fields.join(", ")}`),
  ...ifAny(run.group, (field) => `groups: ${field}`),
  ...ifAny(run.bootstrap, (samples) => `bootstrap: ${whole(samples)} samples`),
  `seed: ${run.seed}`,
  `a failed row counts as ${run.failure_score}`,
];

/** The cost and time of a run, and what gates saved. */
function usageOf({ usage, rows }) {
  const sum = ([total, count], unit) => `${whole(total)}${unit}${count === rows ? "" : ` in ${plural(count, "row")}`}`;
  const sums = [["cost", usage.cost_msats, " msat"], ["tokens read", usage.input_tokens, ""], ["tokens written", usage.output_tokens, ""]];
  const latencies = ["mean latency", "median latency", "95th percentile of latency"];
  return [
    ...sums.map(([name, value, unit]) => [`Program: ${name}`, ifAny(value, (value) => sum(value, unit))]),
    ...latencies.map((name, at) => [`Program: ${name}`, ifAny(usage.latency_s, (seconds) => `${fixed(seconds[at], 3)} s`)]),
    ...usage.costs.map(([name, cost]) => [`${name}: cost`, [`${whole(cost)} msat`]]),
  ];
}

/** The facts of all runs, in order of first occurrence: names, and the lines of each run. */
function factsOf(ofRun) {
  const facts = new Map();
  data.runs.forEach((run, place) => {
    for (const [name, lines] of ofRun(run).filter(([, lines]) => lines.length > 0)) {
      if (!facts.has(name)) facts.set(name, data.runs.map(() => ["–"]));
      facts.get(name)[place] = lines;
    }
  });
  return [...facts];
}

/** A list of facts, or with two runs a table. */
function factList(facts, style = "") {
  if (!isComparison) {
    const tile = ([name, [lines]]) => make("div", null, make("dt", { dir: "auto" }, name), make("dd", null, foldedLines(lines)));
    return make("dl", { class: `tiles ${style}` }, facts.map(tile));
  }
  const head = data.runs.map(({ name }, run) => make("th", { scope: "col", class: "number" }, runLabel(run), make("bdi", null, fileName(name))));
  const row = ([name, values]) => make("tr", null,
    make("th", { scope: "row", dir: "auto" }, name),
    values.map((lines) => make("td", { class: "number" }, foldedLines(lines))));
  return make("table", { class: `plain wide ${style}` },
    make("thead", null, make("tr", null, make("td"), head)),
    make("tbody", null, facts.map(row)));
}

