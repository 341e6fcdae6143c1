//! Replays the committed vectors: the scores of sacrebleu, rouge-score, jiwer, rapidfuzz and trec_eval for
//! strings and rankings, compared to within 1e-9. With the packages installed, also checks that the vectors are up to date.

use std::collections::BTreeMap;

use dsrs_metrics::contract::CorpusCounts;
use dsrs_metrics::retrieval::{Gain, Ranking, Relevant, Retrieved};
use dsrs_metrics::text::{
    BleuOptions, BleuSmoothing, BleuTokens, ChrfOptions, EditCounts, EditDistance, NormalForm,
    Rouge, RougeOptions,
};
use dsrs_metrics_tests::Peer;
use serde::Deserialize;
use serde_json::Value;

const VECTORS: &[u8] = include_bytes!("../../parity/metric_vectors.jsonl.gz");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/parity/make_metric_vectors.py");

type Row = (String, Vec<String>);
type Count = fn(&str, &str) -> EditCounts;

#[derive(Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
enum Vector {
    Bleu {
        options: Bleu,
        prediction: String,
        references: Vec<String>,
        score: f64,
    },
    BleuCorpus {
        options: Bleu,
        rows: Vec<Row>,
        score: f64,
    },
    Chrf {
        options: Chrf,
        prediction: String,
        references: Vec<String>,
        score: f64,
    },
    ChrfCorpus {
        options: Chrf,
        rows: Vec<Row>,
        score: f64,
    },
    Rouge {
        #[serde(default)]
        use_stemmer: bool,
        prediction: String,
        references: Vec<String>,
        rouge1: [f64; 3],
        rouge2: [f64; 3],
        #[serde(rename = "rougeL")]
        rouge_l: [f64; 3],
        #[serde(rename = "rougeLsum")]
        rouge_lsum: [f64; 3],
    },
    Rates {
        rows: Vec<(String, String)>,
        wer: f64,
        cer: f64,
    },
    Similarity {
        a: String,
        b: String,
        levenshtein: f64,
        indel: f64,
    },
    Ranking {
        relevant: Value,
        retrieved: Value,
        scores: BTreeMap<String, f64>,
    },
}

/// sacrebleu's arguments.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bleu {
    tokenize: Option<BleuTokens>,
    smooth_method: Option<String>,
    max_ngram_order: Option<usize>,
    #[serde(default)]
    lowercase: bool,
}

impl Bleu {
    fn options(&self) -> BleuOptions {
        let smoothing = match self.smooth_method.as_deref() {
            None => BleuSmoothing::Exp,
            Some("none") => BleuSmoothing::None,
            Some("floor") => BleuSmoothing::Floor,
            Some("add-k") => BleuSmoothing::AddOne,
            Some(other) => panic!("{other}"),
        };
        BleuOptions {
            tokens: self.tokenize.unwrap_or_default(),
            smoothing,
            max_order: self.max_ngram_order.unwrap_or(4),
            lowercase: self.lowercase,
            form: NormalForm::AsIs,
        }
    }
}

/// sacrebleu's arguments.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Chrf {
    char_order: Option<usize>,
    word_order: Option<usize>,
    beta: Option<f64>,
    #[serde(default)]
    lowercase: bool,
    #[serde(default)]
    whitespace: bool,
}

impl Chrf {
    fn options(&self) -> ChrfOptions {
        ChrfOptions {
            char_order: self.char_order.unwrap_or(6),
            word_order: self.word_order.unwrap_or(0),
            beta: self.beta.unwrap_or(2.0),
            lowercase: self.lowercase,
            whitespace: self.whitespace,
            form: NormalForm::AsIs,
        }
    }
}

fn vectors() -> impl Iterator<Item = Vector> {
    dsrs_metrics_tests::vectors(VECTORS)
}

/// Collects differences, so that a failure shows their number and the first of them.
#[derive(Default)]
struct Differences {
    compared: usize,
    different: Vec<String>,
}

impl Differences {
    fn compare(&mut self, found: f64, expected: f64, what: impl FnOnce() -> String) {
        self.compared += 1;
        let is_close = (found - expected).abs() <= 1e-9;
        if !is_close {
            self.different
                .push(format!("{} is {found}, not {expected}", what()));
        }
    }

    #[track_caller]
    fn assert_none(&self, at_least: usize) {
        let Self {
            compared,
            different,
        } = self;
        let shown: Vec<&str> = different.iter().take(8).map(String::as_str).collect();
        assert!(
            different.is_empty(),
            "{} of {compared} differ:\n{}",
            different.len(),
            shown.join("\n")
        );
        assert!(*compared >= at_least, "only {compared} compared");
        println!("{compared} numbers, no difference");
    }
}

fn merged(rows: impl Iterator<Item = CorpusCounts>) -> f64 {
    let merge = |mut sums: CorpusCounts, row| {
        sums.merge(&row);
        sums
    };
    rows.reduce(merge)
        .and_then(|sums| sums.score())
        .expect("a corpus has a score")
}

#[test]
fn bleu_agrees_with_sacrebleu() {
    let mut differences = Differences::default();
    for vector in vectors() {
        match vector {
            Vector::Bleu {
                options,
                prediction,
                references,
                score,
            } => {
                let bleu = options.options();
                let counts = bleu.counts(&prediction, &references).unwrap();
                let found = bleu.sentence_score(&counts);
                let what = || format!("{bleu:?} {prediction:?} {references:?}");
                differences.compare(found, score / 100.0, what);
            }
            Vector::BleuCorpus {
                options,
                rows,
                score,
            } => {
                let bleu = options.options();
                let counts = |(prediction, references): &Row| {
                    CorpusCounts::new(bleu.counts(prediction, references).unwrap(), bleu)
                };
                let found = merged(rows.iter().map(counts));
                let what = || format!("{bleu:?} of {} rows", rows.len());
                differences.compare(found, score / 100.0, what);
                let backwards = merged(rows.iter().rev().map(counts));
                assert_eq!(found.to_bits(), backwards.to_bits());
            }
            _ => {}
        }
    }
    differences.assert_none(1500);
}

