//! What a run keeps in its store: outputs of its program, and evaluations by metrics that declare a cost and call no
//! model.
//!
//! Model replies are kept where they are received; see `lm/recording.rs`. Everything else is computed again. Outputs of
//! a program without a version are kept until its run ends.

use std::any::Any;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use derive_where::derive_where;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::gate::Charge;
use super::plan::{Plan, ProgramResult};
use crate::contract::rows::dynamic::{as_example, inputs_of};
use crate::contract::{MetricCall, MetricIdentity, Outcome, Prediction, ProgramRun};
use crate::lm::recording::Scope;
use crate::lm::{Hash, LmError, Store};
use crate::messages::hash::hexadecimal;

/// The version of keys and results; increment it whenever either changes.
const FORMAT: u32 = 2;

/// The configured store of a run, and how the parts of a row become JSON. A part that cannot be converted is not kept.
#[derive_where(Clone)]
pub(crate) struct StoreOptions<G, P> {
    pub(crate) dir: PathBuf,
    inputs: fn(&G, Option<&[String]>) -> Option<Value>,
    content: fn(&MetricCall<'_, G, P>) -> Option<Value>,
    encode: fn(&P, &ProgramRun) -> Option<Value>,
    decode: fn(Value) -> Option<(P, ProgramRun)>,
}

impl<G, P> StoreOptions<G, P>
where
    G: Serialize + 'static,
    P: Serialize + DeserializeOwned + 'static,
{
    #[cfg(feature = "store")]
    pub(crate) fn new(dir: PathBuf) -> Self {
        Self {
            dir,
            inputs: |gold, of_run| match as_example(gold) {
                Some(example) => serde_json::to_value(inputs_of(example, of_run)?).ok(),
                None => serde_json::to_value(gold).ok(),
            },
            content: |call| {
                // A measured latency differs from run to run.
                let run = call.run;
                let run = run.map(|run| (&run.trace, run.usage, run.returned_latency()));
                serde_json::to_value((call.gold, call.pred, run)).ok()
            },
            encode: |value, run| {
                let dynamic = (value as &dyn Any).downcast_ref::<Prediction>();
                let is_textual = dynamic.is_some_and(|prediction| prediction.data.textual);
                let prediction = StoredPrediction { value, is_textual };
                serde_json::to_value(StoredOutput { prediction, run }).ok()
            },
            decode: |output| {
                let StoredOutput { prediction, run } = serde_json::from_value(output).ok()?;
                let StoredPrediction::<P> {
                    mut value,
                    is_textual,
                } = prediction;
                if let Some(dynamic) = (&mut value as &mut dyn Any).downcast_mut::<Prediction>() {
                    dynamic.data.textual = is_textual;
                }
                Some((value, run))
            },
        }
    }
}

/// An output of a program.
#[derive(Serialize, Deserialize)]
struct StoredOutput<P, R> {
    prediction: StoredPrediction<P>,
    run: R,
}

#[derive(Serialize, Deserialize)]
struct StoredPrediction<P> {
    value: P,
    /// `true` if the output's values are untyped strings, like those of a CSV file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_textual: bool,
}

/// The open store of a run.
pub(crate) struct RunStore<G, P> {
    scope: Scope,
    options: StoreOptions<G, P>,
    /// What the program's outputs depend on besides its inputs. This is `None` if outputs are not kept, because
    /// predictions are given or the executable cannot be read.
    program: Option<Value>,
    /// The unfinished run of a program without a version.
    open_run: Option<OpenRun>,
    /// The metrics whose evaluations are kept, by position.
    metrics: Vec<(usize, Value)>,
    budget: String,
    totals: [AtomicU64; 3],
}

/// How many results a run paid for, and how many it reused from its store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreUse {
    /// The number of rows that cost nothing because all their results were in the store.
    pub rows_as_before: u64,
    /// The number of results taken from the store.
    ///
    /// Results are model replies, program outputs and evaluations by metrics with a cost.
    pub found: u64,
    /// The number of results that the run paid for.
    pub paid: u64,
}

