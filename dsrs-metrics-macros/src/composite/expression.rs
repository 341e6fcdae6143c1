//! The expression of a composite as written: components, combinators, weights and thresholds.

use proc_macro2::Span;
use syn::{Expr, Ident, Path};

use crate::shared::tokens::as_written;

/// A component or a combinator with its parts.
pub(super) enum Expression {
    Component(Component),
    Combination(Combination),
    Gate(Gate),
    Decision(Decision),
}

/// A component, such as `entity_f1(similarity = 0.9)`.
pub(super) struct Component {
    /// The component as the user wrote it.
    pub(super) text: String,
    /// The path to the metric's struct.
    pub(super) ty: Path,
    pub(super) args: Vec<(Ident, Expr)>,
    /// The arguments as written, in parentheses, or an empty string.
    pub(super) configured: String,
    pub(super) span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Weighted,
    All,
    Any,
    Min,
    Max,
    Invert,
}

/// `weighted(..)`, `all(..)` and other combinators, except `gate(..)`.
pub(super) struct Combination {
    pub(super) kind: Kind,
    pub(super) word: Ident,
    pub(super) parts: Vec<Part>,
    /// `true` if all parts are valid.
    pub(super) is_complete: bool,
}

/// A gate, such as `gate(proxy(..) >= 0.5, truth(..))`.
pub(super) struct Gate {
    pub(super) word: Ident,
    pub(super) proxies: Vec<Part>,
    pub(super) threshold: Expr,
    pub(super) truths: Vec<Part>,
}

/// A node of `tree(..)` with its branches: `has_headings { no => 0.0, yes => 1.0 }`.
pub(super) struct Decision {
    /// The component that is asked, and the expressions that branches lead to.
    pub(super) parts: Vec<Part>,
    pub(super) branches: Vec<Branch>,
    /// `true` if all branches are valid.
    pub(super) is_complete: bool,
    /// `true` if this is the node of `tree(..)` itself.
    pub(super) is_root: bool,
    /// The position of `tree`, or of the node inside a branch.
    pub(super) span: Span,
}

/// A branch, such as `Partly | Wrong => 0.0`.
pub(super) struct Branch {
    pub(super) answers: Vec<Ident>,
    pub(super) to: Target,
}

/// Where a branch leads.
pub(super) enum Target {
    Score(Expr),
    /// The index of one of the decision's parts.
    Part(usize),
}

impl Decision {
    /// Returns the component that is asked.
    pub(super) fn node(&self) -> Option<&Component> {
        match self.parts.first().map(|node| &node.expression) {
            Some(Expression::Component(node)) => Some(node),
            _ => None,
        }
    }

    /// Returns the answers of all branches.
    pub(super) fn answers(&self) -> impl Iterator<Item = &Ident> {
        self.branches.iter().flat_map(|branch| &branch.answers)
    }

    /// Returns `true` if the branches are `yes` and `no`, or one of the two.
    pub(super) fn is_yes_or_no(&self) -> bool {
        self.answers().any(is_yes_or_no)
    }
}

/// Returns `true` if an answer belongs to a metric that returns a `bool`.
pub(super) fn is_yes_or_no(answer: &Ident) -> bool {
    answer == "yes" || answer == "no"
}

/// A part of a combinator.
pub(super) struct Part {
    pub(super) expression: Expression,
    pub(super) weight: Option<Expr>,
    pub(super) threshold: Option<Expr>,
}

impl Expression {
    /// Returns the expression as a string for messages.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Component(component) => component.text.clone(),
            Self::Combination(combination) => format!("{}(..)", combination.word),
            Self::Gate(_) => "gate(..)".to_owned(),
            Self::Decision(_) => "tree(..)".to_owned(),
        }
    }

    /// Returns the span for messages about the expression.
    pub(super) fn span(&self) -> Span {
        match self {
            Self::Component(component) => component.span,
            Self::Combination(combination) => combination.word.span(),
            Self::Gate(gate) => gate.word.span(),
            Self::Decision(decision) => decision.span,
        }
    }
}

impl Component {
    /// Returns the key that identifies the component.
    pub(super) fn key(&self) -> (String, &str) {
        (as_written(&self.ty), &self.configured)
    }
}

/// Returns `true` if the expression returns a `bool`, like `all` and `any`.
pub(super) fn is_verdict(expression: &Expression) -> bool {
    matches!(
        expression,
        Expression::Combination(Combination {
            kind: Kind::All | Kind::Any,
            ..
        })
    )
}

/// Returns `true` if the expression might have a threshold. A gate with one truth has that truth's threshold.
pub(super) fn may_have_a_threshold(expression: &Expression) -> bool {
    matches!(expression, Expression::Gate(gate) if gate.truths.len() == 1)
}

/// Returns the parts of a combinator, the proxies and truths of a gate, or the node of a decision and the expressions in its
/// branches.
pub(super) fn parts_of(expression: &Expression) -> impl Iterator<Item = &Part> {
    let (first, second): (&[Part], &[Part]) = match expression {
        Expression::Component(_) => (&[], &[]),
        Expression::Combination(combination) => (&combination.parts, &[]),
        Expression::Gate(gate) => (&gate.proxies, &gate.truths),
        Expression::Decision(decision) => (&decision.parts, &[]),
    };
    first.iter().chain(second)
}
