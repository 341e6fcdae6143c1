//! The [`Metric`] trait.
//!
//! `optimizer.rs` has the methods that optimizers call. `call.rs` has the arguments of a call, and `answer.rs` has its
//! answer. `fn_metric.rs` makes metrics from closures.
//!
//! `params.rs` and `param_group.rs` read parameters. `instance.rs` has the threshold, strictness and cost of one
//! instance.
//!
//! `identity.rs` compares the metrics of two runs. `batching.rs` evaluates lists of rows, and collects calls into
//! batches.
//!
//! The file is long because each method of the trait is documented with an example.

pub mod answer;
pub mod batching;
pub mod call;
pub mod fn_metric;
pub mod identity;
pub mod instance;
pub mod optimizer;
pub mod param_group;
pub mod params;
pub mod typed_rows;

pub use self::answer::{Answer, ScoredAtOnce};
pub use self::call::{MetricCall, RepeatNumber, Settings};
pub use self::optimizer::{AcceptanceTest, FeedbackEvaluator};
pub use self::param_group::ParamGroup;

use async_trait::async_trait;

use crate::declared::{Declaration, Requirement};
use crate::dedup::Key;
use crate::files::MetricFile;
use crate::rows::dynamic::{Example, Prediction};
use crate::score::{Grade, MetricScore, Result, Scored};
use crate::spec::{MetricSpec, MetricTier};

/// Scores a prediction against a gold row.
///
/// `G` is the type of the gold row, and `P` is the type of the prediction. By default, both are dynamic rows.
///
/// `#[metric]` implements this trait for a function. To implement it by hand, provide a name and
/// [`evaluate`](Self::evaluate):
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// struct Brevity;
///
/// #[async_trait]
/// impl Metric for Brevity {
///     fn name(&self) -> &str {
///         "brevity"
///     }
///
///     async fn evaluate(&self, _: &Example, pred: &Prediction) -> dsrs_metrics::Result<MetricScore> {
///         let answer = pred.get("answer").and_then(|answer| answer.as_str()).unwrap_or_default();
///         Ok(MetricScore::new(if answer.chars().count() <= 10 { 1.0 } else { 0.0 }))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> dsrs_metrics::Result<()> {
/// let score = Brevity.evaluate(&example! {}, &prediction! { "answer" => "Paris" }).await?;
/// assert_eq!(score.value, 1.0);
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a metric over the rows `{G}` and `{P}`",
    label = "not a metric over these rows",
    note = "annotate a function with `#[metric]` and pass its struct (`Overlap` for `fn overlap`), wrap a closure in\n`metric_fn(\"name\", |gold, pred| ..)`, end a builder with `.build()`, or implement `Metric` by hand; a metric over rows of your own type needs `#[derive(Record)]` on them"
)]
#[async_trait]
pub trait Metric<G: Sync = Example, P: Sync = Prediction>: Send + Sync {
    /// Returns the metric's name, in snake case.
    fn name(&self) -> &str;

    /// Returns the metric's tier.
    ///
    /// A proxy is cheap and fast, and a truth is expensive and accurate.
    ///
    /// ```
    /// # use dsrs_metrics::{metrics::F1, prelude::*};
    /// let f1: &dyn Metric = &F1::default();
    /// assert_eq!(f1.tier(), MetricTier::Proxy);
    /// ```
    fn tier(&self) -> MetricTier {
        self.declaration()
            .map_or(MetricTier::Proxy, |declared| declared.spec().tier)
    }

    /// Returns the maximum expected cost of one call, in millisatoshis.
    ///
    /// For a judge, the cost covers one verdict from each model in its panel, and one repair of each reply.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// #[metric(tier = truth, cost = "2 sat")]
    /// async fn reviewed(#[pred] answer: &str) -> bool {
    ///     !answer.is_empty()
    /// }
    ///
    /// let reviewed: &dyn Metric = &Reviewed;
    /// assert_eq!(reviewed.cost_estimate(), 2_000);
    /// ```
    fn cost_estimate(&self) -> u64 {
        self.declaration().map_or(0, Declaration::max_cost)
    }

