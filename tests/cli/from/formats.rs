//! Formats of programs that score: their own scores against the figures that they print, and the rows against the peers' metrics.
//! `tests/parity/make_format_files.py` made the files by these programs, with `vectors.json`.

use std::fs;

use serde_json::{Value, json};

use super::{PARITY, lm_eval, log};
use crate::Folder;

fn file(name: &str) -> String {
    format!("{PARITY}/formats/{name}")
}

fn vectors() -> Value {
    serde_json::from_str(&fs::read_to_string(file("vectors.json")).unwrap()).unwrap()
}

#[track_caller]
fn run(args: &[&str]) -> String {
    let ran = Folder::new().run(args);
    assert_eq!(ran.code, Some(0), "{args:?}: {}{}", ran.out, ran.err);
    assert_eq!(ran.err, "", "{args:?}");
    ran.out
}

#[track_caller]
fn scored(args: &[&str]) -> Value {
    serde_json::from_str(&run(&[args, &["--json"]].concat())).unwrap()
}

#[track_caller]
fn assert_near(found: &Value, expected: &Value) {
    let [found, expected] = [found, expected].map(|it| it.as_f64().unwrap());
    assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
}

/// Compares two runs, and asserts that their means are those of the program.
#[track_caller]
fn assert_means(format: &str, extension: &str, means: impl Fn(&Value) -> Value) {
    let vectors = vectors();
    let [a, b] = ["a", "b"].map(|run| file(&format!("{format}_{run}.{extension}")));
    let ran = scored(&["compare", "--from", format, &a, &b]);
    for run in ["a", "b"] {
        let means = means(&vectors[format][run]);
        for (metric, mean) in means.as_object().unwrap() {
            let metric = metric.replace(' ', "_");
            assert_near(&ran["metrics"][&metric][run], mean);
        }
        assert_eq!(
            means.as_object().unwrap().len(),
            ran["metrics"].as_object().unwrap().len()
        );
    }
}

#[test]
fn test_runs_of_deepeval_are_compared_by_its_scores() {
    assert_means("deepeval", "json", |run| run["means"].clone());
    let [a, b] = ["a", "b"].map(|run| file(&format!("deepeval_{run}.json")));
    let ran = scored(&["compare", "--from", "deepeval", &a, &b]);
    // B has more errors. The verdicts at the threshold show that fewer errors are better.
    assert_eq!(ran["metrics"]["Errors"]["direction"], "lower_is_better");
    assert_eq!(ran["metrics"]["Errors"]["wins"], 2);
    assert_eq!(
        ran["metrics"]["Errors"]["verdict"],
        ran["metrics"]["Exact_Match"]["verdict"]
    );
}

#[test]
fn results_of_ragas_are_compared_by_its_scores() {
    assert_means("ragas", "csv", Value::clone);
    assert_means("ragas", "jsonl", Value::clone);
    let folder = Folder::new();
    folder.write(
        "contexts.csv",
        "reference_contexts,retrieved_contexts\n['The Louvre is in Paris.'],\"['Bananas grow in the tropics.', 'The Louvre is in Paris.']\"\n",
    );
    let by_distance = "-m context_precision_by_distance,context_recall_by_distance --json";
    let ran = folder.printed(&format!("score --from ragas contexts.csv {by_distance}"));
    let ran: Value = serde_json::from_str(&ran).unwrap();
    let score = |name: &str| ran["metrics"][name]["score"].as_f64();
    assert_eq!(score("context_precision_by_distance"), Some(0.5));
    assert_eq!(score("context_recall_by_distance"), Some(1.0));
    // Lists of contexts in cells are lists.
    let score = [
        "score",
        "--from",
        "ragas",
        &file("ragas_b.csv"),
        "-m",
        "context_recall_by_distance",
    ];
    let ran = scored(&score);
    let recall = &vectors()["ragas"]["b"]["non_llm_context_recall"];
    assert_near(
        &ran["metrics"]["context_recall_by_distance"]["score"],
        recall,
    );
}

