//! Properties of all rows and all replies.

use std::sync::Arc;

use dsrs_metrics::judge::Prompt;
use dsrs_metrics::lm::ScriptedLm;
use dsrs_metrics::prelude::*;
use futures_util::FutureExt as _;
use proptest::prelude::*;

use super::setup::{
    Grade5Judge, PoliteJudge, SemanticRecallPrecisionJudge, polite, recall_precision, user,
};

/// Strings of a prompt's own tokens, which are often almost a prompt.
fn nearly_a_prompt() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("[[".to_owned()),
        Just("]]".to_owned()),
        Just("[[/system_response ".to_owned()),
        Just("\n".to_owned()),
        Just(" is absent]]\n".to_owned()),
        Just("The fence code of this message is ".to_owned()),
        Just(".\n".to_owned()),
        "[0-9a-f]{16}",
        any::<String>(),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// Strings of a reply's own tokens, which are often almost a reply.
fn nearly_a_reply() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("{".to_owned()),
        Just("}".to_owned()),
        Just("```json".to_owned()),
        Just("```".to_owned()),
        Just("\"score\": ".to_owned()),
        Just("\"reasoning\": \"\"".to_owned()),
        Just(",".to_owned()),
        Just("\n".to_owned()),
        (-3_i32..9).prop_map(|number| number.to_string()),
        any::<f64>().prop_map(|number| number.to_string()),
        any::<String>(),
    ];
    proptest::collection::vec(piece, 0..10).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn row_content_is_parsed_back_from_the_prompt(
        texts in [nearly_a_prompt(), nearly_a_prompt(), nearly_a_prompt()],
    ) {
        let [question, truth, response] = texts.clone();
        let gold = example! { "question" => question, "response" => truth };
        let pred = prediction! { "response" => response };
        let lm = Arc::new(ScriptedLm::new().otherwise(recall_precision(0.5, 0.5)));
        let judge = SemanticRecallPrecisionJudge::default().with_lm(Arc::clone(&lm));
        judge.evaluate(&gold, &pred).now_or_never().unwrap().unwrap();
        let requests = lm.requests();
        let read = Prompt::parse(user(&requests[0])).unwrap();
        let contents: Vec<_> = read.iter().map(|input| input.content.unwrap()).collect();
        prop_assert_eq!(contents, texts);
        let names: Vec<_> = read.iter().map(|input| input.name).collect();
        prop_assert_eq!(names, ["question", "ground_truth", "system_response"]);
    }

    #[test]
    fn any_reply_is_a_grade_of_the_scale_or_a_failure(reply in nearly_a_reply()) {
        let judge = Grade5Judge::default().with_lm(ScriptedLm::new().cost(7).otherwise(reply));
        let pred = prediction! { "answer" => "a" };
        match judge.evaluate(&example! {}, &pred).now_or_never().unwrap() {
            Ok(score) => prop_assert!([1.0, 2.0, 3.0, 4.0, 5.0].contains(&score.value)),
            Err(error) => prop_assert_eq!(error.cost_msats(), 14),
        }
    }

    #[test]
    fn a_verdict_with_surrounding_text_is_rejected(
        before in prop_oneof!["\\s*", "[^`{]*"],
        after in prop_oneof!["\\s*".boxed(), any::<String>().boxed()],
    ) {
        let judge = |text: String| PoliteJudge::default().with_lm(ScriptedLm::new().otherwise(text));
        let pred = prediction! { "answer" => "a" };
        for says in [true, false] {
            let text = format!("{before}```json\n{}\n```{after}", polite(says));
            let is_alone = before.trim().is_empty() && after.trim().is_empty();
            match judge(text).evaluate(&example! {}, &pred).now_or_never().unwrap() {
                Ok(score) => prop_assert_eq!((score.value, is_alone), (f64::from(u8::from(says)), true)),
                Err(error) => prop_assert!(!is_alone, "{error}"),
            }
        }
    }
}
