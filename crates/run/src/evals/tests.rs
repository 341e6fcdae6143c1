//! Failing evals: the first line of each message, and the files that the evals leave behind.

mod code;
#[cfg(unix)]
mod paths;

use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::environment::{Environment, Update};
use super::{Bound, Condition, End, Eval, Pending, Source};
use crate::contract::{Example, Prediction, example, metric_fn, prediction};

/// A package in its own folder, which is removed at the end.
struct Package {
    /// The name of the test.
    name: &'static str,
    folder: &'static str,
}

impl Package {
    fn new(name: &'static str) -> Self {
        let folder = std::env::temp_dir().join(format!("dsrs-evals-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        // A `Source` is static.
        let folder = folder
            .canonicalize()
            .unwrap()
            .to_string_lossy()
            .into_owned();
        Self {
            name,
            folder: String::leak(folder),
        }
    }

    fn path(&self, path: &str) -> PathBuf {
        Path::new(self.folder).join(path)
    }

    fn write(&self, path: &str, content: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), content).unwrap();
    }

    fn eval_of(&self, name: &'static str, module: &'static str, update: Update) -> Eval {
        let same = |gold: &Example, pred: &Prediction| gold.get("answer") == pred.get("answer");
        self.without_metric(name, module, update)
            .metric(metric_fn("same", same))
    }

    fn without_metric(&self, name: &'static str, module: &'static str, update: Update) -> Eval {
        let source = Source {
            name,
            module,
            file: "evals.rs",
            line: 3,
            package: self.name,
            folder: self.folder,
        };
        let mut eval = Eval::<Example, Prediction>::new(source);
        let target_folder = self.path("target");
        eval.environment = Environment {
            update: Ok(update),
            target_folder,
            is_github: false,
            is_ci: false,
        };
        eval
    }

    fn eval(&self, update: Update) -> Eval {
        self.eval_of("capitals", "demo", update)
    }

    /// The folder of the eval below the target folder.
    fn eval_folder(&self) -> PathBuf {
        self.path("target/dsrs-metrics/evals")
            .join(self.name)
            .join("capitals")
    }
}

impl Drop for Package {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.folder);
    }
}

const NEW: Update = Update::New { records: false };
const SAME: &str = "same >= 0.5";

fn same(bound: f64) -> Condition {
    Condition::Score("same", End::Estimate, Bound::AtLeast(bound))
}

fn no_worse() -> Condition {
    Condition::NoWorse("same", 0.02)
}

fn rows(count: u32) -> Vec<Example> {
    (0..count)
        .map(|n| example! { "n" => n, "answer" => n % 2, "topic" => n % 3 })
        .collect()
}

/// A program that is right on all rows except those in this list.
fn wrong_on(
    wrong: &'static [u64],
) -> impl Fn(Example) -> std::future::Ready<Prediction> + Send + Sync + Clone {
    move |row: Example| {
        let n = row.get("n").and_then(serde_json::Value::as_u64).unwrap();
        let answer = if wrong.contains(&n) { 9 } else { n % 2 };
        std::future::ready(prediction! { "answer" => answer })
    }
}

/// Returns the message of a failing eval, or `passed`.
fn message(eval: impl FnOnce()) -> String {
    match panic::catch_unwind(AssertUnwindSafe(eval)) {
        Ok(()) => "passed".to_owned(),
        Err(panic) => *panic.downcast::<String>().unwrap(),
    }
}

fn first_line(eval: impl FnOnce()) -> String {
    message(eval).lines().next().unwrap_or_default().to_owned()
}

