//! What a query would do, found from its algebra before it runs: reach the network, or take more than it is given.

use oxigraph::sparql::Variable;
use spargebra::Query;
use spargebra::algebra::{
    AggregateExpression, Expression, Function, GraphPattern, OrderExpression,
    PropertyPathExpression,
};

use super::watched::MAX_TEXT_BYTES;

/// How many patterns and steps of paths a query may have. The planner's time grows with their third power: a query of 200 takes it half
/// a second.
pub(super) const MAX_PATTERNS: usize = 200;

/// How many operands and values expressions may have; the planner's time grows with the square of a chain.
const MAX_OPERANDS: usize = 5_000;

/// How many rows constants (`VALUES`, `UNION` of nothing) may multiply to; those are made without asking the data.
const MAX_CONSTANT_ROWS: f64 = 1e6;

/// How long a text may become within one expression, in bytes.
const MAX_EXPRESSION_BYTES: f64 = 64e6;

/// Why the query must not run, if it must not.
pub(super) fn refusal(query: &Query) -> Option<String> {
    survey(query).refusal()
}

/// Whether the query asks another endpoint.
#[cfg(feature = "sparql-http")]
pub(super) fn uses_service(query: &Query) -> bool {
    survey(query).service
}

fn survey(query: &Query) -> Survey {
    let (Query::Select { pattern, .. }
    | Query::Construct { pattern, .. }
    | Query::Describe { pattern, .. }
    | Query::Ask { pattern, .. }) = query;
    let mut survey = Survey::default();
    survey.rows(pattern);
    if let Query::Construct { template, .. } = query {
        survey.patterns += template.len();
    }
    survey
}

#[derive(Default)]
struct Survey {
    patterns: usize,
    operands: usize,
    most_rows: f64,
    most_bytes: f64,
    service: bool,
}

impl Survey {
    fn refusal(&self) -> Option<String> {
        if self.service {
            return Some("SERVICE is refused: a predicted query reaches no network".to_owned());
        }
        if self.patterns > MAX_PATTERNS {
            let patterns = self.patterns;
            return Some(format!(
                "{patterns} patterns are refused: queries are run up to {MAX_PATTERNS}"
            ));
        }
        if self.operands > MAX_OPERANDS {
            let operands = self.operands;
            return Some(format!(
                "expressions of {operands} operands are refused: queries are run up to {MAX_OPERANDS}"
            ));
        }
        if self.most_rows > MAX_CONSTANT_ROWS {
            return Some("its constants multiply to more than a million rows".to_owned());
        }
        (self.most_bytes > MAX_EXPRESSION_BYTES)
            .then(|| "an expression could make a text of more than 64 MB".to_owned())
    }

    /// The most rows that a pattern can have, if data is taken to have one of each.
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
                expression.iter().for_each(|expression| self.within(expression));
                self.rows(left) * self.rows(right).max(1.0)
            }
            GraphPattern::Union { left, right } => self.rows(left) + self.rows(right),
            GraphPattern::Minus { left, right } => {
                self.rows(right);
                self.rows(left)
            }
            GraphPattern::Values { bindings, .. } => count(bindings.len()),
            GraphPattern::Service { .. } => {
                self.service = true;
                1.0
            }
            other => self.rows_of_inner(other),
        };
        self.most_rows = self.most_rows.max(rows);
        rows
    }

    /// The same for a pattern that does something to the rows of another.
    fn rows_of_inner(&mut self, pattern: &GraphPattern) -> f64 {
        match pattern {
            GraphPattern::Filter { expr, inner } => {
                self.within(expr);
                self.rows(inner)
            }
            GraphPattern::Extend { inner, expression, .. } => {
                self.within(expression);
                self.rows(inner)
            }
            GraphPattern::OrderBy { inner, expression } => {
                for OrderExpression::Asc(by) | OrderExpression::Desc(by) in expression {
                    self.within(by);
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
            self.within(expr);
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

    fn within(&mut self, expression: &Expression) {
        let bytes = self.bytes(expression);
        self.most_bytes = self.most_bytes.max(bytes);
    }

    /// The most bytes that the value of an expression can have.
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
            | E::Divide(a, b) => self.most([&**a, &**b]),
            E::In(a, list) => self.most([&**a]).max(self.most(list)),
            E::UnaryPlus(a) | E::UnaryMinus(a) | E::Not(a) => self.bytes(a),
            E::If(a, b, c) => self.most([&**a, &**b, &**c]),
            E::Coalesce(list) => self.most(list),
            E::FunctionCall(function, arguments) => self.call(function, arguments),
            E::NamedNode(_) | E::Variable(_) | E::Bound(_) => count(MAX_TEXT_BYTES),
        }
    }

    fn most<'e>(&mut self, of: impl IntoIterator<Item = &'e Expression>) -> f64 {
        of.into_iter().map(|expression| self.bytes(expression)).fold(0.0, f64::max)
    }

    fn call(&mut self, function: &Function, arguments: &[Expression]) -> f64 {
        match (function, arguments) {
            (Function::Concat, list) => list.iter().map(|argument| self.bytes(argument)).sum(),
            // Even an empty match is replaced, before each character and at the end.
            (Function::Replace, [text, _, with, ..]) => {
                let (text, with) = (self.bytes(text), self.bytes(with));
                (text + 1.0) * (with + 1.0)
            }
            // A byte becomes three.
            (Function::EncodeForUri | Function::UCase | Function::LCase, [text]) => {
                3.0 * self.bytes(text)
            }
            (_, list) => self.most(list),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "lengths within a query are exact in a float")]
fn count(length: usize) -> f64 {
    length as f64
}