impl<G: Send + Sync, P: Send + Sync> RunStore<G, P> {
    /// Opens the store of a run. The program's version is the one that you set, or otherwise the hash of its
    /// executable.
    pub(crate) fn open(
        options: &StoreOptions<G, P>,
        plan: &Plan<'_, G, P>,
        refresh: bool,
        version: Option<&str>,
        executable: Option<&str>,
    ) -> Result<Self, LmError> {
        let store = Store::open(&options.dir)?;
        let after = if refresh { store.last_number()? } else { 0 };
        let mut metrics = Vec::new();
        let mut identities = Vec::new();
        for (position, entry) in plan.metrics.iter().enumerate() {
            let identity = MetricIdentity::of(entry.metric());
            let has_cost = entry.metric().spec().cost_msats > 0;
            // A judge that scores offline is free. It names `offline-lexical` as its model.
            if has_cost && identity.models().is_empty() && !entry.calls_model() {
                metrics.push((position, json!(identity)));
            }
            identities.push(identity);
        }
        let run = json!([identities, plan.options.repeats, plan.inputs]);
        let hash = hexadecimal(&Sha256::digest(run.to_string())[..16]);
        let budget = format!("run {hash}");
        if let Some(gate) = &plan.gate {
            gate.add_kept(store.spent_msats(&budget)?);
        }
        let scope = Scope::new(store, after);
        // What a program without a version reads is unknown, so its outputs belong to one run, which continues after it
        // is interrupted or killed.
        let open_run = executable.map(|executable| OpenRun::open(&scope, &run, executable));
        let version = version.map(|version| json!({ "version": version }));
        let run = || Some(json!({ "run": open_run.as_ref()?.begun }));
        let program = version.or_else(run);
        Ok(Self {
            scope,
            options: options.clone(),
            program,
            open_run,
            metrics,
            budget,
            totals: Default::default(),
        })
    }

    /// Returns a row that is not yet evaluated. The program makes its prediction unless one is given.
    pub(crate) fn row(
        &self,
        gold: &G,
        inputs: Option<&[String]>,
        is_given: bool,
    ) -> KeptRow<'_, G, P> {
        let output = self.program.as_ref().filter(|_| !is_given).and_then(|program| {
            let inputs = (self.options.inputs)(gold, inputs)?;
            Some(
                json!({ "kind": "output", "format": FORMAT, "program": program, "inputs": inputs }),
            )
        });
        KeptRow {
            run: self,
            output,
            scope: self.scope.of_row(),
        }
    }

    /// Returns the error that keeps further results from being stored, if there is one.
    pub(crate) fn error(&self) -> Option<LmError> {
        self.scope.error()
    }

    pub(crate) fn usage(&self) -> StoreUse {
        let [rows_as_before, found, paid] =
            self.totals.each_ref().map(|it| it.load(Ordering::Relaxed));
        StoreUse {
            rows_as_before,
            found,
            paid,
        }
    }

    /// Completes a run over all rows: ends its gate's budget and the outputs of a program without a version.
    pub(crate) fn end(&self) -> Result<(), LmError> {
        // The next run of the program calls it again.
        if let Some(run) = &self.open_run {
            self.scope.store().remove(&run.key.hash)?;
        }
        self.scope.store().forget_spending(&self.budget)
    }
}

/// A row of a run with a store. Its results are kept by rollout number.
pub(crate) struct KeptRow<'a, G, P> {
    run: &'a RunStore<G, P>,
    /// The key of the program's output, without the number.
    output: Option<Value>,
    scope: Scope,
}

