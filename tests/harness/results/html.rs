//! What the HTML report shows above its table of rows. `tests/browser` drives the table.

use dsrs_metrics::results::{HtmlReport, Results};

use super::{run, with_attributes};

/// The text of the page up to the table of rows, one space between words.
fn shown(report: &HtmlReport<'_>) -> String {
    let html = report.to_html().unwrap();
    let main = html.split("<main>").nth(1).and_then(|rest| rest.split("id=\"rows\"").next());
    let mut words = String::new();
    for part in main.unwrap().split('<').skip(1) {
        words.push_str(part.split_once('>').map_or("", |(_, text)| text));
        words.push(' ');
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Results of these lines.
fn read(lines: &[&str]) -> Results {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.jsonl");
    std::fs::write(&file, lines.join("\n")).unwrap();
    Results::read(file).unwrap()
}

#[track_caller]
fn assert_shows(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in {text}");
    }
}

#[test]
fn trap_13_every_score_has_its_denominators() {
    let rows = [
        ("1", "0.5 passed:true"),
        ("2", "1.0 passed:true"),
        ("3", "metric_failed passed:false"),
        ("4", "gated passed:program_failed"),
        ("5", "skipped passed:true"),
        ("6", "abstained passed:true"),
    ];
    let results = run("r", &rows);
    let text = shown(&HtmlReport::new(&results));
    // The failed row is 0: (0.5 + 1 + 0) / 3 and 4 of 6.
    assert_shows(&text, &["m 0.5000", "2 of 6 scored 1 failed 1 gated 1 skipped 1 abstained"]);
    assert_shows(&text, &["passed 66.67% 95% interval 30.00% to 90.32%", "4 of 6 true 1 failed"]);
    let other = results.with_failure_score(-1.0);
    assert_shows(&shown(&HtmlReport::new(&other)), &["m 0.1667"]);
}

#[test]
fn trap_03_too_few_rows_have_words_and_no_number() {
    let results = run("r", &[("1", "0.5 none:abstained")]);
    let text = shown(&HtmlReport::new(&results));
    assert_shows(
        &text,
        &["m 0.5000 interval: not enough rows", "none not enough rows no row has a score"],
    );
}

#[test]
fn groups_have_intervals_and_the_lowest_comes_first() {
    let rows = [("1", "1"), ("2", "0.5"), ("3", "0.25"), ("4", "0.75"), ("5", "0.5")];
    let topics = [r#"{"t": "x"}"#, r#"{"t": "x"}"#, r#"{"t": "y"}"#, r#"{"t": "y"}"#, "{}"];
    let results = with_attributes(
        "r",
        rows.into_iter().zip(topics).map(|((id, score), topic)| (id, score, topic)),
    );
    let text = shown(&HtmlReport::new(&results).group("t"));
    let groups = text.split("By t").nth(1).unwrap();
    let places = [
        "(none) 0.5000 interval: not enough rows · 1 row",
        "y 0.5000 0.0000 to 1.0000 · 2 rows",
        "x 0.7500 0.0000 to 1.0000 · 2 rows",
    ];
    let places =
        places.map(|group| groups.find(group).unwrap_or_else(|| panic!("{group}: {groups}")));
    assert!(places[0] < places[2] && places[1] < places[2], "{places:?}");
    let unknown = HtmlReport::new(&results).group("source").to_html().unwrap_err().to_string();
    assert_eq!(unknown, "no row has the field `source`; the rows have `t`");
}

#[test]
fn parts_that_pass_or_fail_have_wilsons_interval() {
    let line = |id: u32, share: f64| {
        format!(
            r#"{{"id":"{id}","scores":{{"m":{{"outcome":"scored","value":{share},"parts":{{"exact":1,"share":{share}}},
        "components":{{"strict":{{"outcome":"scored","value":1,"passed":true}},"stars":{{"outcome":"scored","value":1}}}}}},
        "rating":{{"outcome":"scored","value":{id},"parts":{{"tone":1}}}}}}}}"#
        )
        .replace('\n', "")
    };
    let lines = [line(1, 0.9), line(2, 1.0)];
    let text = shown(&HtmlReport::new(&read(&lines.each_ref().map(String::as_str))));
    let parts = text.split("Parts").nth(1).unwrap();
    assert_shows(
        parts,
        &[
            "exact 100.00% 34.24% to 100.00% · 2 rows",
            "share 0.9500 0.3147 to 1.0000 · 2 rows",
            "strict 100.00% 34.24% to 100.00% · 2 rows",
            // A number without a verdict, and a part of a metric whose range is larger.
            "stars 1.0000 no interval: all scores are equal · 2 rows",
            "tone 1.0000 no interval: all scores are equal · 2 rows",
        ],
    );
}