    /// Compares a prediction with a gold row, calling a model if necessary.
    ///
    /// ```
    /// # use dsrs_metrics::{metrics::F1, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> dsrs_metrics::Result<()> {
    /// let metrics: Vec<Box<dyn Metric>> = vec![Box::new(F1::default()), Box::new(metric_fn("half", |_, _| 0.5))];
    /// let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => "Paris" });
    /// assert_eq!(metrics[0].evaluate(&gold, &pred).await?.value, 1.0);
    /// assert_eq!(metrics[1].evaluate(&gold, &pred).await?.value, 0.5);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the metric's own error. Also returns an error if a field is missing or unreadable, or if the metric
    /// abstains.
    ///
    /// A score that is out of range or not finite is also an error.
    #[rustfmt::skip] // rustc shows this line where `impl Metric` lacks the attribute.
    async fn evaluate(&self, gold: &G, pred: &P) -> Result<MetricScore>; // write `#[async_trait]` above `impl Metric`

    /// Scores one pair of rows synchronously.
    ///
    /// If the metric might be asynchronous, the compiler tells you what to write instead.
    #[doc(hidden)]
    fn score(&self, gold: &G, pred: &P) -> Result<MetricScore>
    where
        Self: Sized + ScoredAtOnce<G>, // write `.evaluate(&gold, &pred).await`, which any metric has
    {
        answer::at_once(self, gold, pred)
    }

    /// Scores one call and returns the full answer.
    ///
    /// Besides the score, the answer contains the verdict, feedback and named scores. The harness, composites, `Scorer`
    /// and the command line call this method.
    ///
    /// By default, this method awaits [`evaluate`](Self::evaluate) and validates the score against
    /// [`spec`](Self::spec).
    ///
    /// ```
    /// # use dsrs_metrics::{metrics::Em, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> dsrs_metrics::Result<()> {
    /// let metric: &dyn Metric = &Em::default();
    /// let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => "Lyon" });
    /// let scored = metric.answer(MetricCall::new(&gold, &pred)).await?;
    /// assert_eq!((scored.score.value, scored.passed), (0.0, Some(false)));
    /// # Ok(())
    /// # }
    /// ```
    fn answer<'a>(&'a self, call: MetricCall<'a, G, P>) -> Answer<'a> {
        Answer::pending(async move {
            let score = self.evaluate(call.gold, call.pred).await?;
            Scored::validated(score, call.spec(&self.spec()))
        })
    }

    /// Returns the metric's declaration.
    ///
    /// By default, it consists of the name, tier and cost that the other methods return, and the range [0, 1]. A score
    /// outside that range is an error.
    ///
    /// In a hand-written metric, override this method to declare a different range, a direction, a threshold or fields.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// struct Stars;
    ///
    /// #[async_trait]
    /// impl Metric for Stars {
    ///     # fn name(&self) -> &str {
    ///     #     "stars"
    ///     # }
    ///     fn spec(&self) -> MetricSpec<'_> {
    ///         MetricSpec::new("stars").with_async().with_range(1.0, 5.0).with_threshold(4.0)
    ///     }
    ///
    ///     async fn evaluate(&self, _: &Example, _: &Prediction) -> dsrs_metrics::Result<MetricScore> {
    ///         Ok(MetricScore::new(4.5))
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> dsrs_metrics::Result<()> {
    /// # let (gold, pred) = (example! {}, prediction! {});
    /// assert_eq!(Stars.answer(MetricCall::new(&gold, &pred)).await?.passed, Some(true));
    /// # Ok(())
    /// # }
    /// ```
    fn spec(&self) -> MetricSpec<'_> {
        match self.declaration() {
            Some(declared) => declared.spec(),
            None => MetricSpec::new(self.name())
                .with_tier(self.tier())
                .with_async()
                .with_cost_msats(self.cost_estimate())
                .with_range(0.0, 1.0),
        }
    }

