use dsrs_metrics::prelude::*;

/// Runs the items above.
pub fn main() {
    #[derive(Record)]
    struct Answer {
        answer: String,
    }

    const LIMIT: f64 = 0.5;

    struct Gold {
        answer: String,
    }

    #[metric(threshold = LIMIT)]
    fn share(gold: &Gold, #[pred] answer: &str, #[param(default = 2)] factor: usize) -> usize {
        factor * usize::from(gold.answer == answer)
    }

    let gold = Gold { answer: "a".to_owned() };
    let pred = Answer { answer: "a".to_owned() };
    assert_eq!(Share::default().score(&gold, &pred).unwrap().value, 2.0);
    {
        #[metric]
        fn share(#[pred] answer: &str) -> bool {
            answer.is_empty()
        }
        assert_eq!(Share.score(&example! {}, &pred).unwrap().value, 0.0);
    }
    let closure = || {
        #[metric]
        fn never(#[pred] answer: &str) -> bool {
            let _ = answer;
            false
        }
        Never.score(&example! {}, &prediction! { "answer" => "" }).unwrap().value
    };
    assert_eq!(closure(), 0.0);
}
