//! "dspy.evaluate.answer_exact_match".

use dsrs_metrics::metrics::AnswerExactMatch;
use dsrs_metrics::prelude::*;

use crate::{Result, passed};

pub(crate) fn run() -> Result {
    let example = example! { "answer" => ["Eiffel Tower", "Louvre"] };
    let pred = prediction! { "answer" => "The Eiffel Tower" };

    // answer_exact_match(example, pred, frac=1.0)  # equivalent to EM, True
    assert_eq!(
        AnswerExactMatch::builder()
            .frac(1.0)
            .build()
            .score(&example, &pred)?
            .value,
        1.0
    );
    // answer_exact_match(example, pred, frac=0.5)  # True
    assert_eq!(
        AnswerExactMatch::builder()
            .frac(0.5)
            .build()
            .score(&example, &pred)?
            .value,
        1.0
    );

    // "frac (float, optional) .. `1.0` means EM": it is the default. `trace` is unused, so the verdict is the bool.
    let metric = AnswerExactMatch::default();
    let trace = Trace::default();
    let scored = metric.answer(MetricCall::new(&example, &pred).with_trace(&trace));
    assert_eq!(scored.ready().ok_or("asynchronous")??.passed, Some(true));

    // raise ValueError(f"Invalid answer type: {type(example.answer)}")
    let error = metric
        .score(&example! { "answer" => 3 }, &pred)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("gold.answer") && error.contains("the number 3"),
        "{error}"
    );

    passed("answer_exact_match", "frac = 1.0, frac = 0.5, invalid type");
    Ok(())
}
