//! The arguments of one call to a metric, and the task-local settings that the metric sees.
//!
//! The file is long because the methods of calls and settings are documented with examples.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::ptr;
use std::sync::Arc;

use crate::declared::Declared;
use crate::dedup::{Address, Memo};
use crate::program_run::ProgramRun;
use crate::rows::{Example, Prediction, Trace};
use crate::spec::MetricSpec;

/// The arguments of a call to a metric.
///
/// The arguments correspond to DSPy's `(gold, pred, trace, pred_name, pred_trace)`.
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// #[metric(threshold = 0.5)]
/// fn overlap(#[gold] answer: f64, #[pred("answer")] guess: f64) -> f64 {
///     1.0 - (answer - guess).abs()
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> dsrs_metrics::Result<()> {
/// let (gold, pred) = (example! { "answer" => 0.9 }, prediction! { "answer" => 0.5 });
/// let trace = Trace::default();
/// let call = MetricCall::new(&gold, &pred);
/// assert_eq!(Overlap.grade(call).await?, Grade::Score(MetricScore::new(0.6)));
/// assert_eq!(Overlap.grade(call.with_trace(&trace)).await?, Grade::Verdict(true));
/// # Ok(())
/// # }
/// ```
pub struct MetricCall<'a, G = Example, P = Prediction> {
    /// The labelled example.
    pub gold: &'a G,
    /// The program's prediction.
    pub pred: &'a P,
    /// The trace of the whole program, if an optimizer is running.
    pub trace: Option<&'a Trace>,
    /// The name of the predictor being scored, if the call scores only one step.
    pub pred_name: Option<&'a str>,
    /// The part of the trace that belongs to the scored predictor.
    pub pred_trace: Option<&'a Trace>,
    /// The trace, usage and latency that the program returned with the prediction.
    ///
    /// These values are for information only. Unlike [`trace`](Self::trace), they do not make the metric return a
    /// verdict.
    pub run: Option<&'a ProgramRun>,
    /// Answers to this call, if metrics of one run are equal or share components.
    pub(crate) memo: Option<&'a Memo>,
    /// The spec of an instance with its own settings.
    pub(crate) spec: Option<&'a MetricSpec<'a>>,
    /// `true` if the answer's details and feedback are read.
    pub(crate) is_explained: bool,
}

impl<'a, G, P> MetricCall<'a, G, P> {
    /// Creates a call for evaluation, without a trace.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// let (gold, pred) = (example! {}, prediction! {});
    /// let call = MetricCall::new(&gold, &pred);
    /// assert!(call.trace.is_none() && call.pred_name.is_none() && call.run.is_none());
    /// ```
    pub const fn new(gold: &'a G, pred: &'a P) -> Self {
        Self {
            gold,
            pred,
            trace: None,
            pred_name: None,
            pred_trace: None,
            run: None,
            memo: None,
            spec: None,
            is_explained: true,
        }
    }

