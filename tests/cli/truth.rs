//! `score --truth` judges a sample of the rows, and estimates its mean over all of them.

use crate::Folder;
use insta::assert_snapshot;

/// 1,000 rows; one in 10 is wrong. One in 20 has the right words in the wrong order, which only `em` notices.
fn folder() -> Folder {
    let row = |n: u32| {
        let pred = match n % 20 {
            3 | 13 => "no",
            _ if n * 7919 % 1000 < 50 => "sir yes",
            _ => "yes sir",
        };
        format!(
            r#"{{"id": "r{n}", "gold": {{"answer": "yes sir"}}, "pred": {{"answer": "{pred}"}}}}"#
        ) + "\n"
    };
    Folder::with("rows.jsonl", (0..1000).map(row).collect::<String>())
}

const SAMPLED: &str = "score rows.jsonl -m f1 --truth em --sample 100 --by f1";

#[test]
fn a_sample_is_judged() {
    let folder = folder();
    let run = |words: &str| {
        let ran = folder.run(words);
        format!("{:?}\n{}{}", ran.code, ran.out, ran.err)
    };
    assert_snapshot!(run(SAMPLED), @"
    Some(0)
    f1  0.9000 [0.8814, 0.9186] (mean of 1000/1000, 0 failed)
    em  85.00% [79.28, 88.78] (100 of 1,000 judged, worth 178, 0 failed)
    ");
    assert_snapshot!(run(&format!("{SAMPLED} --seed 8 --fail-under em=90%")), @"
    Some(1)
    f1  0.9000 [0.8814, 0.9186] (mean of 1000/1000, 0 failed)
    em  89.00% [84.93, 91.71] (100 of 1,000 judged, worth 250, 0 failed)
    em: 89.00% is below 90%
    ");
    assert_snapshot!(run("score rows.jsonl -m f1 --truth em --sample 100"), @"
    Some(0)
    f1  0.9000 [0.8814, 0.9186] (mean of 1000/1000, 0 failed)
    em  82.00% [73.82, 88.04] (100 of 1,000 judged, 0 failed)
    ");
    assert_snapshot!(run("score rows.jsonl -m em --truth f1 --sample 100 --by em"), @"
    Some(0)
    em  85.50% [83.18, 87.55] (855/1000, 0 failed)
    f1  0.9034 [0.8639, 0.9422] (100 of 1,000 judged, worth 193, 0 failed)
    ");
    assert_snapshot!(run("score rows.jsonl -m f1 --truth em --sample 5000 --by f1"), @"
    Some(0)
    f1  0.9000 [0.8814, 0.9186] (mean of 1000/1000, 0 failed)
    em  85.50% [83.18, 87.55] (855/1000, 0 failed)
    note: `em` judged all 1,000 rows, because its sample size is 5,000
    ");
    assert_snapshot!(run("score rows.jsonl -m f1 --truth em --sample 100 --by f2"), @"
    Some(2)
    error: truth `em`: expected another metric in the run to stratify by, found `f2`; write `f1`
    ");
    assert_snapshot!(run("score rows.jsonl -m f1 --truth f1 --sample 100 --by f1"), @"
    Some(2)
    error: duplicate metric `f1`; list it once
    ");
    assert_snapshot!(run("score rows.jsonl -m f1 --truth em --sample 5"), @"
    Some(2)
    error: truth `em`: expected a sample of at least 10 rows, found 5; write 100
    ");
    assert_snapshot!(run(&format!("{SAMPLED} --repeats 3")), @"
    Some(2)
    error: truth `em`: it judges a row once; remove the repeats, or judge all rows
    ");
}

#[test]
fn rows_outside_the_sample_are_in_every_file() {
    let folder = folder();
    let score = |concurrency: u32, out: &str| {
        let files = "--markdown summary.md --junit junit.xml --json";
        let printed = folder.printed(&format!(
            "{SAMPLED} --out {out} --concurrency {concurrency} {files}"
        ));
        (printed, folder.read(out))
    };
    let (summary, rows) = score(1, "a.jsonl");
    assert_eq!(rows, score(8, "b.jsonl").1);
    assert_eq!(rows.lines().count(), 1000);
    let not_sampled = r#""outcome":"not_sampled","value":null"#;
    assert_eq!(rows.matches(not_sampled).count(), 900);
    assert_eq!(rows.matches(r#""probability":0.1"#).count(), 900);
    assert!(
        summary.contains(r#""not_sampled":900,"sampled":{"metric":"em","by":"f1""#),
        "{summary}"
    );
    assert!(
        folder
            .read("summary.md")
            .contains("100 of 1,000 judged, worth")
    );
    assert_eq!(folder.read("junit.xml").matches("<skipped").count(), 900);
    folder.printed(&format!("{SAMPLED} --out a.csv"));
    assert_eq!(folder.read("a.csv").matches("not_sampled").count(), 900);
    folder.printed("score rows.jsonl -m f1,em --out whole.jsonl");
    let compared = |results: &str| folder.printed(&format!("compare whole.jsonl {results} -m em"));
    let of_csv = compared("a.csv").replace("a.csv", "a.jsonl");
    assert_eq!(of_csv, compared("a.jsonl"));
    assert_snapshot!(of_csv, @"
    A: whole.jsonl, 1000 rows of rows.jsonl
    B: a.jsonl, 1000 rows of rows.jsonl
    1000 rows in both

    metric    n       A       B  B - A   95% interval      p  B better  A better  equal
    em      100  85.00%  85.00%   0.00  [-2.80, 2.80]  1.000         0         0    100

    em: equal in all 100 of 1,000 rows judged in both; a difference of up to 2.80 percentage points is still possible
    ");
}

/// Two programs over the same rows: the second one is right in one more row of 10.
fn two_programs() -> Folder {
    let file = |wrong: u32| {
        let row = |n: u32| {
            let pred = match n % 10 {
                last if last < wrong => "no",
                _ if n * 7919 % 1000 < 50 => "sir yes",
                _ => "yes sir",
            };
            format!(
                r#"{{"id": "r{n}", "gold": {{"answer": "yes sir"}}, "pred": {{"answer": "{pred}"}}, "topic": {}}}"#,
                n % 4
            ) + "\n"
        };
        (0..1000).map(row).collect::<String>()
    };
    let folder = Folder::with("old.jsonl", file(3));
    folder.write("new.jsonl", file(2));
    folder
}

#[test]
fn sampled_runs_are_compared_by_the_rows_that_both_judged_and_the_proxies_of_all() {
    let folder = two_programs();
    let score = |file: &str, of: &str, more: &str| {
        let words = format!("score {file}.jsonl -m f1 {of} --out {file}{more}.jsonl");
        folder.printed(&words);
    };
    let sample = "--truth em --sample 100 --by f1";
    score("old", sample, ".a");
    score("new", sample, ".a");
    score("new", &format!("{sample} --seed 3"), ".seed");
    score("old", "--truth em --sample 30 --by f1 --seed 5", ".few");
    score("old", "--truth em --sample 100", ".alone");
    score("new", "--truth em --sample 100", ".alone");
    let compare = |words: &str| {
        let ran = folder.run(&format!("compare {words}"));
        let sentences = ran
            .out
            .lines()
            .skip_while(|line| !line.starts_with("metric"));
        format!(
            "{:?}\n{}\n{}",
            ran.code,
            sentences.collect::<Vec<_>>().join("\n"),
            ran.err
        )
    };
    assert_snapshot!(compare("old.a.jsonl new.a.jsonl -m em"), @"
    Some(0)
    metric   n       A       B  B - A   95% interval      p  B better  A better  equal
    em      97  68.56%  75.70%  +7.14  [2.55, 11.66]  0.002         5         0     92

    em: B is better by 7.14 percentage points [2.55, 11.66] (p = 0.002, 97 of 1,000 rows judged in both, worth 127)
      B is better in 5 rows: `r62`, `r322`, `r392` and 2 more
    ");
    assert_snapshot!(compare("old.alone.jsonl new.alone.jsonl -m em"), @"
    Some(0)
    metric    n       A       B  B - A    95% interval      p  B better  A better  equal
    em      100  74.00%  79.00%  +5.00  [-0.09, 10.06]  0.054         5         0     95

    em: no significant difference: B - A = +5.00 percentage points [-0.09, 10.06] (p = 0.054, 100 of 1,000 rows judged in both)
      B is better in 5 rows: `r62`, `r322`, `r392` and 2 more
    ");
    assert_snapshot!(compare("old.few.jsonl new.seed.jsonl -m em"), @"
    Some(0)
    metric  n       A        B   B - A     95% interval  p  B better  A better  equal
    em      2  50.00%  100.00%  +50.00  [-48.64, 90.55]  -         1         0      1

    em: no test, because only 2 rows were judged in both runs, and a test needs 10; sample them with the same seed, or sample more rows (2 rows)
      B is better in 1 row: `r102`
    ");
    assert_snapshot!(compare("old.a.jsonl new.a.jsonl -m em --group topic"), @"
    Some(0)
    metric   n       A       B  B - A    95% interval  p  B better  A better  equal
    em      97  70.10%  75.26%  +5.15  [-5.42, 15.61]  -         5         0     92

    em: no test by group, because `em` judged only a sample of the rows; leave out the group, or judge all rows (97 rows)
      B is better in 5 rows: `r62`, `r322`, `r392` and 2 more
    ");
    assert_snapshot!(compare("new.a.jsonl old.a.jsonl -m em --fail-if-worse"), @"
    Some(1)
    metric   n       A       B  B - A     95% interval      p  B better  A better  equal
    em      97  75.70%  68.56%  -7.14  [-11.66, -2.55]  0.002         0         5     92

    em: A is better by 7.14 percentage points [2.55, 11.66] (p = 0.002, 97 of 1,000 rows judged in both, worth 127)
      A is better in 5 rows: `r62`, `r322`, `r392` and 2 more
    B is worse: em: A is better by 7.14 percentage points [2.55, 11.66] (p = 0.002, 97 of 1,000 rows judged in both, worth 127)
    ");
    let json = folder.printed("compare old.a.jsonl new.a.jsonl --json");
    assert!(
        json.contains(r#""sampled":{"rows":1000,"by":"f1","worth":"#),
        "{json}"
    );
}