#[test]
fn chrf_agrees_with_sacrebleu() {
    let mut differences = Differences::default();
    for vector in vectors() {
        match vector {
            Vector::Chrf {
                options,
                prediction,
                references,
                score,
            } => {
                let chrf = options.options();
                let found = chrf.score(&chrf.counts(&prediction, &references).unwrap());
                let what = || format!("{chrf:?} {prediction:?} {references:?}");
                differences.compare(found, score / 100.0, what);
            }
            Vector::ChrfCorpus {
                options,
                rows,
                score,
            } => {
                let chrf = options.options();
                let counts = |(prediction, references): &Row| {
                    CorpusCounts::new(chrf.counts(prediction, references).unwrap(), chrf)
                };
                let found = merged(rows.iter().map(counts));
                let what = || format!("{chrf:?} of {} rows", rows.len());
                differences.compare(found, score / 100.0, what);
            }
            _ => {}
        }
    }
    differences.assert_none(1000);
}

#[test]
fn rouge_agrees_with_rouge_score() {
    let mut differences = Differences::default();
    for vector in vectors() {
        let Vector::Rouge {
            use_stemmer,
            prediction,
            references,
            rouge1,
            rouge2,
            rouge_l,
            rouge_lsum,
        } = vector
        else {
            continue;
        };
        let options = RougeOptions {
            use_stemmer,
            ..RougeOptions::default()
        };
        let kinds = [
            (Rouge::N(1), rouge1),
            (Rouge::N(2), rouge2),
            (Rouge::L, rouge_l),
            (Rouge::Lsum, rouge_lsum),
        ];
        for (rouge, expected) in kinds {
            let found = rouge.score(&prediction, &references, options).unwrap();
            let found = [found.precision, found.recall, found.f1];
            for (found, expected) in found.into_iter().zip(expected) {
                let what = || format!("{rouge:?} {options:?} {prediction:?} {references:?}");
                differences.compare(found, expected, what);
            }
        }
    }
    differences.assert_none(1700 * 12);
}

#[test]
fn error_rates_agree_with_jiwer() {
    let mut differences = Differences::default();
    for vector in vectors() {
        let Vector::Rates { rows, wer, cer } = vector else {
            continue;
        };
        let kinds: [(Count, f64); 2] = [
            (EditCounts::of_words, wer),
            (EditCounts::of_characters, cer),
        ];
        for (count, expected) in kinds {
            let mut sums = EditCounts {
                edits: 0,
                length: 0,
            };
            for (prediction, reference) in &rows {
                let counts = count(prediction, reference);
                sums.edits += counts.edits;
                sums.length += counts.length;
            }
            differences.compare(sums.rate(), expected, || format!("{:?}", rows[0]));
        }
    }
    differences.assert_none(1600);
}

#[test]
fn similarities_agree_with_rapidfuzz() {
    let mut differences = Differences::default();
    for vector in vectors() {
        let Vector::Similarity {
            a,
            b,
            levenshtein,
            indel,
        } = vector
        else {
            continue;
        };
        let what = || format!("{a:?} {b:?}");
        differences.compare(
            EditDistance::Levenshtein.similarity(&a, &b),
            levenshtein,
            what,
        );
        differences.compare(EditDistance::Indel.similarity(&a, &b), indel, what);
    }
    differences.assert_none(2400);
}

#[test]
fn rankings_agree_with_trec_eval() {
    let mut differences = Differences::default();
    for vector in vectors() {
        let Vector::Ranking {
            relevant,
            retrieved,
            scores,
        } = vector
        else {
            continue;
        };
        let grades = Relevant::deserialize(&relevant).unwrap();
        let ranking = Ranking::new(&Retrieved::deserialize(&retrieved).unwrap(), &grades).unwrap();
        for (measure, expected) in scores {
            let found = measured(&ranking, &measure);
            differences.compare(found, expected, || {
                format!("{measure} {relevant} {retrieved}")
            });
        }
    }
    differences.assert_none(800 * 28);
}

fn measured(ranking: &Ranking, measure: &str) -> f64 {
    match measure {
        "recip_rank" => return ranking.reciprocal_rank(None),
        "map" => return ranking.average_precision(None),
        "ndcg" => return ranking.ndcg_at(usize::MAX, Gain::Linear),
        _ => {}
    }
    let (name, k) = measure.rsplit_once('_').unwrap();
    let k = k.parse().unwrap();
    match name {
        "P" => ranking.precision_at(k),
        "recall" => ranking.recall_at(k),
        "success" => f64::from(u8::from(ranking.hit_at(k))),
        "map_cut" => ranking.average_precision(Some(k)),
        "ndcg_cut" => ranking.ndcg_at(k, Gain::Linear),
        other => panic!("{other}"),
    }
}

#[test]
fn the_packages_still_return_the_vectors() {
    let Some(peer) = peers() else { return };
    assert_eq!(peer.check(SCRIPT), "7130 vectors, as committed");
}

/// The Python that has the packages.
#[track_caller]
pub(super) fn peers() -> Option<Peer> {
    Peer::with(&[
        "jiwer",
        "nltk",
        "pytrec-eval-terrier",
        "rapidfuzz",
        "rouge-score",
        "sacrebleu",
    ])
}
