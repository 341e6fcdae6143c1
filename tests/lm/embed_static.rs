//! Static vectors in a folder, in code and on the command line. The tests write the files.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use dsrs_metrics::Evaluate;
use dsrs_metrics::judge;
use dsrs_metrics::lm::{Embedder, EmbeddingModel, LmError, StaticEmbedder};
use dsrs_metrics::metrics::SemanticSimilarity;
use dsrs_metrics::prelude::*;
use dsrs_metrics::rows::Pair;
use dsrs_metrics_tests::schema;
use serde_json::{Value, json};

/// A tokenizer of words in lower case: `[UNK]` is 0, `the` 1, `cat` 2, `dog` 3.
fn tokenizer() -> Value {
    json!({
        "version": "1.0",
        "truncation": { "direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0 },
        "padding": null,
        "added_tokens": [],
        "normalizer": { "type": "Lowercase" },
        "pre_tokenizer": { "type": "Whitespace" },
        "post_processor": null,
        "decoder": null,
        "model": {
            "type": "WordLevel",
            "vocab": { "[UNK]": 0, "the": 1, "cat": 2, "dog": 3 },
            "unk_token": "[UNK]",
        },
    })
}

/// A tensor: its name, its type, its shape, its bytes.
type Tensor<'a> = (&'a str, &'a str, &'a [usize], Vec<u8>);

