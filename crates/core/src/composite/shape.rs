//! An expression over components of any kind, before validation: metrics at run time
//! ([`Expression`](super::Expression)), or components that `#[metric]` names.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::judge::{Answers, Choice, answer_of};
use crate::metric::Metric;
use crate::rows::by_name::intern;
use crate::score::Scored;
use crate::spec::MetricSpec;

/// How a composite treats a component that fails, abstains or panics.
///
/// A component without a score never counts as a pass.
///
/// The same setting applies to a row's rollouts. With [`Fail`](Self::Fail), a row has no score if any of its rollouts
/// has none. With [`Skip`](Self::Skip), rollouts without a score are counted but do not affect the row's score.
///
/// ```
/// use dsrs_metrics::composite::{Composite, OnMissing, component, weighted};
/// use dsrs_metrics::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let rating = metric_fn("rating", |_, _| None::<f64>).with_range(0.0, 1.0);
/// let named = metric_fn("named", |_, _| true);
/// let blend = weighted([(component(rating), 0.25), (component(named), 0.75)]);
/// let (gold, pred) = (example! {}, prediction! {});
/// let mut values = Vec::new();
/// for on_missing in [OnMissing::Fail, OnMissing::Skip, OnMissing::Zero] {
///     let blend = Composite::builder("blend", blend.clone()).on_missing(on_missing).build()?;
///     values.push(blend.evaluate(&gold, &pred).await.ok().map(|score| score.value));
/// }
/// assert_eq!(values, [None, Some(1.0), Some(0.75)]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnMissing {
    /// The composite has no score, and its error names the component.
    #[default]
    Fail,
    /// The composite ignores the component.
    ///
    /// If no component has a score, the composite has no score.
    Skip,
    /// The component counts as its worst possible value.
    ///
    /// The worst value is the minimum of the component's range, or the maximum if the composite inverts the component.
    /// If the component declares no range, its worst value is 0.
    Zero,
}

/// The error returned when a missing value cannot be replaced.
#[derive(Debug, Clone, Copy)]
#[doc(hidden)]
pub struct IsMissing;

impl OnMissing {
    /// Returns the replacement for a missing value.
    ///
    /// Returns `None` if the value should be ignored. `worst` is the worst possible value.
    ///
    /// # Errors
    /// Returns [`IsMissing`] for [`Fail`](Self::Fail), because the composite then has no value.
    #[inline]
    #[doc(hidden)]
    pub fn replacement<T>(self, worst: T) -> Result<Option<T>, IsMissing> {
        match self {
            Self::Fail => Err(IsMissing),
            Self::Skip => Ok(None),
            Self::Zero => Ok(Some(worst)),
        }
    }
}

/// A component, or an operator with its operands.
#[derive(Debug, Clone)]
pub struct Shape<L> {
    pub(super) operator: Operator<L>,
    /// The operands: a gate's proxies before its truths, a decision's branches in the order of their answers.
    pub(super) parts: Vec<Self>,
}

/// The operation that an expression applies to its operands. `L` is a component or, in a checked expression, a
/// component's index.
#[derive(Debug, Clone)]
pub enum Operator<L = usize> {
    /// One component.
    Leaf(L),
    /// The weighted mean of the components. Contains their weights.
    Weighted(Vec<f64>),
    /// Passes if every component passes.
    All,
    /// Passes if any component passes.
    Any,
    /// The smallest value.
    Min,
    /// The largest value.
    Max,
    /// A gate that evaluates expensive components only if cheap ones score high enough.
    Gate {
        /// The number of proxies, which are evaluated first.
        proxies: usize,
        /// The smallest mean of the proxies that opens the gate.
        at_least: f64,
    },
    /// The component's value, inverted within its range.
    Invert,
    /// A component with a custom smallest passing value.
    AtLeast(f64),
    /// A node in a decision tree.
    Decision(Decision<L>),
    /// A number at the end of a decision tree.
    Number(f64),
}

/// A node in a decision tree, which has a branch for each of its component's answers.
#[derive(Debug, Clone)]
pub struct Decision<L = usize> {
    /// The component whose answer decides.
    pub node: L,
    /// How to read the component's answer.
    pub reads: Reads,
    /// The answers that lead to each branch.
    pub answers: Vec<&'static [&'static str]>,
}

/// How a decision tree reads a component's answer.
#[derive(Debug, Clone, Copy)]
pub enum Reads {
    /// The component returns a `bool`, and the answers are `yes` and `no`.
    Bool,
    /// The component is a judge that answers with an enum.
    Enum {
        /// All answers, as the source code names them.
        answers: &'static [&'static str],
        /// Returns the answer for a row.
        read: fn(&Scored) -> Result<&'static str, String>,
    },
}

impl Reads {
    /// Creates a value that reads the answers of the judge `J`.
    pub const fn of<J: Answers<Answer: Choice>>() -> Self {
        Self::Enum {
            answers: J::Answer::VARIANTS,
            read: answer_of::<J>,
        }
    }

    /// Returns all possible answers.
    pub const fn answers(&self) -> &'static [&'static str] {
        match self {
            Self::Bool => &["yes", "no"],
            Self::Enum { answers, .. } => answers,
        }
    }
}

/// A component in an expression, as seen by the composite rules.
pub trait Leaf {
    /// Returns the metric's spec.
    fn spec(&self) -> MetricSpec<'_>;
    /// Returns `true` if `self` and `other` are the same component.
    ///
    /// A component that occurs several times is evaluated only once per row.
    fn is(&self, other: &Self) -> bool;
}

