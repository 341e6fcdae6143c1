//! Replays the committed verdicts of the scorers of `inspect_ai`. The library agrees on all outputs of plain words
//! and numbers; where it differs on the others, the difference and its reason are listed here.

use std::collections::BTreeMap;

use dsrs_metrics::MetricError;
use dsrs_metrics::metrics::{Choice, Includes, Matches, Pattern};
use dsrs_metrics::prelude::*;
use dsrs_metrics::text::Location;
use dsrs_metrics_tests::{Peer, vectors};
use serde::Deserialize;
use serde_json::Value;

const VECTORS: &[u8] = include_bytes!("../../parity/inspect_vectors.jsonl.gz");
const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/parity/make_inspect_vectors.py"
);

#[derive(Deserialize)]
struct Vector {
    output: String,
    target: Value,
    correct: bool,
    #[serde(default)]
    plain: bool,
    #[serde(flatten)]
    of: Of,
}

#[derive(Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
enum Of {
    Includes {
        ignore_case: bool,
    },
    Match {
        location: Location,
        numeric: bool,
    },
    Pattern {
        pattern: String,
        ignore_case: bool,
        match_all: bool,
    },
    Choice {
        choices: usize,
    },
}

/// Output, target, scorer with the library's verdict, settings.
type Difference = (&'static str, &'static str, &'static str, &'static str);

/// The differences, by reason.
const DIFFERENCES: &[(&str, &[Difference])] = &[
    (
        "a reference of punctuation is compared as it is; in inspect it is empty and in every output",
        &[
            ("", ".", "match false", "Any, Begin, End, Exact"),
            ("", ".", "match numeric false", "Any, Begin, End, Exact"),
            ("...", ".", "match false", "Exact"),
            ("...", ".", "match numeric false", "Exact"),
            ("a.b", ".", "match false", "Begin, End"),
            ("a.b", ".", "match numeric false", "Begin, End"),
            ("anything", ".", "match false", "Any, Begin, End"),
            ("anything", ".", "match numeric false", "Any, Begin, End"),
        ],
    ),
    (
        "symbols and signs are not punctuation",
        &[
            ("#1", "1", "match false", "Begin, Exact"),
            ("-5", "5", "match false", "Begin, Exact"),
            ("5", "-5", "match false", "Any, Begin, End, Exact"),
            ("60", "60%", "match false", "Any, Begin, End, Exact"),
            ("60%", "60", "match false", "End, Exact"),
            ("<42", "42", "match false", "Begin, Exact"),
            ("A+", "A", "match false", "End, Exact"),
            ("A+", "A", "match numeric false", "End, Exact"),
            ("C", "C++", "match false", "Any, Begin, End, Exact"),
            ("C", "C++", "match numeric false", "Any, Begin, End, Exact"),
            ("C++", "C", "match false", "End, Exact"),
            ("C++", "C", "match numeric false", "End, Exact"),
            ("\\$20", "20", "match false", "Begin, Exact"),
            ("~42", "42", "match false", "Begin, Exact"),
            ("−5", "-5", "match false", "Any, End"),
        ],
    ),
    (
        "punctuation of every script is removed",
        &[
            (
                "«Paris»",
                "Paris",
                "match numeric true",
                "Begin, End, Exact",
            ),
            ("«Paris»", "Paris", "match true", "Begin, End, Exact"),
            (
                "“Paris”",
                "Paris",
                "match numeric true",
                "Begin, End, Exact",
            ),
            ("“Paris”", "Paris", "match true", "Begin, End, Exact"),
            ("答えは東京。", "東京", "match numeric true", "End"),
            ("答えは東京。", "東京", "match true", "End"),
        ],
    ),
    (
        "punctuation around an exact number is removed",
        &[
            ("(5)", "5", "match numeric true", "Exact"),
            ("42!", "42", "match numeric true", "Exact"),
            ("42;", "42", "match numeric true", "Exact"),
        ],
    ),
    (
        "numbers have all their digits; in inspect 5",
        &[
            (
                "0.1234567",
                "0.1234568",
                "match numeric false",
                "Any, Begin, End, Exact",
            ),
            (
                "123456",
                "123457",
                "match numeric false",
                "Any, Begin, End, Exact",
            ),
        ],
    ),
    (
        "a number is read as in `numeric_match`: next to a unit, a hyphen or a symbol, as a fraction; powers are not evaluated",
        &[
            ("#1", "1", "match numeric true", "Any, Begin, End"),
            ("1/2", "0.5", "match numeric true", "Any, Begin, End, Exact"),
            ("10-12", "12", "match numeric true", "Any, End"),
            ("42km", "42", "match numeric true", "Any, Begin, End"),
            ("5²", "25", "match numeric false", "Any, Begin, End, Exact"),
            ("60%", "60", "match numeric true", "Any, Begin, End, Exact"),
            ("<42", "42", "match numeric true", "Any, Begin, End"),
            ("COVID-19", "19", "match numeric true", "Any, Begin, End"),
            (
                "Café",
                "cafe\u{301}",
                "match numeric true",
                "Any, Begin, End, Exact",
            ),
            ("cafe\u{301}", "cafe", "match numeric false", "Any, Begin"),
            (
                "cafe\u{301}",
                "café",
                "match numeric true",
                "Any, Begin, End, Exact",
            ),
            ("~42", "42", "match numeric true", "Any, Begin, End"),
        ],
    ),
    (
        "canonically equivalent strings are equal, and an accent belongs to its letter",
        &[
            ("Café", "cafe\u{301}", "includes true", "ignore_case=true"),
            (
                "Café",
                "cafe\u{301}",
                "match true",
                "Any, Begin, End, Exact",
            ),
            (
                "cafe\u{301}",
                "cafe",
                "includes false",
                "ignore_case=false, ignore_case=true",
            ),
            ("cafe\u{301}", "cafe", "match false", "Any, Begin"),
            (
                "cafe\u{301}",
                "café",
                "includes true",
                "ignore_case=false, ignore_case=true",
            ),
            (
                "cafe\u{301}",
                "café",
                "match true",
                "Any, Begin, End, Exact",
            ),
        ],
    ),
    (
        "`choice` reads a label alone, in brackets, or with Markdown around the marker",
        &[
            ("(B)", "B", "choice of true", "4"),
            ("**ANSWER:** B", "B", "choice of true", "4"),
            ("ANSWER: [B]", "B", "choice of true", "4"),
            ("ANSWER: \\boxed{B}", "B", "choice of true", "4"),
            ("B", "B", "choice of true", "4"),
        ],
    ),
    (
        "white space around a group is removed",
        &[(
            "ANSWER: two words \nrest",
            "[\"two words\"]",
            "pattern true",
            "ANSWER:([^\\n]+)",
        )],
    ),
    (
        "case is folded in full",
        &[("STRASSE", "[\"straße\"]", "pattern true", "(\\w+)")],
    ),
];