#[test]
fn a_score_that_ragas_left_empty_is_a_failure() {
    let folder = Folder::new();
    let columns = "user_input,response,faithfulness,exact_match\n";
    folder.write("nan.csv", format!("{columns}a,b,,1.0\nc,d,0.8,0.0\n"));
    let printed = folder.printed("score --from ragas nan.csv");
    // ragas prints the mean without it, 0.8.
    let line = "faithfulness  0.4000 [0.0015, 0.9967] (mean of 1/2, 1 failed counted as 0; 0.8000 over the 1 scored)\n";
    assert!(printed.contains(line), "{printed}");
}

#[test]
fn goldens_of_deepeval_have_lists_in_cells_and_all_arguments() {
    for kind in ["csv", "json"] {
        let goldens = file(&format!("deepeval_goldens.{kind}"));
        let ran = scored(&[
            "score",
            "--from",
            "deepeval",
            &goldens,
            "-m",
            "em,trajectory_match",
        ]);
        // Three answers are right, and the arguments of their calls.
        assert_eq!(ran["metrics"]["em"]["score"], 0.6, "{kind}");
        assert_eq!(ran["metrics"]["trajectory_match"]["score"], 0.6, "{kind}");
        let folder = Folder::new();
        folder.printed(&[
            "score",
            "--from",
            "deepeval",
            &goldens,
            "-m",
            "em",
            "--with-rows",
            "--out",
            "out.jsonl",
        ]);
        let row: Value =
            serde_json::from_str(folder.read("out.jsonl").lines().next().unwrap()).unwrap();
        assert_eq!(
            row["pred"]["context"],
            json!(["Paris is a city.", "Cities are large."]),
            "{kind}"
        );
    }
}

#[test]
fn a_run_of_trec_has_the_scores_of_pytrec_eval() {
    let vectors = &vectors()["trec"];
    let (qrels, ranking) = (file("trec.qrels"), file("trec.run"));
    let ran = scored(&[
        "score",
        "--from",
        "trec",
        &qrels,
        &ranking,
        "-m",
        "ndcg,mrr,map",
        "--param",
        "ndcg.k=10",
    ]);
    for (metric, measure) in [
        ("ndcg", "ndcg_cut_10"),
        ("mrr", "recip_rank"),
        ("map", "map"),
    ] {
        assert_near(&ran["metrics"][metric]["score"], &vectors[measure]);
    }
}

