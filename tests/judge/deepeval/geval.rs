//! The score by probabilities against deepeval's G-Eval, on the replies in `tests/parity/geval_vectors.jsonl.gz`.

use std::collections::BTreeMap;

use dsrs_metrics::lm::{LmReply, ScriptedLm, TokenLogprobs};
use dsrs_metrics::prelude::*;
use dsrs_metrics_tests::{Quirks, SEVERAL, explain, vectors};
use serde::Deserialize;
use serde_json::Value;

const VECTORS: &[u8] = include_bytes!("../../parity/geval_vectors.jsonl.gz");

/// Grade the text.
#[judge(score = score, scoring(by = logprobs), reasoning = false)]
struct Graded {
    #[input(pred)]
    text: String,
    #[output]
    reason: String,
    #[output(range = 0..=9)]
    score: u8,
}

/// A token, its log probability, and its alternatives.
type Token = (String, f64, Vec<(String, f64)>);

#[derive(Debug, Deserialize)]
struct Vector {
    raw: Value,
    tokens: Vec<Token>,
    score: Option<f64>,
}

const REASONS: [&str; 8] = [
    "alternatives with a probability under 0.01 are dropped",
    "the last token that equals the grade is taken, also of the reason",
    "digits of other scripts count",
    "numbers of two digits count",
    "the grade as written, if no token equals it",
    "the values may have any probability together",
    "a grade that is not an integer of the scale is a score",
    "the token that was drawn counts only as one of the most probable",
];

/// deepeval's score of a reply with these quirks; `None` if the row fails.
fn deepeval(vector: &Vector, quirks: Quirks<8>) -> Option<f64> {
    let [
        drops,
        last,
        scripts,
        beyond,
        written,
        any,
        no_integer,
        drawn,
    ] = quirks;
    let grade = vector
        .raw
        .as_f64()
        .or_else(|| vector.raw.as_str()?.parse().ok())?;
    if !no_integer && vector.raw.as_u64().is_none_or(|raw| raw > 9) {
        return None;
    }
    let raw = match &vector.raw {
        Value::String(text) => text.clone(),
        raw => raw.to_string(),
    };
    let place = match last {
        true => vector.tokens.iter().rposition(|(token, ..)| *token == raw),
        false => {
            let is_name = |tokens: &[Token]| tokens[0].0 == "score" && tokens[1].0 == "\":";
            let value = vector.tokens.windows(2).rposition(is_name).map(|at| at + 2);
            value.map(|at| at + usize::from(vector.tokens[at].0 == " "))
        }
    };
    let Some((token, logprob, top)) = place.map(|place| &vector.tokens[place]) else {
        return written.then_some(grade);
    };
    let own = (token.clone(), *logprob);
    let own = (!drawn && top.iter().all(|(other, _)| other != token)).then_some(&own);
    // No token with a space equals a grade.
    let plain = |token: &'_ str| {
        if last {
            token.to_owned()
        } else {
            token.trim_start().to_owned()
        }
    };
    let number = |token: &str| {
        let is_digit = |c: char| {
            if scripts {
                c.is_numeric() && c != '\u{b2}'
            } else {
                c.is_ascii_digit()
            }
        };
        (!token.is_empty() && token.chars().all(is_digit)).then(|| decimal(token))
    };
    let weighed = top.iter().chain(own).filter_map(|(token, logprob)| {
        let token = plain(token);
        let number = number(&token).filter(|_| beyond || token.chars().count() == 1)?;
        let probability = logprob.exp();
        (!drops || probability >= 0.01).then_some((number, probability))
    });
    let weighed: Vec<(f64, f64)> = weighed.collect();
    let total: f64 = weighed.iter().map(|(_, probability)| probability).sum();
    if weighed.is_empty() && any {
        return Some(grade);
    }
    if total < 0.5 && !any {
        return None;
    }
    Some(
        weighed
            .iter()
            .map(|(number, probability)| number * probability)
            .sum::<f64>()
            / total,
    )
}

/// The number that decimal digits write, also those of the Arabic script and of full width.
fn decimal(token: &str) -> f64 {
    token
        .chars()
        .fold(0.0, |number, c| number * 10.0 + f64::from(c as u32 & 0xf))
}

fn is_same(one: &Option<f64>, other: &Option<f64>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => (one - other).abs() < 1e-9,
        (one, other) => one.is_none() && other.is_none(),
    }
}

#[tokio::test]
async fn the_score_by_probabilities_is_deepevals_but_for_its_quirks() {
    let vectors: Vec<Vector> = vectors(VECTORS).collect();
    assert_eq!(vectors.len(), 2000);
    let mut counts = BTreeMap::new();
    for vector in &vectors {
        let text: String = vector.tokens.iter().map(|(token, ..)| &**token).collect();
        let tokens = vector.tokens.iter().map(|(token, logprob, top)| {
            TokenLogprobs::new(
                &**token,
                *logprob,
                top.iter().map(|(token, p)| (&**token, *p)),
            )
        });
        let reply = LmReply::new(text).with_logprobs(tokens.collect());
        let judge = GradedJudge::default().with_lm(ScriptedLm::new().otherwise(reply));
        let score = judge
            .evaluate(&example! {}, &prediction! { "text" => "" })
            .await;
        let ours = score.ok().map(|score| score.value);
        let theirs = vector
            .score
            .or_else(|| vector.raw.as_f64())
            .or_else(|| vector.raw.as_str()?.parse().ok());
        let defined = deepeval(vector, [true; 8]);
        assert!(is_same(&defined, &theirs), "{vector:?}: {defined:?}");
        explain(
            &mut counts,
            REASONS,
            &ours,
            |quirks| deepeval(vector, quirks),
            is_same,
        );
    }
    let counts: Vec<_> = counts.into_iter().collect();
    let counted = [
        (
            "a grade that is not an integer of the scale is a score",
            120,
        ),
        (
            "alternatives with a probability under 0.01 are dropped",
            211,
        ),
        ("digits of other scripts count", 24),
        ("numbers of two digits count", 143),
        (SEVERAL, 458),
        ("the grade as written, if no token equals it", 93),
        (
            "the last token that equals the grade is taken, also of the reason",
            32,
        ),
        (
            "the token that was drawn counts only as one of the most probable",
            19,
        ),
        ("the values may have any probability together", 479),
    ];
    assert_eq!(counts, counted);
}