/// A file in the format of safetensors: the length of the header, the header, the bytes.
fn safetensors(tensors: &[Tensor<'_>]) -> Vec<u8> {
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for (name, dtype, shape, bytes) in tensors {
        let start = data.len();
        data.extend_from_slice(bytes);
        let info = json!({ "dtype": dtype, "shape": shape, "data_offsets": [start, data.len()] });
        header.insert((*name).to_owned(), info);
    }
    let header = Value::Object(header).to_string();
    [
        &(header.len() as u64).to_le_bytes()[..],
        header.as_bytes(),
        &data,
    ]
    .concat()
}

fn f32s(numbers: &[f32]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

/// The vectors of the four tokens.
const VECTORS: [f32; 8] = [9.0, 9.0, 1.0, 0.0, 3.0, 4.0, 0.0, 2.0];

fn write(folder: &Path, tensors: &[Tensor<'_>], tokenizer: &Value) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("model.safetensors"), safetensors(tensors)).unwrap();
    fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
}

fn write_default(folder: &Path) {
    write(
        folder,
        &[("embeddings", "F32", &[4, 2], f32s(&VECTORS))],
        &tokenizer(),
    );
}

async fn vectors(folder: &Path, texts: &[&str]) -> Vec<Vec<f32>> {
    let model = StaticEmbedder::open(folder).unwrap();
    model.embed(texts).await.unwrap().vectors().to_vec()
}

fn error(folder: &Path) -> String {
    let error: LmError = StaticEmbedder::open(folder).unwrap_err();
    error.to_string()
}

#[tokio::test]
async fn the_vector_of_a_string_is_the_normalized_mean_of_its_tokens() {
    let dir = tempfile::tempdir().unwrap();
    write_default(dir.path());
    let texts = ["Cat", "the cat", "the cat bites the dog", "bird", ""];
    let found = vectors(dir.path(), &texts).await;
    // the cat: (1 + 3, 0 + 4); with two unknown words and another `the`: (1 + 3 + 1 + 0, 0 + 4 + 0 + 2).
    let (root, longer) = (0.5_f32.sqrt(), 61.0_f32.sqrt());
    let expected = [
        [0.6, 0.8],
        [root, root],
        [5.0 / longer, 6.0 / longer],
        [0.0, 0.0],
        [0.0, 0.0],
    ];
    for ((text, found), expected) in texts.iter().zip(&found).zip(expected) {
        let is_close = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-6;
        assert!(
            found.iter().zip(&expected).all(is_close),
            "{text}: {found:?}, {expected:?}"
        );
    }
}

#[tokio::test]
async fn all_types_of_numbers_weights_and_mappings_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = |numbers: &[i8]| {
        numbers
            .iter()
            .map(|number| number.cast_unsigned())
            .collect()
    };
    let half = [0x4880_u16, 0x4880, 0x3c00, 0, 0x4200, 0x4400, 0, 0x4000];
    let brain = VECTORS.map(|number| (number.to_bits() >> 16) as u16);
    let halves = |numbers: &[u16]| {
        numbers
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect()
    };
    let doubles = VECTORS
        .iter()
        .flat_map(|number| f64::from(*number).to_le_bytes())
        .collect();
    let shape = &[4, 2][..];
    let same: [Tensor<'_>; 5] = [
        ("embeddings", "I8", shape, bytes(&[9, 9, 1, 0, 3, 4, 0, 2])),
        ("embeddings", "F16", shape, halves(&half)),
        ("embeddings", "BF16", shape, halves(&brain)),
        ("0", "F64", shape, doubles),
        ("embedding.weight", "F32", shape, f32s(&VECTORS)),
    ];
    for tensor in same {
        write(dir.path(), std::slice::from_ref(&tensor), &tokenizer());
        assert_eq!(
            vectors(dir.path(), &["cat"]).await,
            [[0.6, 0.8]],
            "{}",
            tensor.1
        );
    }
    // Two rows for four tokens: `the` and `dog` have the second one, with the weights 1 and 5.
    let mapping: Vec<u8> = [0_i64, 1, 0, 1]
        .iter()
        .flat_map(|row| row.to_le_bytes())
        .collect();
    let weights = f32s(&[0.0, 1.0, 2.0, 5.0]);
    let tensors = [
        (
            "embeddings",
            "F32",
            &[2, 2][..],
            f32s(&[1.0, 0.0, 0.0, 1.0]),
        ),
        ("weights", "F32", &[4][..], weights),
        ("mapping", "I64", &[4][..], mapping),
    ];
    write(dir.path(), &tensors, &tokenizer());
    let [short, long] = [2.0, 6.0].map(|number: f64| (number / 40.0_f64.sqrt()) as f32);
    assert_eq!(
        vectors(dir.path(), &["the cat dog"]).await,
        [[short, long]],
        "(2, 1 + 5)"
    );
}

#[tokio::test]
async fn the_identity_is_a_hash_of_the_files() {
    let dir = tempfile::tempdir().unwrap();
    let [one, copy, other] = ["one", "copy", "other"].map(|name| dir.path().join(name));
    write_default(&one);
    write_default(&copy);
    let mut changed = VECTORS;
    changed[0] = 8.0;
    write(
        &other,
        &[("embeddings", "F32", &[4, 2], f32s(&changed))],
        &tokenizer(),
    );
    let id = |folder: &Path| StaticEmbedder::open(folder).unwrap().id().to_owned();
    assert!(
        id(&one).starts_with("static:") && id(&one).len() == "static:".len() + 32,
        "{}",
        id(&one)
    );
    assert_eq!(id(&one), id(&copy), "whatever the folder is named");
    assert_ne!(id(&one), id(&other));
    let mut renamed = tokenizer();
    renamed["model"]["vocab"] = json!({ "[UNK]": 0, "the": 1, "cat": 3, "dog": 2 });
    write(
        &copy,
        &[("embeddings", "F32", &[4, 2], f32s(&VECTORS))],
        &renamed,
    );
    assert_ne!(id(&one), id(&copy));
}

#[test]
fn damaged_and_hostile_files_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    assert!(error(folder).contains("pass a folder with model.safetensors and tokenizer.json"));
    let vectors = |shape: &[usize], numbers: &[f32], dtype: &str| {
        let tensor = ("embeddings", dtype, shape, f32s(numbers));
        fs::write(folder.join("model.safetensors"), safetensors(&[tensor])).unwrap();
        error(folder)
    };
    write_default(folder);
    let cases = [
        (vectors(&[8], &VECTORS, "F32"), "found the shape [8]"),
        (vectors(&[8, 0], &[], "F32"), "found the shape [8, 0]"),
        (
            vectors(&[1, 1 << 15], &vec![0.0; 1 << 15], "F32"),
            "expected vectors of 1 to 16384 numbers",
        ),
        (
            vectors(&[4, 2], &[f32::NAN; 8], "F32"),
            "expected finite numbers, found NaN",
        ),
        (
            vectors(&[4, 2], &VECTORS, "I32"),
            "expected numbers of type F16, BF16, F32, F64 or I8, found I32",
        ),
        (
            vectors(&[3, 2], &VECTORS[..6], "F32"),
            "tokenizer.json has 4 tokens, but model.safetensors has vectors for 3",
        ),
        (
            vectors(&[usize::MAX, 2], &VECTORS, "F32"),
            "model.safetensors: ",
        ),
        (
            vectors(&[4, 2], &VECTORS[..7], "F32"),
            "model.safetensors: ",
        ),
    ];
    for (error, expected) in cases {
        assert!(
            error.starts_with("invalid embedding model `static:"),
            "{error}"
        );
        assert!(error.contains(expected), "{expected}: {error}");
    }
    // A header that claims more bytes than the file has, or than memory has.
    for claimed in [100_u64, 99_999_999, u64::MAX] {
        let file = [&claimed.to_le_bytes()[..], b"{}"].concat();
        fs::write(folder.join("model.safetensors"), file).unwrap();
        assert!(error(folder).contains("model.safetensors: "), "{claimed}");
    }
    let offsets = safetensors(&[("other", "F32", &[4, 2], f32s(&VECTORS))]);
    fs::write(folder.join("model.safetensors"), offsets).unwrap();
    assert!(error(folder).contains("expected a tensor `embeddings`, found [\"other\"]"));

    write_default(folder);
    for tokenizer in [
        "",
        "{}",
        r#"{"model":{"type":"WordLevel"}}"#,
        "[",
        &"[".repeat(100_000),
    ] {
        fs::write(folder.join("tokenizer.json"), tokenizer).unwrap();
        let error = error(folder);
        assert!(
            error.contains("tokenizer.json: ") && error.len() < 1000,
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_string_of_more_than_a_mebibyte_fails_its_row() {
    let dir = tempfile::tempdir().unwrap();
    write_default(dir.path());
    let model = StaticEmbedder::open(dir.path()).unwrap();
    model.embed(&[&"cat ".repeat(1 << 18)]).await.unwrap();
    let error = model
        .embed(&["x".repeat((1 << 20) + 1).as_str()])
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.ends_with(
            "expected a string of at most 1048576 bytes, found 1048577 bytes; shorten it"
        ),
        "{error}"
    );
}

#[tokio::test]
async fn a_named_folder_is_compared_like_the_model_itself() {
    let dir = tempfile::tempdir().unwrap();
    write_default(dir.path());
    let name = format!("static:{}", dir.path().display());
    let model = judge::embedding_model(&Embedder::from(name.as_str())).unwrap();
    assert!(std::sync::Arc::ptr_eq(
        &model,
        &judge::embedding_model(&name.as_str().into()).unwrap()
    ));
    let rows = [("the cat", "cat"), ("cat", "dog"), ("the", "dog")].map(|(gold, answer)| {
        let id = format!("{gold}, {answer}");
        Pair::new(
            id,
            example! { "answer" => gold },
            prediction! { "answer" => answer },
        )
    });
    let metric = SemanticSimilarity::builder().embedder(name).build();
    let result = Evaluate::builder()
        .metric(metric)
        .score(rows)
        .await
        .unwrap();
    let scores: Vec<_> = result
        .results
        .iter()
        .map(|row| row.outcomes[0].value().unwrap())
        .collect();
    for (score, expected) in scores.iter().zip([0.989_949, 0.8, 0.0]) {
        assert!((score - expected).abs() < 1e-6, "{scores:?}");
    }
}

/// Runs `dsrs-metrics score` with two rows and the folder `vectors`.
async fn score(
    args: &[&str],
    variables: &[(&str, &str)],
) -> (Option<i32>, String, String, Vec<Value>) {
    let dir = tempfile::tempdir().unwrap();
    write_default(&dir.path().join("vectors"));
    let row = |id: u8, answer: &str| {
        format!(
            "{}\n",
            json!({ "id": id, "gold": { "answer": ["the", "cat"] }, "pred": { "answer": answer } })
        )
    };
    fs::write(
        dir.path().join("rows.jsonl"),
        row(1, "dog") + &row(2, "bird"),
    )
    .unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_scorer"));
    for name in ["DSRS_LM", "DSRS_EMBED", "OPENAI_API_KEY", "OPENAI_BASE_URL"] {
        command.env_remove(name);
    }
    command
        .envs(variables.iter().copied())
        .args(["score", "rows.jsonl"])
        .args(args);
    command.current_dir(dir.path());
    let ran = tokio::task::spawn_blocking(move || command.output().unwrap());
    let Output {
        status,
        stdout,
        stderr,
    } = ran.await.unwrap();
    let out = dir.path().join("out.jsonl");
    if out.exists() {
        schema::validate_file(&out);
    }
    let lines = fs::read_to_string(out).unwrap_or_default();
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr), lines)
}

const METRIC: [&str; 2] = ["-m", "semantic_similarity"];

#[tokio::test]
async fn the_command_line_scores_with_a_folder() {
    let by_option = [
        &METRIC[..],
        &["--embed", "static:vectors", "--out", "out.jsonl", "--quiet"],
    ]
    .concat();
    let (code, out, err, lines) = score(&by_option, &[]).await;
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    let headline = "(mean of 1/2, 1 failed counted as 0; 0.8000 over the 1 scored)\n";
    assert!(out.ends_with(headline), "{out}");
    let value = lines[0]["scores"]["semantic_similarity"]["value"]
        .as_f64()
        .unwrap();
    assert!((value - 0.8).abs() < 1e-6, "{lines:?}");
    let rest = [&METRIC[..], &["--quiet"]].concat();
    let (code, by_variable, _, _) = score(&rest, &[("DSRS_EMBED", "static:vectors")]).await;
    assert_eq!((code, by_variable), (Some(0), out.clone()));
    let by_param = [
        &rest[..],
        &["--param", "semantic_similarity.embedder=static:vectors"],
    ]
    .concat();
    let (code, of_param, err, _) = score(&by_param, &[]).await;
    assert_eq!((code, of_param), (Some(0), out), "{err}");
    let gated = [&by_option[..], &["--fail-under", "semantic_similarity=0.9"]].concat();
    assert_eq!(score(&gated, &[]).await.0, Some(1));
}

#[tokio::test]
async fn the_command_line_names_what_to_set() {
    let missing = score(&METRIC, &[]).await;
    assert_eq!(missing.0, Some(2), "{}", missing.2);
    assert!(
        missing.2.contains("--embed") && missing.2.contains("DSRS_EMBED"),
        "{}",
        missing.2
    );
    let folder = score(&[&METRIC[..], &["--embed", "static:nowhere"]].concat(), &[]).await;
    assert_eq!(folder.0, Some(2));
    assert!(
        folder
            .2
            .contains("invalid embedding model `static:nowhere`: cannot read"),
        "{}",
        folder.2
    );
    let offline = [&METRIC[..], &["--embed", "openai:m", "--offline"]].concat();
    let offline = score(&offline, &[]).await;
    assert_eq!(offline.0, Some(2));
    assert!(
        offline.2.contains("no provider is called with `--offline`"),
        "{}",
        offline.2
    );
    let (code, _, err, _) = score(&["-m", "em", "--embed", "static:vectors"], &[]).await;
    assert_eq!(code, Some(0));
    assert!(
        err.contains("warning: --embed: no metric in this run uses it"),
        "{err}"
    );
    let (code, _, err, _) = score(&[&METRIC[..], &["--embed", "small"]].concat(), &[]).await;
    assert_eq!(code, Some(2));
    assert!(
        err.contains(
            "expected provider:model, as in openai:text-embedding-3-small, or static:FOLDER"
        ),
        "{err}"
    );
}
