//! `score --truth` judges a sample of the rows, and estimates its mean over all of them.

use crate::Folder;
use insta::assert_snapshot;

/// 1,000 rows, of which one in 10 is wrong. One in 20 has the right words in another order, which only `em` sees.
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
    note: `em` judged all 1,000 rows, because its sample may have 5,000
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

    metric    n       A       B  B - A   95% interval  p  B better  A better  equal
    em      100  85.00%  85.00%   0.00  [-3.70, 3.70]  -         0         0    100

    em: no test, because `em` judged only a sample of the rows of a.jsonl; compare the estimates and their intervals, or judge all rows (100 rows); not compared: 900 rows without a score (B: 900 not_sampled)
    ");
}