    /// Returns `true` if the rows have the fields that the metric reads.
    ///
    /// The fields must also have the right types.
    ///
    /// ```
    /// # use dsrs_metrics::{metrics::IntentAccuracy, prelude::*};
    /// let metric: &dyn Metric = &IntentAccuracy;
    /// let gold = example! { "expected_intent" => "temporal" };
    /// assert!(metric.can_evaluate(&gold, &prediction! { "intent" => "spatial" }));
    /// assert!(!metric.can_evaluate(&gold, &prediction! { "intent" => 7 }));
    /// ```
    fn can_evaluate(&self, gold: &G, pred: &P) -> bool {
        let _ = (gold, pred);
        true
    }

    /// Scores several pairs of rows.
    ///
    /// Returns one result for each pair, in order. An error in one pair does not affect the others.
    ///
    /// By default, up to 32 pairs are scored concurrently.
    ///
    /// If your metric can score several rows with one call, override both this method and
    /// [`batch_size`](Self::batch_size).
    ///
    /// ```
    /// # use dsrs_metrics::{metrics::F1, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let pairs = [
    ///     (example! { "answer" => "Paris" }, prediction! { "answer" => "Paris" }),
    ///     (example! { "answer" => "Paris" }, prediction! { "answer" => 7 }),
    /// ];
    /// let scores = F1::default().evaluate_batch(&pairs).await;
    /// assert_eq!(scores[0].as_ref().unwrap().value, 1.0);
    /// let error = scores[1].as_ref().unwrap_err().to_string();
    /// assert_eq!(error, "metric `f1`: field `pred.answer`: expected a string, found the number 7");
    /// # }
    /// ```
    async fn evaluate_batch(&self, pairs: &[(G, P)]) -> Vec<Result<MetricScore>> {
        batching::evaluate(pairs.len(), &|row| {
            let (gold, pred) = &pairs[row];
            self.answer(MetricCall::new(gold, pred))
        })
        .await
    }

