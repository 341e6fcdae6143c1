// Drives reports and the README in headless Chromium, which it starts once. Reads requests from standard input, `{"check": .., "file": ..}`
// on a line each, and answers each with a JSON string on a line: the error, empty if all is as expected.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const installed = createRequire(`${process.env.DSRS_METRICS_BROWSER}/`);
const { chromium } = installed("playwright-core");
const { marked } = installed("marked");
const axe = readFileSync(installed.resolve("axe-core/axe.min.js"), "utf8");

/** The largest number of rows in the document, however many the report has. */
const MAX_ROWS = 60;

const ids = (page) => page.locator("#body .row .id").evaluateAll((cells) =>
  cells.map((cell) => [Number(cell.parentElement.dataset.place), cell.textContent]).sort((a, b) => a[0] - b[0]).map(([, id]) => id));
const first = async (page, count) => (await ids(page)).slice(0, count);
const count = (page) => page.locator("#count").textContent();
const becomes = async (page, text) => {
  await page.waitForFunction((wanted) => document.getElementById("count").textContent === wanted, text, { timeout: 20_000 })
    .catch(async () => assert.equal(await count(page), text));
};
const focused = (page) => page.evaluate(() => {
  const it = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(it);
  return { name: it.id || it.textContent.trim(), isVisible: outlineStyle !== "none" && parseFloat(outlineWidth) >= 2 };
});
const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
const isLight = (color) => color.match(/\d+/g).slice(0, 3).every((part) => Number(part) > 200);
const open = async (page, id) => {
  await page.getByRole("rowheader", { name: id, exact: true }).click();
  return page.locator("#content");
};

/** Findings of axe-core that are serious or critical, with the elements. */
async function findings(page) {
  await page.evaluate(axe);
  const result = await page.evaluate(() => window.axe.run());
  assert.ok(result.passes.length > 15, `axe-core applied ${result.passes.length} rules`);
  return result.violations
    .filter((it) => ["serious", "critical"].includes(it.impact))
    .map((it) => `${it.id} at ${it.nodes.length} elements, first ${it.nodes[0].html}: ${it.nodes[0].failureSummary}`);
}

/** The elements of the page whose content is cut off or leaves its card, and those that scroll to the side. */
const clipped = (page) => page.evaluate(() => {
  const found = [];
  for (const it of document.querySelectorAll("main *, header *")) {
    // A list box shows a long option in full when it is open.
    if (it.closest("svg, select, [popover]") || it.clientWidth === 0) continue;
    const { overflowX, overflowY } = getComputedStyle(it);
    const isCut = overflowX !== "visible" && it.scrollWidth > it.clientWidth + 1;
    const isCutBelow = overflowY === "hidden" && it.scrollHeight > it.clientHeight + 1;
    const around = it.parentElement.closest(".card, .table, main, header");
    const isOutside = around && it.getBoundingClientRect().right > around.getBoundingClientRect().right + 0.5;
    if (isCut || isCutBelow || isOutside) found.push(`${it.tagName} ${it.className}: ${it.textContent.slice(0, 60)}`);
  }
  return found;
});

/** The cards that end above another card of their row, and the rows of cards that do not fill the width. */
const holes = (page) => page.evaluate(() => {
  const found = [];
  for (const cards of document.querySelectorAll(".cards:not(:has(> .line))")) {
    const rows = Map.groupBy([...cards.children].map((it) => it.getBoundingClientRect()), (it) => it.top);
    for (const row of rows.values()) {
      if (row.some((it) => it.bottom !== row[0].bottom)) found.push("cards of different heights");
      if (Math.abs(row.at(-1).right - cards.getBoundingClientRect().right) > 0.5) found.push(`a row of ${row.length} cards`);
    }
  }
  return found;
});

/** Checks that neither code nor a table scrolls to the side, nor the page. */
const assertFits = async (page) => {
  assert.ok(await page.locator("pre").count() >= 3);
  const wide = await page.evaluate(() => [...document.querySelectorAll("pre, pre code, table, html")]
    .filter((it) => it.scrollWidth > it.clientWidth && it.clientWidth > 0)
    .map((it) => `${it.scrollWidth} of ${it.clientWidth} px: ${it.textContent.trim().slice(0, 60)}`));
  assert.ok(wide.length === 0, `too wide for a screen of 1280 px, break the longest lines of:\n${wide.join("\n")}`);
};