#[test]
fn queries_of_one_file_are_counted() {
    let folder = Folder::new();
    folder.write("qrels", "a 0 d1 1\nb 0 d1 1\n");
    folder.write("run", "a Q0 d1 1 0.5 x\nc Q0 d1 1 0.5 x\n");
    folder.run("score --from trec qrels run -m map --out out.jsonl");
    let manifest: Value = serde_json::from_str(&folder.read("out.jsonl.manifest.json")).unwrap();
    let data = manifest["run"]["data"].as_array().unwrap();
    let names: Vec<_> = data
        .iter()
        .map(|file| file["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["qrels", "run"]);
    assert!(
        data.iter().all(|file| file["sha256"].is_string()),
        "{data:?}"
    );
    let ran = folder.run("score --from trec qrels run -m map");
    assert!(ran.out.starts_with("map  0.5000 ["), "{}", ran.out);
    let warnings = "warning: run: queries without a ranking count as empty rankings, as in `trec_eval -c`: 1 (`b`)\n\
                    warning: run: queries without judgements are left out, as in trec_eval: 1 (`c`)\n";
    assert_eq!(ran.err, warnings);
    let error = folder.score_error("--from trec qrels -m ndcg");
    assert_eq!(
        error,
        "qrels: expected judgements (4 columns) and a run (6 columns), found one of them; pass `--from trec QRELS RUN`"
    );
}

#[test]
fn transcripts_have_the_word_error_rate_of_jiwer() {
    let ran = scored(&[
        "score",
        "--from",
        "trn",
        &file("ref.trn"),
        &file("hyp.trn"),
        "-m",
        "wer",
    ]);
    let wer = &ran["metrics"]["wer"];
    assert_near(&wer["score"], &vectors()["trn"]["mean"]);
    assert_near(&wer["corpus"], &vectors()["trn"]["corpus"]);
    let folder = Folder::new();
    folder.write("ref", "a b (u1)\nc (u2)\n");
    folder.write("hyp", "a b (u1)\n");
    let error = folder.score_error("--from trn ref hyp -m wer");
    assert_eq!(
        error,
        "hyp: no transcript for `u2`; each id must be in both files"
    );
}

#[test]
fn a_report_of_swe_bench_has_the_rate_of_its_harness() {
    let vectors = &vectors()["swebench"];
    let (report, predictions) = (
        file("swebench_report.json"),
        file("swebench_predictions.jsonl"),
    );
    let rate = 100.0 * vectors["resolved"].as_f64().unwrap() / vectors["total"].as_f64().unwrap();
    for files in [&[&*predictions, &report][..], &[&*report]] {
        let printed = run(&[&["score", "--from", "swebench"], files].concat());
        assert!(
            printed.starts_with(&format!("resolved  {rate:.2}% [")),
            "{printed}"
        );
        assert!(
            printed.ends_with("] (mean of 6/6, 0 failed)\n"),
            "{printed}"
        );
    }
}

#[test]
fn results_of_promptfoo_have_its_passes_and_scores() {
    let [a, b] = ["a", "b"].map(|run| file(&format!("promptfoo_{run}.json")));
    let document: Value = serde_json::from_str(&fs::read_to_string(&b).unwrap()).unwrap();
    assert_eq!(document["results"]["stats"]["successes"], 2);
    let ran = scored(&["compare", "--from", "promptfoo", &a, &b]);
    assert_eq!(ran["metrics"]["pass"]["b"], 0.5);
    assert_eq!(ran["metrics"]["pass"]["failed"], json!({"a": 1, "b": 1}));
    assert_eq!(ran["metrics"]["score"]["a"], 0.375);
    assert_eq!(ran["metrics"]["similar"]["b"], 0.5625);
    // The provider failed in the last row, so it has no answer.
    let ran = scored(
        &[
            "score",
            "--from",
            "promptfoo",
            &b,
            "-m",
            "em",
            "--max-errors",
            "9",
        ]
        .map(|it| it),
    );
    assert_eq!(ran["rows"], 4);
}

#[test]
fn a_file_whose_header_counts_other_rows_is_noted() {
    let folder = Folder::new();
    let text = fs::read_to_string(file("promptfoo_a.json")).unwrap();
    folder.write(
        "cut.json",
        text.replace("\"successes\": 1", "\"successes\": 3"),
    );
    let ran = folder.run("score --from promptfoo cut.json");
    let warning = "warning: cut.json: the summary counts 6 tests, but the rows have 4; copy the file again\n\
                   warning: cut.json: the summary counts 3 tests that pass, but the rows have 1; copy the file again\n";
    assert_eq!(ran.err, warning);
}

#[test]
fn results_of_bfcl_have_its_accuracy_and_calls() {
    let folder = file("bfcl");
    let printed = run(&["score", "--from", "bfcl", &folder]);
    assert_eq!(
        printed,
        "valid  50.00% [15.00, 85.00] (mean of 4/4, 0 failed)\n"
    );
    let out = Folder::new();
    out.run(&[
        "score",
        "--from",
        "bfcl",
        &folder,
        "-m",
        "is_json",
        "--with-rows",
        "--out",
        "out.jsonl",
    ]);
    let row: Value = serde_json::from_str(out.read("out.jsonl").lines().next().unwrap()).unwrap();
    assert_eq!(
        row["pred"]["trajectory"],
        json!([{"name": "area", "args": "{\"base\": 10, \"height\": 5}"}])
    );
    let score = file("bfcl/BFCL_v4_simple_python_score.json");
    let ran = Folder::new().run(&["score", "--from", "bfcl", &score]);
    assert!(
        ran.err.ends_with(
            "pass BFCL_.._result.json too, because a score file lists only the wrong rows\n"
        ),
        "{}",
        ran.err
    );
}

#[test]
fn a_run_of_helm_has_its_scores_and_answers() {
    let folder = file("helm");
    let printed = run(&["score", "--from", "helm", &folder]);
    let scores =
        "exact_match        0.6667 [0.0474, 0.9877] (mean of 3/3, 0 failed)\nquasi_exact_match";
    assert!(printed.starts_with(scores), "{printed}");
    // The letter of a choice stands for its text.
    let ran = scored(&["score", "--from", "helm", &folder, "-m", "em"]);
    assert_near(&ran["metrics"]["em"]["score"], &json!(2.0 / 3.0));
}

#[test]
fn the_output_of_a_batch_has_answers_calls_and_failures() {
    let folder = Folder::new();
    let batch = file("openai_batch.jsonl");
    let ran = folder.run(&[
        "score",
        "--from",
        "openai-batch",
        &batch,
        "-m",
        "is_json,within_tool_calls",
        "--param",
        "within_tool_calls.max=0",
        "--with-rows",
        "--max-errors",
        "9",
        "--out",
        "out.jsonl",
    ]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let rows: Vec<Value> = folder
        .read("out.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let answers: Vec<_> = rows
        .iter()
        .map(|row| (&row["id"], &row["pred"]["answer"]))
        .collect();
    assert_eq!(
        answers,
        [
            (&json!("q1"), &json!("Paris")),
            (&json!("q2"), &json!("Lima")),
            (&json!("q3"), &Value::Null)
        ]
    );
    let calls: Vec<_> = rows[..2]
        .iter()
        .map(|row| &row["scores"]["within_tool_calls"]["value"])
        .collect();
    assert_eq!(calls, [&json!(1.0), &json!(0.0)]);
    let error = &rows[2]["attributes"]["error"];
    assert_eq!(
        error,
        "This request could not be executed before the completion window expired."
    );
}

#[test]
fn the_plain_reader_names_the_format_to_write() {
    let folder = Folder::new();
    for (name, source, format) in [
        ("x.eval", log("weak.eval"), "inspect"),
        ("samples.jsonl", lm_eval("weak", "sums"), "lm-eval"),
        ("promptfoo.json", file("promptfoo_a.json"), "promptfoo"),
        ("deepeval.json", file("deepeval_a.json"), "deepeval"),
        ("goldens.json", file("deepeval_goldens.json"), "deepeval"),
        ("goldens.csv", file("deepeval_goldens.csv"), "deepeval"),
        ("ragas.csv", file("ragas_a.csv"), "ragas"),
        ("ragas.jsonl", file("ragas_a.jsonl"), "ragas"),
        (
            "bfcl.jsonl",
            file("bfcl/BFCL_v4_simple_python_result.json"),
            "bfcl",
        ),
        ("stats.json", file("helm/per_instance_stats.json"), "helm"),
        (
            "preds.jsonl",
            file("swebench_predictions.jsonl"),
            "swebench",
        ),
        ("report.json", file("swebench_report.json"), "swebench"),
        ("batch.jsonl", file("openai_batch.jsonl"), "openai-batch"),
        ("qrels.txt", file("trec.qrels"), "trec"),
        ("run.txt", file("trec.run"), "trec"),
        ("ref.trn", file("ref.trn"), "trn"),
    ] {
        fs::copy(source, folder.path(name)).unwrap();
        let error = folder.score_error(&format!("{name} -m em"));
        let start = format!("{name}: expected rows, found ");
        assert!(
            error.starts_with(&start) && error.contains(&format!("(`--from {format}`)")),
            "{error}"
        );
        let ran = folder.run(&["compare", name, name]);
        assert!(
            ran.err.contains(&format!("(`--from {format}`)")),
            "{}",
            ran.err
        );
    }
}

#[test]
fn the_plain_reader_names_traces_and_trajectories() {
    let folder = Folder::new();
    folder.write("spans.json", super::spans::TRACES);
    folder.write("steps.jsonl", super::trajectories::TRAJECTORIES);
    for (name, format) in [("spans.json", "otlp"), ("steps.jsonl", "atif")] {
        let error = folder.score_error(&format!("{name} -m no_loops"));
        assert!(error.ends_with(&format!("(`--from {format}`)")), "{error}");
    }
}

#[test]
fn a_folder_of_samples_is_one_run() {
    let [weak, strong] = ["weak", "strong"].map(|run| format!("{PARITY}/lm_eval/{run}"));
    let ran = Folder::new().run(&["compare", "--from", "lm-eval", &weak, &strong, "--json"]);
    let ran: Value = serde_json::from_str(&ran.out).unwrap();
    let metric = &ran["metrics"]["exact_match:strict-match"];
    let one = scored(&[
        "compare",
        "--from",
        "lm-eval",
        &lm_eval("weak", "sums"),
        &lm_eval("strong", "sums"),
    ]);
    let of_task = &one["metrics"]["exact_match:strict-match"];
    assert_eq!([&metric["a"], &metric["b"]], [&of_task["a"], &of_task["b"]]);
    assert!(ran["metrics"].as_object().unwrap().len() > one["metrics"].as_object().unwrap().len());
}

#[test]
fn logs_of_inspect_in_a_folder_have_ids_of_their_tasks() {
    let folder = Folder::new();
    fs::create_dir(folder.path("logs")).unwrap();
    fs::copy(log("weak.eval"), folder.path("logs/a.eval")).unwrap();
    let printed = folder.printed("score --from inspect logs");
    let alone = run(&["score", "--from", "inspect", &log("weak.eval")]);
    assert_eq!(printed, alone);
    assert!(alone.starts_with("match "), "{alone}");
    fs::copy(log("weak.eval"), folder.path("logs/b.eval")).unwrap();
    let ran = folder.run("score --from inspect logs");
    assert!(
        ran.err
            .contains("logs/b.eval: duplicate log for the task `"),
        "{}",
        ran.err
    );
    let ran = folder.run("score --from inspect none");
    assert_eq!(
        ran.err,
        "error: none: No such file or directory (os error 2)\n"
    );
}

#[test]
fn a_log_without_version_is_read_and_its_other_accuracy_is_noted() {
    let sample = |id: u32, value: &str| json!({"id": id, "epoch": 1, "input": "q", "target": "a", "scores": {"match": {"value": value}}});
    let mut header = json!({"status": "success", "eval": {"task": "t", "model": "m"}});
    header["results"] = json!({"total_samples": 2, "scores": [{"name": "match", "scorer": "match",
        "metrics": {"accuracy": {"name": "accuracy", "value": 0.75}}}]});
    header["samples"] = json!([sample(1, "C"), sample(2, "I")]);
    let folder = Folder::with("logs/log.json", header.to_string());
    for log in ["logs/log.json", "logs"] {
        let ran = folder.run(&format!("score --from inspect {log}"));
        assert!(
            ran.out.starts_with("match  50.00% ["),
            "{}{}",
            ran.out,
            ran.err
        );
        let note = "the summary has 0.7500 as accuracy of `match`, but the rows have 0.5000; the file was changed or is incomplete\n";
        assert!(ran.err.ends_with(note), "{}", ran.err);
    }
}

#[test]
fn options_of_a_run_need_metrics() {
    let ran = Folder::new().run(&[
        "score",
        "--from",
        "inspect",
        &log("weak.eval"),
        "--out",
        "out.jsonl",
    ]);
    let error = "error: the following required arguments were not provided: --metric <NAME>; see `list` for all metrics\n";
    assert_eq!((ran.code, &*ran.err), (Some(2), error));
}

#[test]
fn means_of_the_header_that_the_rows_do_not_have_are_noted() {
    let folder = Folder::new();
    let samples = fs::read_to_string(lm_eval("weak", "sums")).unwrap();
    let results = lm_eval("weak", "sums")
        .replace("samples_sums", "results")
        .replace(".jsonl", ".json");
    let results: Value = serde_json::from_str(&fs::read_to_string(results).unwrap()).unwrap();
    let mut changed = results.clone();
    changed["results"]["sums"]["exact_match,strict-match"] = json!(0.99);
    folder.write("samples_sums_d.jsonl", &samples);
    folder.write("results_d.json", changed.to_string());
    let ran = folder.run("score --from lm-eval samples_sums_d.jsonl");
    assert!(
        ran.err
            .contains("the summary has 0.9900 as `exact_match:strict-match`, but the rows have "),
        "{}",
        ran.err
    );
    let of_first = |line: &&str| line.contains("\"doc_id\": 0,");
    let fewer: String = samples
        .lines()
        .filter(|line| !of_first(line))
        .map(|line| format!("{line}\n"))
        .collect();
    folder.write("samples_sums_d.jsonl", fewer);
    folder.write("results_d.json", results.to_string());
    let ran = folder.run("score --from lm-eval samples_sums_d.jsonl");
    assert!(
        ran.err
            .contains("the summary counts 40 samples, but the rows have 39; copy the file again"),
        "{}",
        ran.err
    );
}

/// The files of the page, with those that they are in the repository.
fn files_of_the_page(format: &str) -> Vec<(&'static str, String)> {
    let both = |extension: &str| {
        let [a, b] = ["a", "b"].map(|run| file(&format!("{format}_{run}.{extension}")));
        match extension {
            "csv" => vec![("before.csv", a), ("after.csv", b)],
            _ => vec![("before.json", a), ("after.json", b)],
        }
    };
    match format {
        "inspect" => vec![
            ("before.eval", log("weak.eval")),
            ("after.eval", log("strong.eval")),
        ],
        "lm-eval" => vec![
            ("before/samples_sums_d.jsonl", lm_eval("weak", "sums")),
            ("after/samples_sums_d.jsonl", lm_eval("strong", "sums")),
        ],
        "promptfoo" => both("json"),
        "deepeval" => [
            both("json"),
            vec![("goldens.csv", file("deepeval_goldens.csv"))],
        ]
        .concat(),
        "ragas" => both("csv"),
        "helm" => ["before", "after"]
            .iter()
            .map(|run| {
                (
                    match *run {
                        "before" => "before/per_instance_stats.json",
                        _ => "after/per_instance_stats.json",
                    },
                    file("helm/per_instance_stats.json"),
                )
            })
            .collect(),
        "bfcl" => ["result", "score"]
            .iter()
            .flat_map(|kind| {
                let source = file(&format!("bfcl/BFCL_v4_simple_python_{kind}.json"));
                let [a, b] = match *kind {
                    "result" => ["before/result.json", "after/result.json"],
                    _ => ["before/score.json", "after/score.json"],
                };
                [(a, source.clone()), (b, source)]
            })
            .collect(),
        "swebench" => ["before.json", "after.json"]
            .map(|name| (name, file("swebench_report.json")))
            .into(),
        "trec" => vec![
            ("qrels.txt", file("trec.qrels")),
            ("run.txt", file("trec.run")),
        ],
        "trn" => vec![("ref.trn", file("ref.trn")), ("hyp.trn", file("hyp.trn"))],
        "openai-batch" => vec![("output.jsonl", file("openai_batch.jsonl"))],
        _ => Vec::new(),
    }
}

#[test]
fn each_line_of_the_page_runs() {
    const PAGE: &str = include_str!("../../../dsrs-metrics/docs/guide/your_files.md");
    let ai = r#"{"type":"ai","content":"hi"}"#;
    let model = r#"{"role":"model","parts":[{"text":"hi"}]}"#;
    let mut tools = 0;
    for line in PAGE
        .lines()
        .filter(|line| line.starts_with("dsrs-metrics "))
    {
        let folder = Folder::new();
        let args: Vec<&str> = line.split(' ').skip(1).collect();
        let format = args
            .iter()
            .position(|arg| *arg == "--from")
            .map_or("", |at| args[at + 1]);
        for (name, source) in files_of_the_page(format) {
            folder.write(name, fs::read(source).unwrap());
        }
        folder.write("spans.json", super::spans::TRACES);
        folder.write("trajectories.jsonl", super::trajectories::TRAJECTORIES);
        folder.write("langchain.jsonl", format!("{{\"messages\":[{ai}]}}"));
        folder.write("contents.jsonl", format!("{{\"contents\":[{model}]}}"));
        folder.write(
            "sharegpt.jsonl",
            r#"{"conversations":[{"from":"human","value":"hi"}]}"#,
        );
        if format.is_empty() {
            folder.write("before.csv", "question,score\na,0.5\nb,1\n");
            folder.write("after.csv", "question,score\nb,1\na,0.75\n");
        }
        folder.write("gold.jsonl", "{\"id\":\"q1\",\"answer\":\"Paris\"}\n");
        folder.write(
            "preds.jsonl",
            "{\"id\":\"q1\",\"pred\":{\"answer\":\"paris\"}}\n",
        );
        folder.write("gold.txt", "a cat sat on the mat\n");
        folder.write("preds.txt", "a cat sat on a mat\n");
        folder.write(
            "dspy.csv",
            "example_answer,pred_answer\n\"['Rome', 'Paris']\",Paris\n",
        );
        let ran = folder.run(&args);
        assert_eq!(ran.code, Some(0), "{line}: {}", ran.err);
        assert!(!ran.out.is_empty(), "{line}");
        tools += 1;
    }
    assert_eq!(tools, 21);
}
