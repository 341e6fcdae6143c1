//! Rewrites a query, without changing its results, to make its cost measurable while it runs. If the rows of a pattern
//! may have no value for any variable, the pattern gets an additional variable with a constant. Otherwise, the engine
//! could build products of billions of rows without processing a single term.

use oxigraph::model::Literal;
use oxigraph::sparql::Variable;
use spargebra::Query;
use spargebra::algebra::{AggregateExpression, Expression, GraphPattern, OrderExpression};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

/// Rewrites a query.
pub(super) fn instrument(query: &mut Query) {
    let (Query::Select { pattern, .. }
    | Query::Construct { pattern, .. }
    | Query::Describe { pattern, .. }
    | Query::Ask { pattern, .. }) = query;
    Rewriter::default().root(pattern);
}

#[derive(Default)]
struct Rewriter {
    constants: usize,
}

impl Rewriter {
    /// The outermost patterns determine the columns of the results, so they get no extra variable.
    fn root(&mut self, pattern: &mut GraphPattern) {
        match pattern {
            GraphPattern::Project { inner, .. } => self.pattern(inner),
            GraphPattern::Distinct { inner }
            | GraphPattern::Reduced { inner }
            | GraphPattern::Slice { inner, .. } => self.root(inner),
            other => self.pattern(other),
        }
    }

    fn pattern(&mut self, pattern: &mut GraphPattern) {
        let (inner, expressions) = parts(pattern);
        inner.into_iter().for_each(|pattern| self.pattern(pattern));
        expressions
            .into_iter()
            .for_each(|expression| self.expression(expression));
        let has_value = match pattern {
            GraphPattern::Project { inner, variables } => {
                variables.push(self.add_constant(inner));
                true
            }
            GraphPattern::Bgp { patterns } => patterns.iter().any(has_variable),
            GraphPattern::Path {
                subject, object, ..
            } => is_variable(subject) || is_variable(object),
            GraphPattern::Values { variables, .. } => !variables.is_empty(),
            _ => true,
        };
        if !has_value {
            self.add_constant(pattern);
        }
    }

    /// Binds a new variable to a constant in each row of a pattern.
    fn add_constant(&mut self, pattern: &mut GraphPattern) -> Variable {
        self.constants += 1;
        // No name in a query can contain a space.
        let variable = Variable::new_unchecked(format!("constant {}", self.constants));
        let inner = std::mem::take(pattern);
        *pattern = GraphPattern::Extend {
            inner: Box::new(inner),
            variable: variable.clone(),
            expression: Expression::Literal(Literal::new_simple_literal("")),
        };
        variable
    }

    fn expression(&mut self, expression: &mut Expression) {
        operands(expression)
            .into_iter()
            .for_each(|operand| self.expression(operand));
        if let Expression::Exists(pattern) = expression {
            self.pattern(pattern);
        }
    }
}

fn has_variable(triple: &TriplePattern) -> bool {
    is_variable(&triple.subject)
        || matches!(triple.predicate, NamedNodePattern::Variable(_))
        || is_variable(&triple.object)
}

/// Returns `true` if a term of a pattern gets a value in each row. This includes blank nodes.
fn is_variable(term: &TermPattern) -> bool {
    matches!(term, TermPattern::Variable(_) | TermPattern::BlankNode(_))
}

/// Returns the patterns directly inside a pattern, and the expressions that it evaluates.
pub(super) fn parts(pattern: &mut GraphPattern) -> (Vec<&mut GraphPattern>, Vec<&mut Expression>) {
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

/// Returns the expressions directly inside an expression.
pub(super) fn operands(expression: &mut Expression) -> Vec<&mut Expression> {
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