impl<G: Sync, P: Sync> Leaf for Arc<dyn Metric<G, P>> {
    fn spec(&self) -> MetricSpec<'_> {
        (**self).spec()
    }

    fn is(&self, other: &Self) -> bool {
        Self::ptr_eq(self, other)
    }
}

/// A component named in the `#[metric]` attribute.
#[derive(Debug, Clone, Copy)]
pub struct Named {
    /// The component's index, in the order of the expression.
    pub index: usize,
    /// The component's configuration, which is appended to its name in results.
    pub configured: &'static str,
    /// The component's spec.
    pub spec: &'static MetricSpec<'static>,
}

impl Leaf for Named {
    fn spec(&self) -> MetricSpec<'_> {
        *self.spec
    }

    fn is(&self, other: &Self) -> bool {
        self.index == other.index
    }
}

impl<L> Shape<L> {
    /// Applies an operator to its operands.
    pub fn new(operator: Operator<L>, parts: impl IntoIterator<Item = Self>) -> Self {
        let parts = parts.into_iter().collect();
        Self { operator, parts }
    }
}

impl<L: Leaf> Shape<L> {
    /// Returns the name used in messages: the metric's, or the combination's.
    pub(super) fn name(&self) -> String {
        match &self.operator {
            Operator::Leaf(leaf) => leaf.spec().name.to_owned(),
            Operator::Weighted(_) => "weighted(..)".to_owned(),
            Operator::All => "all(..)".to_owned(),
            Operator::Any => "any(..)".to_owned(),
            Operator::Min => "min(..)".to_owned(),
            Operator::Max => "max(..)".to_owned(),
            Operator::Gate { .. } => "gate(..)".to_owned(),
            Operator::Invert => format!("invert({})", self.parts[0].name()),
            Operator::AtLeast(_) => self.parts[0].name(),
            Operator::Decision(_) => "tree(..)".to_owned(),
            Operator::Number(number) => number.to_string(),
        }
    }

    /// Returns the whole expression with its components' settings, used to compare it with another run's expression.
    pub(super) fn shown(&self, on_missing: OnMissing) -> String {
        match on_missing {
            OnMissing::Fail => self.expression(),
            OnMissing::Skip => format!("{}, missing components are omitted", self.expression()),
            OnMissing::Zero => format!("{}, missing components count as 0", self.expression()),
        }
    }

    fn expression(&self) -> String {
        let parts: Vec<String> = self.parts.iter().map(Self::expression).collect();
        let list = parts.join(", ");
        match &self.operator {
            Operator::Leaf(leaf) => component(leaf),
            Operator::Weighted(weights) => {
                let parts = parts.iter().zip(weights);
                let parts = parts.map(|(part, weight)| format!("{part} = {weight}"));
                format!("weighted({})", parts.collect::<Vec<_>>().join(", "))
            }
            Operator::All => format!("all({list})"),
            Operator::Any => format!("any({list})"),
            Operator::Min => format!("min({list})"),
            Operator::Max => format!("max({list})"),
            Operator::Gate { proxies, at_least } => {
                let (proxies, truths) = parts.split_at(*proxies);
                let [proxies, truths] = [proxies, truths].map(|parts| parts.join(", "));
                format!("gate([{proxies}], at least {at_least}, [{truths}])")
            }
            Operator::Invert => format!("invert({list})"),
            Operator::AtLeast(bound) => format!("{list} at least {bound}"),
            Operator::Decision(Decision { node, answers, .. }) => {
                let branches = answers.iter().zip(&parts);
                let branches = branches.map(|(of, to)| format!("{} => {to}", of.join(" | ")));
                let branches = branches.collect::<Vec<_>>().join(", ");
                format!("{} {{ {branches} }}", component(node))
            }
            Operator::Number(number) => number.to_string(),
        }
    }

    /// Returns the component if the expression is a single component, with or without bounds.
    pub(super) fn component(&self) -> Option<&L> {
        match &self.operator {
            Operator::Leaf(leaf) => Some(leaf),
            Operator::AtLeast(_) => self.parts[0].component(),
            _ => None,
        }
    }
}

impl Shape<Named> {
    /// Returns a decision tree's paths and what they lead to. If a composite has trees among its components, returns
    /// the whole expression.
    pub(super) fn settings(&self, on_missing: OnMissing) -> Vec<(&'static str, String)> {
        if !matches!(self.operator, Operator::Decision(_)) {
            return vec![("expression", self.shown(on_missing))];
        }
        let mut all = Vec::new();
        if on_missing != OnMissing::Fail {
            all.push(("on_missing", format!("{on_missing:?}").to_lowercase()));
        }
        self.each_path("", &mut all);
        all
    }

    fn each_path(&self, path: &str, all: &mut Vec<(&'static str, String)>) {
        let Operator::Decision(Decision { node, answers, .. }) = &self.operator else {
            return all.push((intern(path), self.expression()));
        };
        let separator = if path.is_empty() { "" } else { ", " };
        for (answers, to) in answers.iter().zip(&self.parts) {
            for answer in *answers {
                let node = format!("{}{}", node.spec.name, node.configured);
                to.each_path(&format!("{path}{separator}{node}: {answer}"), all);
            }
        }
    }
}

/// Returns a component with its settings.
fn component(leaf: &impl Leaf) -> String {
    let spec = leaf.spec();
    let range = spec.range.map(|range| format!(" in {range}"));
    let threshold = spec.threshold;
    let threshold = threshold.map(|threshold| format!(" with threshold {threshold}"));
    let strict = if spec.strict { ", strict" } else { "" };
    let (range, threshold) = (range.unwrap_or_default(), threshold.unwrap_or_default());
    format!("{}{range}{threshold}{strict}", spec.name)
}
