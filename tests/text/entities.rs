//! Intents and entities as in the heritage document, and the differences from it.

use dsrs_metrics::contract::{Configure, Params};
use dsrs_metrics::metrics::{
    EntityF1, EntityTypeAccuracy, IntentAccuracy, IntentAccuracyWithFallback,
};
use dsrs_metrics::prelude::*;
use dsrs_metrics::text::EntityCounts;
use proptest::prelude::{prop, prop_assert, prop_assert_eq, proptest};

fn intent(metric: &impl Metric, expected: &str, intent: &str) -> f64 {
    let (gold, pred) = (
        example! { "expected_intent" => expected },
        prediction! { "intent" => intent },
    );
    metric
        .answer(MetricCall::new(&gold, &pred))
        .ready()
        .unwrap()
        .unwrap()
        .score
        .value
}

fn entities<const E: usize, const P: usize>(
    metric: &EntityF1,
    expected: [&str; E],
    predicted: [&str; P],
) -> f64 {
    let (expected, predicted) = (expected.to_vec(), predicted.to_vec());
    let gold = example! { "expected_entities" => expected };
    metric
        .score(&gold, &prediction! { "entities" => predicted })
        .unwrap()
        .value
}

#[test]
fn intents_ignore_case_outer_white_space_and_normal_form() {
    assert_eq!(intent(&IntentAccuracy, "temporal", " Temporal\n"), 1.0);
    assert_eq!(intent(&IntentAccuracy, "temporal", "relational"), 0.0);
    assert_eq!(intent(&IntentAccuracy, "temporal", ""), 0.0);
    assert_eq!(
        intent(&IntentAccuracy, "gen\u{e9}alogie", "GENE\u{301}ALOGIE"),
        1.0
    );
    assert_eq!(IntentAccuracy::SPEC.name, "intent_accuracy");
}

#[test]
fn related_intents_have_partial_credit_in_either_order() {
    let metric = IntentAccuracyWithFallback::default();
    for (a, b) in [
        ("statistical", "exploration"),
        ("entity_lookup", "relational"),
        ("temporal", "entity_lookup"),
    ] {
        assert_eq!(
            [
                intent(&metric, a, b),
                intent(&metric, b, a),
                intent(&metric, a, a)
            ],
            [0.5, 0.5, 1.0]
        );
    }
    assert_eq!(intent(&metric, "statistical", "relational"), 0.0);
    assert_eq!(
        intent(&metric, "temporal", "relational"),
        0.0,
        "being related is not passed on"
    );
}

