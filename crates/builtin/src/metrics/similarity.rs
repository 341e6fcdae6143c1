//! Measures similarity of meaning with an embedding model.

use crate::contract::{MetricScore, Unscored};
use crate::judge::embed;
use crate::lm::Embedder;
use crate::messages::escape::quoted;
use crate::metric;
use crate::metrics::answers::StrOrList;
use crate::metrics::explained::number;

/// Scores how similar the answer and the reference answer are in meaning.
///
/// The score is the cosine of their embeddings.
///
/// The score is in [-1, 1]. It is about 1 for strings with the same meaning, and about 0 for unrelated strings. If a
/// row has several reference answers, the metric uses the one with the highest score.
///
/// If both strings are blank, the score is 1. If only one is blank, the score is 0. In these cases, the metric calls no
/// model.
///
/// This metric is called `SemanticSimilarity` in ragas and `similar` in promptfoo.
///
/// **Use this metric as a proxy, never as a truth.** Two strings about the same subject have similar vectors, even if
/// they contradict each other. The table shows the scores from `wordllama` 0.4.0's static vectors and from MiniLM-L6-v2
/// (int8):
///
/// | strings | wordllama | MiniLM |
/// | --- | --- | --- |
/// | "The capital of France is Paris." / "Paris is France's capital city." | 0.960 | 0.966 |
/// | the first / "Bananas grow in warm climates." | -0.054 | -0.031 |
/// | "The invoice was refunded." / "The customer got their money back." | 0.458 | 0.618 |
/// | "The invoice was refunded." / "The invoice was **not** refunded." | 0.972 | 0.927 |
/// | "It costs **40** euros." / "It costs **45** euros." | 0.962 | 0.893 |
///
/// The metric has no default threshold. With a threshold of 0.9, a negated answer in the table passes and a paraphrase
/// fails. Use the `agree` command to find out how well a threshold agrees with your labels.
///
/// To compare numbers, use `numeric_match`. To compare meaning, use a judge such as `semantic_equivalence`.
///
/// Set the model with `--embed`, `DSRS_EMBED` or `embedder`. Without a model, the run fails before the first row.
///
/// The model's name is part of the metric's identity, because scores from different models are not comparable.
///
/// ```
/// use dsrs_metrics::lm::ScriptedEmbedder;
/// use dsrs_metrics::metrics::SemanticSimilarity;
/// use dsrs_metrics::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> dsrs_metrics::Result<()> {
/// let model = ScriptedEmbedder::new()
///     .when("It was refunded.", [3.0, 4.0])
///     .when("You got your money back.", [4.0, 3.0]);
/// let metric = SemanticSimilarity::builder().embedder(model).build();
/// let gold = example! { "answer" => "It was refunded." };
/// let score = metric.evaluate(&gold, &prediction! { "answer" => "You got your money back." }).await?;
/// assert_eq!(score.value, 0.96); // (3 * 4 + 4 * 3) / (5 * 5)
/// # Ok(())
/// # }
/// ```
#[metric(range = -1.0..=1.0, missing = 0.0)]
pub async fn semantic_similarity(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer")] prediction: &str,
    /// The embedding model: `provider:model`, `static:FOLDER`, or the configured one.
    #[param(default = &Embedder::Configured, into)]
    embedder: &Embedder,
) -> Result<MetricScore, Unscored> {
    if answer.is_empty() {
        let reason = "`gold.answer` is an empty list; add at least one answer";
        return Err(Unscored::because(reason));
    }
    let is_blank = |text: &str| text.trim().is_empty();
    let references = answer.iter().map(AsRef::as_ref);
    let references: Vec<&str> = references
        .filter(|reference| !is_blank(reference))
        .collect();
    if is_blank(prediction) {
        let has_blank = references.len() < answer.len();
        let details = match has_blank {
            true => "both answers are empty",
            false => "the answer is empty",
        };
        return Ok(MetricScore::new(f64::from(u8::from(has_blank))).with_details(details));
    }
    if references.is_empty() {
        return Ok(MetricScore::new(0.0).with_details("the reference answer is empty"));
    }
    let texts: Vec<&str> = [&[prediction], &references[..]].concat();
    let embeddings = embed(embedder, &texts).await?;
    let mut best: Option<(f64, &str)> = None;
    for (at, reference) in (1..).zip(references) {
        let cosine = embeddings.cosine(0, at).ok_or_else(|| {
            let zeros = quoted(match embeddings.cosine(0, 0) {
                None => prediction,
                Some(_) => reference,
            });
            let why = "is all zeros, so its cosine is undefined; use another model";
            Unscored::because(format_args!("the vector of {zeros} {why}"))
        })?;
        if best.is_none_or(|(highest, _)| cosine > highest) {
            best = Some((cosine, reference));
        }
    }
    let (cosine, reference) = best.unwrap_or_default();
    let details = format!("cosine {} with {}", number(cosine), quoted(reference));
    let score = MetricScore::new(cosine).with_details(details);
    Ok(score.with_cost_msats(embeddings.cost_msats().unwrap_or(0)))
}
