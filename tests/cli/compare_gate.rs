//! `compare`: scores of all rows, the gate, and names, groups and numbers that need a word.

use insta::assert_snapshot;
use serde_json::json;

use crate::Folder;

/// Scores of two runs, by `score --out old.jsonl` and `new.jsonl`.
fn scored(metrics: &str, old: &str, new: &str, args: &str) -> Folder {
    let folder = Folder::new();
    for (run, rows) in [("old", old), ("new", new)] {
        folder.write(&format!("{run}.csv"), rows);
        let (data, out) = (format!("{run}.csv"), format!("{run}.jsonl"));
        let command = format!("score {data} -q -m {metrics} --out {out}");
        folder.printed(&format!("{command} {args}"));
    }
    folder
}

/// Rows with the label `x` or `y`; the first rows are predicted wrongly.
fn rows(count: usize, wrong: usize) -> String {
    let row = |row: usize| {
        let gold = ["x", "y"][row % 2];
        let pred = if row < wrong {
            ["y", "x"][row % 2]
        } else {
            gold
        };
        format!("{row},{gold},{pred}\n")
    };
    format!(
        "id,gold.answer,pred.answer\n{}",
        (0..count).map(row).collect::<String>()
    )
}

fn compare(folder: &Folder, args: &str) -> (Option<i32>, String) {
    let ran = folder.run(&format!("compare old.jsonl new.jsonl {args}"));
    (ran.code, ran.err)
}

#[test]
fn a_corpus_metric_has_both_scores_and_a_test() {
    let folder = scored("em,macro_f1", &rows(12, 0), &rows(12, 8), "");
    assert_snapshot!(folder.run("compare old.jsonl new.jsonl"));
    let worse = "B is worse: em: A is better by 66.67 percentage points [26.25, 86.19] (adjusted p = 0.016, 12 rows)\n\
                 B is worse: macro_f1: A is better by 0.6667 [0.4196, 0.9231] (adjusted p = 0.016, 12 rows)\n";
    assert_eq!(
        compare(&folder, "--fail-if-worse"),
        (Some(1), worse.to_owned())
    );
    assert_eq!(compare(&folder, "--fail-if-worse -m macro_f1").0, Some(1));
}

#[test]
fn a_gate_reports_what_is_worse_before_what_cannot_be_tested() {
    let folder = scored("em,matthews_correlation", &rows(12, 0), &rows(12, 8), "");
    // In the second run all labels are equal, so the correlation is not defined.
    let constant = rows(12, 0).replace(",y\n", ",x\n");
    folder.write("new.csv", constant);
    folder.printed("score new.csv -q -m em,matthews_correlation --out new.jsonl");
    let not_tested = "--fail-if-worse: matthews_correlation: the score of B is not defined: all predicted labels are equal (12 rows)\n";
    let worse = "B is worse: em: A is better by 50.00 percentage points [13.63, 74.62] (p = 0.031, 12 rows)\n";
    let expected = format!("{worse}warning: {not_tested}");
    assert_eq!(compare(&folder, "--fail-if-worse"), (Some(1), expected));
    let same = "compare new.jsonl new.jsonl --fail-if-worse";
    let ran = folder.run(same);
    let not_tested = not_tested.replace("score of B", "score of A");
    assert_eq!(
        (ran.code, ran.err),
        (Some(2), format!("error: {not_tested}"))
    );
}

#[test]
fn names_that_cannot_apply_are_refused() {
    let folder = scored("same_text,f1", &rows(8, 0), &rows(8, 1), "");
    let error = |args: &str| folder.error("compare", &format!("old.jsonl new.jsonl {args}"));
    assert_snapshot!(error("--lower-is-better same_txt"),
        @"--lower-is-better: `same_txt` cannot be lower-is-better, because it is not compared; did you mean `same_text`?");
    assert_snapshot!(error("--lower-is-better TYPO"),
        @"--lower-is-better: `TYPO` cannot be lower-is-better, because it is not compared, only `same_text`, `f1`");
    let duplicate = "duplicate metric `f1`; list it once";
    assert_eq!(error("-m f1,f1"), duplicate);
    assert_eq!(
        folder.error("agree", "old.jsonl -m f1,f1 --label x"),
        duplicate
    );
    let error = |name| {
        folder.error(
            "report",
            &format!("old.jsonl --out r.html --lower-is-better {name}"),
        )
    };
    assert_snapshot!(error("TYPO"),
        @"--lower-is-better: `TYPO` cannot be lower-is-better, because no run has it, only `same_text`, `f1`");
    assert_snapshot!(error("f1s"),
        @"--lower-is-better: `f1s` cannot be lower-is-better, because no run has it; did you mean `f1`?");
}

