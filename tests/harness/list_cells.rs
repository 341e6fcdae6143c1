//! Lists in cells of CSV files, as Python and JSON write them: the scores of all built-in metrics, compared with the same rows
//! as JSONL.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::Cursor;
use std::sync::Arc;

use dsrs_metrics::Evaluate;
use dsrs_metrics::contract::{FieldSpec, Params};
use dsrs_metrics::data::{DataReader, Format};
use dsrs_metrics::metrics::{AnswerExactMatch, Label, ReciprocalRank, Registry};
use dsrs_metrics::prelude::*;
use dsrs_metrics::rows::Pair;
use dsrs_metrics_tests::{Peer, vectors};
use futures_util::FutureExt as _;
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Map, Value, json};

const VECTORS: &[u8] = include_bytes!("../parity/cell_vectors.jsonl.gz");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/parity/make_cell_vectors.py");

#[derive(Deserialize)]
struct Vector {
    value: Value,
    python: String,
    json: String,
}

fn read(format: Format, content: String) -> Pair {
    let mut rows = DataReader::new().read_from("rows", format, Cursor::new(content.into_bytes()));
    rows.next().unwrap().unwrap()
}

fn csv_of(columns: &[(String, &str)]) -> Pair {
    let line = |cells: Vec<&str>| {
        let cells = cells
            .iter()
            .map(|cell| format!("\"{}\"", cell.replace('"', "\"\"")));
        cells.collect::<Vec<_>>().join(",")
    };
    let names = columns.iter().map(|(name, _)| name.as_str()).collect();
    let cells = columns.iter().map(|(_, cell)| *cell).collect();
    read(Format::Csv, format!("{}\n{}\n", line(names), line(cells)))
}

/// The built-in metrics that read a list from a row and compute at once.
fn metrics_of_lists() -> Vec<Arc<dyn Metric>> {
    let registry = Registry::builtin();
    let metrics = registry
        .names()
        .filter_map(|name| registry.create(name, &Params::default()).ok());
    let metrics = metrics.filter(|metric| {
        let spec = metric.spec();
        spec.gold.iter().chain(spec.pred).any(is_list)
            && metric
                .evaluate(&example! {}, &prediction! {})
                .now_or_never()
                .is_some()
    });
    metrics.collect()
}

/// One metric for each type of list, of these.
fn one_of_each_type(metrics: &[Arc<dyn Metric>]) -> Vec<Arc<dyn Metric>> {
    let mut types = HashSet::new();
    let metrics = metrics.iter().filter(|metric| {
        let spec = metric.spec();
        let lists = spec
            .gold
            .iter()
            .chain(spec.pred)
            .filter(|field| is_list(field));
        lists
            .filter(|field| types.insert(field.ty.to_owned()))
            .count()
            > 0
    });
    metrics.cloned().collect()
}

/// Returns `true` if the field is read from a list. Where any JSON value is read, a cell is a string.
fn is_list(field: &FieldSpec<'_>) -> bool {
    field.help.may_be(&json!(["a"])) && !field.help.may_be(&json!(0.5))
}

/// The score of a row, or that it has none.
fn score(metric: &dyn Metric, row: &Pair) -> Option<(u64, Option<String>)> {
    let scored = metric
        .evaluate(&row.gold, &row.pred)
        .now_or_never()
        .unwrap()
        .ok()?;
    Some((scored.value.to_bits(), scored.details))
}

/// Scores a row whose lists are these values and cells. Returns how many metrics have a score.
fn assert_same_scores(metrics: &[Arc<dyn Metric>], value: &Value, cells: &[&str]) -> usize {
    let text = value[0]
        .as_str()
        .filter(|text| !text.is_empty())
        .unwrap_or("Paris");
    let mut scored = 0;
    let are_strings = value
        .as_array()
        .is_some_and(|values| values.iter().all(Value::is_string));
    for metric in metrics {
        let spec = metric.spec();
        // It compares texts: any other list is its text, in the cell as in the row.
        if spec.name == "diff" && !are_strings {
            continue;
        }
        let fields = [("gold", spec.gold), ("pred", spec.pred)];
        let (mut row, mut names) = (json!({}), Vec::new());
        for (side, fields) in fields {
            for field in fields {
                row[side][field.name] = if is_list(field) {
                    value.clone()
                } else {
                    json!(text)
                };
                names.push((format!("{side}.{}", field.name), is_list(field)));
            }
        }
        let expected = score(&**metric, &read(Format::Jsonl, row.to_string()));
        scored += usize::from(expected.is_some());
        for cell in cells {
            let columns = names
                .iter()
                .map(|(name, list)| (name.clone(), if *list { cell } else { text }));
            let found = score(&**metric, &csv_of(&columns.collect::<Vec<_>>()));
            assert_eq!(found, expected, "{} {cell}", spec.name);
        }
    }
    scored
}

#[test]
fn cells_that_python_wrote_have_the_scores_of_their_lists() {
    let metrics = metrics_of_lists();
    let few = one_of_each_type(&metrics);
    let (mut scored, mut cells) = (0, 0);
    for vector in vectors::<Vector>(VECTORS) {
        let padded = format!(" {}\n", vector.python);
        // All metrics read cells in the same way.
        let metrics = if cells % 100 == 1 { &metrics } else { &few };
        let texts = [vector.python.as_str(), &vector.json, &padded];
        scored += assert_same_scores(metrics, &vector.value, &texts);
        cells += 1;
    }
    assert_eq!(cells, 800);
    assert!(
        metrics.len() >= 30 && few.len() >= 5 && scored > 1_000,
        "{} {} {scored}",
        metrics.len(),
        few.len()
    );
}

