//! Static analysis of a query: whether it would access the network, and upper bounds on its cost.

use oxigraph::sparql::Variable;
use spargebra::Query;
use spargebra::algebra::{
    AggregateExpression, Expression, Function, GraphPattern, OrderExpression,
    PropertyPathExpression,
};

use super::metered::MAX_STRING_BYTES;

/// The maximum number of patterns and path steps. The planner's time grows with the cube of their
/// number; 200 take half a second.
pub(super) const MAX_PATTERNS: usize = 200;

/// The maximum number of operands and values in expressions. The planner's time grows with the
/// square of the length of a chain.
const MAX_OPERANDS: usize = 5_000;

/// The maximum number of rows that constants (`VALUES`, `UNION` of empty patterns) produce,
/// independently of the data.
const MAX_CONSTANT_ROWS: f64 = 1e6;

/// The maximum length of a string that one expression can compute, in bytes.
const MAX_EXPRESSION_BYTES: f64 = 64e6;

/// The message for a query that calls another endpoint.
pub(super) const SERVICE_REJECTED: &str =
    "SERVICE is not allowed: a predicted query must not access the network";

/// Returns why the query must not run, or `None` if it may.
pub(super) fn rejection(query: &Query) -> Option<String> {
    analyze(query).rejection()
}

/// Whether the query calls another endpoint (`SERVICE`).
#[cfg(feature = "sparql-http")]
pub(super) fn uses_service(query: &Query) -> bool {
    analyze(query).uses_service
}

fn analyze(query: &Query) -> Analysis {
    let (Query::Select { pattern, .. }
    | Query::Construct { pattern, .. }
    | Query::Describe { pattern, .. }
    | Query::Ask { pattern, .. }) = query;
    let mut analysis = Analysis::default();
    analysis.rows(pattern);
    if let Query::Construct { template, .. } = query {
        analysis.patterns += template.len();
    }
    analysis
}

#[derive(Default)]
struct Analysis {
    /// The number of patterns and path steps.
    patterns: usize,
    /// The number of operands and values in expressions.
    operands: usize,
    /// The most rows that a pattern can produce from constants.
    max_rows: f64,
    /// The longest string that an expression can compute, in bytes.
    max_bytes: f64,
    uses_service: bool,
}

impl Analysis {
    fn rejection(&self) -> Option<String> {
        if self.uses_service {
            return Some(SERVICE_REJECTED.to_owned());
        }
        let (patterns, operands) = (self.patterns, self.operands);
        if patterns > MAX_PATTERNS {
            return Some(format!(
                "the query has {patterns} patterns; the maximum is {MAX_PATTERNS}"
            ));
        }
        if operands > MAX_OPERANDS {
            return Some(format!(
                "the query's expressions have {operands} operands; the maximum is {MAX_OPERANDS}"
            ));
        }
        if self.max_rows > MAX_CONSTANT_ROWS {
            return Some("the query's constants produce more than a million rows".to_owned());
        }
        (self.max_bytes > MAX_EXPRESSION_BYTES).then(|| {
            "an expression of the query could compute a string of more than 64 MB".to_owned()
        })
    }

    /// An upper bound on the rows of a pattern, assuming that every triple pattern matches once.
    fn rows(&mut self, pattern: &GraphPattern) -> f64 {
        self.patterns += 1;
        let rows = match pattern {
            GraphPattern::Bgp { patterns } => {
                self.patterns += patterns.len();
                1.0
            }
            GraphPattern::Path { path, .. } => {
                self.path(path);
                1.0
            }
            GraphPattern::Join { left, right } | GraphPattern::Lateral { left, right } => {
                self.rows(left) * self.rows(right)
            }
            GraphPattern::LeftJoin { left, right, expression } => {
                expression.iter().for_each(|expression| self.expression(expression));
                self.rows(left) * self.rows(right).max(1.0)
            }
            GraphPattern::Union { left, right } => self.rows(left) + self.rows(right),
            GraphPattern::Minus { left, right } => {
                self.rows(right);
                self.rows(left)
            }
            GraphPattern::Values { bindings, .. } => count(bindings.len()),
            GraphPattern::Service { .. } => {
                self.uses_service = true;
                1.0
            }
            other => self.rows_of_inner(other),
        };
        self.max_rows = self.max_rows.max(rows);
        rows
    }

