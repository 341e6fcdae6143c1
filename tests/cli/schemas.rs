//! The schemas in `docs/schema`: each value of an output has a type, and each object knows its keys. That every output is valid is
//! checked wherever a test runs the program or reads a result file.

use dsrs_metrics_tests::schema;
use serde_json::{Value, json};

use crate::{Folder, Words as _};

const ROWS: &str = r#"{"id": "q1", "gold": {"answer": "1.5", "question": "How many?", "response": "one"}, "pred": {"answer": "1.5", "note": "a", "response": "one"}, "region": "EU", "good": true, "latency_s": 0.5, "input_tokens": 7, "output_tokens": 2, "cost_msats": 9}
{"id": "q2", "gold": {"answer": "the river Nile", "question": "Which river?", "response": "Nile"}, "pred": {"answer": "Nile", "note": "abcdef", "response": "the Po"}, "region": "AF", "good": false, "latency_s": 1.5, "input_tokens": 9, "output_tokens": 4, "cost_msats": 9}
{"id": "q3", "gold": {"answer": "Oslo", "question": "Where?", "response": "Oslo"}, "pred": {"note": null, "response": "Oslo"}, "region": "EU", "good": true, "latency_s": 1.0, "input_tokens": 5, "output_tokens": 1, "cost_msats": 9}
"#;

/// Runs a command that must print JSON.
fn printed(folder: &Folder, args: &str) -> Value {
    let ran = folder.run(args);
    assert!(ran.code == Some(0) || ran.code == Some(1), "{ran:?}");
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

fn lines(text: &str) -> impl Iterator<Item = Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap())
}

/// One output or more of each schema that the program without language models writes.
fn outputs() -> Vec<(&'static str, Value)> {
    let folder = Folder::with("rows.jsonl", ROWS);
    let score = "score rows.jsonl -m em,f1,short_note,obeys,bleu,macro_f1,semantic_f1 --param short_note.limit=3 --offline --max-errors 9";
    let mapped = "latency_s input_tokens output_tokens cost_msats".words();
    let mapped: String = mapped
        .iter()
        .map(|field| format!("--map pred.{field}={field} "))
        .collect();
    let described = "--label base --tag prompt=v2 --group region --json --with-rows";
    let common = format!("{score} {mapped} {described}");
    let summary = printed(&folder, &format!("{common} --out a.jsonl --bootstrap 100"));
    let again = printed(&folder, &format!("{common} --out b.jsonl --repeats 2"));
    let manifest = serde_json::from_str(&folder.read("a.jsonl.manifest.json")).unwrap();
    let rows = [folder.read("a.jsonl"), folder.read("b.jsonl")].concat();
    let compare = "compare a.jsonl b.jsonl -m em,f1 --group region --json";
    let agree = "agree a.jsonl --label good -m em,semantic_f1 --json";
    let mut outputs = vec![
        ("summary", summary),
        ("summary", again),
        ("manifest", manifest),
        ("comparison", printed(&folder, compare)),
        ("agreement", printed(&folder, agree)),
        ("list", printed(&folder, "list f1 any_of --json")),
    ];
    outputs.extend(lines(&rows).map(|row| ("result-row", row)));
    let baselines = concat!(
        include_str!("../../examples/evals/evals/capitals.baseline.jsonl"),
        include_str!("../../examples/evals/evals/routing.baseline.jsonl")
    );
    outputs.extend(lines(baselines).map(|line| ("baseline", line)));
    let share = json!({ "outcome": "scored", "value": 0.5, "is_share": true });
    outputs.push(("baseline", json!({ "id": "q1", "gold_hash": "0".repeat(16), "scores": { "em": share }, "gold": {}, "pred": null })));
    outputs
}

#[test]
fn no_unknown_key_and_no_value_of_another_type_is_valid() {
    let counts = outputs()
        .into_iter()
        .map(|(name, output)| schema::assert_strict(name, &output));
    let (keys, values) = counts.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    assert!(
        keys > 200 && values > 1_000,
        "{keys} objects and {values} values"
    );
}

#[test]
fn each_property_is_described() {
    fn check(name: &str, schema: &Value, undescribed: &mut Vec<String>) {
        let fields = schema.as_object().into_iter().flatten();
        for (key, value) in fields.clone().filter(|(key, _)| *key == "properties") {
            for (property, it) in value.as_object().into_iter().flatten() {
                let has = ["description", "$ref", "const"]
                    .iter()
                    .any(|key| it.get(key).is_some());
                if !has && it.is_object() && !["a", "b"].contains(&&**property) {
                    undescribed.push(format!("{name}: {key}.{property}"));
                }
            }
        }
        let items = schema.as_array().into_iter().flatten();
        // The keys that a condition or one of several forms requires are described at another place of the schema.
        let fields = fields.filter(|(key, _)| !["if", "then", "else", "oneOf"].contains(&&***key));
        fields
            .map(|(_, it)| it)
            .chain(items)
            .for_each(|it| check(name, it, undescribed));
    }
    let mut undescribed = Vec::new();
    for (name, schema) in schema::schemas() {
        assert_eq!(schema["$id"], format!("dsrs-metrics/1/{name}.schema.json"));
        assert!(
            schema["title"].is_string() && schema["description"].is_string(),
            "{name}"
        );
        check(name, schema, &mut undescribed);
    }
    assert_eq!(undescribed, [""; 0]);
    assert_eq!(schema::schemas().count(), 10);
}

