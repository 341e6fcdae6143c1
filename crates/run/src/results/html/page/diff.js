// Word diff

const maxCells = 400000;
const tokens = (text) => text.match(/\s+|[\p{L}\p{N}\p{M}_]+|[^\s\p{L}\p{N}\p{M}_]/gu) ?? [];

/** The longest common subsequence of words: pairs of [text, is in both] for each side, or null if it is too long. */
function wordDiff(before, after) {
  const [a, b] = [tokens(before), tokens(after)];
  if ((a.length + 1) * (b.length + 1) > maxCells) return null;
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const at = i * width + j;
      lengths[at] = a[i] === b[j] ? lengths[at + width + 1] + 1 : Math.max(lengths[at + width], lengths[at + 1]);
    }
  }
  const [left, right] = [[], []];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const at = i * width + j;
    if (i < a.length && j < b.length && a[i] === b[j]) {
      left.push([a[i], true]);
      right.push([b[j], true]);
      i += 1;
      j += 1;
    } else if (j === b.length || (i < a.length && lengths[at + width] >= lengths[at + 1])) {
      left.push([a[i], false]);
      i += 1;
    } else {
      right.push([b[j], false]);
      j += 1;
    }
  }
  return { left, right, common: lengths[0] };
}

/** Text with the words that the other side lacks marked. */
function marked(parts, tag) {
  const merged = [];
  for (const [text, isCommon] of parts) {
    const last = merged.at(-1);
    if (last && last[1] === isCommon) last[0] += text;
    else merged.push([text, isCommon]);
  }
  return merged.map(([text, isCommon]) => (isCommon ? text : make(tag, null, text)));
}

/** The reference that has most in common with the prediction. */
function nearest(gold, pred) {
  const references = Array.isArray(gold) && gold.length > 0 && gold.every((item) => typeof item === "string") ? gold : [inFull(gold)[0]];
  const diffs = references.map((text) => wordDiff(text, pred));
  const size = (diff) => (diff ? diff.common - (diff.left.length + diff.right.length) / 2 : -Infinity);
  const best = diffs.reduce((best, diff, at) => (size(diff) > size(diffs[best]) ? at : best), 0);
  return { text: references[best], diff: diffs[best], others: references.filter((_, at) => at !== best) };
}

