//! Analyzes a query statically: detects network access, computes upper bounds on the query's cost, and prepares the
//! query for metered evaluation.

use std::collections::HashSet;
use std::time::Duration;

use oxigraph::model::Literal;
use oxigraph::sparql::Variable;
use spargebra::Query;
use spargebra::algebra::{
    AggregateExpression, AggregateFunction, Expression, Function, GraphPattern, OrderExpression,
    PropertyPathExpression,
};

use super::metered::{Limits, MAX_STRING_BYTES};

/// The maximum number of patterns and path steps. The planner's time grows with the cube of this number; 200 take half
/// a second.
pub(super) const MAX_PATTERNS: usize = 200;

/// The maximum number of operands and values in expressions. The planner's time grows with the square of a chain's
/// length.
const MAX_OPERANDS: usize = 5_000;

/// The maximum length of a string that one expression can compute, in bytes.
const MAX_EXPRESSION_BYTES: f64 = 64e6;

/// The message for a query that calls a different endpoint.
pub(super) const SERVICE_REJECTED: &str =
    "SERVICE is not allowed: a predicted query must not access the network";

/// Returns a query's limits, or the reason why it must not run. Also binds constants in the query, so that no operator
/// works on tuples without any term.
pub(super) fn limits(text: &str, query: &mut Query, timeout: Duration) -> Result<Limits, String> {
    let analysis = Analysis::of(query);
    analysis.check()?;
    let names: HashSet<&str> = text
        .split(['?', '$'])
        .skip(1)
        .filter_map(|rest| {
            rest.split(|c: char| !c.is_alphanumeric() && c != '_')
                .next()
        })
        .collect();
    let constants = match query {
        Query::Construct { .. } | Query::Describe { .. } => Some(text.len()),
        _ => analysis.has_groups.then_some(analysis.constants),
    };
    Ok(Limits {
        timeout,
        // Path steps, blank nodes and aggregates can have their own slots.
        slots: names.len() + analysis.patterns + analysis.operands,
        weight_of_stored: constants.map(|bytes| 1 + bytes as u64 / 4),
    })
}

/// Returns `true` if the query calls a different endpoint (`SERVICE`).
#[cfg(feature = "sparql-http")]
pub(super) fn uses_service(mut query: Query) -> bool {
    Analysis::of(&mut query).uses_service
}

#[derive(Default)]
struct Analysis {
    /// The number of patterns and path steps.
    patterns: usize,
    /// The number of operands and values in expressions.
    operands: usize,
    /// The maximum length of a string that an expression can compute, in bytes.
    max_bytes: f64,
    /// The total length of all constants in expressions and of separators, in bytes.
    constants: usize,
    /// The number of constants that were bound.
    bound: usize,
    has_groups: bool,
    uses_service: bool,
}

impl Analysis {
    fn of(query: &mut Query) -> Self {
        let mut analysis = Self::default();
        if let Query::Construct { template, .. } = query {
            analysis.patterns += template.len();
        }
        let (Query::Select { pattern, .. }
        | Query::Construct { pattern, .. }
        | Query::Describe { pattern, .. }
        | Query::Ask { pattern, .. }) = query;
        analysis.pattern(pattern);
        analysis
    }

    fn check(&self) -> Result<(), String> {
        let (patterns, operands) = (self.patterns, self.operands);
        Err(if self.uses_service {
            SERVICE_REJECTED.to_owned()
        } else if patterns > MAX_PATTERNS {
            format!("expected at most {MAX_PATTERNS} patterns in the query, found {patterns}")
        } else if operands > MAX_OPERANDS {
            format!(
                "expected at most {MAX_OPERANDS} operands in the query's expressions, found {operands}"
            )
        } else if self.max_bytes > MAX_EXPRESSION_BYTES {
            "a query expression could compute a string of more than 64 MB".to_owned()
        } else {
            return Ok(());
        })
    }

    fn pattern(&mut self, pattern: &mut GraphPattern) {
        self.patterns += 1;
        let (inner, expressions) = parts(pattern);
        inner.into_iter().for_each(|pattern| self.pattern(pattern));
        for expression in expressions {
            let bytes = self.bytes(expression);
            self.max_bytes = self.max_bytes.max(bytes);
        }
        match pattern {
            GraphPattern::Bgp { patterns } => self.patterns += patterns.len(),
            GraphPattern::Path { path, .. } => self.path(path),
            GraphPattern::Service { .. } => self.uses_service = true,
            GraphPattern::Project { inner, variables } => variables.push(self.bind_constant(inner)),
            GraphPattern::Group { aggregates, .. } => {
                self.has_groups = true;
                for (_, aggregate) in aggregates {
                    if let AggregateExpression::FunctionCall {
                        name: AggregateFunction::GroupConcat { separator },
                        ..
                    } = aggregate
                    {
                        self.constants += separator.as_ref().map_or(1, String::len);
                    }
                }
            }
            _ => {}
        }
        let mut has_variable = false;
        pattern.on_in_scope_variable(|_| has_variable = true);
        if !has_variable {
            self.bind_constant(pattern);
        }
    }