#[test]
fn pairs_and_credit_are_configured_from_text() {
    let mut params = Params::default();
    params.insert("related", r#"[["a", "B"]]"#);
    params.insert("credit", "0.25");
    let metric = IntentAccuracyWithFallback::configure(&params).unwrap();
    assert_eq!(
        [
            intent(&metric, "b", "A"),
            intent(&metric, "statistical", "exploration")
        ],
        [0.25, 0.0]
    );
    let beyond = IntentAccuracyWithFallback::builder().credit(1.5).build();
    let (gold, pred) = (
        example! { "expected_intent" => "temporal" },
        prediction! { "intent" => "entity_lookup" },
    );
    assert_eq!(
        beyond.score(&gold, &pred).unwrap_err().to_string(),
        "metric `intent_accuracy_with_fallback`: the score 1.5 is outside the declared range 0.0..=1.0"
    );
}

#[test]
fn similar_entities_are_matched() {
    let metric = EntityF1::default();
    assert_eq!(
        entities(
            &metric,
            ["Rijksmuseum", "Louvre"],
            ["louvre", "Rijks museum"]
        ),
        1.0
    );
    assert_eq!(entities(&metric, ["Rijksmuseum", "Louvre"], ["Prado"]), 0.0);
    assert_eq!(
        entities(&metric, ["Louvre"], ["Louvre", "Prado"]),
        2.0 / 3.0
    );
}

#[test]
fn the_threshold_is_inclusive() {
    // 16 of 20 characters in common: fuzz.ratio gives 80.
    let pair = (["abcdefghij"], ["abcdefghXY"]);
    let at = |similarity| {
        entities(
            &EntityF1::builder().similarity(similarity).build(),
            pair.0,
            pair.1,
        )
    };
    assert_eq!(
        [at(0.8), at(0.800_001), at(0.0), at(1.0)],
        [1.0, 0.0, 1.0, 0.0]
    );
}

#[test]
fn a_prediction_matches_at_most_one_entity() {
    // The document's loop finds the prediction for both entities, so its F1 would be 2 * (2/1 * 2/2) / 3.
    assert_eq!(
        entities(
            &EntityF1::default(),
            ["Rijksmuseum", "Rijksmuseums"],
            ["Rijksmuseum"]
        ),
        2.0 / 3.0
    );
}

#[test]
fn the_matching_is_maximum() {
    // "abcd" is most similar to itself, but then "abce" has no partner.
    let counts = EntityCounts::of(&["abcd", "abdd"], &["abcd", "abce"], 0.75);
    assert_eq!(counts.found, 2);
}

#[test]
fn empty_sides_have_a_score_and_empty_names_are_ignored() {
    let metric = EntityF1::default();
    assert_eq!(entities(&metric, [], []), 1.0);
    assert_eq!(entities(&metric, ["Louvre"], []), 0.0);
    assert_eq!(entities(&metric, [], ["Louvre"]), 0.0);
    assert_eq!(entities(&metric, ["", " "], [""]), 1.0);
    assert_eq!(entities(&metric, ["Louvre", ""], ["Louvre"]), 1.0);
}

#[test]
fn a_string_is_a_list_separated_by_commas() {
    let gold = example! { "expected_entities" => ["Louvre", "Prado"] };
    let score = |text: &str| {
        EntityF1::default()
            .score(&gold, &prediction! { "entities" => text })
            .unwrap()
            .value
    };
    assert_eq!(
        [score("Prado, Louvre,"), score("Prado"), score("")],
        [1.0, 2.0 / 3.0, 0.0]
    );
}

#[test]
fn a_prediction_without_entities_has_none() {
    let gold = example! { "expected_entities" => ["a"] };
    let score = EntityF1::default().score(&gold, &prediction! {}).unwrap();
    let words = "the prediction has no field `entities`\nmissing: \"a\"";
    assert_eq!((score.value, score.details.as_deref()), (0.0, Some(words)));
}

#[test]
fn repetition_does_not_raise_the_score_of_lists() {
    let (gold, pred) = (["Paris"], ["Paris", "paris", "Paris ", "PARIS", "Paris"]);
    let lists = EntityF1::builder().distinct(false).build();
    assert_eq!(entities(&lists, gold, pred), 2.0 / 6.0);
    // The document compares sets.
    assert_eq!(entities(&EntityF1::default(), gold, pred), 1.0);
}

#[test]
fn composed_and_decomposed_names_are_the_same() {
    let exact = EntityF1::builder().similarity(1.0).build();
    assert_eq!(
        entities(
            &exact,
            ["Musée d\u{2019}Orsay", "東京"],
            ["東京", "muse\u{301}e d\u{2019}orsay"]
        ),
        1.0
    );
    assert_eq!(entities(&exact, ["東京"], ["京都"]), 0.0);
}

#[test]
fn entity_types_are_compared_exactly() {
    let metric = EntityTypeAccuracy::default();
    let score = |gold: Example, pred: Prediction| metric.score(&gold, &pred).unwrap().value;
    let person = || example! { "expected_entity_type" => "person" };
    assert_eq!(
        score(person(), prediction! { "entity_type" => "person" }),
        1.0
    );
    assert_eq!(
        score(person(), prediction! { "entity_type" => "Person" }),
        0.0
    );
    assert_eq!(score(person(), prediction! {}), 0.0);
    assert_eq!(
        score(example! {}, prediction! { "entity_type" => "institution" }),
        1.0
    );
    assert_eq!(
        score(example! {}, prediction! {}),
        1.0,
        "as in the document"
    );
    let needed = EntityTypeAccuracy::builder().missing(String::new()).build();
    assert_eq!(
        needed
            .score(&person(), &prediction! {})
            .unwrap_err()
            .to_string(),
        "metric `entity_type_accuracy`: `pred.entity_type` is missing; add it, or set `missing`"
    );
}

fn maximum_by_brute_force(alike: &[Vec<bool>], from: usize, taken: &mut Vec<bool>) -> u64 {
    if from == alike.len() {
        return 0;
    }
    let mut best = maximum_by_brute_force(alike, from + 1, taken);
    for to in 0..taken.len() {
        if alike[from][to] && !taken[to] {
            taken[to] = true;
            best = best.max(1 + maximum_by_brute_force(alike, from + 1, taken));
            taken[to] = false;
        }
    }
    best
}

proptest! {
    #[test]
    fn the_matching_has_the_size_of_brute_force(
        expected in prop::collection::vec("[abc]{1,4}", 0..6),
        predicted in prop::collection::vec("[abc]{1,4}", 0..6),
    ) {
        let counts = EntityCounts::of(&predicted, &expected, 0.6);
        let alike = |a: &String, b: &String| dsrs_metrics::text::EditDistance::Indel.similarity(a, b) >= 0.6;
        let table: Vec<Vec<bool>> =
            expected.iter().map(|a| predicted.iter().map(|b| alike(a, b)).collect()).collect();
        prop_assert_eq!(counts.found, maximum_by_brute_force(&table, 0, &mut vec![false; predicted.len()]));
        let swapped = EntityCounts::of(&expected, &predicted, 0.6);
        prop_assert_eq!(counts.found, swapped.found);
        prop_assert!((0.0..=1.0).contains(&counts.f1()));
    }
}
