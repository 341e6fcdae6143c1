//! Rows of the metrics of judges and retrieval-augmented answers.

use dsrs_metrics::judge::shipped as judges;
use dsrs_metrics::lm::ScriptedLm;
use dsrs_metrics::metrics as m;
use dsrs_metrics::prelude::*;
use dsrs_metrics::sparql::SparqlStore;
use serde_json::{Value, json};

use super::pred;
use crate::explanations::{Case, case};

pub(super) fn judged() -> Vec<Case> {
    let question = || {
        example! {
            "question" => "Where is the Louvre?", "response" => "in Paris on the Seine", "answer" => "Paris",
        }
    };
    let reply = || {
        prediction! { "response" => "in Paris", "answer" => "in Lyon", "context" => ["The Louvre is in Paris."] }
    };
    let lm = |reply: Value| ScriptedLm::new().otherwise(reply);
    let ideas = json!({
        "reasoning": "half", "ground_truth_key_ideas": ["a", "b"], "system_response_key_ideas": ["a"],
        "discussion": "a", "recall": 0.5, "precision": 0.5,
    });
    let both = ScriptedLm::new()
        .when(
            "retrieved_context",
            json!({
                "reasoning": "all claims", "system_response_claims": ["a"], "discussion": "a",
                "groundedness": 1.0,
            }),
        )
        .otherwise(json!({
            "reasoning": "no river", "ground_truth_key_ideas": ["a", "b"],
            "system_response_key_ideas": ["a"], "discussion": "a", "completeness": 0.5,
        }));
    let half = json!({ "reasoning": "the river is missing", "recall": 0.5, "precision": 1.0 });
    let grade =
        json!({ "reasoning": "wrong city", "score": 0.25, "feedback": "name the right city" });
    vec![
        case(
            judges::SemanticF1::default().with_lm(lm(half)),
            question(),
            reply(),
            "the river is missing",
        ),
        case(
            judges::DecompositionalSemanticF1::default().with_lm(lm(ideas)),
            question(),
            reply(),
            "half",
        ),
        case(
            judges::CompleteAndGrounded::default().with_lm(both),
            question(),
            reply(),
            "completeness 0.5: no river\ngroundedness 1: all claims",
        ),
        case(
            judges::LlmJudge::default().with_lm(lm(grade)),
            question(),
            reply(),
            "wrong city",
        ),
        case(
            judges::AnswerRelevance::default()
                .with_lm(lm(json!({ "reasoning": "off topic", "relevant": false }))),
            question(),
            reply(),
            "off topic",
        ),
        case(
            judges::AnswerGroundedness::default()
                .with_lm(lm(json!({ "reasoning": "no Lyon", "grounded": false }))),
            question(),
            reply(),
            "no Lyon",
        ),
        case(
            judges::GEvalCompleteness::default().with_lm(lm(
                json!({ "reasoning": "the river is missing", "score": 3 }),
            )),
            question(),
            reply(),
            "the river is missing",
        ),
        case(
            judges::PairwisePreference::default().with_lm(lm(
                json!({ "reasoning": "both are short", "preferred": "tie" }),
            )),
            question(),
            reply(),
            "scripted:lm (0.5): both are short\nscripted:lm (0.5): both are short",
        ),
        case(
            judges::SemanticEquivalence::default().with_lm(lm(
                json!({ "reasoning": "another city", "equivalent": false }),
            )),
            question(),
            reply(),
            "another city",
        ),
    ]
}

pub(super) fn rag() -> Vec<Case> {
    let intent = || example! { "expected_intent" => "statistical" };
    vec![
        case(
            m::IntentAccuracy,
            intent(),
            prediction! { "intent" => "temporal" },
            "expected \"statistical\", found \"temporal\"",
        ),
        case(
            m::IntentAccuracyWithFallback::default(),
            intent(),
            prediction! { "intent" => "Exploration" },
            "expected \"statistical\", found \"Exploration\"",
        ),
        case(
            m::EntityF1::default(),
            example! { "expected_entities" => ["Louvre", "Rijksmuseum"] },
            prediction! { "entities" => "rijksmuzeum, Prado" },
            "missing: \"louvre\"; unexpected: \"prado\"",
        ),
        case(
            m::EntityTypeAccuracy::default(),
            example! { "expected_entity_type" => "person" },
            prediction! {},
            "expected \"person\", found \"institution\"",
        ),
        case(
            m::AnswerPresent,
            example! {},
            pred(" "),
            "`answer` is empty",
        ),
        case(
            m::SourcesUsed,
            example! {},
            prediction! {},
            "`sources_used` is missing",
        ),
    ]
}

pub(super) fn sparql() -> Vec<Case> {
    let store = || SparqlStore::from_turtle("<a:louvre> <a:city> 'Paris' .").unwrap();
    let query = |query: &str| prediction! { "sparql_query" => query };
    let gold = || example! { "expected_intent" => "temporal", "expected_entities" => ["Louvre"] };
    let reply = || {
        prediction! {
            "intent" => "temporal", "entities" => ["Prado"], "sparql_query" => "SELECT ?year {", "answer" => "1793",
            "sources_used" => ["h:louvre"],
        }
    };
    vec![
        case(
            m::SparqlSyntaxValid,
            example! {},
            query("SELECT ?year {"),
            "line 1, column 15: syntax error just before this point, or unexpected end of query",
        ),
        case(
            m::SparqlExecutes::builder().data(store()).build(),
            example! {},
            query("DELETE WHERE { ?s ?p ?o }"),
            "expected a SPARQL query, found an update; use SELECT, ASK, CONSTRUCT or DESCRIBE",
        ),
        case(
            m::SparqlReturnsResults::builder().data(store()).build(),
            example! {},
            query("SELECT ?r WHERE { ?m <a:river> ?r }"),
            "the query returns no results",
        ),
        case(
            m::HeritageRag,
            gold(),
            reply(),
            "entity_f1 (0): missing: \"louvre\"; unexpected: \"prado\"\nsparql_syntax_valid (0): line 1, column 15: syntax error just before this point, or unexpected end of query\nintent_accuracy (1): expected \"temporal\", found \"temporal\"\nanswer_present (1): there is an answer\nsources_used (1): sources are named",
        ),
        case(
            m::HeritageRagStrict,
            gold(),
            reply(),
            "entity_f1 (0): missing: \"louvre\"; unexpected: \"prado\"\nsparql_syntax_valid (0): line 1, column 15: syntax error just before this point, or unexpected end of query\nintent_accuracy (1): expected \"temporal\", found \"temporal\"\nanswer_present (1): there is an answer",
        ),
    ]
}