#[test]
fn cost_time_and_the_savings_of_gates_are_summed() {
    let gated = r#"{"id":"ID","latency_s":2,"input_tokens":5,"cost_msats":7,"scores":{"all":{"outcome":"scored","value":0,
        "components":{"judge":{"outcome":"gated","gated_by":"em"}}}}}"#;
    let scored = r#"{"id":"ID","latency_s":1,"input_tokens":10,"cost_msats":1000,"scores":{"all":{"outcome":"scored","value":1,
        "cost_msats":300,"components":{"judge":{"outcome":"scored","value":1,"cost_msats":300}}}}}"#;
    let lines = [("1", gated), ("2", scored), ("3", gated), ("4", scored), ("5", gated)];
    let lines = lines.map(|(id, line)| line.replace("ID", id).replace('\n', ""));
    let results = read(&lines.each_ref().map(String::as_str));
    let text = shown(&HtmlReport::new(&results));
    assert_shows(
        &text,
        &[
            "Program: cost 2,021 msat",
            "Program: tokens read 35",
            "Program: mean latency 1.600 s",
            "Program: median latency 2.000 s",
            "all: cost 600 msat",
            "Gated: all.judge 3 rows, 900 msat saved",
        ],
    );
    assert!(!text.contains("tokens written"), "no row has them: {text}");
    // The component's mean is over the rows that it scored.
    assert_shows(&text, &["judge 1.0000"]);
}

#[test]
fn two_runs_have_the_difference_of_the_comparison() {
    let ids: Vec<String> = (0..20).map(|id| id.to_string()).collect();
    let of = |value: &'static str| ids.iter().map(|id| (id.as_str(), value)).collect::<Vec<_>>();
    let (a, b) = (run("a", &of("false")), run("b", &of("true")));
    let text = shown(&HtmlReport::comparison(&a, &b));
    assert_shows(
        &text,
        &["B is better by 100.00 percentage points", "20 better in B 0 worse 0 same"],
    );
    let text = shown(&HtmlReport::comparison(&a, &b).lower_is_better(["m"]));
    assert_shows(&text, &["m lower is better", "A is better by 100.00", "0 better in B 20 worse"]);
}

#[test]
fn trap_33_characters_that_hide_or_reverse_others_are_escaped() {
    let hidden = ["\\u202e", "\\u2066", "\\u200b", "\\u0000", "\\u001b", "\\ufeff"].concat();
    let name = |name: &str| format!("{name}{hidden}");
    let line = format!(
        r#"{{"id": "{0}", "gold": {{"{0}": "{0}\n\t"}}, "pred": {{"{0}": ["{0}"]}}, "attributes": {{"topic": "{0}"}},
        "scores": {{"{0}": {{"outcome": "scored", "value": 0.5, "details": "{0}", "feedback": "{0}", "parts": {{"{0}": 0.5}},
        "metadata": {{"{0}": "{0}"}}, "components": {{"{0}": {{"outcome": "scored", "value": 1}}}}, "missing": ["{0}"]}},
        "{1}": {{"outcome": "metric_failed", "error": "{0}"}}, "{2}": {{"outcome": "gated", "gated_by": "{0}"}}}}}}"#,
        name("a"),
        name("b"),
        name("c"),
    );
    let results = read(&[&line.replace('\n', "")]).with_name("run \u{202e}");
    let report = HtmlReport::new(&results).title("title \u{202e}").group("topic");
    let html = report.to_html().unwrap();
    let is_hidden = |it: char| {
        let others = matches!(it, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
        others || (it.is_control() && !matches!(it, '\n' | '\t'))
    };
    let found: Vec<_> = html.char_indices().filter(|(_, it)| is_hidden(*it)).collect();
    assert_eq!(found, []);
    // In JSON a backslash is two, and a line break and a tab of a string remain.
    let escaped = "\\u{202e}\\u{2066}\\u{200b}\\u{0}\\u{1b}\\u{feff}";
    let in_json = escaped.replace('\\', "\\\\");
    assert!(html.contains(&format!(r#"{{"a{in_json}":"a{in_json}\n\t"}}"#)), "{html}");
    for json in ["\\u202e", "\\u2066", "\\u0000", "\\u001b"] {
        assert!(!html.contains(json), "{json} is in the data");
    }
    assert!(
        html.contains("<title>title \\u{202e}</title>")
            && html.contains("<bdi>run \\u{202e}</bdi>")
    );
    assert_shows(&shown(&report), &[&format!("a{escaped}"), &format!("b{escaped} ")]);
}
