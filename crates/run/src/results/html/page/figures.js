// Figures of a metric: the mean with its interval as text and on a scale, and the histogram.

const [percent, decimal] = [(value) => fixed(100 * value, 2), (value) => fixed(value, 4)];
/** A score as in a metric's headline. */
const score = (value, isBool) => (isBool ? `${percent(value)}%` : isFar(value) ? scientific(value, 3) : decimal(value));
const meanText = ({ mean, is_bool }) => (mean === null ? "not enough rows" : score(mean, is_bool));
const ends = (ci95, isBool) => `${score(ci95[0], isBool)} to ${score(ci95[1], isBool)}`;
/** An interval, or why there is none. */
function intervalText({ mean, ci95, is_bool, no_interval }) {
  if (mean === null) return "no row has a score";
  if (ci95) return ends(ci95, is_bool);
  return no_interval === "not enough rows" ? `interval: ${no_interval}` : `no interval: ${no_interval}`;
}
/** A difference: percentage points of what passes or fails. */
const changeText = (value, isBool) =>
  isEmpty(value) ? "–" : `${value > 0 ? "+" : ""}${isBool ? percent(value) : decimal(value)}`.replace("-", "−");

// Scales

/** The scale of these figures: [0, 1] if it contains all values, otherwise the range of the values. */
function scaleOf(all) {
  const extents = all.flatMap(({ extent }) => extent).filter((value) => value !== null);
  return extents.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [0, 1]);
}
/** The range of these intervals with some room at both ends, or null if there is no range. */
function scaleAround(all) {
  const values = all.flatMap(({ mean, ci95 }) => (mean === null ? [] : (ci95 ?? [mean])));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const room = (high - low) / 20;
  return low < high ? [low - room, high + room] : null;
}
/** A mean and its interval on a scale. The reference is the mean over all groups. */
function track({ mean, ci95 }, [low, high], reference) {
  const place = (value) => 100 * Math.min(Math.max((value - low) / (high - low), 0), 1);
  const bar = (style, x, width, y, height) => makeSvg("rect", { class: style, x, y, width, height });
  // The point is drawn to the right of its position and must not leave the track.
  return makeSvg("svg", { class: "track", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
    bar("rail", 0, 100, 3.5, 1),
    ci95 && bar("interval", place(ci95[0]), Math.max(place(ci95[1]) - place(ci95[0]), 0.6), 2, 4),
    !isEmpty(reference) && bar("reference", place(reference), 0.35, 0, 8),
    mean !== null && bar("point", Math.min(Math.max(place(mean) - 0.4, 0), 99.2), 0.8, 0, 8));
}

// Histograms

/** A number with at most four decimals and no trailing zeros. */
const short = (value) => (isFar(value) ? scientific(value, 2) : String(Number(decimal(value))));
const edge = ({ low, width }, bin) => short(low + bin * width);
function binLabel(bins, bin) {
  if (bins.kind === "bool") return ["false", "true"][bin];
  return bins.kind === "whole" ? short(bins.low + 0.5 + bin) : `${edge(bins, bin)} to ${edge(bins, bin + 1)}`;
}

/** `Distribution of f1: most rows, 812 of 1,190, are in 0.95 to 1` */
function histogramText(name, { bins, bars }, totals) {
  const runs = totals.flatMap((total, run) => {
    const ofRun = bars.filter((bar) => bar.run === run);
    const most = ofRun.reduce((most, bar) => (bar.rows > most.rows ? bar : most), { rows: 0 });
    return total > 0 ? [`${run > 0 ? "in B " : ""}most rows, ${whole(most.rows)} of ${whole(total)}, are in ${binLabel(bins, most.bin)}`] : [];
  });
  return `Distribution of ${name}: ${runs.join("; ")}`;
}

/** Each bin has a bar of each run, whose height is the share of that run's rows. */
function histogram({ name, histogram: { bins, bars } }, metric) {
  const totals = data.runs.map((_, run) => bars.reduce((sum, bar) => sum + (bar.run === run ? bar.rows : 0), 0));
  const share = (bar) => bar.rows / totals[bar.run];
  const largest = Math.max(...bars.map(share));
  const [slot, filled] = [100 / bins.count, 0.86];
  const width = (slot * filled) / data.runs.length;
  const drawn = bars.map((bar) => {
    const x = slot * (bar.bin + (1 - filled) / 2) + width * bar.run;
    // Even few rows are visible.
    const height = Math.max((38 * share(bar)) / largest, 0.7);
    const label = binLabel(bins, bar.bin);
    const style = `bar ${isComparison && bar.run === 0 ? "a" : "b"}`;
    const values = { "data-metric": metric, "data-run": bar.run, "data-bin": label, "data-least": bar.least, "data-most": bar.most };
    return makeSvg("g", { class: style, ...values },
      makeSvg("title", null, `${isComparison ? `${labels[bar.run]}: ` : ""}${label}: ${plural(bar.rows, "row")}`),
      makeSvg("rect", { class: "target", x, y: 0, width, height: 40 }),
      makeSvg("rect", { x, y: 40 - height, width, height }));
  });
  const hasTickPerBin = bins.kind !== "range" && bins.count <= 11;
  const ticks = hasTickPerBin ? Array.from({ length: bins.count }, (_, bin) => binLabel(bins, bin)) : [edge(bins, 0), edge(bins, bins.count)];
  const description = histogramText(name, { bins, bars }, totals);
  return make("figure", { class: "histogram" },
    makeSvg("svg", { viewBox: "0 0 100 40", preserveAspectRatio: "none", role: "img", "aria-label": description },
      drawn, makeSvg("rect", { class: "axis", x: 0, y: 39.6, width: 100, height: 0.4 })),
    make("figcaption", { class: hasTickPerBin && "per-bin" }, ticks.map((tick) => make("span", null, tick))));
}