const checks = {
  async search_sort_filter(page) {
    assert.equal(await count(page), "60 rows");
    await page.locator("#query").fill("ZEBRA");
    await becomes(page, "2 of 60 rows");
    assert.deepEqual(await ids(page), ["row-005", "row-041"]);
    await page.locator("#query").fill("zebra no-such-word");
    await becomes(page, "0 of 60 rows");
    assert.equal(await page.locator("#empty").isVisible(), true);
    await page.locator("#query").fill("");
    await becomes(page, "60 rows");

    const header = page.getByRole("columnheader", { name: "f1" });
    const orders = [];
    for (let click = 0; click < 3; click += 1) {
      await header.getByRole("button").click();
      orders.push([await header.getAttribute("aria-sort"), (await first(page, 1))[0]]);
    }
    assert.deepEqual(orders, [["ascending", "row-000"], ["descending", "row-047"], ["none", "row-000"]]);

    await page.locator("#outcome").selectOption({ label: "Not passed" });
    await becomes(page, "20 of 60 rows");
    assert.deepEqual(await first(page, 3), ["row-000", "row-003", "row-006"]);
    await page.locator("#metric").selectOption({ label: "judge" });
    const outcomes = [];
    for (const label of ["Failed", "Gated", "Skipped", "Abstained"]) {
      await page.locator("#outcome").selectOption({ label });
      await becomes(page, "1 of 60 rows");
      outcomes.push(...(await ids(page)));
    }
    assert.deepEqual(outcomes, ["row-007", "row-008", "row-009", "row-010"]);
  },

  async details(page) {
    const content = await open(page, "row-004");
    assert.equal(await page.locator("#detail-title").textContent(), "row-004");
    assert.deepEqual(await content.locator("del").allTextContents(), ["grey"]);
    assert.deepEqual(await content.locator("ins").allTextContents(), ["white"]);
    const text = await content.innerText();
    for (const part of ["question number 4", "The judge's reasoning for row 4", "Name the colour of row 4.", "confidence 0.5000", "relevance", "precision"]) {
      assert.ok(text.includes(part), `${part} is not in ${text}`);
    }
    await page.locator("#next").click();
    assert.equal(await page.locator("#detail-title").textContent(), "row-005");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.locator("#detail-title").textContent(), "row-007");
    assert.ok((await content.innerText()).includes("expected a number from 1 to 5"));
    await page.locator("#close").click();
    assert.equal(await page.locator("#detail").isVisible(), false);
  },

  async comparison(page) {
    assert.equal(await count(page), "61 rows");
    assert.deepEqual(await first(page, 5), ["row-001", "row-002", "row-000", "row-003", "row-006"]);
    const counts = {};
    for (const label of ["Flips", "B is better", "B is worse", "Only in one run"]) {
      await page.locator("#change").selectOption({ label });
      counts[label] = await count(page);
    }
    assert.deepEqual(counts, { Flips: "5 of 61 rows", "B is better": "3 of 61 rows", "B is worse": "2 of 61 rows", "Only in one run": "2 of 61 rows" });
    assert.deepEqual(await ids(page), ["row-059", "extra"]);
    await page.locator("#change").selectOption({ label: "B is worse" });
    const row = page.locator("#body .row").first();
    assert.deepEqual(await row.locator(".scores > *").allTextContents(), ["✓ true", "✕ false", "✕ worse"]);
    const content = await open(page, "row-001");
    const text = await content.innerText();
    for (const part of ["Prediction A · answer", "Prediction B · answer", "worse in B"]) {
      assert.ok(text.includes(part), `${part} is not in ${text}`);
    }
  },

  async theme(page) {
    assert.equal(isLight(await background(page)), true);
    await page.emulateMedia({ colorScheme: "dark" });
    assert.equal(isLight(await background(page)), false);
    await page.getByRole("button", { name: "Light theme" }).click();
    assert.equal(isLight(await background(page)), true);
    await page.getByRole("button", { name: "Dark theme" }).click();
    assert.equal(isLight(await background(page)), false);
    // The choice takes precedence over the system's, and is kept. Chromium stores it in another process, which the first
    // reload may overtake.
    await page.emulateMedia({ colorScheme: "light" });
    assert.equal(isLight(await background(page)), false);
    const deadline = Date.now() + 10_000;
    do await page.reload();
    while (isLight(await background(page)) && Date.now() < deadline);
    assert.equal(isLight(await background(page)), false);
  },

  async keyboard(page) {
    const names = [];
    for (let presses = 0; names.at(-1) !== "row-000"; presses += 1) {
      assert.ok(presses < 40, `Tab does not reach the rows: ${names}`);
      await page.keyboard.press("Tab");
      const { name, isVisible } = await focused(page);
      assert.ok(isVisible, `the focus on ${name} is not visible`);
      names.push(name);
    }
    assert.deepEqual(names.slice(0, 2), ["Skip to the rows", "theme"]);
    const rows = names.indexOf("query");
    assert.deepEqual(names.slice(rows, rows + 4), ["query", "metric", "outcome", "id"]);
    // Each histogram is one stop.
    assert.equal(names.filter((name) => /: \d+ rows?$/.test(name)).length, 3);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    assert.equal(await page.locator("#detail-title").textContent(), "row-001");
    await page.keyboard.press("Escape");
    assert.deepEqual(await focused(page), { name: "row-001", isVisible: true });
    const last = [];
    for (const key of ["End", "Home", "PageDown", "ArrowUp"]) {
      await page.keyboard.press(key);
      last.push((await focused(page)).name);
    }
    assert.deepEqual(last.slice(0, 2), ["row-059", "row-000"]);
    assert.ok(last[2] > "row-005" && last[3] < last[2], `${last}`);
  },

  async accessible(page) {
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await findings(page), [], colorScheme);
      await page.locator("#body .row").first().click();
      assert.deepEqual(await findings(page), [], `${colorScheme}, details`);
      await page.keyboard.press("Escape");
    }
  },

  async phone(page) {
    await page.setViewportSize({ width: 390, height: 844 });
    const widths = () => page.evaluate(() => [document.documentElement.scrollWidth, document.getElementById("content").scrollWidth]);
    assert.deepEqual(await widths(), [390, 0]);
    await page.locator("#body .row").first().click();
    const [whole, content] = await widths();
    assert.equal(whole, 390);
    assert.ok(content > 300 && content <= 390, `the details are ${content} px wide`);
    const small = await page.evaluate(() => [...document.querySelectorAll("#detail button")].filter((it) => it.offsetHeight < 24).length);
    assert.equal(small, 0);
  },

  /** The intervals of two runs end at the same place, and the rule under the last group has one gap for all columns. */
  async groups(page) {
    const found = await page.evaluate(() => [...document.querySelectorAll(".entries.changes")].map((table) => {
      const [first, second] = [...table.querySelectorAll("tbody .plot .track")].map((it) => it.getBoundingClientRect());
      const change = table.querySelector("tbody tr:not(.name) > :last-child > small").getBoundingClientRect();
      const rows = [...table.querySelectorAll("tbody tr")].slice(-2);
      const last = [...rows[0].querySelectorAll("[rowspan]"), ...rows[1].children].map((it) => getComputedStyle(it).borderBottomWidth);
      return { ends: first.right - second.right, gap: change.left - second.right, last: [...new Set(last)] };
    }));
    assert.ok(found.length > 0);
    for (const { ends, gap, last } of found) {
      assert.equal(ends, 0);
      assert.ok(gap >= 8, `the interval of B - A is ${gap} px from the bar`);
      assert.deepEqual(last, ["0px"]);
    }
  },

  /** A short question and longer answers are not cut; 4 of 5 metrics have a column, and which is chosen. */
  async columns(page) {
    assert.deepEqual(await clipped(page), []);
    const button = page.locator("#choose");
    const names = () => page.locator("#head .scores > *").allTextContents();
    assert.equal(await button.textContent(), "Columns: 4 of 5 metrics");
    assert.deepEqual(await names(), ["exact", "f1", "fifth", "fourth"]);
    await page.locator("#metric").selectOption({ label: "judge" });
    assert.deepEqual(await names(), ["judge", "exact", "f1", "fifth"]);
    await button.focus();
    await page.keyboard.press("Enter");
    const box = (name) => page.locator("#choice").getByRole("checkbox", { name, exact: true });
    assert.deepEqual([await box("judge").isDisabled(), await box("exact").isChecked(), await box("fourth").isChecked()], [true, true, false]);
    await box("fourth").check();
    assert.deepEqual(await names(), ["judge", "fourth", "exact", "f1"]);
    await box("exact").uncheck();
    assert.deepEqual(await names(), ["judge", "fourth", "f1"]);
    assert.equal(await button.textContent(), "Columns: 3 of 5 metrics");
    await box("exact").check();
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("#choice").isVisible(), false);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.locator("#choose", { hasText: "3 of 5" }).waitFor();
    assert.deepEqual(await names(), ["judge", "exact", "fourth"]);
  },

  /** No text is cut off, nothing scrolls to the side, and cards leave no holes; also with all details open. */
  async fits(page) {
    for (const isOpen of [false, true]) {
      await page.evaluate((isOpen) => document.querySelectorAll("details").forEach((it) => { it.open = isOpen; }), isOpen);
      for (const width of [1280, 800, 390]) {
        await page.setViewportSize({ width, height: 900 });
        for (const colorScheme of ["light", "dark"]) {
          await page.emulateMedia({ colorScheme });
          // The script follows a new width in the next frame.
          await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
          const at = `${width} px, ${colorScheme}, ${isOpen ? "open" : "closed"}`;
          assert.deepEqual(await clipped(page), [], at);
          assert.deepEqual(await holes(page), [], at);
          assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width, at);
        }
      }
    }
  },

  /** Long lists are folded, and the rows of a metric that is not the same in both runs have no difference. */
  async different(page) {
    const about = page.locator("section", { has: page.locator("#about-title") });
    const tags = about.locator("tr", { hasText: "Tags" }).locator("td").first();
    assert.match(await tags.innerText(), /^setting_of_the_prompt_00: first_\s+setting_of_the_prompt_01: first_value\s+▸?\s*28 more$/);
    await tags.locator("summary", { hasText: "28 more" }).click();
    await tags.locator("summary", { hasText: "setting_of_the_prompt_29" }).click();
    assert.match(await tags.innerText(), /setting_of_the_prompt_29: first_(value){29}/);
    assert.equal(await about.locator("summary", { hasText: "a program with <b>a long label</b> first" }).count(), 1);
    const changes = () => page.locator("#body .scores > :nth-child(3)").allTextContents();
    assert.deepEqual([...new Set(await changes())], ["–"]);
    await page.locator("#change").selectOption({ label: "Same score" });
    await becomes(page, "0 of 60 rows");
    await page.locator("#metric").selectOption({ label: "em" });
    await becomes(page, "60 rows");
    assert.deepEqual([...new Set(await changes())], ["same"]);
  },

  /** Of 30 parts 8 are in view. Intervals are Wilson's where all values are 0 or 1, and within [0, 1]. */
  async parts(page) {
    const section = page.locator("section", { has: page.locator("#parts-title") });
    const judge = section.locator(".card", { hasText: "judge" });
    const names = judge.locator("th[rowspan]:visible");
    assert.equal(await names.count(), 8);
    await judge.locator("summary", { hasText: "22 more parts" }).click();
    assert.equal(await names.count(), 30);
    const cells = (name) => section.locator("tr", { has: page.locator(`th[rowspan]:text-is("${name}")`) }).locator("td").allInnerTexts();
    // 59 of 60 rows pass.
    assert.deepEqual((await cells("criterion_01")).map((it) => it.trim()), ["98.33%", "91.14% to 99.71% · 60 rows"]);
    assert.deepEqual((await cells("criterion_00")).map((it) => it.trim()), ["0.9917", "0.9322 to 0.9990 · 60 rows"]);
  },

  /** Each of 62 metrics is a line with its score, and opens to its distribution, parts and groups. 60 are in view. */
  async compact(page) {
    const lines = page.locator("details.line");
    assert.equal(await lines.count(), 62);
    assert.equal(await page.locator("details.line:visible").count(), 60);
    await page.locator("summary", { hasText: "2 more metrics" }).click();
    assert.equal(await page.locator("details.line:visible").count(), 62);
    assert.equal(await lines.last().locator(".bar").first().getAttribute("data-metric"), "61");
    const heights = await lines.evaluateAll((all) => all.map((it) => it.offsetHeight));
    assert.ok(Math.max(...heights) <= 100, `a line is ${Math.max(...heights)} px high`);
    const line = lines.nth(1);
    assert.match(await line.innerText(), /^judge\s+A\s+\d\.\d{4}\s+\d\.\d{4} to \d\.\d{4}\s+B\s+\d\.\d{4}\s+\d\.\d{4} to \d\.\d{4}\s+B − A [+−]?\d/);
    await line.locator("summary").first().click();
    for (const part of ["criterion_00", "animals"]) assert.equal(await line.locator(`th[rowspan]:text-is("${part}")`).isVisible(), true);
    assert.equal(await line.locator(".histogram").isVisible(), true);
  },

  /** A bar filters the rows by click and by key, together with the other filters, until it is removed. */
  async bars(page) {
    const chip = page.locator("#bar");
    const bar = (label) => page.locator(`.bar[aria-label="${label}"]`);
    assert.equal(await chip.isVisible(), false);
    await bar("false: 20 rows").click();
    await becomes(page, "20 of 60 rows");
    assert.equal(await chip.innerText(), "exact: false\n✕");
    assert.equal((await focused(page)).name, "bar");
    assert.equal(await page.locator("#rows").evaluate((it) => it.getBoundingClientRect().top < innerHeight / 2), true);

    // A bar of another metric replaces it; the bin contains the rows that its bar counts.
    await bar("0.95 to 1: 3 rows").focus();
    await page.keyboard.press("Home");
    assert.equal((await focused(page)).name, "0 to 0.05: 3 rows");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await becomes(page, "3 of 60 rows");
    assert.equal(await chip.innerText(), "f1: 0.05 to 0.1\n✕");
    assert.equal(await page.locator("#metric").inputValue(), "1");
    const scores = await page.locator("#body .row .scores > :first-child").allTextContents();
    assert.deepEqual(scores.toSorted(), ["0.0500", "0.0667", "0.0833"]);
    assert.equal(await page.locator('.bar[aria-pressed="true"]').count(), 1);

    // Together with the search and the outcome.
    const [row] = await ids(page);
    await page.locator("#query").fill(`${row}`);
    await becomes(page, "1 of 60 rows");
    await page.locator("#query").fill("");
    await page.locator("#metric").selectOption({ label: "exact" });
    await page.locator("#outcome").selectOption({ label: "Passed" });
    const both = await count(page);
    assert.match(both, /^[12] of 60 rows$/);
    await page.locator("#outcome").selectOption({ label: "All" });
    await becomes(page, "3 of 60 rows");

    await chip.focus();
    await page.keyboard.press("Enter");
    await becomes(page, "60 rows");
    assert.equal(await chip.isVisible(), false);
    assert.deepEqual(await focused(page), { name: "metric", isVisible: true });
    assert.equal(await page.locator('.bar[aria-pressed="true"]').count(), 0);
    // The same bar once more removes the filter.
    await bar("true: 40 rows").click();
    await becomes(page, "40 of 60 rows");
    await bar("true: 40 rows").click();
    await becomes(page, "60 rows");
  },

  /** A bar of B filters by the scores in B. */
  async bars_of_two(page) {
    await page.locator('.bar[aria-label^="B: false: "]').click();
    const [, wanted] = (await page.locator('.bar[aria-pressed="true"]').getAttribute("aria-label")).match(/: (\d+) rows/);
    await becomes(page, `${wanted} of 61 rows`);
    assert.equal(await page.locator("#bar").innerText(), "exact in B: false\n✕");
    assert.deepEqual([...new Set(await page.locator("#body .row .scores > :nth-child(2)").allTextContents())], ["✕ false"]);
    await page.locator("#change").selectOption({ label: "B is worse" });
    await becomes(page, "2 of 61 rows");
  },

  async large(page) {
    assert.equal(await count(page), "20,000 rows");
    const table = page.locator("#table");
    const drawn = () => page.locator("#body .row").count();
    for (const [share, id] of [[0, "row-00000"], [0.5, "row-10000"], [1, "row-19999"]]) {
      await table.evaluate((it, share) => it.scrollTo(0, share * it.scrollHeight), share);
      await page.getByRole("rowheader", { name: id, exact: true }).waitFor();
      assert.ok((await drawn()) <= MAX_ROWS, `${await drawn()} rows are in the document`);
    }
    await page.locator("#query").fill("number 19998");
    await becomes(page, "1 of 20,000 rows");
    assert.deepEqual(await ids(page), ["row-19998"]);
    const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
    assert.ok(nodes < 2_000, `${nodes} elements`);
  },

  async limited(page) {
    assert.equal(await count(page), "20,000 rows");
    const rows = await page.locator("#rows").innerText();
    assert.ok(rows.includes("The table has 20,000 of 20,001 rows: the 10,000 with the worst scores, the same number for each metric; 10,000 others"), rows.slice(0, 500));
    await page.locator("#query").fill("nothing like this");
    await becomes(page, "0 of 20,000 rows");
    assert.ok((await page.locator("#empty").innerText()).startsWith("No row in the table matches."));
  },

  /** The strings are those of `hostile` in `fixtures.rs`. */
  async hostile(page, file) {
    const strings = JSON.parse(readFileSync(`${file}.strings.json`, "utf8"));
    assert.ok(strings.length >= 6);
    const before = await page.evaluate(() => document.querySelectorAll("script, img, iframe, object, style, link").length);
    const texts = [await page.locator("main").innerText(), await page.title()];
    for (let row = 0; row < strings.length; row += 1) {
      await page.locator("#body .row").nth(row).click();
      const shown = await page.evaluate(() => document.getElementById("detail").textContent);
      for (const field of ["id", "gold", "prediction", "attribute", "feedback", "details", "reasoning"]) {
        assert.ok(shown.includes(`${field} ${strings[row]}`), `${field} ${strings[row]} is not in ${shown}`);
      }
      await page.keyboard.press("Escape");
    }
    for (const text of texts) assert.ok(text.includes("</title><script>hacked = 1</script>"), text);
    assert.equal(await page.evaluate(() => document.querySelectorAll("script, img, iframe, object, style, link").length), before);
    assert.equal(await page.evaluate(() => typeof window.hacked), "undefined");
  },

  /** Figures are rounded as on the terminal, and histograms are described. */
  async figures(page) {
    const found = await page.evaluate(() => ({
      fixed: [0.03125, 0.09375, 0.15625, -0.03125, -0.00004, 2.5, 12.3456].map((value) => fixed(value, 4)),
      scores: [[0.66664, true], [1, true], [0.5, false], [1234567, false], [0.0000125, false]].map(([value, isBool]) => score(value, isBool)),
      changes: [[-0.021, true], [0.0215, false], [0, false], [null, true]].map(([value, isBool]) => changeText(value, isBool)),
      none: ["not enough rows", "all scores are equal"].map((reason) => intervalText({ mean: 0.5, ci95: null, no_interval: reason })),
      ticks: [0, 0.1 + 0.2, -2.50004, 1e6, 0.00001].map(short),
      scale: scaleAround([{ mean: 5, ci95: [4, 6] }, { mean: 2, ci95: null }, { mean: null, ci95: null }]),
      noScale: scaleAround([{ mean: 5, ci95: null }]),
      description: document.querySelector(".histogram svg").getAttribute("aria-label"),
      outside: [...document.querySelectorAll(".bar rect:not(.target)")].filter(({ x, y, width, height }) =>
        x.baseVal.value < 0 || x.baseVal.value + width.baseVal.value > 100.01 || y.baseVal.value < 0 || height.baseVal.value < 0.69).length,
    }));
    assert.deepEqual(found, {
      fixed: ["0.0312", "0.0938", "0.1562", "-0.0312", "0.0000", "2.5000", "12.3456"],
      scores: ["66.66%", "100.00%", "0.5000", "1.235e6", "1.250e-5"],
      changes: ["−2.10", "+0.0215", "0.0000", "–"],
      none: ["interval: not enough rows", "no interval: all scores are equal"],
      ticks: ["0", "0.3", "-2.5", "1.00e6", "1.00e-5"],
      scale: [1.8, 6.2],
      noScale: null,
      description: "Distribution of exact: most rows, 40 of 60, are in true",
      outside: 0,
    });
  },

  /** What a manifest says in words. */
  async facts(page) {
    const about = (manifest) => page.evaluate((it) => Object.fromEntries(aboutManifest(it)), {
      metrics: [], models: [], judged_by: [], rows: 1190, failed_rows: 2, ending: "complete", failure_score: 0, seed: "0",
      library: { version: "0.1.0" }, ...manifest,
    });
    const none = await about({});
    assert.deepEqual([none.Run, none.Cost, none.Code, none.Settings],
      [["1,190 rows, 2 failed"], [], ["dsrs-metrics 0.1.0"], ["seed: 0", "a failed row counts as 0"]]);
    const all = await about({
      data: [{ name: "a.jsonl", bytes: 45120, sha256: "684ea9ca094d4f7ff7a7", rows: 1190, grew_by: 2 }, { name: "-", bytes: 1 }],
      judged_by_others: { polite: 1200 },
      ending: "max_errors", repeats: 3, program_inputs: ["q", "context"], group: "topic", bootstrap: 1000, seed: "7",
      process: {
        started: "2026-11-26T08:00:00Z", duration_s: 125.4, git: { commit: "0123456789abcdef0123", is_changed: true },
        totals: { metrics_cost_msats: 1200, program_cost_msats: 7, program_input_tokens: 35, language_models: "3 calls" },
      },
    });
    assert.deepEqual(all.Data,
      ["a.jsonl · 1,190 rows · 45,120 bytes · SHA-256 684ea9ca094d… · grew by 2 bytes while it was read", "- · 1 byte"]);
    assert.deepEqual(all.Judges, ["polite: replies from other models or fingerprints: 1,200"]);
    assert.deepEqual(all.Run, ["2026-11-26 08:00:00 UTC", "took 2 min 5 s", "1,190 rows, 2 failed", "ended early: max_errors"]);
    assert.deepEqual(all.Cost, ["metrics: 1,200 msat", "program: 7 msat", "program: 35 tokens read", "language models: 3 calls"]);
    assert.deepEqual(all.Code, ["git 0123456789ab…, with changed files", "dsrs-metrics 0.1.0"]);
    assert.deepEqual(all.Settings, ["repeats: 3", "program inputs: q, context", "groups: topic", "bootstrap: 1,000 samples", "seed: 7",
      "a failed row counts as 0"]);
    assert.deepEqual(await page.evaluate(() => [59.9, 3725].map(duration)), ["59.900 s", "1 h 2 min"]);
    assert.equal((await about({ ending: "decided", early: "decided after 9 of 10 rows" })).Run[1], "decided after 9 of 10 rows");
  },

  /** Which rows a table has. */
  async rules(page) {
    const rule = (table) => page.evaluate((it) => ruleText(it), { seed: 0, ...table });
    const end = " (seed 0). Search, filters and their counts cover only the rows in the table; everything above covers all rows.";
    assert.equal(await rule({ shown: 19, all: 20, changed: [0, 0], failed: [0, 0], others: 20, worst: 9, sampled: 10 }),
      `The table has 19 of 20 rows: the 9 with the worst scores in B, the same number for each metric; 10 others, sampled${end}`);
    assert.equal(await rule({ shown: 12, all: 100, changed: [4, 4], failed: [2, 2], others: 94, worst: 3, sampled: 3 }),
      "The table has 12 of 100 rows: all 4 rows whose outcome or verdict changed; all 2 other rows that failed; "
      + `of the 94 others the 3 with the worst scores in B, the same number for each metric; 3 others, sampled${end}`);
    assert.equal(await rule({ shown: 40, all: 1500, changed: [20, 50], failed: [20, 1450], others: 0, worst: 0, sampled: 0 }),
      `The table has 40 of 1,500 rows: 20 of the 50 rows whose outcome or verdict changed, sampled; 20 of the 1,450 other rows that failed, sampled${end}`);
  },

  /** Writes the text above the table of rows beside the file: one space between words. */
  async text(page, file) {
    const words = await page.evaluate(() => [...document.querySelectorAll("main > section:not(#rows)")].flatMap((section) => {
      const texts = [];
      const walker = document.createTreeWalker(section, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) texts.push(walker.currentNode.textContent);
      return texts;
    }).join(" "));
    writeFileSync(file.replace(/html$/, "txt"), words.trim().replace(/\s+/g, " "));
  },

  /** The picture of the README: the scores by the first two metrics, sharp on screens with small pixels. */
  async picture(page, file) {
    const width = 1000;
    const large = await page.context().browser().newPage({ viewport: { width, height: 900 }, deviceScaleFactor: 2 });
    try {
      await large.goto(page.url());
      const section = large.locator("section", { has: large.locator("#metrics-title") });
      writeFileSync(file.replace(/html$/, "txt"), await section.evaluate((it) => it.outerHTML));
      const [{ y }, card] = await Promise.all([section.locator("h2"), section.locator(".card").nth(1)].map((it) => it.boundingBox()));
      const clip = { x: 0, y: y - 16, width, height: card.y + card.height - y + 24 };
      await large.screenshot({ path: file.replace(/html$/, "png"), clip, fullPage: true });
    } finally {
      await large.close();
    }
  },

  /** At 1280 px GitHub shows a README in a column of 830 px, and a scroll bar takes 15 of them. */
  async github(page, file) {
    const style = readFileSync(installed.resolve("github-markdown-css/github-markdown-light.css"), "utf8");
    const text = marked(readFileSync(file, "utf8"));
    await page.setContent(`<style>${style} body { margin: 0 }</style><article class="markdown-body">${text}</article>`);
    await page.setViewportSize({ width: 815, height: 900 });
    await assertFits(page);
  },

  async rustdoc(page) {
    await page.setViewportSize({ width: 1265, height: 900 });
    await assertFits(page);
  },

  async policy(page) {
    const paths = [];
    const server = createServer((request, response) => {
      paths.push(request.url);
      response.end();
    });
    await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
    const address = `http://127.0.0.1:${server.address().port}`;
    await fetch(`${address}/works`);
    const blocked = await page.evaluate(async (address) => {
      const found = [];
      document.addEventListener("securitypolicyviolation", (event) => found.push(event.effectiveDirective));
      const image = document.createElement("img");
      image.src = `${address}/image.png`;
      document.body.append(image);
      const script = document.createElement("script");
      script.textContent = "window.hacked = 1";
      document.body.append(script);
      await fetch(`${address}/fetched`).catch(() => {});
      for (let wait = 0; found.length < 3 && wait < 500; wait += 1) await new Promise((resolve) => setTimeout(resolve, 20));
      return found.sort();
    }, address);
    server.close();
    assert.deepEqual(blocked, ["connect-src", "img-src", "script-src-elem"]);
    assert.deepEqual(paths, ["/works"]);
    assert.equal(await page.evaluate(() => typeof window.hacked), "undefined");
  },
};