    /// Binds a new variable to a constant in each of a pattern's rows.
    fn bind_constant(&mut self, pattern: &mut GraphPattern) -> Variable {
        self.bound += 1;
        // No name in a query can contain a space.
        let variable = Variable::new_unchecked(format!("constant {}", self.bound));
        *pattern = GraphPattern::Extend {
            inner: Box::new(std::mem::take(pattern)),
            variable: variable.clone(),
            expression: Expression::Literal(Literal::new_simple_literal("")),
        };
        variable
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

    /// Returns an upper bound on the length of an expression's value, in bytes.
    fn bytes(&mut self, expression: &mut Expression) -> f64 {
        use Expression as E;
        self.operands += 1;
        match expression {
            E::Literal(literal) => {
                self.constants += literal.value().len();
                return count(literal.value().len());
            }
            E::NamedNode(node) => self.constants += node.as_str().len(),
            E::Exists(pattern) => self.pattern(pattern),
            _ => {}
        }
        let operands = operands(expression).into_iter();
        let operands: Vec<f64> = operands.map(|operand| self.bytes(operand)).collect();
        match (expression, &operands[..]) {
            (_, []) => count(MAX_STRING_BYTES),
            (E::FunctionCall(Function::Concat, _), all) => all.iter().sum(),
            // An empty match is replaced too: before each character and at the end.
            (E::FunctionCall(Function::Replace, _), [text, _, with, ..]) => {
                (text + 1.0) * (with + 1.0)
            }
            // One byte can become three.
            (
                E::FunctionCall(Function::EncodeForUri | Function::UCase | Function::LCase, _),
                [text],
            ) => 3.0 * text,
            (_, all) => all.iter().copied().fold(0.0, f64::max),
        }
    }
}

// A float represents the lengths within a query exactly.
fn count(length: usize) -> f64 {
    length as f64
}

/// Returns a pattern's direct child patterns, and the expressions that it evaluates.
fn parts(pattern: &mut GraphPattern) -> (Vec<&mut GraphPattern>, Vec<&mut Expression>) {
    use GraphPattern as P;
    match pattern {
        P::Bgp { .. } | P::Path { .. } | P::Values { .. } => (Vec::new(), Vec::new()),
        P::Join { left, right }
        | P::Lateral { left, right }
        | P::Union { left, right }
        | P::Minus { left, right } => (vec![&mut **left, &mut **right], Vec::new()),
        P::LeftJoin {
            left,
            right,
            expression,
        } => (
            vec![&mut **left, &mut **right],
            expression.iter_mut().collect(),
        ),
        P::Filter {
            inner,
            expr: expression,
        }
        | P::Extend {
            inner, expression, ..
        } => (vec![&mut **inner], vec![expression]),
        P::OrderBy { inner, expression } => {
            let by = expression
                .iter_mut()
                .map(|(OrderExpression::Asc(by) | OrderExpression::Desc(by))| by);
            (vec![&mut **inner], by.collect())
        }
        P::Group {
            inner, aggregates, ..
        } => {
            let arguments = aggregates
                .iter_mut()
                .filter_map(|(_, aggregate)| match aggregate {
                    AggregateExpression::FunctionCall { expr, .. } => Some(expr),
                    AggregateExpression::CountSolutions { .. } => None,
                });
            (vec![&mut **inner], arguments.collect())
        }
        P::Project { inner, .. }
        | P::Graph { inner, .. }
        | P::Distinct { inner }
        | P::Reduced { inner }
        | P::Slice { inner, .. }
        | P::Service { inner, .. } => (vec![&mut **inner], Vec::new()),
    }
}

/// Returns an expression's direct operands.
fn operands(expression: &mut Expression) -> Vec<&mut Expression> {
    use Expression as E;
    match expression {
        E::NamedNode(_) | E::Literal(_) | E::Variable(_) | E::Bound(_) | E::Exists(_) => Vec::new(),
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
        | E::Divide(a, b) => vec![&mut **a, &mut **b],
        E::UnaryPlus(a) | E::UnaryMinus(a) | E::Not(a) => vec![&mut **a],
        E::If(a, b, c) => vec![&mut **a, &mut **b, &mut **c],
        E::In(a, list) => std::iter::once(&mut **a).chain(list).collect(),
        E::Coalesce(list) | E::FunctionCall(_, list) => list.iter_mut().collect(),
    }
}
