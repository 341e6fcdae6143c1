//! Rows of the metrics of answers and strings.

use std::num::NonZeroUsize;

use dsrs_metrics::lm::ScriptedEmbedder;
use dsrs_metrics::metrics as m;
use dsrs_metrics::prelude::*;
use dsrs_metrics::retrieval::Cutoffs;
use serde_json::json;

use super::{gold, pred};
use crate::explanations::{Case, case};

pub(super) fn answers() -> Vec<Case> {
    let capitals = || gold(json!(["Paris", "Paris, France"]));
    vec![
        case(
            m::Em::default(),
            capitals(),
            pred("Parma"),
            "expected \"Paris\" or \"Paris, France\", found \"Parma\"",
        ),
        case(
            m::AnswerExactMatch::builder().frac(0.9).build(),
            capitals(),
            pred("in Paris"),
            "closest to \"Paris\": 1 word expected, 2 predicted, 1 in common; extra: \"in\"",
        ),
        case(
            m::AnswerPassageMatch::default(),
            capitals(),
            prediction! { "context" => ["The Louvre is a museum.", "Rome is in Italy."] },
            "none of 2 passages contains \"Paris\" or \"Paris, France\"",
        ),
        case(
            m::F1::default(),
            gold("the Eiffel Tower"),
            pred("Eiffel Tower in Paris"),
            "2 words expected, 4 predicted, 2 in common; extra: \"in\", \"paris\"",
        ),
        case(
            m::HotpotF1::default(),
            gold("yes it is"),
            pred("yes"),
            "3 words expected, 1 predicted, 1 in common; missing: \"it\", \"is\"",
        ),
        case(
            m::Precision::default(),
            gold("Eiffel Tower"),
            pred("Eiffel in Paris"),
            "2 words expected, 3 predicted, 1 in common; missing: \"tower\"; extra: \"in\", \"paris\"",
        ),
        case(
            m::Recall::default(),
            capitals(),
            pred("France"),
            "closest to \"Paris, France\": 2 words expected, 1 predicted, 1 in common; missing: \"paris\"",
        ),
        case(
            m::NumericMatch::default(),
            gold("1300"),
            pred("So she earns $1,200."),
            "expected 1300, found 1200",
        ),
        case(
            m::SemanticSimilarity::builder()
                .embedder(embedder())
                .build(),
            capitals(),
            pred("Rome"),
            "cosine 0.96 with \"Paris, France\"",
        ),
    ]
}

fn embedder() -> ScriptedEmbedder {
    let model = ScriptedEmbedder::new().when("Paris", [4.0, -3.0]);
    model
        .when("Paris, France", [3.0, 4.0])
        .when("Rome", [4.0, 3.0])
}

pub(super) fn rankings() -> Vec<Case> {
    let relevant = || example! { "relevant" => ["d1", "d2", "d3"] };
    let retrieved = || prediction! { "retrieved" => ["d7", "d2", "d5", "d1"] };
    let k = || Cutoffs::new([3, 1]).unwrap();
    let depth = NonZeroUsize::new(1).unwrap();
    vec![
        case(
            m::PrecisionAtK::builder().k(k()).build(),
            relevant(),
            retrieved(),
            "1 of 3 relevant among 3 retrieved; not found: \"d1\", \"d3\"",
        ),
        case(
            m::RecallAtK::default(),
            relevant(),
            retrieved(),
            "2 of 3 relevant among 4 retrieved; not found: \"d3\"",
        ),
        case(
            m::HitRate::builder().k(Cutoffs::new([1]).unwrap()).build(),
            relevant(),
            retrieved(),
            "0 of 3 relevant among 1 retrieved; not found: \"d1\", \"d2\", \"d3\"",
        ),
        case(
            m::ReciprocalRank::builder().depth(depth).build(),
            relevant(),
            retrieved(),
            "0 of 3 relevant among 1 retrieved; not found: \"d1\", \"d2\", \"d3\"",
        ),
        case(
            m::AveragePrecision::default(),
            relevant(),
            retrieved(),
            "2 of 3 relevant among 4 retrieved; not found: \"d3\"",
        ),
        case(
            m::Ndcg::default(),
            relevant(),
            retrieved(),
            "2 of 3 relevant among 4 retrieved; not found: \"d3\"",
        ),
    ]
}

pub(super) fn overlap() -> Vec<Case> {
    let cat = || gold("the cat was found under the bed");
    let short = || pred("the cat under the bed");
    let same = || pred("the bed was found under the cat");
    let gold_lines = || gold("the cat sat\nthe dog ran");
    vec![
        case(
            m::Bleu::default(),
            cat(),
            short(),
            "7 words expected, 5 predicted, 5 in common; missing: \"was\", \"found\"",
        ),
        case(
            m::Chrf::default(),
            gold("東京都"),
            pred("東京"),
            "1 word expected, 1 predicted, 0 in common; missing: \"東京都\"; extra: \"東京\"",
        ),
        case(
            m::Rouge1::default(),
            cat(),
            short(),
            "7 words expected, 5 predicted, 5 in common; missing: \"was\", \"found\"",
        ),
        case(
            m::Rouge2::default(),
            gold(json!(["a dog", "the cat sat"])),
            pred("the cat ran"),
            "closest to \"the cat sat\": 3 words expected, 3 predicted, 2 in common; missing: \"sat\"; extra: \"ran\"",
        ),
        case(
            m::RougeL::default(),
            cat(),
            same(),
            "7 words expected, 7 predicted, 7 in common",
        ),
        case(
            m::RougeLsum::default(),
            gold_lines(),
            pred("the dog ran"),
            "6 words expected, 3 predicted, 3 in common; missing: \"cat\", \"sat\", \"the\"",
        ),
        case(
            m::Wer::default(),
            gold("the cat sat down"),
            pred("the cat sit"),
            "4 words expected, 3 predicted, 2 in common; missing: \"sat\", \"down\"; extra: \"sit\"",
        ),
        case(
            m::Cer::default(),
            gold("日本語"),
            pred("日本"),
            "expected \"日本語\", found \"日本\"",
        ),
        case(
            m::EditSimilarity::default(),
            gold("sitting"),
            pred("sitten"),
            "expected \"sitting\", found \"sitten\"",
        ),
    ]
}
