//! Metrics over all rows, such as accuracy, F1 and rank correlations: each row contributes a state, and the score is
//! computed from the merged states. `corpus.rs` has the corpus scores of metrics that also score each row.

use std::any::Any;
use std::fmt;

use serde_json::Value;

use crate::rows::MissingFields;
use crate::score::Result;
use crate::stats::NotDefined;

/// A row's contribution to a score over all rows.
///
/// For example, a contribution can contain counts, values or sums.
///
/// A `#[metric(corpus)]` function returns a type that implements this trait.
///
/// Contributions can be merged in any order and on several machines, so the score must not depend on the order.
///
/// Use integers for counts, and sort lists before you use them.
///
/// ```
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::stats::NotDefined;
/// use dsrs_metrics::{Evaluate, contract::CorpusState, rows::Pair};
///
/// #[derive(Clone, Debug, PartialEq)]
/// struct Spread {
///     least: u64,
///     most: u64,
/// }
///
/// impl CorpusState for Spread {
///     fn merge(&mut self, other: &Self) {
///         self.least = self.least.min(other.least);
///         self.most = self.most.max(other.most);
///     }
///
///     fn overall_score(&self) -> Result<f64, NotDefined> {
///         Ok((self.most - self.least) as f64)
///     }
/// }
///
/// /// The difference between the longest and the shortest answer, in characters.
/// #[metric(corpus)]
/// fn length_spread(#[pred] answer: &str) -> Spread {
///     let length = answer.chars().count() as u64;
///     Spread { least: length, most: length }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
/// let row = |id: &str, answer: &str| Pair::new(id, example! {}, prediction! { "answer" => answer });
/// let evaluate = Evaluate::builder().metric(LengthSpread).build()?;
/// let result = evaluate.score([row("a", "Paris"), row("b", "Rome, I think")]).await?;
/// assert_eq!(result.score, Some(8.0));
/// assert_eq!(result.to_string(), "length_spread  8.0000 (over 2/2 rows, 0 failed)");
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "expected a row's contribution to a corpus score, found `{Self}`",
    label = "cannot be merged",
    note = "return `CorpusCounts`, a type from `dsrs_metrics::stats`, or a type that implements `CorpusState`,\nor an `Option` or `Result` of one of these"
)]
pub trait CorpusState: Clone + PartialEq + fmt::Debug + Send + Sync + 'static {
    /// Adds other rows' contribution to this one.
    fn merge(&mut self, other: &Self);

    /// Returns the score over all merged rows.
    ///
    /// ```
    /// use dsrs_metrics::{contract::CorpusState, stats::ValuePairs};
    ///
    /// let mut pairs = ValuePairs::default();
    /// pairs.add(1.0, 2.0);
    /// assert!(pairs.overall_score().is_err(), "one row has no rank correlation");
    /// ```
    ///
    /// # Errors
    /// Returns [`NotDefined`] if the rows do not determine a score. For example, a correlation is not defined if all
    /// values are equal.
    fn overall_score(&self) -> Result<f64, NotDefined>;

    /// Returns one row's contribution as written to a result file, with a `formula` key, so two files can be compared.
    /// The default, `None`, is for a contribution that `restore` cannot read.
    #[doc(hidden)]
    fn record(&self) -> Option<Value> {
        None
    }
}

/// The contribution of one or more rows to a corpus metric's score.
///
/// ```
/// use dsrs_metrics::metrics::Accuracy;
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::contract::{Answer, RowAnswer};
///
/// let counted = |pred: &str| {
///     let (gold, pred) = (example! { "answer" => "yes" }, prediction! { "answer" => pred });
///     match Accuracy::default().answer(MetricCall::new(&gold, &pred)) {
///         Answer::Ready(Ok(RowAnswer::Counted { counted, .. })) => counted,
///         other => panic!("{other:?}"),
///     }
/// };
/// let mut all = counted("yes");
/// all.merge(&counted("no"));
/// assert_eq!(all.score(), Ok(0.5));
/// ```
#[derive(Debug)]
pub struct Counted {
    state: Box<dyn Erased>,
    #[doc(hidden)]
    pub missing: Option<Box<MissingFields>>,
}

impl Counted {
    /// Creates a row's contribution.
    ///
    /// ```
    /// use dsrs_metrics::{contract::Counted, stats::Brier};
    ///
    /// let counted = Counted::new(Brier::of(true, 0.5));
    /// assert_eq!(counted.score(), Ok(0.25));
    /// ```
    pub fn new(state: impl CorpusState) -> Self {
        Self {
            state: Box::new(state),
            missing: None,
        }
    }