#[test]
fn python_still_writes_the_vectors() {
    let Some(peer) = Peer::with(&[]) else { return };
    assert_eq!(peer.check(SCRIPT), "800 vectors, as committed");
}

/// Python's `repr` of a list of strings, in which all characters that are not control characters are printable.
fn repr(strings: &[String]) -> String {
    let strings = strings.iter().map(|text| {
        let quote = if text.contains('\'') && !text.contains('"') {
            '"'
        } else {
            '\''
        };
        let mut written = String::from(quote);
        for character in text.chars() {
            match character {
                '\\' => written.push_str("\\\\"),
                '\n' => written.push_str("\\n"),
                character if character == quote => written.extend(['\\', quote]),
                character if character.is_control() => {
                    write!(written, "\\x{:02x}", u32::from(character)).unwrap();
                }
                character => written.push(character),
            }
        }
        written.push(quote);
        written
    });
    format!("[{}]", strings.collect::<Vec<_>>().join(", "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn lists_of_any_strings_have_the_scores_of_the_row_as_jsonl(
        strings in prop::collection::vec(prop_oneof!["\\PC{0,8}", "['\"\\\\\n\\[\\],a\u{0}]{0,6}", "Paris|None|1"], 0..5)
    ) {
        let value = json!(strings);
        assert_same_scores(&one_of_each_type(&metrics_of_lists()), &value, &[&repr(&strings), &value.to_string()]);
    }
}

/// Reads only strings, numbers and booleans.
#[metric]
#[allow(clippy::needless_pass_by_value, reason = "a parameter is a field")]
fn same_label(#[gold] label: Label<'_>, #[pred("label")] given: Label<'_>) -> bool {
    label == given
}

fn em(answer: &str) -> Result<f64, String> {
    let columns = [
        ("gold.answer".to_owned(), answer),
        ("pred.answer".to_owned(), "['x']"),
    ];
    let Pair { gold, pred, .. } = csv_of(&columns);
    AnswerExactMatch::default()
        .score(&gold, &pred)
        .map(|scored| scored.value)
        .map_err(|error| error.to_string())
}

#[test]
fn a_cell_that_begins_like_a_list_of_strings_and_is_none_is_refused() {
    for cell in [
        "['x', 'y",
        "['x' 'y']",
        "array(['x'], dtype=object)",
        "[\"x\", y]",
    ] {
        let expected = format!(
            "metric `answer_exact_match`: field `gold.answer`: expected a string or list of strings, found the string \
             {cell:?}, which starts like a list but is not one; write `[\"a\", \"b\"]` (for an array, its `.tolist()`), \
             or the rows as JSONL if it is a string"
        );
        assert_eq!(em(cell), Err(expected));
    }
}

#[test]
fn text_in_brackets_is_a_string_and_so_is_a_list_where_only_a_string_is_read() {
    for text in [
        "[sic] hello",
        "[1, 2)",
        "a|b",
        "[Paris](map.md)",
        "[y]",
        "(",
    ] {
        assert_eq!(em(text), Ok(0.0), "{text}");
    }
    assert_eq!(
        (em("x"), em("['y', \"x\"]")),
        (Ok(1.0), Ok(1.0)),
        "the prediction `['x']` is a string"
    );
    let labels = [
        ("gold.label".to_owned(), "['a' 'b']"),
        ("pred.label".to_owned(), "['a']"),
    ];
    let row = csv_of(&labels);
    assert_eq!(SameLabel.score(&row.gold, &row.pred).unwrap().value, 0.0);
}

#[test]
fn a_field_of_lists_only_says_how_to_write_one() {
    let columns = [
        ("gold.relevant".to_owned(), "a|b"),
        ("pred.retrieved".to_owned(), "['a']"),
    ];
    let row = csv_of(&columns);
    let error = ReciprocalRank::default()
        .score(&row.gold, &row.pred)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `mrr`: field `gold.relevant`: expected a list of ids, or a map from ids to grades, found the \
         string \"a|b\"; write a list as JSON"
    );
}

#[tokio::test]
async fn lists_and_strings_that_look_like_lists_keep_their_scores_in_a_result_file() {
    let gold = [
        json!(["x", "y's"]),
        json!("['x']"),
        json!("[\"x\"]"),
        json!(" [\"x\"]"),
        json!("'[\"x\"]"),
        json!("['x"),
        json!("array(['x'])"),
        json!("{\"x\": 1}"),
        json!("=x"),
        json!([]),
    ];
    let pair = |answer: &Value| {
        let gold = Example::from_iter([("answer", answer.clone())]);
        Pair::new(answer.to_string(), gold, prediction! { "answer" => "x" })
    };
    let rows: Vec<_> = gold.iter().map(pair).collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results.csv");
    let run = Evaluate::builder()
        .metric(AnswerExactMatch::default())
        .files(|files| files.save_rows(true).csv(&file));
    assert!(
        run.build()
            .unwrap()
            .score(rows.clone())
            .await
            .unwrap()
            .is_complete()
    );
    let read: Vec<Pair> = DataReader::new()
        .read([&file])
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let scores = |rows: &[Pair]| -> Map<String, Value> {
        let score = |row: &Pair| {
            let score = AnswerExactMatch::default().score(&row.gold, &row.pred);
            (
                row.id.clone(),
                json!(
                    score
                        .map(|scored| scored.value)
                        .map_err(|error| error.to_string())
                ),
            )
        };
        rows.iter().map(score).collect()
    };
    assert_eq!(scores(&read), scores(&rows));
    let strings = |rows: &[Pair]| {
        rows[1..9]
            .iter()
            .map(|row| row.gold.get("answer").cloned())
            .collect::<Vec<_>>()
    };
    assert_eq!(strings(&read), strings(&rows));
}
