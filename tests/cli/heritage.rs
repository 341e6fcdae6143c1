//! The heritage metrics on the heritage rows.

use std::path::Path;

use insta::assert_snapshot;
use serde_json::Value;

use crate::lists::list;
use crate::{Ran, scorer};

const METRICS: &str = "heritage_rag,heritage_rag_strict,answer_present,sources_used";

fn score(system: &str) -> Value {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/data/heritage");
    let rows = data.join(format!("heritage.{system}.jsonl"));
    let ran = Ran::from(
        scorer()
            .arg("score")
            .arg(rows)
            .args(["-m", METRICS, "--json"])
            .output()
            .unwrap(),
    );
    assert_eq!((ran.code, &*ran.err), (Some(0), ""));
    serde_json::from_str(&ran.out).unwrap()
}

/// The means are computed in Python with the document's formulas; rdflib accepts 119 and 136 of the
/// 142 queries.
#[test]
fn the_composite_and_its_components_have_the_figures_of_the_document() {
    for (system, mean, strict, answers, sources) in [
        ("baseline", 0.817_781_690_140_845_1, 52, 139, 141),
        ("tuned", 0.944_131_455_399_061, 111, 142, 136),
    ] {
        let report = score(system);
        let metrics = &report["metrics"];
        let found = metrics["heritage_rag"]["mean"].as_f64().unwrap();
        assert!((found - mean).abs() < 1e-12, "{system}: {found}");
        for (name, passed) in [
            ("heritage_rag_strict", strict),
            ("answer_present", answers),
            ("sources_used", sources),
        ] {
            assert_eq!(metrics[name]["passed"], passed, "{system} {name}");
            assert_eq!(metrics[name]["failed"], 0, "{system} {name}");
        }
    }
}

#[test]
fn the_composite_lists_the_fields_of_its_components() {
    assert_snapshot!(list("heritage_rag sources_used", "100"));
}

#[test]
fn the_guide_shows_what_its_commands_print() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = root.join("dsrs-metrics/docs/guide/command_line.md");
    let page = std::fs::read_to_string(page).unwrap();
    for args in [
        "score examples/data/heritage/heritage.tuned.jsonl -m answer_exact_match,f1",
        "plan \"answer_exact_match >= 0.9\" --rows 1000 --alpha 0.01 --at 0.8,0.95,0.97",
    ] {
        assert!(page.contains(&format!("dsrs-metrics {args}\n")));
        let mut command = scorer();
        let quoted = args.split('"').enumerate();
        let args = quoted.flat_map(|(part, text)| match part % 2 {
            0 => text.split_whitespace().collect(),
            _ => vec![text],
        });
        command.args(args).current_dir(&root);
        let ran = Ran::from(command.output().unwrap());
        assert!(page.contains(&ran.out), "{ran:?}");
    }
}
