//! Numbers in LaTeX and in plain text: each form is read as it is meant, and each kind of form that math-verify reads as
//! another number has a reason.

use std::collections::BTreeMap;

use dsrs_metrics::text::last_number;
use dsrs_metrics_tests::{Peer, vectors};
use serde::Deserialize;

const VECTORS: &[u8] = include_bytes!("../../parity/number_vectors.jsonl.gz");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/parity/make_number_vectors.py");

#[derive(Deserialize)]
struct Vector {
    kind: String,
    form: String,
    /// The number that the form was made from, as a fraction; `None` if it is none, or is not evaluated.
    meant: Option<String>,
    /// The number that math-verify reads.
    peer: Option<String>,
}

const NOT_EVALUATED: &str =
    "expressions are not evaluated: of what is not a number, no part is one";
const ITS_PACKAGES: &str = "math-verify does not know the command";
const ITS_GROUPS: &str =
    "math-verify reads the groups of one number as several numbers, or multiplies them";

/// The kinds of forms that math-verify reads in another way, with the reason and how many of the committed ones differ.
const DIFFERENCES: &[(&str, usize, &str)] = &[
    ("amounts", 5, ITS_PACKAGES),
    (
        "bases",
        44,
        "digits of another base are not a decimal number; math-verify ignores the base",
    ),
    ("binomials", 28, NOT_EVALUATED),
    (
        "exponents_of_programs",
        44,
        "1e5 is 100000, as programs print it; math-verify multiplies by the letter e",
    ),
    ("fractions_of_expressions", 44, NOT_EVALUATED),
    ("functions", 5, NOT_EVALUATED),
    ("grouped_fractions", 45, ITS_GROUPS),
    (
        "groups_that_are_not_thousands",
        35,
        "10\\,00 is a mistake; math-verify adds or multiplies its groups",
    ),
    (
        "improper_mixed_numbers",
        45,
        "2\\frac{3}{2} is a sum to some and a product to others",
    ),
    (
        "ordinals",
        8,
        "20^{th} is 20; math-verify raises 20 to the power of t times h",
    ),
    (
        "percentages",
        36,
        "a percent sign is a unit, unless `percent_as_fraction` is set",
    ),
    ("powers", 38, NOT_EVALUATED),
    ("products_of_fractions", 44, NOT_EVALUATED),
    (
        "remainders",
        13,
        "3 \\pmod 7 is a class; math-verify reads the modulus",
    ),
    (
        "repeating_decimals",
        19,
        "0.\\overline{3} is not 0; math-verify drops what repeats",
    ),
    ("results_of_equations", 21, ITS_GROUPS),
    ("roots", 29, NOT_EVALUATED),
    ("slashes_of_other_packages", 45, ITS_PACKAGES),
    (
        "styles",
        20,
        "math-verify drops \\text and \\textbf with their content",
    ),
    ("thousands_by_spaces", 90, ITS_GROUPS),
    ("thousands_of_a_command", 45, ITS_PACKAGES),
];

/// Returns how many forms of each kind math-verify reads in another way.
///
/// # Panics
/// If a form is not read as it is meant, or its kind has no reason to differ.
fn differences(vectors: impl Iterator<Item = Vector>) -> (usize, BTreeMap<String, usize>) {
    let (mut compared, mut differ) = (0, BTreeMap::new());
    for Vector {
        kind,
        form,
        meant,
        peer,
    } in vectors
    {
        let form = format!("${form}$");
        let value = |number: Option<String>| {
            number.map(|number| last_number(&number).expect("a fraction in plain digits"))
        };
        let found = last_number(&form);
        assert_eq!(found, value(meant), "{kind}: {form}");
        if found != value(peer) {
            let has_reason = DIFFERENCES.iter().any(|(listed, ..)| *listed == kind);
            assert!(
                has_reason,
                "{kind}: {form} is {found:?}, and another number for math-verify"
            );
            *differ.entry(kind).or_default() += 1;
        }
        compared += 1;
    }
    (compared, differ)
}

#[test]
fn numbers_are_read_as_meant_and_each_difference_from_math_verify_has_a_reason() {
    let (compared, differ) = differences(vectors(VECTORS));
    let listed = DIFFERENCES
        .iter()
        .map(|(kind, count, _)| ((*kind).to_owned(), *count));
    assert_eq!((compared, differ), (2000, listed.collect()));
}

/// The seed of the forms that are not committed: `DSRS_METRICS_SEED`, or the time.
fn seed() -> String {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    std::env::var("DSRS_METRICS_SEED").unwrap_or_else(|_| now.as_secs().to_string())
}

#[test]
fn numbers_of_a_new_seed_are_read_as_meant_and_differ_for_the_same_reasons() {
    let Some(peer) = Peer::with(&["math-verify"]) else {
        return;
    };
    let seed = seed();
    let fresh = peer
        .output(&[SCRIPT, "--seed", &seed])
        .unwrap_or_else(|error| panic!("{error}"));
    let fresh = fresh
        .lines()
        .map(|line| serde_json::from_str(line).expect("a vector a line"));
    let (compared, differ) = differences(fresh);
    println!(
        "seed {seed}: {compared} forms, {} differ: {differ:?}",
        differ.values().sum::<usize>()
    );
    assert_eq!(compared, 2000);
}

#[test]
fn math_verify_still_returns_the_vectors() {
    let Some(peer) = Peer::with(&["math-verify"]) else {
        return;
    };
    assert_eq!(peer.check(SCRIPT), "2000 vectors, as committed");
}