    /// Returns the maximum number of rows in a batch.
    ///
    /// `Evaluate`, `Scorer` and the command line pass up to this many rows to [`evaluate_batch`](Self::evaluate_batch).
    /// With the default, 1, they score each row with [`answer`](Self::answer).
    ///
    /// A batch collects concurrent calls, so it is never larger than the number of rows evaluated concurrently.
    ///
    /// Each batch owns copies of its rows.
    ///
    /// Some calls are always scored one by one:
    /// - rows of types other than [`Example`] and [`Prediction`]
    /// - calls with a trace
    /// - components of composites
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::{Evaluate, Result, rows::Pair};
    ///
    /// struct Remote;
    ///
    /// #[async_trait]
    /// impl Metric for Remote {
    ///     fn name(&self) -> &str {
    ///         "remote"
    ///     }
    ///
    ///     async fn evaluate(&self, gold: &Example, pred: &Prediction) -> Result<MetricScore> {
    ///         Ok(MetricScore::new(f64::from(gold.get("answer") == pred.get("answer"))))
    ///     }
    ///
    ///     fn batch_size(&self) -> usize {
    ///         16
    ///     }
    ///
    ///     async fn evaluate_batch(&self, pairs: &[(Example, Prediction)]) -> Vec<Result<MetricScore>> {
    ///         // One request to a service for all pairs.
    ///         pairs.iter().map(|_| Ok(MetricScore::new(1.0 / pairs.len() as f64))).collect()
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::result::Result<(), dsrs_metrics::runs::EvaluateError> {
    /// let rows = (0..8).map(|row| Pair::new(row.to_string(), example! {}, prediction! {}));
    /// let result = Evaluate::builder().metric(Remote).concurrency(8).score(rows).await?;
    /// assert_eq!(result.score, Some(1.0 / 8.0));
    /// # Ok(())
    /// # }
    /// ```
    fn batch_size(&self) -> usize {
        1
    }

    /// Scores one call for an optimizer.
    ///
    /// Returns the verdict if the call has a trace and the metric has a verdict. Otherwise, returns the score.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> dsrs_metrics::Result<()> {
    /// let (gold, pred, trace) = (example! { "answer" => 4 }, prediction! { "answer" => 4 }, Trace::default());
    /// let same = metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer"));
    /// let call = MetricCall::new(&gold, &pred);
    /// assert_eq!(same.grade(call).await?, Grade::Score(MetricScore::new(1.0)));
    /// assert_eq!(same.grade(call.with_trace(&trace)).await?, Grade::Verdict(true));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`evaluate`](Self::evaluate).
    async fn grade(&self, call: MetricCall<'_, G, P>) -> Result<Grade> {
        Ok(self.answer(call).await?.grade(call.trace.is_some()))
    }

    /// Adds the requirements of the metric and its components to `all`.
    ///
    /// A requirement can be a language model, or the reason why the metric cannot score any row. A harness probes each
    /// model once, before it pays for the first row.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// let half: &dyn Metric = &metric_fn("half", |_, _| 0.5).strict();
    /// let mut requirements = Vec::new();
    /// half.requirements(&mut requirements);
    /// let reason = "expected a threshold for `strict`, found none; set a threshold as well, such as 0.5";
    /// assert_eq!(requirements[0].missing_reason(), Some(reason));
    /// ```
    fn requirements(&self, all: &mut Vec<Requirement>) {
        if let Some(declared) = self.declaration() {
            declared.requirements(all);
        }
    }

    /// Adds the files that the score depends on to `all`.
    ///
    /// For example, a parameter can name tests, a graph or a schema.
    ///
    /// The names and contents of the files are part of the [`MetricIdentity`](crate::MetricIdentity) and of the key for
    /// stored scores. If a file changes, the metric is evaluated again.
    ///
    /// `#[metric]` adds the files of parameters whose type implements [`NamesFiles`](crate::NamesFiles), such as
    /// [`PathBuf`](std::path::PathBuf). Override this method in a hand-written metric that reads files:
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::contract::{MetricFile, MetricIdentity};
    ///
    /// struct Listed(std::path::PathBuf);
    ///
    /// #[async_trait]
    /// impl Metric for Listed {
    ///     fn name(&self) -> &str {
    ///         "listed"
    ///     }
    ///
    ///     async fn evaluate(&self, _: &Example, pred: &Prediction) -> dsrs_metrics::Result<MetricScore> {
    ///         let words = std::fs::read_to_string(&self.0).unwrap_or_default();
    ///         let answer = pred.get("answer").and_then(|answer| answer.as_str()).unwrap_or_default();
    ///         Ok(MetricScore::new(f64::from(words.lines().any(|word| word == answer))))
    ///     }
    ///
    ///     fn files(&self, all: &mut Vec<MetricFile>) {
    ///         all.push(MetricFile::new("Listed.words", &self.0));
    ///     }
    /// }
    ///
    /// # fn main() -> std::io::Result<()> {
    /// # let path = std::env::temp_dir().join(format!("dsrs-doc-files-{}.txt", std::process::id()));
    /// std::fs::write(&path, "yes")?;
    /// let before = MetricIdentity::of(&Listed(path.clone()));
    /// std::fs::write(&path, "no")?;
    /// let differences = before.differences(&MetricIdentity::of(&Listed(path.clone())));
    /// assert!(differences[0].place.ends_with("of parameter `Listed.words`"));
    /// # std::fs::remove_file(path)
    /// # }
    /// ```
    fn files(&self, all: &mut Vec<MetricFile>) {
        if let Some(declared) = self.declaration() {
            declared.files(all);
        }
    }

    /// Returns the metric's declaration, if a macro generated its type.
    #[doc(hidden)]
    fn declaration(&self) -> Option<&dyn Declaration> {
        None
    }

    /// Returns the metric's key.
    ///
    /// Returns `None` if the metric cannot be compared with other metrics.
    #[doc(hidden)]
    fn key(&self) -> Option<Key> {
        self.declaration()?.key()
    }

    /// Adds the parameters of the metric and its components to `all`.
    ///
    /// Each parameter is listed as `TYPE.NAME` with its value. Values that cannot be shown are left out.
    #[doc(hidden)]
    fn parameters(&self, all: &mut Vec<(String, String)>) {
        let mut keys = Vec::new();
        self.keys(&mut keys);
        keys.iter().for_each(|key| all.extend(key.parameters()));
    }

    /// Adds the keys of the metric and all its components to `all`.
    #[doc(hidden)]
    fn keys(&self, all: &mut Vec<Key>) {
        match self.declaration() {
            Some(declared) => declared.keys(all),
            None => all.extend(self.key()),
        }
    }
}