impl<G, P> KeptRow<'_, G, P> {
    /// Evaluates a part of the row and keeps its judges' replies.
    pub(crate) fn scope<F: Future>(&self, evaluated: F) -> impl Future<Output = F::Output> {
        self.scope.run(evaluated)
    }

    fn output_key(&self, number: u32) -> Option<Key> {
        let mut key = self.output.clone()?;
        key["repeat"] = number.into();
        Some(Key::new(&key))
    }

    /// Returns the stored output of the program.
    pub(crate) fn output(&self, number: u32) -> Option<(P, ProgramRun)> {
        let output = self.scope.find(&self.output_key(number)?.hash)?;
        let output = (self.run.options.decode)(output)?;
        self.scope.count(true);
        Some(output)
    }

    /// Keeps the output of the program. Failures are not kept, so the program runs again.
    pub(crate) fn keep_output(&self, number: u32, predicted: &ProgramResult<P>) {
        self.scope.count(false);
        // A prediction that cannot be serialized, such as one with NaN in a typed field, is computed again.
        if let Some(key) = self.output_key(number)
            && let Ok((prediction, run)) = predicted
            && let Some(output) = (self.run.options.encode)(prediction, run)
        {
            let cost = run.usage.and_then(|usage| usage.cost_msats);
            let key = (&key.hash, &*key.about);
            self.scope.keep("output", key, &output, cost);
        }
    }

    /// Returns the keys of a prediction's kept evaluations.
    pub(crate) fn scores(&self, call: &MetricCall<'_, G, P>, number: u32) -> KeptScores {
        let run = self.run;
        let row = (!run.metrics.is_empty()).then(|| (run.options.content)(call));
        let row = row.flatten();
        let key = |(position, metric): &(usize, Value)| {
            let row = row.as_ref()?;
            let about = json!({ "kind": "evaluation", "format": FORMAT, "metric": metric, "row": row, "repeat": number });
            Some((*position, Key::new(&about)))
        };
        run.metrics.iter().filter_map(key).collect()
    }

    /// Returns the stored outcomes that are possible for the metrics.
    pub(crate) fn known(&self, keys: &KeptScores, plan: &Plan<'_, G, P>) -> HashMap<usize, Outcome>
    where
        G: Sync,
        P: Sync,
    {
        let known = keys.iter().filter_map(|(position, key)| {
            let outcome = self.scope.find(&key.hash)?;
            let is_possible = plan.metrics.get(*position)?.is_possible(&outcome);
            is_possible.then(|| self.scope.count(true))?;
            Some((*position, outcome))
        });
        known.collect()
    }

    /// Keeps an outcome, unless it must be evaluated again. That applies to a failure that cost nothing, a row that the
    /// budget did not cover, and a contribution to a score over all rows, whose type the metric's author defines.
    pub(crate) fn keep(&self, key: Option<&Key>, outcome: &Outcome) {
        let Some(key) = key.filter(|_| !outcome.is_skipped()) else {
            return;
        };
        self.scope.count(false);
        let cost = outcome.cost_msats();
        if !outcome.has_contribution() && (cost > 0 || !outcome.is_failure()) {
            self.scope
                .keep("evaluation", (&key.hash, &key.about), outcome, Some(cost));
        }
    }

    /// Records the reservations for calls under a gate. If that fails, no call may be made, and the run ends.
    ///
    /// # Errors
    /// Returns the budget of the gate.
    pub(crate) fn record(&self, charges: &mut [Charge<'_>]) -> Result<(), u64> {
        for charge in charges {
            let recorded = charge.record((self.scope.store(), &self.run.budget));
            recorded.map_err(|error| {
                self.scope.fail(error);
                charge.limit()
            })?;
        }
        Ok(())
    }
}

impl<G, P> Drop for KeptRow<'_, G, P> {
    fn drop(&mut self) {
        let (found, paid) = self.scope.counted();
        let as_before = u64::from(found > 0 && paid == 0);
        for (total, more) in self.run.totals.iter().zip([as_before, found, paid]) {
            total.fetch_add(more, Ordering::Relaxed);
        }
    }
}

/// The keys of a prediction's kept evaluations, by metric position.
pub(crate) type KeptScores = HashMap<usize, Key>;

/// The key of a result.
pub(crate) struct Key {
    about: String,
    hash: Hash,
}

impl Key {
    fn new(about: &Value) -> Self {
        let about = about.to_string();
        let hash = Sha256::digest(about.as_bytes()).into();
        Self { about, hash }
    }
}

/// An unfinished run of a program without a version.
struct OpenRun {
    key: Key,
    /// Distinguishes this run's outputs from those of other runs. Consists of the process that began the run and the
    /// run's number in the store.
    begun: String,
}

impl OpenRun {
    /// Returns the run that was interrupted, or a new one.
    fn open(scope: &Scope, run: &Value, executable: &str) -> Self {
        let arguments: Vec<_> = std::env::args_os()
            .map(|it| it.display().to_string())
            .collect();
        let key =
            Key::new(&json!({ "run": run, "executable": executable, "arguments": arguments }));
        let begun = scope.find(&key.hash).unwrap_or_else(|| {
            // No later run finds this number, because its record comes next.
            let number = scope.store().last_number().unwrap_or_default();
            let begun = format!("{} {number}", std::process::id());
            scope.keep("run", (&key.hash, &key.about), &begun, None);
            begun
        });
        Self { key, begun }
    }
}