#[test]
fn an_eval_passes_and_fails_by_its_gates() {
    let package = Package::new("gates");
    let run = |gates: &[(&'static str, Condition)]| {
        let mut eval = package.eval(NEW).devset(rows(12)).inputs(&["n"], &[]);
        for (text, condition) in gates {
            eval = eval.gate(text, condition.clone());
        }
        first_line(|| eval.run(wrong_on(&[0, 3, 6])))
    };
    assert_eq!(run(&[(SAME, same(0.5))]), "passed");
    let figure = "75.00% [46.77, 91.11] (9/12, 0 failed)";
    assert_eq!(
        run(&[("same >= 0.8", same(0.8)), (SAME, same(0.5))]),
        format!(
            "eval `capitals` failed: same >= 0.8 failed: {figure}; a program at exactly 80.00% passes 56% of the time (1 of 2 gates passed)"
        )
    );
    assert_eq!(
        run(&[(
            "lower(same) >= 0.4",
            Condition::Score("same", End::Lower, Bound::AtLeast(0.4))
        )]),
        "passed"
    );
    assert_eq!(
        run(&[(
            "lower(same) >= 0.5",
            Condition::Score("same", End::Lower, Bound::AtLeast(0.5))
        )]),
        format!(
            "eval `capitals` failed: lower(same) >= 0.5 failed: {figure} (0 of 1 gates passed)"
        )
    );
    assert_eq!(run(&[("failed <= 0", Condition::Failed(0.0))]), "passed");
    assert_eq!(
        run(&[("abstained <= 0", Condition::Abstained(0.0))]),
        "passed"
    );
    assert_eq!(
        run(&[("latency <= 60", Condition::Latency(60.0))]),
        "passed"
    );
    assert!(
        run(&[("latency <= 0", Condition::Latency(0.0))]).contains("s per row (mean of 12 rows)")
    );
    let each = Condition::Each("topic", Box::new(same(0.5)));
    assert_eq!(
        run(&[("each(\"topic\", same >= 0.5)", each)]),
        "eval `capitals` failed: each(\"topic\", same >= 0.5) failed: failed in 1 of 3 groups: 0: 25.00% [4.56, 69.94] (1/4, 0 failed); a program at exactly 50.00% passes 69% of the time (0 of 1 gates passed)"
    );
    let each = Condition::Each("subject", Box::new(same(0.5)));
    assert!(
        run(&[("each(\"subject\", same >= 0.5)", each)]).contains("no row has the field `subject`")
    );
}

#[test]
fn a_gate_that_cannot_tell_is_undecided() {
    let package = Package::new("undecided");
    let bare = |update| {
        package
            .eval(update)
            .devset(rows(40))
            .inputs(&["n"], &[])
            .baseline(None)
    };
    let eval = |update| bare(update).gate("same.no_worse(by = 0.02)", no_worse());
    // Without a baseline, the eval passes with a warning; with `strict`, it fails.
    assert_eq!(message(|| eval(NEW).run(wrong_on(&[]))), "passed");
    assert_eq!(
        first_line(|| eval(NEW).strict().run(wrong_on(&[]))),
        "eval `capitals` failed, because `strict` is set and a gate is undecided: same.no_worse(by = 0.02) undecided: missing baseline `evals/capitals.baseline.jsonl`; to accept this run as the first one: dsrs-metrics accept capitals (0 of 1 gates passed)"
    );
    // If nothing is written, there is nothing to accept.
    let modes = [(false, ""), (true, " -- --ignored")];
    for (is_live, arguments) in modes
        .into_iter()
        .filter(|mode| !mode.0 || cfg!(feature = "lm"))
    {
        let mut unwritten = eval(Update::No).strict();
        unwritten.settings.is_live = is_live;
        let line = first_line(|| unwritten.run(wrong_on(&[])));
        let command = format!(
            "; record one: DSRS_UPDATE=new cargo test capitals{arguments}, then dsrs-metrics accept capitals (0 of 1 gates passed)"
        );
        assert!(line.ends_with(&command), "{line}");
    }
    // In CI it fails.
    let mut in_ci = eval(Update::No);
    in_ci.environment.is_ci = true;
    assert_eq!(
        first_line(|| in_ci.run(wrong_on(&[]))),
        "eval `capitals` failed: same.no_worse(by = 0.02) failed: missing baseline `evals/capitals.baseline.jsonl`; record one: DSRS_UPDATE=new cargo test capitals, then dsrs-metrics accept capitals (0 of 1 gates passed)"
    );
    // Recorded, and unchanged.
    assert_eq!(
        message(|| eval(Update::Always).run(wrong_on(&[]))),
        "passed"
    );
    assert_eq!(
        message(|| eval(Update::No).strict().run(wrong_on(&[]))),
        "passed"
    );
    // One row of 40 is worse. That may be chance, but it is beyond the margin.
    assert_eq!(
        first_line(|| eval(Update::No).run(wrong_on(&[0]))),
        "eval `capitals` failed: same.no_worse(by = 0.02) undecided: -2.50 percentage points [-12.88, 6.48] against the baseline (p = 1.000, 40 rows); the estimate is beyond the margin of 2.00 percentage points (0 of 1 gates passed)"
    );
    let wider = || {
        let condition = Condition::NoWorse("same", 0.05);
        bare(Update::No).gate("same.no_worse(by = 0.05)", condition)
    };
    assert_eq!(message(|| wider().run(wrong_on(&[0]))), "passed");
    assert_eq!(
        first_line(|| wider().strict().run(wrong_on(&[0]))),
        "eval `capitals` failed, because `strict` is set and a gate is undecided: same.no_worse(by = 0.05) undecided: -2.50 percentage points [-12.88, 6.48] against the baseline (p = 1.000, 40 rows); ruling out a loss of 5.00 percentage points takes about 79 rows if both are equally good (0 of 1 gates passed)"
    );
    let failed = message(|| eval(Update::No).run(wrong_on(&[0, 1, 2, 3, 4, 5, 6, 7])));
    assert_eq!(
        failed.lines().next().unwrap(),
        "eval `capitals` failed: same.no_worse(by = 0.02) failed: -20.00 percentage points [-34.76, -9.49] against the baseline (p = 0.008, 40 rows) (0 of 1 gates passed)"
    );
    let row =
        "  0  1 -> 0\n    gold  {\"answer\":0,\"n\":0,\"topic\":0}\n    new   {\"answer\":9}\n";
    assert!(
        failed.contains(&format!("rows whose same changed most, of 8:\n{row}")),
        "{failed}"
    );
    assert!(
        !failed.contains("dsrs-metrics accept"),
        "nothing is pending: {failed}"
    );
}

#[test]
fn a_new_baseline_is_pending_until_it_is_accepted() {
    let package = Package::new("pending");
    let eval = |update| {
        let eval = package
            .eval(update)
            .devset(rows(6))
            .inputs(&["n"], &[])
            .baseline(None);
        eval.baseline_rows().gate(SAME, same(0.5))
    };
    let baseline = package.path("evals/capitals.baseline.jsonl");
    eval(Update::No).run(wrong_on(&[]));
    assert_eq!(
        Pending::all(&package.path("target/dsrs-metrics/evals"))
            .unwrap()
            .len(),
        0
    );
    eval(NEW).run(wrong_on(&[]));
    assert!(!baseline.exists());
    let (folder, pending) = Pending::all(&package.path("target/dsrs-metrics/evals"))
        .unwrap()
        .remove(0);
    assert_eq!(
        (folder, &*pending.eval),
        (package.eval_folder(), "capitals")
    );
    assert!(pending.replaced().unwrap().is_none());
    pending.accept().unwrap();
    let text = fs::read_to_string(&baseline).unwrap();
    let second = text.lines().nth(1).unwrap();
    assert!(
        second.starts_with(r#"{"id":"0","gold_hash":""#)
            && second.ends_with(
                r#"","scores":{"same":{"outcome":"scored","value":1.0,"passed":true}},"gold":{"answer":0,"n":0,"topic":0},"pred":{"answer":0}}"#
            ),
        "{second}"
    );
    // The same outcomes: nothing is pending.
    eval(NEW).run(wrong_on(&[]));
    assert_eq!(
        Pending::all(&package.path("target/dsrs-metrics/evals"))
            .unwrap()
            .len(),
        0
    );
    // Other outcomes, and then the baseline changes.
    eval(NEW).run(wrong_on(&[1]));
    let (_, pending) = Pending::all(&package.path("target/dsrs-metrics/evals"))
        .unwrap()
        .remove(0);
    assert_eq!(pending.replaced().unwrap().unwrap().results.rows().len(), 6);
    eval(Update::Always).run(wrong_on(&[2]));
    assert_eq!(
        pending.replaced().map(|_| ()).unwrap_err(),
        format!(
            "the baseline `{}` changed after `capitals` was run; run the eval again",
            baseline.display()
        )
    );
}

#[test]
fn rows_are_added_removed_and_changed() {
    let package = Package::new("rows");
    let eval = |update, rows: Vec<Example>| {
        let eval = package
            .eval(update)
            .devset(rows)
            .inputs(&["n"], &[])
            .baseline(None);
        eval.strict().gate("same.no_worse(by = 0.02)", no_worse())
    };
    eval(Update::Always, rows(10)).run(wrong_on(&[]));
    assert_eq!(
        message(|| eval(Update::No, rows(12)).run(wrong_on(&[]))),
        "passed"
    );
    assert_eq!(
        message(|| eval(Update::No, rows(8)).run(wrong_on(&[]))),
        "passed"
    );
    let mut changed = rows(10);
    changed[4] = example! { "n" => 4, "answer" => 7 };
    assert!(
        first_line(|| eval(Update::No, changed).run(wrong_on(&[])))
            .contains("undecided: the gold rows of `4` changed since the baseline")
    );
}

#[test]
fn a_baseline_of_another_metric_is_undecided() {
    let package = Package::new("identity");
    let eval = |update, threshold: f64| {
        let number = metric_fn("length", |_, pred| {
            pred.get("answer")
                .and_then(serde_json::Value::as_f64)
                .unwrap_or_default()
        });
        let eval = package
            .eval(update)
            .metric(number.with_threshold(threshold));
        let eval = eval
            .devset(rows(10))
            .inputs(&["n"], &[])
            .baseline(None)
            .strict();
        eval.gate("length.better()", Condition::Better("length"))
            .gate("same.no_worse(by = 0.02)", no_worse())
    };
    let _ = message(|| eval(Update::Always, 0.5).run(wrong_on(&[])));
    assert_eq!(
        first_line(|| eval(Update::No, 0.7).run(wrong_on(&[]))),
        "eval `capitals` failed, because `strict` is set and a gate is undecided: length.better() undecided: not compared: length: `threshold` is 0.5 in the baseline, 0.7 now (0 of 2 gates passed, 1 unchanged)"
    );
}

#[test]
fn bad_input_is_a_failed_test_whose_first_line_says_what_to_do() {
    let package = Package::new("bad");
    let eval = || package.eval(NEW).gate(SAME, same(0.5));
    let line = |eval: Eval| first_line(|| eval.inputs(&["n"], &[]).run(wrong_on(&[])));

    let expected = package.path("evals/no.jsonl");
    assert_eq!(
        line(eval().devset_file("evals/no.jsonl")),
        format!(
            "eval `capitals`: missing devset `evals/no.jsonl`: expected the file {}, because the path is relative to the package; write it there, or correct `devset`",
            expected.display()
        )
    );
    package.write("evals/empty.jsonl", "");
    assert_eq!(
        line(eval().devset_file("evals/empty.jsonl")),
        format!(
            "eval `capitals`: {}: expected at least one row, found none; add rows",
            package.path("evals/empty.jsonl").display()
        )
    );
    assert!(line(eval().devset_file("../outside.jsonl")).contains("is outside the package"));
    assert_eq!(
        line(eval().devset(rows(5)).limit(0)),
        "eval `capitals`: the devset has no rows, so its gates mean nothing; add rows"
    );
    let unknown = eval().devset(rows(5)).gate(
        "samo >= 0.5",
        Condition::Score("samo", End::Estimate, Bound::AtLeast(0.5)),
    );
    assert_eq!(
        line(unknown),
        "eval `capitals`: gate `samo >= 0.5`: `metrics(..)` has no metric `samo`; it has `same`: write one of these, or add the metric"
    );

    package.write("evals/capitals.baseline.jsonl", "{\"eval\":\"capitals\"");
    let damaged = line(eval().devset(rows(5)).baseline(None));
    assert!(
        damaged.starts_with("eval `capitals`: cannot read the baseline `")
            && damaged.ends_with(
                "restore it (for example, with `git checkout`), or remove it and accept a new one"
            ),
        "{damaged}"
    );
    fs::remove_file(package.path("evals/capitals.baseline.jsonl")).unwrap();
    let mut other = package
        .eval_of("rivers", "demo", Update::Always)
        .gate(SAME, same(0.5));
    other = other
        .devset(rows(5))
        .inputs(&["n"], &[])
        .baseline(Some("evals/capitals.baseline.jsonl"));
    other.run(wrong_on(&[]));
    assert!(
        line(eval().devset(rows(5)).baseline(None))
            .contains("belongs to the eval `rivers`, not to `capitals`")
    );
    let path = package.path("evals/capitals.baseline.jsonl");
    let edited = fs::read_to_string(&path)
        .unwrap()
        .replacen("rivers", "capitals", 1);
    fs::write(&path, edited.replacen("\"value\":1.0", "\"value\":0.0", 1)).unwrap();
    assert!(
        line(eval().devset(rows(5)).baseline(None))
            .contains("a row was changed after the file was written")
    );
}

#[test]
fn two_evals_of_one_name_are_an_error() {
    let package = Package::new("names");
    let eval = |module| {
        let eval = package
            .eval_of("capitals", module, NEW)
            .gate(SAME, same(0.5));
        eval.devset(rows(5)).inputs(&["n"], &[])
    };
    assert_eq!(message(|| eval("demo::a").run(wrong_on(&[]))), "passed");
    // The same eval, after an edit above it.
    let mut moved = eval("demo::a");
    moved.source.line += 9;
    assert_eq!(message(|| moved.run(wrong_on(&[]))), "passed");
    assert_eq!(
        first_line(|| eval("demo::b").run(wrong_on(&[]))),
        "eval `capitals`: two evals of the package `names` have this name: demo::b in evals.rs, and demo::a in evals.rs; rename one, because they would share a baseline and a folder"
    );
}

#[test]
fn a_program_that_panics_times_out_or_never_answers() {
    let package = Package::new("programs");
    let eval = || {
        package
            .eval(NEW)
            .devset(rows(3))
            .inputs(&["n"], &[])
            .gate(SAME, same(0.5))
    };
    let panics = |_: Example| async { panic!("no answer") as Prediction };
    assert_eq!(
        first_line(|| eval().run(panics)),
        "eval `capitals`: all 3 rows failed; first error: row `0`: the program panicked: no answer"
    );
    let never = |_: Example| std::future::pending::<Prediction>();
    let line = first_line(|| eval().timeout(Duration::from_millis(20)).run(never));
    assert!(
        line.ends_with("the program returned no prediction within 0.02 s; raise `timeout`"),
        "{line}"
    );
    // Some rows fail: the gate sees the denominator.
    let some = |row: Example| async move {
        if row.get("n").is_some_and(|n| *n == 1) {
            Err("down")
        } else {
            Ok(prediction! { "answer" => 0 })
        }
    };
    assert_eq!(
        first_line(|| eval()
            .gate("failed <= 0.02", Condition::Failed(0.02))
            .run(some)),
        "eval `capitals` failed: failed <= 0.02 failed: 33.33% failed (1/3 rows) (1 of 2 gates passed)"
    );
}

#[test]
fn a_sample_of_the_rows_is_stable() {
    let package = Package::new("limit");
    let ids = |rows: Vec<Example>| {
        let eval = package
            .eval(Update::Always)
            .devset(rows)
            .inputs(&["n"], &[])
            .baseline(None);
        eval.limit(20)
            .seed(7)
            .gate(SAME, same(0.5))
            .run(wrong_on(&[]));
        let text = fs::read_to_string(package.path("evals/capitals.baseline.jsonl")).unwrap();
        let ids = text
            .lines()
            .skip(1)
            .map(|line| line.split('"').nth(3).unwrap().to_owned());
        ids.collect::<Vec<_>>()
    };
    let (few, more) = (ids(rows(100)), ids(rows(110)));
    assert_eq!(few.len(), 20);
    assert!(
        few.iter().filter(|id| more.contains(id)).count() >= 15,
        "{few:?} {more:?}"
    );
    assert_eq!(few, ids(rows(100)));
}

#[test]
fn an_eval_with_early_ends_once_its_gates_are_decided() {
    let package = Package::new("early");
    let early = |update: Update, alpha: Option<f64>, gates: &[(&'static str, Condition)], wrong| {
        let mut eval = package.eval(update).devset(rows(500)).inputs(&["n"], &[]);
        for (text, condition) in gates {
            eval = eval.gate(text, condition.clone());
        }
        message(|| eval.baseline(None).early(alpha).run(wrong_on(wrong)))
    };
    let path = package.path("evals/capitals.baseline.jsonl");
    let limit = [("same >= 0.8", same(0.8))];
    let wrong: &[u64] = Vec::leak((0..150).map(|n| 3 * n).collect());
    let failed = early(NEW, Some(0.01), &limit, wrong);
    // Without a baseline, the run that becomes pending needs all rows.
    assert!(failed.contains("(350/500, 0 failed)"), "{failed}");
    assert!(
        failed.contains("all rows were evaluated: a baseline needs them"),
        "{failed}"
    );
    let whole = package
        .eval(Update::Always)
        .devset(rows(500))
        .inputs(&["n"], &[]);
    whole
        .gate("same >= 0.8", same(0.8))
        .baseline(None)
        .run(wrong_on(&[]));
    let recorded = fs::read_to_string(&path).unwrap();

    let failed = early(NEW, Some(0.01), &limit, wrong);
    let line = failed.lines().next().unwrap_or_default();
    assert!(
        line.starts_with("eval `capitals` failed: same >= 0.8 failed: 6"),
        "{line}"
    );
    assert!(line.contains(" not needed); decided after "), "{line}");
    assert!(
        line.ends_with(" of 500 rows; wrong in at most 1% (0 of 1 gates passed)"),
        "{line}"
    );
    assert!(
        !failed.contains("accept"),
        "an early run is no baseline: {failed}"
    );
    let relative = [("same.no_worse(by = 0.02)", no_worse())];
    let worse = early(NEW, Some(0.05), &relative, wrong);
    assert!(
        worse.contains("failed: ") && worse.contains("; decided after "),
        "{worse}"
    );
    assert_eq!(early(NEW, Some(0.05), &relative, &[]), "passed");
    assert_eq!(fs::read_to_string(&path).unwrap(), recorded);
    let each = [(
        "each(\"topic\", same >= 0.5)",
        Condition::Each("topic", Box::new(same(0.5))),
    )];
    assert_eq!(
        early(NEW, None, &each, &[]).lines().next(),
        Some(
            "eval `capitals`: gate `each(\"topic\", same >= 0.5)`: `early` can decide only limits on metrics or `failed`, `no_worse` and `better`; remove this gate, or `early`"
        )
    );
}

#[test]
fn an_eval_with_a_sample_decides_limits_by_its_estimate() {
    let package = Package::new("truth");
    let eval = |text: &'static str, condition: Condition| {
        let zero = |_: &Example, pred: &Prediction| pred.get("answer").is_some_and(|it| *it == 0);
        let eval = package
            .eval(NEW)
            .truth(metric_fn("zero", zero), 50, Some("same"));
        let eval = eval.devset(rows(500)).inputs(&["n"], &[]);
        message(|| eval.gate(text, condition).run(wrong_on(&[])))
    };
    let failed = eval(
        "lower(zero) >= 0.8",
        Condition::Score("zero", End::Lower, Bound::AtLeast(0.8)),
    );
    let line = failed.lines().next().unwrap_or_default();
    assert!(line.contains("(50 of 500 judged"), "{line}");
    assert_eq!(
        eval(
            "zero >= 0.2",
            Condition::Score("zero", End::Estimate, Bound::AtLeast(0.2))
        ),
        "passed"
    );
    let each = Condition::Each(
        "topic",
        Box::new(Condition::Score("zero", End::Estimate, Bound::AtLeast(0.2))),
    );
    assert_eq!(
        eval("each(\"topic\", zero >= 0.2)", each).lines().next(),
        Some(
            "eval `capitals`: gate `each(\"topic\", zero >= 0.2)`: `zero` judges only a sample of the rows, so gates can only limit its score or compare it with the baseline; write `lower(zero) >= 0.8`, or add it to `metrics(..)`"
        )
    );
}

#[test]
fn an_eval_with_a_sample_is_compared_with_the_sample_of_its_baseline() {
    let package = Package::new("sampled");
    let eval = |update: Update, gates: &[(&'static str, Condition)], wrong: &'static [u64]| {
        let right = |gold: &Example, pred: &Prediction| gold.get("answer") == pred.get("answer");
        let eval = package.eval(update).devset(rows(600)).inputs(&["n"], &[]);
        let eval = eval.truth(metric_fn("judged", right), 90, Some("same"));
        let eval = eval.baseline(None);
        let gate = |eval: Eval<_, _>, (text, condition): &(&'static str, Condition)| {
            eval.gate(text, condition.clone())
        };
        message(|| gates.iter().fold(eval, gate).run(wrong_on(wrong)))
    };
    let no_worse = (
        "judged.no_worse(by = 0.1)",
        Condition::NoWorse("judged", 0.1),
    );
    let wrong: &[u64] = Vec::leak((0..200).map(|n| 3 * n).collect());
    eval(Update::Always, &[(SAME, same(0.5))], &[]);
    assert_eq!(eval(NEW, std::slice::from_ref(&no_worse), &[]), "passed");
    let worse = eval(NEW, &[no_worse], wrong);
    let line = worse.lines().next().unwrap_or_default();
    // One row in three is wrong now, which the proxy sees in all rows.
    assert!(
        line.contains(
            "failed: -33.33 percentage points [-39.20, -27.20] against the baseline (p < 0.001, 89 of 600 rows judged in both, worth 249)"
        ),
        "{line}"
    );
    let better = ("judged.better()", Condition::Better("judged"));
    let each = Condition::Each("topic", Box::new(better.1.clone()));
    let of_topics = eval(
        NEW,
        &[better, ("each(\"topic\", judged.better())", each)],
        wrong,
    );
    assert!(
        of_topics.contains("failed in 1 of 3 groups: 0: -100.00 percentage points"),
        "{of_topics}"
    );
}
