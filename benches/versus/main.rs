//! Our side of the comparison with the Python peers: reads commands of `versus.py` from standard input, a JSON value a
//! line, and answers each with a line.
//!
//! `{"rows": NAME, "pairs": [[PREDICTION, [REFERENCE, ..]], ..]}` stores rows; `{"scores": WORK, "of": NAME}` returns
//! the results; `{"time": WORK, "of": NAME, "passes": N}` returns the nanoseconds of N passes over the rows.

use std::collections::HashMap;
use std::hint::black_box;
use std::io::{BufRead as _, Write as _};
use std::time::Instant;

use dsrs_metrics::contract::CorpusCounts;
use dsrs_metrics::text::{
    BleuOptions, ChrfOptions, EditDistance, NoReferences, NormalForm, Rouge, RougeOptions, em, f1,
    normalize_text,
};
use serde::{Deserialize, Serialize};

type Error = Box<dyn std::error::Error>;

/// A prediction and its references.
#[derive(Deserialize)]
struct Row(String, Vec<String>);

#[derive(Deserialize)]
#[serde(untagged)]
enum Command {
    Rows { rows: String, pairs: Vec<Row> },
    Scores { scores: Work, of: String },
    Time { time: Work, of: String, passes: u32 },
}

/// What is measured. Each has the name of the peer's function.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Work {
    NormalizeText,
    Em,
    F1,
    Indel,
    Levenshtein,
    SentenceBleu,
    CorpusBleu,
    Chrf,
    #[serde(rename = "rouge1")]
    Rouge1,
    #[serde(rename = "rouge2")]
    Rouge2,
    RougeL,
    #[serde(rename = "rouge_1_stems")]
    Rouge1Stems,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Answer {
    Score(f64),
    Text(String),
}

impl Work {
    /// Calls `use_answer` with the result for each row, or for all of them together.
    fn run(self, rows: &[Row], mut use_answer: impl FnMut(Answer)) -> Result<(), NoReferences> {
        if matches!(self, Self::CorpusBleu) {
            use_answer(Answer::Score(corpus_bleu(rows)?));
            return Ok(());
        }
        rows.iter().try_for_each(|Row(prediction, references)| {
            use_answer(self.answer(prediction, references)?);
            Ok(())
        })
    }

    fn answer(self, prediction: &str, references: &[String]) -> Result<Answer, NoReferences> {
        let reference = references.first().ok_or(NoReferences)?;
        let rouge = |rouge: Rouge, use_stemmer| {
            let options = RougeOptions {
                use_stemmer,
                ..RougeOptions::default()
            };
            rouge
                .score(prediction, references, options)
                .map(|score| score.f1)
        };
        Ok(Answer::Score(match self {
            Self::NormalizeText => return Ok(Answer::Text(normalize_text(prediction))),
            Self::Em => f64::from(u8::from(em(prediction, references)?)),
            Self::F1 => f1(prediction, references)?,
            Self::Indel => EditDistance::Indel.similarity(prediction, reference),
            Self::Levenshtein => EditDistance::Levenshtein.similarity(prediction, reference),
            Self::SentenceBleu | Self::CorpusBleu => {
                let bleu = bleu();
                bleu.sentence_score(&bleu.counts(prediction, references)?)
            }
            Self::Chrf => {
                let chrf = ChrfOptions {
                    form: NormalForm::AsIs,
                    ..ChrfOptions::default()
                };
                chrf.score(&chrf.counts(prediction, references)?)
            }
            Self::Rouge1 => rouge(Rouge::N(1), false)?,
            Self::Rouge2 => rouge(Rouge::N(2), false)?,
            Self::RougeL => rouge(Rouge::L, false)?,
            Self::Rouge1Stems => rouge(Rouge::N(1), true)?,
        }))
    }
}

/// BLEU of strings as they are, which is what sacrebleu compares.
fn bleu() -> BleuOptions {
    BleuOptions {
        form: NormalForm::AsIs,
        ..BleuOptions::default()
    }
}

fn corpus_bleu(rows: &[Row]) -> Result<f64, NoReferences> {
    let bleu = bleu();
    let mut corpus = CorpusCounts::new([], bleu);
    for Row(prediction, references) in rows {
        corpus.merge(&CorpusCounts::new(
            bleu.counts(prediction, references)?,
            bleu,
        ));
    }
    Ok(corpus.score().unwrap_or_default())
}

fn main() -> Result<(), Error> {
    let mut tables: HashMap<String, Vec<Row>> = HashMap::new();
    for line in std::io::stdin().lock().lines() {
        let table = |name: &str| {
            tables
                .get(name)
                .ok_or_else(|| format!("unknown rows {name:?}"))
        };
        let answer = match serde_json::from_str(&line?)? {
            Command::Rows { rows, pairs } => {
                let length = pairs.len();
                tables.insert(rows, pairs);
                serde_json::to_string(&length)?
            }
            Command::Scores { scores, of } => {
                let mut answers = Vec::new();
                scores.run(table(&of)?, |answer| answers.push(answer))?;
                serde_json::to_string(&answers)?
            }
            Command::Time { time, of, passes } => {
                let rows = table(&of)?;
                let start = Instant::now();
                for _ in 0..passes {
                    time.run(black_box(rows), |answer| {
                        black_box(answer);
                    })?;
                }
                serde_json::to_string(&start.elapsed().as_nanos())?
            }
        };
        let mut out = std::io::stdout().lock();
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}
