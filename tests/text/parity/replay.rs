//! A request to dspy, its reply, and the reply of this library.

use dsrs_metrics::text::{
    answer_exact_match, answer_passage_match, dpr_normalize, em, f1, hotpot_f1, normalize_text,
    precision, recall,
};
use serde::{Deserialize, Serialize};

/// A request that `reference.py` answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Request {
    Pair {
        prediction: String,
        answers: Vec<String>,
        frac: f64,
    },
    Passages {
        answers: Vec<String>,
        passages: Vec<String>,
    },
    Text {
        text: String,
    },
}

impl Request {
    /// Iterates over the strings of the request.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &String> {
        let (text, others): (_, [&[String]; 2]) = match self {
            Self::Pair {
                prediction,
                answers,
                ..
            } => (Some(prediction), [answers, &[]]),
            Self::Passages { answers, passages } => (None, [answers, passages]),
            Self::Text { text } => (Some(text), [&[], &[]]),
        };
        text.into_iter().chain(others.into_iter().flatten())
    }
}

/// A reply of `reference.py`. Floats are the hexadecimal digits of their bits.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Reply {
    Pair {
        em: bool,
        f1: String,
        hotpot_f1: String,
        precision: String,
        recall: String,
        #[serde(rename = "match")]
        matches: bool,
    },
    Found {
        found: bool,
    },
    Text {
        normalized: String,
        dpr: String,
    },
    Error {
        error: String,
    },
}

/// This library's reply to the same request.
pub(crate) fn reply(request: &Request) -> Reply {
    match request {
        Request::Text { text } => Reply::Text {
            normalized: normalize_text(text),
            dpr: dpr_normalize(text).join(" "),
        },
        Request::Passages { answers, passages } => Reply::Found {
            found: answer_passage_match(passages, answers),
        },
        Request::Pair {
            prediction,
            answers,
            frac,
        } => pair(prediction, answers, *frac).unwrap_or_else(|_| Reply::Error {
            error: "ValueError".to_owned(),
        }),
    }
}

fn pair(
    prediction: &str,
    answers: &[String],
    frac: f64,
) -> Result<Reply, dsrs_metrics::text::NoReferences> {
    let bits = |score: f64| format!("{:016x}", score.to_bits());
    Ok(Reply::Pair {
        em: em(prediction, answers)?,
        f1: bits(f1(prediction, answers)?),
        hotpot_f1: bits(hotpot_f1(prediction, answers)?),
        precision: bits(precision(prediction, answers)?),
        recall: bits(recall(prediction, answers)?),
        matches: answer_exact_match(prediction, answers, frac)?,
    })
}

/// Collects differences, so that a failure shows their number and the first of them.
#[derive(Debug, Default)]
pub(crate) struct Differences {
    pub(crate) compared: usize,
    different: usize,
    shown: Vec<String>,
}

impl Differences {
    pub(crate) fn compare(&mut self, request: &Request, expected: &Reply) {
        self.compared += 1;
        let ours = reply(request);
        if ours != *expected {
            self.different += 1;
            if self.shown.len() < 10 {
                self.shown.push(format!(
                    "request {}\n  dspy {}\n  ours {}",
                    ascii(request),
                    ascii(expected),
                    ascii(&ours)
                ));
            }
        }
    }

    pub(crate) fn assert_none(&self) {
        assert!(
            self.different == 0,
            "{} of {} differ from dspy:\n{}",
            self.different,
            self.compared,
            self.shown.join("\n")
        );
    }
}

/// Combining marks and controls are unreadable unless escaped.
fn ascii(value: &impl std::fmt::Debug) -> String {
    format!("{value:?}")
        .chars()
        .flat_map(|c| {
            c.escape_default()
                .filter(move |_| !c.is_ascii())
                .chain(c.is_ascii().then_some(c))
        })
        .collect()
}
