//! `score --stop-when` ends a run once its gates are decided, and `plan` says how many rows that takes.

use crate::Folder;
use insta::assert_snapshot;

/// 1,000 rows; one in 50 is wrong.
fn folder() -> Folder {
    let row = |n: u32| {
        let pred = if n % 50 == 7 { "no" } else { "yes" };
        format!(r#"{{"id": "r{n}", "gold": {{"answer": "yes"}}, "pred": {{"answer": "{pred}"}}}}"#)
            + "\n"
    };
    Folder::with("rows.jsonl", (0..1000).map(row).collect::<String>())
}

#[test]
fn a_run_ends_once_its_gate_is_decided() {
    let folder = folder();
    let run = |args: &[&str]| {
        let mut words = vec!["score", "rows.jsonl", "-m", "em", "--stop-when"];
        words.extend(args);
        let ran = folder.run(&words);
        format!("{:?}\n{}{}", ran.code, ran.out, ran.err)
    };
    assert_snapshot!(run(&["em >= 90%", "--alpha", "0.01"]), @"
    Some(0)
    em  100.00% [92.22, 100.00] (68/68, 0 failed, 932 not needed)
    decided after 68 of 1,000 rows; wrong in at most 1%
    ");
    assert_snapshot!(run(&["em <= 0.9", "--alpha", "0.01"]), @r#"
    Some(1)
    em  100.00% [92.22, 100.00] (68/68, 0 failed, 932 not needed)
    decided after 68 of 1,000 rows; wrong in at most 1%
    --stop-when "em <= 0.9": the gate failed
    "#);
    assert_snapshot!(run(&["lower(em) >= 0.9", "--alpha", "0.05"]), @"
    Some(0)
    em  100.00% [88.85, 100.00] (47/47, 0 failed, 953 not needed)
    decided after 47 of 1,000 rows; wrong in at most 5%
    ");
    assert_snapshot!(run(&["em >= 0.9"]), @"
    Some(0)
    em  97.93% [97.35, 98.10] (901/920, 0 failed, 80 not needed)
    decided after 920 of 1,000 rows; no remaining row can change it
    ");
    assert_snapshot!(run(&["em >= 0.9", "--alpha", "0.01", "--seed", "8"]), @"
    Some(0)
    em  98.82% [90.83, 99.90] (84/85, 0 failed, 915 not needed)
    decided after 85 of 1,000 rows; wrong in at most 1%
    ");
    assert_snapshot!(run(&["em >= 90", "--alpha", "0.01"]), @"
    Some(2)
    error: gate `em >= 90`: expected a limit from 0 to 1, found 90
    ");
    assert_snapshot!(run(&["em >= 0.9", "--alpha", "1"]), @"
    Some(2)
    error: expected an alpha above 0 and at most 0.5, found 1; write 0.01
    ");
}

#[test]
fn rows_that_were_not_needed_are_in_every_file() {
    let folder = folder();
    let score = |concurrency: u32, out: &str| {
        let concurrency = concurrency.to_string();
        let words = [
            "score",
            "rows.jsonl",
            "-m",
            "em",
            "--stop-when",
            "em >= 0.9",
            "--alpha",
            "0.01",
            "--out",
            out,
            "--concurrency",
            &concurrency,
            "--markdown",
            "summary.md",
            "--junit",
            "junit.xml",
        ];
        folder.printed(&words);
        folder.read(out)
    };
    let rows = score(1, "a.jsonl");
    assert_eq!(rows, score(64, "b.jsonl"));
    assert_eq!(rows.lines().count(), 1000);
    let not_needed = rows
        .matches(r#""outcome":"not_needed","value":null"#)
        .count();
    assert!(not_needed > 800, "{not_needed}");
    let decided = format!(
        "decided after {} of 1,000 rows; wrong in at most 1%",
        1000 - not_needed
    );
    assert!(folder.read("summary.md").contains(&decided));
    assert_eq!(
        folder.read("junit.xml").matches("<skipped").count(),
        not_needed
    );
    // Compared with a whole run, only rows with both scores count.
    folder.printed("score rows.jsonl -m em --out whole.jsonl");
    let compared = folder.run("compare a.jsonl whole.jsonl");
    assert_snapshot!(compared.out, @"
    A: a.jsonl, 1000 rows of rows.jsonl
    B: whole.jsonl, 1000 rows of rows.jsonl
    1000 rows in both
    note: ending in A: decided; in B: complete

    metric   n        A        B  B - A   95% interval      p  B better  A better  equal
    em      68  100.00%  100.00%   0.00  [-5.35, 5.35]  1.000         0         0     68

    em: equal in all 68 rows; a difference of up to 5.35 percentage points is still possible; not compared: 932 rows without a score (A: 932 not_needed)
    ");
}

#[test]
fn runs_that_end_early_are_compared_at_any_number_of_looks() {
    let folder = folder();
    let worse = folder.read("rows.jsonl").replace(
        r#"5", "gold": {"answer": "yes"}, "pred": {"answer": "yes"}"#,
        r#"5", "gold": {"answer": "yes"}, "pred": {"answer": "no"}"#,
    );
    folder.write("worse.jsonl", worse);
    let run = |rows: &str, out: &str, more: &str| {
        folder.run(&format!(
            "score {rows}.jsonl -m em --out {out}.jsonl {more}"
        ));
    };
    run("rows", "early", "--stop-when em>=0.9 --alpha 0.01");
    run("worse", "early_worse", "--stop-when em>=0.8 --alpha 0.4");
    run("rows", "whole", "");
    run("worse", "whole_worse", "");
    let compare = |words: &str| {
        let out = folder
            .run(&format!("compare {words} -m em --sequential"))
            .out;
        out.lines()
            .filter(|line| line.starts_with("em"))
            .map(|line| line.to_owned() + "\n")
            .collect::<String>()
    };
    assert_snapshot!(compare("early.jsonl early_worse.jsonl"), @"
    em      68  100.00%  86.76%  -13.24  [-29.58, -1.34]  0.027         0         9     59
    em: A is better by 13.24 percentage points [1.34, 29.58] (p = 0.027, 68 rows); not compared: 932 rows without a score (A: 932 not_needed; B: 927 not_needed)
    ");
    assert_snapshot!(compare("whole.jsonl whole_worse.jsonl"), @"
    em      1000  98.00%  88.00%  -10.00  [-13.38, -7.52]  < 0.001         0       100    900
    em: A is better by 10.00 percentage points [7.52, 13.38] (p < 0.001, 1000 rows)
    ");
    // Which rows come first does not depend on the file.
    let mut lines: Vec<String> = folder
        .read("whole_worse.jsonl")
        .lines()
        .map(str::to_owned)
        .collect();
    lines.reverse();
    folder.write("reversed.jsonl", lines.join("\n"));
    assert_eq!(
        compare("whole.jsonl reversed.jsonl"),
        compare("whole.jsonl whole_worse.jsonl")
    );
    assert_snapshot!(folder.error("compare", "whole.jsonl whole_worse.jsonl --sequential --group gold.x"), @"the argument '--sequential' cannot be used with '--group <FIELD>'");
}

#[test]
fn a_plan_says_how_many_rows_a_gate_takes() {
    let folder = folder();
    let run = |args: &[&str]| {
        let ran = folder.run(&[&["plan"], args].concat());
        format!("{:?}\n{}{}", ran.code, ran.out, ran.err)
    };
    let gate = "em >= 0.9";
    assert_snapshot!(run(&[gate, "--rows", "1000", "--at", "0.8,90%,0.97", "--cost", "12 msat"]), @"
    Some(0)
    em >= 0.9, 1000 rows, wrong in at most 1%

    true value  verdict  rows  9 of 10  one look   all   msat    all
        0.8000    fails   108      171        97  1000   1300  12000
        0.9000   passes   996     1000         -  1000  11947  12000
        0.9700   passes   132      198       127  1000   1579  12000
    ");
    folder.printed("score rows.jsonl -m em --out run.jsonl");
    assert_snapshot!(run(&[gate, "--run", "run.jsonl", "--alpha", "0.05"]), @"
    Some(0)
    em >= 0.9, 1000 rows, wrong in at most 5%

    true value  verdict  rows  9 of 10  one look   all
        0.8000    fails    78      129        65  1000
        0.8300    fails   126      233       119  1000
        0.8500    fails   193      359       202  1000
        0.8800    fails   515      796       596  1000
        0.9200   passes   592      828       566  1000
        0.9500   passes   175      302       156  1000
        0.9700   passes    90      144        77  1000
        0.9800   passes    70       98        56  1000
        1.0000   passes    47       47        24  1000
    ");
    folder.printed(&["plan", "failed <= 2%", "--rows", "200", "--json"]);
    let errors = [
        run(&["em > 0.9", "--rows", "10"]),
        run(&["lower(em) >= 0.9", "--rows", "10"]),
        run(&["em >= 1", "--rows", "10"]),
        run(&[gate, "--rows", "10", "--at", "1.5"]),
        run(&[gate, "--rows", "10", "--alpha", "0"]),
        run(&["f1 >= 0.9", "--run", "run.jsonl"]),
        run(&[gate]),
    ];
    assert_snapshot!(errors.concat(), @"
    Some(2)
    error: expected a gate such as `polite >= 0.9`, `lower(polite) >= 90%` or `failed <= 0.02`, found `em > 0.9`
    Some(2)
    error: expected a limit on a mean, found `lower(em) >= 0.9`; write a gate such as `polite >= 0.9`
    Some(2)
    error: gate `em >= 1`: expected a limit between 0 and 1, found 1
    Some(2)
    error: --at 1.5: expected a score from 0 to 1
    Some(2)
    error: --alpha 0: expected a number above 0 and at most 0.5; write 0.01
    Some(2)
    error: run.jsonl: expected a metric in the run (`em`), found `f1`
    Some(2)
    error: the following required arguments were not provided: --rows <N>
    ");
}