#[test]
fn a_judge_and_the_version_of_an_output_are_checked() {
    let row = |replied_by: Value| {
        let judges = json!([{ "judge": "openai:m", "value": 1, "answers": [{}], "replied_by": [replied_by] }]);
        json!({ "id": "q1", "scores": { "polite": {
            "outcome": "scored", "value": 1, "passed": true, "confidence": 1, "details": null, "feedback": null,
            "cost_msats": 5, "metadata": { "judges": judges },
        } } })
    };
    let count = |row: Value| schema::errors("result-row", &row).len();
    assert_eq!(count(row(json!({ "model": "m-1", "replies": 2 }))), 0);
    assert_eq!(
        count(row(
            json!({ "model": "m-1", "fingerprint": "fp", "replies": 2 })
        )),
        0
    );
    assert_eq!(count(row(json!({ "model": "m-1" }))), 1);
    assert_eq!(count(row(json!({ "model": "m-1", "replies": "2" }))), 1);
    let mut later = row(json!({ "model": "m-1", "replies": 2 }));
    later["manifest"] = json!(format!("1-{}", "0".repeat(32)));
    assert_eq!(count(later.clone()), 0);
    later["manifest"] = json!(format!("2-{}", "0".repeat(32)));
    assert_eq!(count(later), 1);
    // The models that replied to a judge, in a manifest as in a summary.
    let judged_by = json!({ "polite": [{ "judge": "openai:m", "model": "m-1", "replies": 2 }] });
    let is_manifest = |(name, _): &(&str, Value)| *name == "manifest";
    let (_, mut manifest) = outputs().into_iter().find(is_manifest).unwrap();
    manifest["run"]["judged_by"] = judged_by;
    assert!(schema::assert_strict("manifest", &manifest).0 > 20);
    for (schema, mut output) in outputs()
        .into_iter()
        .filter(|(_, output)| output.get("format").is_some())
    {
        let format = output["format"].take();
        output["format"] = json!(9);
        assert_eq!(
            schema::errors(schema, &output),
            [format!("/format: {format} was expected")]
        );
    }
}

#[test]
fn no_command_reads_a_file_of_a_later_version() {
    let folder = Folder::with("rows.jsonl", ROWS);
    folder.printed("score rows.jsonl -m em --with-rows -q --out run.jsonl");
    let manifest = folder.read("run.jsonl.manifest.json");
    let (of_row, rows) = (
        "run.jsonl",
        folder
            .read("run.jsonl")
            .replace(r#""manifest":"1-"#, r#""manifest":"2-"#),
    );
    let later = manifest.replace(r#""format": 1"#, r#""format": 2"#);
    let commands = [
        "score run.jsonl -m f1",
        "compare run.jsonl run.jsonl",
        "agree run.jsonl --label good",
        "report run.jsonl --out report.html",
        "rejudge run.jsonl --offline",
    ];
    let files = [
        ("run.jsonl.manifest.json", rows.clone(), &later),
        // Rows of a form that this version does not know.
        (
            "run.jsonl.manifest.json",
            "{\"id\":\"q1\",\"results\":{}}\n".to_owned(),
            &later,
        ),
        (of_row, rows, &manifest),
    ];
    for (named, rows, manifest) in files {
        folder.write("run.jsonl", rows);
        folder.write("run.jsonl.manifest.json", manifest);
        for args in commands {
            let ran = folder.run(args);
            let expected = format!(
                "error: `{named}` has the format version 2, but this version of dsrs-metrics reads 1; update dsrs-metrics\n"
            );
            assert_eq!(
                (ran.code, &*ran.out, &*ran.err),
                (Some(2), "", &*expected),
                "{args:?}"
            );
        }
    }
    // Rows of a version without manifests are read.
    folder.write(
        "old.jsonl",
        "{\"id\":\"q1\",\"scores\":{\"em\":{\"outcome\":\"scored\",\"value\":1}}}\n",
    );
    let compared = printed(&folder, "compare old.jsonl old.jsonl --json");
    assert_eq!(compared["identity"]["unknown"]["a"], "it has no manifest");
}
