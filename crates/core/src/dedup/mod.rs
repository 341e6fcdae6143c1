//! Deduplicates the metrics of a run.
//!
//! A metric that is used in several places is evaluated once per row.

use std::any::{Any, TypeId, type_name};
use std::fmt;
use std::sync::Arc;

use tokio::sync::OnceCell;

use crate::score::{Result, RowAnswer};
use crate::spec::instance_settings::InstanceSettings;

/// The identity of a metric.
///
/// Metrics with equal keys return the same answer to the same call.
#[derive(Debug, Clone)]
pub struct Key(Kind);

#[derive(Debug, Clone)]
enum Kind {
    /// A type whose values all have the same parameters.
    Type(TypeId, &'static str, Settings),
    /// A copy of the metric, compared by its parameters' `PartialEq` implementations.
    Configured(Arc<dyn Erased>),
    /// One value used in several places, identified by its address. The caller keeps the value alive.
    Shared(usize),
    /// A metric with its own settings.
    Instance(Arc<Key>, InstanceSettings),
}

pub(crate) type Settings = &'static [(&'static str, String)];

impl Key {
    /// Returns the key for a metric type without parameters.
    pub fn of_type<M: 'static>() -> Self {
        Self::of_tree::<M>(&[])
    }

    pub(crate) fn of_tree<M: 'static>(settings: Settings) -> Self {
        Self(Kind::Type(TypeId::of::<M>(), type_name::<M>(), settings))
    }

    /// Returns the key for a parameterized metric.
    pub fn of<M: Configured + Clone>(metric: &M) -> Self {
        Self(Kind::Configured(Arc::new(metric.clone())))
    }

    pub fn of_instance(metric: Self, settings: InstanceSettings) -> Self {
        Self(Kind::Instance(Arc::new(metric), settings))
    }

    /// Returns the parameters of the metric that can be shown, as pairs of `TYPE.NAME` and value.
    pub(crate) fn parameters(&self) -> Vec<(String, String)> {
        match &self.0 {
            Kind::Configured(metric) => metric.parameters(),
            Kind::Instance(metric, _) => metric.parameters(),
            Kind::Type(_, metric, settings) => settings
                .iter()
                .map(|(name, value)| (named(metric, name), value.clone()))
                .collect(),
            Kind::Shared(_) => Vec::new(),
        }
    }

    pub(crate) fn of_shared<T: ?Sized>(value: &Arc<T>) -> Self {
        Self(Kind::Shared(Arc::as_ptr(value).cast::<()>().addr()))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Kind::Type(one, ..), Kind::Type(other, ..)) => one == other,
            (Kind::Configured(one), Kind::Configured(other)) => {
                Arc::ptr_eq(one, other) || one.is_same(&**other)
            }
            (Kind::Shared(one), Kind::Shared(other)) => one == other,
            (Kind::Instance(one, set), Kind::Instance(other, also_set)) => {
                one == other && set == also_set
            }
            _ => false,
        }
    }
}

/// A metric whose parameters can be compared.
#[doc(hidden)]
pub trait Configured: Send + Sync + 'static {
    /// Returns `true` if all parameters equal those of `other`.
    ///
    /// A parameter always counts as different if its type does not implement [`PartialEq`].
    fn has_same_parameters(&self, other: &Self) -> bool;

    /// Returns the name and value of each parameter.
    ///
    /// The value is `None` if its type implements neither `Serialize` nor `Debug`.
    fn parameters(&self) -> Vec<(&'static str, Option<String>)>;
}

/// Returns a parameter's name prefixed with its metric's type, without the type's path.
fn named(metric: &str, name: &str) -> String {
    let metric = metric.rsplit("::").next().unwrap_or_default();
    format!("{metric}.{name}")
}

trait Erased: Any + Send + Sync {
    fn is_same(&self, other: &dyn Erased) -> bool;
    fn parameters(&self) -> Vec<(String, String)>;
}

impl fmt::Debug for dyn Erased {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Configured(..)")
    }
}

impl<M: Configured> Erased for M {
    fn is_same(&self, other: &dyn Erased) -> bool {
        let other = (other as &dyn Any).downcast_ref();
        other.is_some_and(|other| self.has_same_parameters(other))
    }

    fn parameters(&self) -> Vec<(String, String)> {
        let shown = Configured::parameters(self).into_iter();
        let named = |(name, value)| Some((named(type_name::<M>(), name), value?));
        shown.filter_map(named).collect()
    }
}

/// The keys of metrics that occur more than once in a run.
///
/// A key can belong to one of the run's metrics or to a component.
#[derive(Debug, Clone)]
pub struct Sharing(Arc<[Key]>);

impl Sharing {
    /// Returns the keys that occur more than once.
    ///
    /// Returns `None` if all keys are different.
    pub fn among(all: &[Key]) -> Option<Self> {
        let mut shared: Vec<Key> = Vec::new();
        for (position, key) in all.iter().enumerate() {
            if all[..position].contains(key) && !shared.contains(key) {
                shared.push(key.clone());
            }
        }
        (!shared.is_empty()).then(|| Self(shared.into()))
    }

    /// Creates a cache for shared metrics' answers to one call.
    #[cold]
    pub fn memo(&self, of: Address) -> Memo {
        let answers = self.0.iter().map(|_| OnceCell::new()).collect();
        Memo {
            shared: Arc::clone(&self.0),
            answers,
            of,
        }
    }
}

/// A cache for shared metrics' answers to one call.
#[derive(Debug)]
pub struct Memo {
    shared: Arc<[Key]>,
    answers: Box<[OnceCell<Result<RowAnswer>>]>,
    of: Address,
}

impl Memo {
    /// Returns the slot for a metric's answer to a call, if the memo has one.
    pub(crate) fn cell(&self, key: &Key, of: Address) -> Option<&OnceCell<Result<RowAnswer>>> {
        let position = self.shared.iter().position(|shared| shared == key)?;
        (self.of == of).then(|| &self.answers[position])
    }
}

/// The addresses of everything that a call refers to, and whether its explanation is read. Calls with different rows or
/// traces are different calls. An answer without an explanation is not reused if a later call reads the explanation.
pub(crate) type Address = [usize; 7];