impl Vector {
    /// The library's verdict, and the name of the scorer with its settings.
    fn verdict(&self, whole_words: bool) -> (Result<bool, MetricError>, String) {
        let (metric, settings): (Box<dyn Metric>, String) = match &self.of {
            Of::Includes { ignore_case } => (
                Box::new(Includes::builder().case_sensitive(!ignore_case).build()),
                format!("includes ignore_case={ignore_case}"),
            ),
            Of::Match { location, numeric } => (
                Box::new(
                    Matches::builder()
                        .location(*location)
                        .numeric(*numeric)
                        .whole_words(whole_words)
                        .build(),
                ),
                format!(
                    "match{} {location:?}",
                    if *numeric { " numeric" } else { "" }
                ),
            ),
            Of::Pattern {
                pattern,
                ignore_case,
                match_all,
            } => (
                Box::new(
                    Pattern::builder()
                        .pattern(pattern.as_str())
                        .case_sensitive(!ignore_case)
                        .match_all(*match_all)
                        .build(),
                ),
                format!("pattern {pattern}"),
            ),
            Of::Choice { choices } => (Box::new(Choice), format!("choice of {choices}")),
        };
        let choices = match self.of {
            Of::Choice { choices } => choices,
            _ => 0,
        };
        let texts: Vec<String> = (0..choices)
            .map(|at| format!("choice number {at}"))
            .collect();
        let gold = example! { "answer" => self.target.clone(), "choices" => texts };
        let pred = prediction! { "answer" => self.output.as_str() };
        let answer = metric
            .answer(MetricCall::new(&gold, &pred))
            .ready()
            .unwrap();
        (answer.map(|scored| scored.score.value > 0.0), settings)
    }
}

#[test]
fn plain_words_and_numbers_have_the_verdicts_of_inspect() {
    let mut compared = 0;
    for vector in vectors::<Vector>(VECTORS).filter(|vector| vector.plain) {
        let (verdict, settings) = vector.verdict(false);
        let Vector {
            output,
            target,
            correct,
            ..
        } = &vector;
        assert_eq!(
            verdict,
            Ok(*correct),
            "{settings}: {output:?}, target {target}"
        );
        compared += 1;
    }
    assert_eq!(compared, 2097);
}

#[test]
fn each_difference_from_inspect_has_a_reason() {
    let mut found: BTreeMap<(String, String, String), Vec<String>> = BTreeMap::new();
    for vector in vectors::<Vector>(VECTORS).filter(|vector| !vector.plain) {
        let (verdict, settings) = vector.verdict(false);
        if verdict == Ok(vector.correct) {
            continue;
        }
        let verdict = verdict.map_or_else(|error| error.to_string(), |verdict| verdict.to_string());
        let (of, settings) = settings.rsplit_once(' ').unwrap();
        let (of, settings) = (format!("{of} {verdict}"), settings.to_owned());
        let target = vector
            .target
            .as_str()
            .map_or_else(|| vector.target.to_string(), str::to_owned);
        found
            .entry((vector.output, target, of))
            .or_default()
            .push(settings);
    }
    let mut listed: BTreeMap<(String, String, String), Vec<String>> = BTreeMap::new();
    for (_, differences) in DIFFERENCES {
        for (output, target, of, settings) in *differences {
            let key = (output.to_string(), target.to_string(), of.to_string());
            let settings = settings.split(", ").map(str::to_owned);
            listed.entry(key).or_default().extend(settings);
        }
    }
    for all in [&mut found, &mut listed] {
        all.values_mut().for_each(|settings| settings.sort());
    }
    assert_eq!(found, listed);
}

#[test]
fn inspect_still_returns_the_vectors() {
    let Some(peer) = Peer::with(&["inspect-ai"]) else {
        return;
    };
    assert_eq!(peer.check(SCRIPT), "3087 vectors, as committed");
}
