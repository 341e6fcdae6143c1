//! Which metric computed the scores that `metric_summary` reads, as the plan of the query shows.
//!
//! The metadata of columns does not show it: plans keep the metadata of a column below `-s`, `CAST(s AS INT)` and a union with
//! other scores.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode as _};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::{
    AggregateUDF, Distinct, Expr, LogicalPlan, ReturnFieldArgs, ScalarUDF, WindowFunctionDefinition,
};
use datafusion::optimizer::AnalyzerRule;

use super::function::{Aggregate, Figure};
use crate::function::Function;

/// The name of the argument with which an asynchronous function is asked for its identity, and the key of the answer.
/// DataFusion wraps such a function in a type that shows nothing but its types.
pub(crate) const IDENTITY: &str = "dsrs_metrics.identity";

/// The rule of an analyzer that finds the identity of the metric whose scores `metric_summary` reads. A `SessionContext` in
/// which a metric is registered has it; add it to any other session with
/// [`aggregate_functions`](crate::aggregate_functions).
///
/// ```
/// use std::sync::Arc;
///
/// use datafusion::prelude::SessionContext;
/// use dsrs_metrics_datafusion::FindIdentities;
///
/// SessionContext::new().add_analyzer_rule(Arc::new(FindIdentities));
/// ```
#[derive(Debug)]
pub struct FindIdentities;

impl AnalyzerRule for FindIdentities {
    fn name(&self) -> &str {
        "dsrs_metrics_identities"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let found = plan.transform_up_with_subqueries(|node| {
            let input = match &node {
                LogicalPlan::Aggregate(aggregate) => Arc::clone(&aggregate.input),
                LogicalPlan::Window(window) => Arc::clone(&window.input),
                _ => return Ok(Transformed::no(node)),
            };
            node.map_expressions(|expr| expr.transform_up(|expr| Ok(bound(expr, &input))))
        })?;
        Ok(found.data)
    }
}

/// Returns a call of `metric_summary` with the identity of the metric.
fn bound(mut expr: Expr, input: &LogicalPlan) -> Transformed<Expr> {
    let (function, arguments) = match &mut expr {
        Expr::AggregateFunction(call) => (&mut call.func, &call.params.args),
        Expr::WindowFunction(call) => match &mut call.fun {
            WindowFunctionDefinition::AggregateUDF(function) => (function, &call.params.args),
            WindowFunctionDefinition::WindowUDF(_) => return Transformed::no(expr),
        },
        _ => return Transformed::no(expr),
    };
    let found = match &arguments[..] {
        [argument] => with_identity(function, argument, input),
        _ => None,
    };
    let Some(found) = found else {
        return Transformed::no(expr);
    };
    *function = Arc::new(found);
    Transformed::yes(expr)
}

fn with_identity(
    function: &AggregateUDF,
    argument: &Expr,
    input: &LogicalPlan,
) -> Option<AggregateUDF> {
    let aggregate = function.inner().downcast_ref::<Aggregate>()?;
    if aggregate.figure() != Figure::Summary || aggregate.identity().is_some() {
        return None;
    }
    Some(aggregate.with_identity(&of_expr(argument, input)?).into())
}

/// Returns the identity of the metric that computed a value; `None` if anything else computed it or changed it.
fn of_expr(expr: &Expr, input: &LogicalPlan) -> Option<String> {
    match expr {
        Expr::Alias(alias) => of_expr(&alias.expr, input),
        Expr::Column(column) => of_column(column, input),
        Expr::ScalarFunction(call) => of_function(&call.func),
        _ => None,
    }
}

fn of_function(function: &ScalarUDF) -> Option<String> {
    if let Some(function) = function.inner().downcast_ref::<Function>() {
        return Some(function.identity());
    }
    function.as_async()?;
    let probe = [Arc::new(Field::new(IDENTITY, DataType::Null, true))];
    let args = ReturnFieldArgs {
        arg_fields: &probe,
        scalar_arguments: &[None],
    };
    let field = function.return_field_from_args(args).ok()?;
    field.metadata().get(IDENTITY).cloned()
}

/// Returns the field with which a function answers the argument [`IDENTITY`].
pub(crate) fn answer(identity: String) -> Field {
    let metadata = HashMap::from([(IDENTITY.to_owned(), identity)]);
    Field::new(IDENTITY, DataType::Null, true).with_metadata(metadata)
}

fn of_column(column: &Column, plan: &LogicalPlan) -> Option<String> {
    let position = || plan.schema().maybe_index_of_column(column);
    let at = |plan: &LogicalPlan, position: usize| {
        of_column(&Column::from(plan.schema().qualified_field(position)), plan)
    };
    match plan {
        LogicalPlan::Projection(projection) => {
            of_expr(projection.expr.get(position()?)?, &projection.input)
        }
        LogicalPlan::SubqueryAlias(alias) => at(&alias.input, position()?),
        LogicalPlan::Union(union) => {
            let position = position()?;
            let mut identities = union.inputs.iter().map(|input| at(input, position));
            let first = identities.next()??;
            identities
                .all(|other| other.as_ref() == Some(&first))
                .then_some(first)
        }
        LogicalPlan::Filter(_)
        | LogicalPlan::Sort(_)
        | LogicalPlan::Limit(_)
        | LogicalPlan::Repartition(_)
        | LogicalPlan::Distinct(Distinct::All(_))
        | LogicalPlan::Window(_)
        | LogicalPlan::Join(_) => {
            let mut inputs = plan.inputs().into_iter();
            of_column(
                column,
                inputs.find(|input| input.schema().has_column(column))?,
            )
        }
        _ => None,
    }
}