#[test]
fn many_unknown_metrics_are_one_warning() {
    let file = |value: u8| {
        let scores = |row: usize| {
            let score =
                |metric: usize| format!(r#""m{metric}":{{"outcome":"scored","value":{value}}}"#);
            let scores = (0..900).map(score).collect::<Vec<_>>().join(",");
            format!("{{\"id\":{row},\"scores\":{{{scores}}}}}\n")
        };
        (0..2).map(scores).collect::<String>()
    };
    let folder = Folder::new();
    folder.write_run("old.jsonl", &file(1));
    folder.write_run("new.jsonl", &file(0));
    let (code, err) = compare(&folder, "");
    assert_eq!((code, err.lines().count()), (Some(0), 1), "{err}");
    assert!(
        err.starts_with("warning: the directions of `m0`, `m1`, ") && err.len() < 1_000,
        "{err}"
    );
    let end = "are unknown, so higher is assumed to be better; if lower is better, pass --lower-is-better NAME\n";
    assert!(err.ends_with(end), "{err}");
    let (code, err) = compare(&folder, "--fail-if-worse");
    assert_eq!((code, err.lines().count()), (Some(2), 2), "{err}");
    assert!(err.ends_with("; and 899 more cannot be tested\n"), "{err}");
}

#[test]
fn rows_without_a_group_are_groups_of_their_own_in_both_commands() {
    let row = |row: usize, pred: &str| {
        let topic = match row {
            0 => "null".to_owned(),
            1 => {
                return format!(
                    "{{\"id\":1,\"gold\":{{\"answer\":\"x\"}},\"pred\":{{\"answer\":\"{pred}\"}}}}\n"
                );
            }
            row => format!("\"t{}\"", row / 2),
        };
        format!(
            "{{\"id\":{row},\"gold\":{{\"answer\":\"x\"}},\"pred\":{{\"answer\":\"{pred}\"}},\"topic\":{topic}}}\n"
        )
    };
    let folder = Folder::new();
    for (run, pred) in [("old", "x"), ("new", "y")] {
        folder.write(
            "rows.jsonl",
            (0..20)
                .map(|it| row(it, if it % 4 == 0 { "w" } else { pred }))
                .collect::<String>(),
        );
        let out = format!("{run}.jsonl");
        let ran = folder.run(&format!("score rows.jsonl -m em --group topic --out {out}"));
        let warning =
            "warning: --group topic: 2 of 20 rows lack this field; each is a group of its own\n";
        assert_eq!((ran.code, &*ran.err), (Some(0), warning));
        assert!(run == "new" || ran.out.contains("11 groups"), "{}", ran.out);
    }
    assert_snapshot!(folder.run("compare old.jsonl new.jsonl --group topic"));
    let json = folder.compare_json("old.jsonl new.jsonl --group topic");
    assert_eq!(
        (&json["without_group"], &json["metrics"]["em"]["clusters"]),
        (&json!(2), &json!(11))
    );
    assert_eq!(
        json["metrics"]["em"]["groups"].as_object().unwrap().len(),
        9
    );
}

#[test]
fn runs_in_which_every_row_failed_show_numbers_and_no_difference() {
    let row = |row: usize| {
        format!(
            r#"{{"id":{row},"t":"one","scores":{{"f1":{{"outcome":"metric_failed","error":"x"}}}},"attributes":{{"t":"one"}}}}"#
        )
    };
    let file = (0..10).map(|id| row(id) + "\n").collect::<String>();
    let folder = Folder::with("old.jsonl", &file);
    folder.write("new.jsonl", &file);
    assert_snapshot!(folder.run("compare old.jsonl new.jsonl --group t"), @"
    A: old.jsonl, 10 rows
    B: new.jsonl, 10 rows
    10 rows in both
    identity unknown: neither run has a manifest, so metrics are compared by their names

    metric   n       A       B   B - A  95% interval      p  B better  A better  equal
    f1      10  0.0000  0.0000  0.0000             -  1.000         0         0     10

    f1: equal in all 10 rows in 1 group; 10 rows failed in A and 10 in B, counted as 0, no row is scored in both
    t     n       A       B   B - A       95% interval      p  B better  A better  equal
    one  10  0.0000  0.0000  0.0000  [-0.2918, 0.2918]  1.000         0         0     10
    no significant difference in any group (p-values adjusted for 1 group, Holm)
    -- exit code 0 --
    ");
}

#[test]
fn repeats_of_pass_or_fail_are_percentages() {
    let folder = scored("em,f1", &rows(8, 0), &rows(8, 4), "--repeats 3");
    let ran = folder.run("compare old.jsonl new.jsonl");
    assert!(
        ran.out.contains("\nem      8  100.00%  50.00%   -50.00 "),
        "{}",
        ran.out
    );
    assert!(
        ran.out.contains("\nf1      8   1.0000  0.5000  -0.5000 "),
        "{}",
        ran.out
    );
    for run in ["old", "new"] {
        let (data, out) = (format!("{run}.csv"), format!("{run}-one.csv"));
        folder.printed(&format!("score {data} -q -m em,f1 --out {out} --repeats 2"));
    }
    let ran = folder.run("compare old-one.csv new-one.csv -m em");
    assert!(
        ran.out.contains("em      8  100.00%  50.00%  -50.00 "),
        "{}",
        ran.out
    );
    // A run with repeats and one without have the same unit.
    folder.printed("score new.csv -q -m em --out plain.jsonl");
    let ran = folder.run("compare old.jsonl plain.jsonl -m em");
    assert!(
        ran.out.contains("em      8  100.00%  50.00%  -50.00 "),
        "{}",
        ran.out
    );
}
