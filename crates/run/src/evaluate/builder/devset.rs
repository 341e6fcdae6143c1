//! The devset of an evaluation, and the inputs of its program.

use std::path::Path;

use serde::de::DeserializeOwned;

use super::evaluate_builder::EvaluateBuilder;
use crate::contract::{Example, MetricSpec, Requirement};
use crate::evaluate::input::Devset;
use crate::evaluate::row::{MetricEntry, requirements};

/// A type that you can pass as the rows of a devset.
///
/// You can pass any [`IntoIterator`] over rows of type `G`. If `G` can be deserialized, you can also pass the path of a
/// file.
///
/// `Kind` distinguishes the two cases, and the compiler infers it.
#[diagnostic::on_unimplemented(
    message = "expected rows of type `{G}` or the path of a file, found `{Self}`",
    label = "expected rows or a path",
    note = "write `.devset(rows)` for a `Vec` or another iterator of rows, `.devset(\"dev.jsonl\")` for a file, whose row type needs `#[derive(serde::Deserialize)]`, and `.devset_stream(rows)` for a stream; write `Evaluate::typed()` for rows of your own type, `.iter().cloned()` for references to rows, and `Example::from_serialize(&value)` for other values"
)]
pub trait DevsetRows<G, Kind> {
    /// Sets the rows as the devset of the builder.
    #[doc(hidden)]
    fn set<P>(self, builder: &mut EvaluateBuilder<G, P>);
}

/// Marks a devset or input names that are passed as a list.
#[doc(hidden)]
pub enum ByList {}

/// Marks a devset or input names that are passed as a string or a path.
#[doc(hidden)]
pub enum ByName {}

impl<G: Send + Sync + 'static, I: IntoIterator<Item = G>> DevsetRows<G, ByList> for I {
    fn set<P>(self, builder: &mut EvaluateBuilder<G, P>) {
        builder.devset = Devset::list(self.into_iter());
    }
}

impl<G, F> DevsetRows<G, ByName> for F
where
    G: DeserializeOwned + Send + Sync + 'static,
    F: AsRef<Path>,
{
    fn set<P>(self, builder: &mut EvaluateBuilder<G, P>) {
        builder.devset = Devset::read(self.as_ref());
    }
}

/// A type that you can pass as the names of a program's inputs.
///
/// You can pass a single name, or any [`IntoIterator`] over names.
///
/// `Kind` distinguishes the two cases, and the compiler infers it.
#[diagnostic::on_unimplemented(
    message = "expected the names of the program's inputs, found `{Self}`",
    label = "expected field names",
    note = "write `.inputs(\"question\")` for one input, and `.inputs([\"question\", \"context\"])` for several"
)]
pub trait InputNames<Kind> {
    /// Returns the names of the inputs.
    #[doc(hidden)]
    fn input_names(self) -> Vec<String>;
}

impl<I: IntoIterator<Item: Into<String>>> InputNames<ByList> for I {
    fn input_names(self) -> Vec<String> {
        self.into_iter().map(Into::into).collect()
    }
}

impl<N: Into<String>> InputNames<ByName> for N {
    fn input_names(self) -> Vec<String> {
        vec![self.into()]
    }
}

impl<P: Send + Sync + 'static> EvaluateBuilder<Example, P> {
    /// Sets the inputs of each devset row: the required ones, and the optional ones that the row has.
    pub(crate) fn inputs_of_rows(mut self, required: &[&str], optional: &[&str]) -> Self {
        self.devset = self.devset.map(|row| {
            let has = |name: &&&str| row.get(name).is_some_and(|value| !value.is_null());
            let names = required.iter().chain(optional.iter().filter(has));
            row.clone().with_inputs(names.copied())
        });
        self
    }
}

impl<G: Send + Sync + 'static, P: Send + Sync + 'static> EvaluateBuilder<G, P> {
    /// Keeps a sample of the devset, in devset order. A hash of a row's id and the seed determines whether the row is
    /// included, so adding rows replaces few others.
    pub(crate) fn sampled(mut self, rows: usize, seed: u64) -> Self {
        self.devset = self.devset.sampled(rows, seed);
        self
    }

    /// Returns the name of a provider's model that a metric calls.
    pub(crate) fn remote_model(&self) -> Option<String> {
        let requirements = requirements(&self.metrics);
        let models = requirements.iter().filter_map(Requirement::lm);
        let embedders = requirements.iter().filter_map(Requirement::embedding_model);
        let models = models.filter(|lm| lm.is_remote()).map(|lm| lm.id());
        let embedders = embedders.filter(|it| it.is_remote()).map(|it| it.id());
        models.chain(embedders).next().map(str::to_owned)
    }

    /// Removes the devset, the store and the metrics that call a model. Also returns the names of these metrics.
    pub(crate) fn without_models(mut self) -> (Self, Vec<String>) {
        let metrics = self.metrics.into_iter();
        let (removed, kept): (Vec<_>, Vec<_>) = metrics.partition(MetricEntry::calls_model);
        (self.metrics, self.devset) = (kept, Devset::None);
        self.options.store = None;
        (self, removed.into_iter().map(|entry| entry.name).collect())
    }

    /// Returns the names of the metrics that judge a sample of the rows.
    pub(crate) fn sampled_metrics(&self) -> Vec<&str> {
        let sampled = self.metrics.iter().filter(|entry| entry.sample.is_some());
        sampled.map(|entry| &*entry.name).collect()
    }

    /// Returns the specs of the metrics.
    pub(crate) fn metric_specs(&self) -> Vec<MetricSpec<'_>> {
        let metrics = self.metrics.iter();
        metrics.map(|entry| entry.metric().spec()).collect()
    }
}