    /// Merges other rows' contribution to the same metric into this contribution.
    ///
    /// A contribution of a different type is ignored.
    ///
    /// ```
    /// # use dsrs_metrics::{contract::Counted, stats::Brier};
    /// let mut all = Counted::new(Brier::of(true, 0.5));
    /// all.merge(&Counted::new(Brier::of(false, 0.5)));
    /// all.merge(&Counted::new(Brier::of(true, 0.0)));
    /// assert_eq!(all.score(), Ok(0.5));
    /// ```
    pub fn merge(&mut self, other: &Self) {
        self.state.merge_with(&*other.state);
    }

    /// Returns the score over all merged rows.
    ///
    /// ```
    /// use dsrs_metrics::contract::{CorpusCounts, Counted};
    ///
    /// let share = |sums: &[u64]| (sums[1] > 0).then(|| sums[0] as f64 / sums[1] as f64);
    /// let empty = Counted::new(CorpusCounts::new([0, 0], share));
    /// assert_eq!(empty.score().unwrap_err().to_string(), "the counts do not determine a score");
    /// ```
    ///
    /// # Errors
    /// Returns [`NotDefined`] if the rows do not determine a score, or if the score is not finite.
    pub fn score(&self) -> Result<f64, NotDefined> {
        let score = self.state.score()?;
        if score.is_finite() {
            Ok(score)
        } else {
            Err("the score is not a finite number".into())
        }
    }

    /// Returns the contribution without the names of missing fields.
    #[doc(hidden)]
    pub fn contribution(&self) -> Self {
        Self {
            state: self.state.boxed(),
            missing: None,
        }
    }

    /// Returns a row's contribution as written to a result file.
    ///
    /// Returns `None` if this type of contribution can't be written to a file.
    #[doc(hidden)]
    pub fn record(&self) -> Option<Value> {
        self.state.record()
    }

    /// Returns the state if its type is `S`.
    ///
    /// ```
    /// use dsrs_metrics::contract::{CorpusCounts, Counted};
    /// use dsrs_metrics::stats::Brier;
    ///
    /// let counted = Counted::new(Brier::of(true, 0.5));
    /// assert_eq!(counted.state::<Brier>(), Some(&Brier::of(true, 0.5)));
    /// assert_eq!(counted.state::<CorpusCounts>(), None);
    /// ```
    pub fn state<S: CorpusState>(&self) -> Option<&S> {
        (&*self.state as &dyn Any).downcast_ref()
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        Self {
            state: self.state.boxed(),
            missing: self.missing.clone(),
        }
    }
}

impl PartialEq for Counted {
    fn eq(&self, other: &Self) -> bool {
        self.missing == other.missing && self.state.equals(&*other.state)
    }
}

/// [`CorpusState`] as a trait object.
trait Erased: Any + fmt::Debug + Send + Sync {
    fn merge_with(&mut self, other: &dyn Erased);
    fn score(&self) -> Result<f64, NotDefined>;
    fn record(&self) -> Option<Value>;
    fn boxed(&self) -> Box<dyn Erased>;
    fn equals(&self, other: &dyn Erased) -> bool;
}

impl<S: CorpusState> Erased for S {
    fn merge_with(&mut self, other: &dyn Erased) {
        let other = (other as &dyn Any).downcast_ref();
        debug_assert!(other.is_some(), "a metric returns one type of state");
        if let Some(other) = other {
            self.merge(other);
        }
    }

    fn score(&self) -> Result<f64, NotDefined> {
        self.overall_score()
    }

    fn record(&self) -> Option<Value> {
        CorpusState::record(self)
    }

    fn boxed(&self) -> Box<dyn Erased> {
        Box::new(self.clone())
    }

    fn equals(&self, other: &dyn Erased) -> bool {
        (other as &dyn Any).downcast_ref() == Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::corpus::CorpusCounts;

    #[derive(Debug, Clone, PartialEq)]
    struct Longest(u64);

    impl CorpusState for Longest {
        fn merge(&mut self, other: &Self) {
            self.0 = self.0.max(other.0);
        }

        fn overall_score(&self) -> Result<f64, NotDefined> {
            Ok(self.0 as f64)
        }
    }

    #[test]
    fn a_state_is_read_as_its_own_type() {
        let mut counted = Counted::new(Longest(3));
        counted.merge(&Counted::new(Longest(5)));
        assert_eq!(counted.state(), Some(&Longest(5)));
        assert_eq!(counted.state::<CorpusCounts>(), None);
    }

    #[test]
    fn a_state_of_an_author_has_no_record() {
        assert_eq!(Counted::new(Longest(3)).record(), None);
    }
}