    setters! {
        /// Disables the reuse of answers from equal metrics.
        #[doc(hidden)]
        pub const fn without_memo() => memo = None;

        /// Declares that the caller does not read the score's explanation.
        ///
        /// The metric can then leave out details, feedback and components. In particular, composites leave out
        /// components whose result is only a number.
        ///
        /// ```
        /// use dsrs_metrics::metrics::Em;
        /// use dsrs_metrics::prelude::*;
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> dsrs_metrics::Result<()> {
        /// let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => "Lyon" });
        /// let call = MetricCall::new(&gold, &pred);
        /// let scored = Em::default().answer(call).await?;
        /// assert_eq!(scored.score.details.as_deref(), Some("expected \"Paris\", found \"Lyon\""));
        /// let scored = Em::default().answer(call.without_explanation()).await?;
        /// assert_eq!(scored.score.details, None);
        /// # Ok(())
        /// # }
        /// ```
        pub const fn without_explanation() => is_explained = false;

        /// Sets the trace that an optimizer passes to the metric.
        ///
        /// ```
        /// # use dsrs_metrics::prelude::*;
        /// let steps = traced_metric_fn("steps", |_, _, trace, _, _| trace.map(|trace| trace.steps.len()));
        /// let (gold, pred, trace) = (example! {}, prediction! {}, Trace::default());
        /// let call = MetricCall::new(&gold, &pred);
        /// assert_eq!(steps.answer(call.with_trace(&trace)).ready().unwrap()?.score.value, 0.0);
        /// assert_eq!(steps.answer(call).ready().unwrap().unwrap_err().to_string(), "metric `steps` abstained");
        /// # Ok::<(), dsrs_metrics::MetricError>(())
        /// ```
        pub const fn with_trace(trace: &'a Trace) => trace = Some(trace);

        /// Sets the program run that made the prediction.
        ///
        /// `Evaluate` does this for each row.
        ///
        /// ```
        /// use dsrs_metrics::{metrics::Tokens, runs::{ProgramOutput, ProgramUsage}};
        /// # use dsrs_metrics::prelude::*;
        ///
        /// let gold = example! { "question" => "Why?" };
        /// let output = ProgramOutput::new(prediction! {}).with_usage(ProgramUsage::new(120, 8));
        /// let (pred, run) = output.into_parts();
        /// let scored = Tokens.answer(MetricCall::new(&gold, &pred).with_run(&run)).ready().unwrap()?;
        /// assert_eq!(scored.score.value, 128.0);
        /// # Ok::<(), dsrs_metrics::MetricError>(())
        /// ```
        pub const fn with_run(run: &'a ProgramRun) => run = Some(run);

        /// Sets the spec for a metric instance that has its own settings.
        ///
        /// The components of a composite are called without this spec.
        #[doc(hidden)]
        pub const fn with_spec(spec: Option<&'a MetricSpec<'a>>) => spec = spec;
    }

    /// Returns `true` if the caller reads the answer's details and feedback.
    ///
    /// Otherwise, a hand-written [`Metric::answer`](crate::Metric::answer) can omit them.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// let (gold, pred) = (example! {}, prediction! {});
    /// let call = MetricCall::new(&gold, &pred);
    /// assert!(call.is_explained() && !call.without_explanation().is_explained());
    /// ```
    #[inline]
    pub const fn is_explained(&self) -> bool {
        self.is_explained
    }

    /// Sets the predictor that is being scored, and its part of the trace.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// let (gold, pred, trace) = (example! {}, prediction! {}, Trace::default());
    /// let call = MetricCall::new(&gold, &pred).with_predictor("retrieve", &trace);
    /// assert_eq!(call.pred_name, Some("retrieve"));
    /// assert_eq!(call.trace, None); // the trace of the whole program is separate
    /// ```
    pub const fn with_predictor(mut self, name: &'a str, trace: &'a Trace) -> Self {
        self.pred_name = Some(name);
        self.pred_trace = Some(trace);
        self
    }

    /// Returns the program's trace, if there is one.
    ///
    /// The optimizer's trace takes precedence over the one that the program returned.
    ///
    /// ```
    /// use dsrs_metrics::runs::ProgramRun;
    /// # use dsrs_metrics::prelude::*;
    ///
    /// let mut run = ProgramRun::default();
    /// run.trace = Some(Trace::default());
    /// # let (gold, pred) = (example! {}, prediction! {});
    /// let call = MetricCall::new(&gold, &pred).with_run(&run);
    /// assert_eq!((call.trace, call.program_trace()), (None, run.trace.as_ref()));
    /// ```
    pub fn program_trace(&self) -> Option<&'a Trace> {
        self.trace.or_else(|| self.run?.trace.as_ref())
    }

    /// Returns the memory addresses that identify this call within a run.
    #[doc(hidden)]
    pub fn address(&self) -> Address {
        let trace = |trace: Option<&Trace>| trace.map_or(0, |trace| ptr::from_ref(trace).addr());
        [
            ptr::from_ref(self.gold).addr(),
            ptr::from_ref(self.pred).addr(),
            trace(self.trace),
            self.pred_name.map_or(0, |name| name.as_ptr().addr()),
            trace(self.pred_trace),
            self.run.map_or(0, |run| ptr::from_ref(run).addr()),
            usize::from(self.is_explained),
        ]
    }

    /// Sets the cache for shared answers.
    ///
    /// If the call already has a cache, this method keeps it.
    #[doc(hidden)]
    pub fn with_memo<'b>(self, memo: Option<&'b Memo>) -> MetricCall<'b, G, P>
    where
        'a: 'b,
    {
        MetricCall {
            memo: self.memo.or(memo),
            ..self
        }
    }

    /// Returns the spec to validate the score against.
    ///
    /// This is the instance's own spec if it sets a threshold, strictness or cost, and `declared` otherwise.
    ///
    /// Use this spec in a hand-written [`Metric::answer`](crate::Metric::answer).
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// let declared = MetricSpec::new("overlap").with_threshold(0.5);
    /// let (gold, pred) = (example! {}, prediction! {});
    /// assert_eq!(MetricCall::new(&gold, &pred).spec(&declared), &declared);
    /// ```
    #[inline]
    pub fn spec(&self, declared: &'a MetricSpec<'a>) -> &'a MetricSpec<'a> {
        self.spec.unwrap_or(declared)
    }

    /// Returns the spec for a metric whose declaration is a constant.
    ///
    /// See [`spec`](Self::spec).
    #[doc(hidden)]
    pub fn spec_of<M: Declared>(&self) -> &'a MetricSpec<'a> {
        self.spec(const { &<M as Declared>::SPEC })
    }

    /// Returns this call with different rows.
    #[doc(hidden)]
    pub const fn over<'b, G2, P2>(self, gold: &'b G2, pred: &'b P2) -> MetricCall<'b, G2, P2>
    where
        'a: 'b,
    {
        MetricCall {
            gold,
            pred,
            trace: self.trace,
            pred_name: self.pred_name,
            pred_trace: self.pred_trace,
            run: self.run,
            memo: None,
            spec: self.spec,
            is_explained: self.is_explained,
        }
    }
}

impl<G, P> Clone for MetricCall<'_, G, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G, P> Copy for MetricCall<'_, G, P> {}

debug_fields! {
    MetricCall<'a, G, P>: |call| "tracing" => call.trace.is_some(), "pred_name" => call.pred_name,
        "run" => call.run.is_some()
}

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

    /// Sets the value of type `T`, replacing any earlier one.
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

    /// Returns the current scope's settings.
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
