//! Task-local settings, visible to every program and metric that runs within a scope.
//!
//! `evaluate/` passes them to its workers.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::Arc;

tokio::task_local! {
    static CURRENT: Settings;
}

/// Task-local values that apply within a scope.
///
/// Settings contain at most one value of each type. They correspond to DSPy's `context`.
///
/// An inner scope overrides the values it sets and inherits all others. The harness passes its own scope to every
/// worker, so programs and metrics see the same settings.
///
/// A task or thread that your program spawns starts without settings. Pass it the result of [`current`](Self::current).
///
/// ```
/// use dsrs_metrics::contract::Settings;
///
/// struct Temperature(f64);
/// struct Language(&'static str);
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let outer = Settings::new().with(Temperature(0.7)).with(Language("en"));
/// let inner = Settings::new().with(Temperature(0.0));
/// outer
///     .scope(inner.scope(async {
///         assert_eq!(Settings::get::<Temperature>().unwrap().0, 0.0);
///         assert_eq!(Settings::get::<Language>().unwrap().0, "en");
///     }))
///     .await;
/// assert!(Settings::get::<Language>().is_none());
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Settings {
    values: Arc<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

impl Settings {
    /// Creates settings without any values.
    ///
    /// ```
    /// # use dsrs_metrics::contract::Settings;
    /// let answer = Settings::new().scope_sync(|| 42);
    /// assert_eq!(answer, 42);
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the value of type `T`, replacing an earlier one.
    ///
    /// ```
    /// # use dsrs_metrics::contract::Settings;
    /// let settings = Settings::new().with(0.7_f64).with(0.0_f64); // one value of each type
    /// assert_eq!(settings.scope_sync(|| Settings::get::<f64>().map(|it| *it)), Some(0.0));
    /// ```
    pub fn with<T: Any + Send + Sync>(mut self, value: T) -> Self {
        Arc::make_mut(&mut self.values).insert(TypeId::of::<T>(), Arc::new(value));
        self
    }

    /// Returns the settings of the current scope.
    ///
    /// ```
    /// # use dsrs_metrics::contract::Settings;
    /// // A thread starts without settings.
    /// let language = Settings::new().with("en").scope_sync(|| {
    ///     let settings = Settings::current();
    ///     std::thread::spawn(move || settings.scope_sync(Settings::get::<&str>)).join().unwrap()
    /// });
    /// assert_eq!(language.as_deref(), Some(&"en"));
    /// ```
    pub fn current() -> Self {
        CURRENT.try_with(Clone::clone).unwrap_or_default()
    }

    /// Returns the value of type `T`, if an enclosing scope sets one.
    ///
    /// ```
    /// # use dsrs_metrics::contract::Settings;
    /// #[derive(Debug, PartialEq)]
    /// struct Temperature(f64);
    ///
    /// assert_eq!(Settings::get::<Temperature>(), None);
    /// let found = Settings::new().with(Temperature(0.7)).scope_sync(Settings::get::<Temperature>);
    /// assert_eq!(found.as_deref(), Some(&Temperature(0.7)));
    /// ```
    pub fn get<T: Any + Send + Sync>() -> Option<Arc<T>> {
        let find = |settings: &Self| settings.values.get(&TypeId::of::<T>()).cloned();
        let value = CURRENT.try_with(find).ok()??;
        value.downcast().ok()
    }

    /// Runs a future within a scope that sets these values.
    ///
    /// ```
    /// # use dsrs_metrics::contract::Settings;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let language = Settings::new().with("en").scope(async {
    ///     tokio::task::yield_now().await;
    ///     Settings::get::<&str>()
    /// });
    /// assert_eq!(language.await.as_deref(), Some(&"en"));
    /// # }
    /// ```
    pub fn scope<F: Future>(self, future: F) -> impl Future<Output = F::Output> {
        // Boxed, because an async block would store the future twice.
        let future = Box::pin(future);
        async move { CURRENT.scope(self.merged_into_current(), future).await }
    }

    /// Runs a synchronous function within a scope that sets these values.
    ///
    /// ```
    /// # use dsrs_metrics::contract::Settings;
    /// let seen = || (Settings::get::<u8>().map(|it| *it), Settings::get::<char>().map(|it| *it));
    /// let inner = Settings::new().with('b');
    /// let outer = Settings::new().with(1_u8).with('a');
    /// assert_eq!(outer.scope_sync(|| inner.scope_sync(seen)), (Some(1), Some('b')));
    /// ```
    pub fn scope_sync<R>(self, run: impl FnOnce() -> R) -> R {
        CURRENT.sync_scope(self.merged_into_current(), run)
    }

    fn merged_into_current(self) -> Self {
        let mut all = Self::current();
        if all.values.is_empty() {
            return self;
        }
        let own = self.values.iter();
        Arc::make_mut(&mut all.values).extend(own.map(|(id, value)| (*id, Arc::clone(value))));
        all
    }
}

debug_fields!(Settings: |settings| "values" => settings.values.len());

/// The zero-based number of a row's current repeat.
///
/// `Evaluate` sets this number while it runs a program and metrics with `repeats`.
///
/// Judges include this number in their requests, so a reply stored for one repeat is not reused in another. If your
/// program stores replies itself, do the same, for example with
/// [`LmRequest::with_draw`](crate::lm::LmRequest::with_draw).
///
/// ```
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::{Evaluate, contract::RepeatNumber};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
/// let same = metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer"));
/// let devset = [example! { "question" => "Which repeat?", "answer" => 1 }];
/// let evaluate = Evaluate::builder().devset(devset).inputs(["question"]).metric(same).repeats(4).build()?;
/// let result = evaluate.run(|_: Example| async { prediction! { "answer" => RepeatNumber::current().0 } }).await?;
/// assert_eq!(result.metrics[0].mean, Some(0.25));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RepeatNumber(pub u32);

impl RepeatNumber {
    /// Returns the number of the current repeat.
    ///
    /// Returns 0 outside a repeat.
    ///
    /// ```
    /// # use dsrs_metrics::contract::{RepeatNumber, Settings};
    /// assert_eq!(RepeatNumber::current(), RepeatNumber(0));
    /// let third = Settings::new().with(RepeatNumber(2));
    /// assert_eq!(third.scope_sync(RepeatNumber::current), RepeatNumber(2));
    /// ```
    pub fn current() -> Self {
        let number = Settings::get::<Self>();
        number.map_or_else(Self::default, |number| *number)
    }
}
