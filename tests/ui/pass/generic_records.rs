use std::borrow::Cow;
use std::sync::Arc;

use dsrs_metrics::prelude::*;

#[derive(Record)]
struct Answer<'a, T = String, const N: usize = 2>
where
    T: Clone,
{
    answer: T,
    #[record(rename = "the source")]
    source: Cow<'static, str>,
    shared: Arc<str>,
    tags: Vec<T>,
    array: [u8; N],
    borrowed: &'a [u8],
}

#[metric]
fn reads(
    #[pred] answer: &str,
    #[pred("the source")] source: &str,
    #[pred] shared: &str,
    #[pred] tags: &[String],
    #[pred] array: [u8; 2],
) -> usize {
    answer.len() + source.len() + shared.len() + tags.len() + array.len()
}

#[derive(Record)]
#[allow(dead_code)]
struct Empty {}

#[metric]
fn without_fields(run: Option<&dsrs_metrics::runs::ProgramRun>) -> bool {
    run.is_none()
}

/// Runs the items above.
pub fn main() {
    let bytes = vec![1];
    let answer: Answer<'_> = Answer {
        answer: "a".to_owned(),
        source: Cow::Borrowed("b"),
        shared: Arc::from("c"),
        tags: vec!["d".to_owned()],
        array: [1, 2],
        borrowed: &bytes,
    };
    assert_eq!(Reads.score(&example! {}, &answer).unwrap().value, 6.0);
    assert_eq!(answer.borrowed.len(), 1);
    assert_eq!(WithoutFields.score(&Empty {}, &Empty {}).unwrap().value, 1.0);
    assert_eq!(<Answer<'_> as Record>::FIELDS.len(), 6);
}