/** Runs a check on a file in a profile of its own. */
async function run(browser, check, file) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: "light" });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    const url = pathToFileURL(file).href;
    const problems = [];
    page.on("request", (request) => request.url() === url || request.url().startsWith("data:") || problems.push(`request of ${request.url()}`));
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && problems.push(`${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("dialog", (dialog) => {
      problems.push(`dialog: ${dialog.message()}`);
      dialog.dismiss();
    });
    if (file.endsWith(".html")) await page.goto(url);
    await checks[check](page, file);
    // What the policy blocks is in the console, and pages of rustdoc load files.
    if (!["policy", "rustdoc"].includes(check)) assert.deepEqual(problems, []);
  } finally {
    await context.close();
  }
}

const browser = await chromium.launch({
  executablePath: process.env.DSRS_METRICS_CHROMIUM,
  // Chromium does not run as root with its own sandbox; it opens only files of the tests.
  args: ["--no-sandbox", "--disable-gpu"],
});
try {
  for await (const line of createInterface({ input: process.stdin })) {
    const { check, file } = JSON.parse(line);
    let timer;
    const hangs = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error("no result after 150 s")), 150_000); });
    const error = await Promise.race([run(browser, check, file), hangs]).then(() => "", (error) => String(error.stack));
    clearTimeout(timer);
    console.log(JSON.stringify(error));
  }
} finally {
  await browser.close();
}
