//! What scores with additional data contain besides their number.

use serde_json::json;

use super::*;
use crate::score::{ComponentResult, MetricReturn, OFFLINE_JUDGE, RowAnswer, Scores};
use crate::spec::MetricSpec;

const SPEC: MetricSpec<'static> = MetricSpec::new("m");

fn scored(returned: impl MetricReturn) -> Scored {
    returned.into_scored(&SPEC).unwrap()
}

fn judged(metadata: Value) -> Scored {
    let Value::Object(metadata) = metadata else {
        panic!("{metadata}")
    };
    let critique = Critique {
        metadata,
        ..Critique::default()
    };
    Scored::with_critique(MetricScore::new(0.5), critique, &SPEC).unwrap()
}

/// Returns the score of a composite with two components.
fn composite(parts: [Scored; 2]) -> Scored {
    let results = parts.map(|part| ComponentResult::from(Ok::<RowAnswer, _>(part.into())));
    let components = Components(["a".into(), "b".into()].into_iter().zip(results).collect());
    Scored::of_components(0.5, (0, 1.0), Some(components), &SPEC).unwrap()
}

#[test]
fn a_score_is_plain_without_anything_and_simple_without_anything_but_an_explanation() {
    let explained = FeedbackMetric::new(0.5, "why");
    for (scored, is_plain, is_simple) in [
        (scored(0.5), true, true),
        (scored(MetricScore::new(0.5).with_cost_msats(3)), true, true),
        (
            scored(MetricScore::new(0.5).with_confidence(0.5)),
            false,
            true,
        ),
        (
            scored(MetricScore::new(0.5).with_details("why")),
            false,
            true,
        ),
        (scored(explained.clone()), false, true),
        (scored(explained.with_metadata("found", 1)), false, false),
        (scored(Scores::new("f1", 0.5)), false, false),
        (composite([scored(0.5), scored(0.5)]), false, false),
    ] {
        assert_eq!(
            (scored.is_plain(), scored.is_simple()),
            (is_plain, is_simple),
            "{scored:?}"
        );
    }
}

#[test]
fn the_details_of_a_composite_are_its_own_or_those_of_its_components_worst_first() {
    let part = |value, details: &str| scored(MetricScore::new(value).with_details(details));
    let both = || composite([part(0.75, "nearly"), part(0.25, "hardly")]);
    let details = both().into_score().details;
    assert_eq!(
        details.as_deref(),
        Some("b (0.25): hardly\na (0.75): nearly")
    );
    let details = both().explained("the path".to_owned()).into_score().details;
    assert_eq!(details.as_deref(), Some("the path"));
}

#[test]
fn a_composite_is_judged_offline_if_one_of_its_judges_is() {
    let [offline, model] = [OFFLINE_JUDGE, "a:b"].map(|judge| judged(json!({ "judge": judge })));
    for (scored, expected) in [
        (scored(0.5), false),
        (model.clone(), false),
        (offline.clone(), true),
        (composite([scored(0.5), model.clone()]), false),
        (composite([model, offline]), true),
    ] {
        assert_eq!(scored.is_judged_offline(), expected);
    }
}

#[test]
fn lost_judges_that_no_quorum_allows_take_precedence() {
    let lost = |is_allowed, error: &str| {
        Some(LostJudges {
            is_allowed,
            first_error: error.into(),
        })
    };
    let [allowed, failed] = [lost(true, "refused"), lost(false, "no reply")];
    let part = |lost: &Option<LostJudges>| {
        let critique = Critique {
            lost: lost.clone(),
            ..Critique::default()
        };
        Scored::with_critique(MetricScore::new(0.5), critique, &SPEC).unwrap()
    };
    for (scored, expected) in [
        (scored(0.5), &None),
        (part(&None), &None),
        (part(&allowed), &allowed),
        (composite([part(&None), part(&allowed)]), &allowed),
        (composite([part(&allowed), part(&failed)]), &failed),
        (composite([part(&failed), part(&allowed)]), &failed),
    ] {
        assert_eq!(scored.lost_judges(), expected.as_ref());
    }
}

#[test]
fn a_score_of_another_program_has_the_values_that_it_returned() {
    let of = |metadata| Scored::of_other_program(MetricScore::new(0.5), Some(true), metadata);
    let metadata = Map::from_iter([("found".to_owned(), json!(1))]);
    assert_eq!(of(metadata.clone()).metadata(), Some(&metadata));
    assert!(of(Map::new()).is_plain());
}

#[test]
fn feedback_stays_beside_named_scores_and_the_contribution_to_the_score_of_a_corpus() {
    let counts = || CorpusCounts::new([1, 2], |_: &[u64]| None);
    let explained = || FeedbackMetric::new(0.5, "why");
    let named = Scores::new("f1", 0.5);
    let named = Scored::of_parts(MetricScore::new(0.5), named, Some("why".to_owned()), &SPEC);
    for scored in [
        scored(explained()),
        scored(explained().with_metadata("a", 1)),
        named.unwrap(),
    ] {
        assert_eq!(scored.feedback().as_deref(), Some("why"));
        let scored = scored.with_corpus(counts());
        assert_eq!(
            (scored.feedback().as_deref(), scored.corpus()),
            (Some("why"), Some(&counts()))
        );
    }
    let without = scored(MetricScore::new(0.5).with_details("why")).with_corpus(counts());
    assert_eq!(
        (without.feedback(), without.own_details()),
        (None, Some("why"))
    );
}