    /// The same for a pattern that transforms the rows of another.
    fn rows_of_inner(&mut self, pattern: &GraphPattern) -> f64 {
        match pattern {
            GraphPattern::Filter { expr, inner } => {
                self.expression(expr);
                self.rows(inner)
            }
            GraphPattern::Extend { inner, expression, .. } => {
                self.expression(expression);
                self.rows(inner)
            }
            GraphPattern::OrderBy { inner, expression } => {
                for OrderExpression::Asc(by) | OrderExpression::Desc(by) in expression {
                    self.expression(by);
                }
                self.rows(inner)
            }
            GraphPattern::Group { inner, aggregates, .. } => {
                aggregates.iter().for_each(|aggregate| self.aggregate(aggregate));
                self.rows(inner)
            }
            GraphPattern::Graph { inner, .. }
            | GraphPattern::Project { inner, .. }
            | GraphPattern::Distinct { inner }
            | GraphPattern::Reduced { inner }
            | GraphPattern::Slice { inner, .. } => self.rows(inner),
            _ => 1.0,
        }
    }

    fn aggregate(&mut self, (_, aggregate): &(Variable, AggregateExpression)) {
        if let AggregateExpression::FunctionCall { expr, .. } = aggregate {
            self.expression(expr);
        }
    }

    fn path(&mut self, path: &PropertyPathExpression) {
        self.patterns += 1;
        match path {
            PropertyPathExpression::Sequence(a, b) | PropertyPathExpression::Alternative(a, b) => {
                self.path(a);
                self.path(b);
            }
            PropertyPathExpression::Reverse(a)
            | PropertyPathExpression::ZeroOrMore(a)
            | PropertyPathExpression::OneOrMore(a)
            | PropertyPathExpression::ZeroOrOne(a) => self.path(a),
            PropertyPathExpression::NamedNode(_)
            | PropertyPathExpression::NegatedPropertySet(_) => {}
        }
    }

    fn expression(&mut self, expression: &Expression) {
        let bytes = self.bytes(expression);
        self.max_bytes = self.max_bytes.max(bytes);
    }

    /// An upper bound on the length of an expression's value, in bytes.
    fn bytes(&mut self, expression: &Expression) -> f64 {
        use Expression as E;
        self.operands += 1;
        match expression {
            E::Literal(literal) => count(literal.value().len()),
            E::Exists(pattern) => {
                self.rows(pattern);
                1.0
            }
            E::Or(a, b)
            | E::And(a, b)
            | E::Equal(a, b)
            | E::SameTerm(a, b)
            | E::Greater(a, b)
            | E::GreaterOrEqual(a, b)
            | E::Less(a, b)
            | E::LessOrEqual(a, b)
            | E::Add(a, b)
            | E::Subtract(a, b)
            | E::Multiply(a, b)
            | E::Divide(a, b) => self.longest([&**a, &**b]),
            E::In(a, list) => self.longest([&**a]).max(self.longest(list)),
            E::UnaryPlus(a) | E::UnaryMinus(a) | E::Not(a) => self.bytes(a),
            E::If(a, b, c) => self.longest([&**a, &**b, &**c]),
            E::Coalesce(list) => self.longest(list),
            E::FunctionCall(function, arguments) => self.call(function, arguments),
            E::NamedNode(_) | E::Variable(_) | E::Bound(_) => count(MAX_STRING_BYTES),
        }
    }

    fn longest<'e>(&mut self, of: impl IntoIterator<Item = &'e Expression>) -> f64 {
        of.into_iter().map(|expression| self.bytes(expression)).fold(0.0, f64::max)
    }

    fn call(&mut self, function: &Function, arguments: &[Expression]) -> f64 {
        match (function, arguments) {
            (Function::Concat, list) => list.iter().map(|argument| self.bytes(argument)).sum(),
            // An empty match is replaced too, before each character and at the end.
            (Function::Replace, [text, _, with, ..]) => {
                let (text, with) = (self.bytes(text), self.bytes(with));
                (text + 1.0) * (with + 1.0)
            }
            // A byte can become three.
            (Function::EncodeForUri | Function::UCase | Function::LCase, [text]) => {
                3.0 * self.bytes(text)
            }
            (_, list) => self.longest(list),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "lengths within a query are exact in a float")]
fn count(length: usize) -> f64 {
    length as f64
}
