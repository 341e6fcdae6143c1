//! Runs an eval: its rows, gates, new baseline and message.

use std::fmt::Display;
use std::panic;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use tokio::runtime::{Builder, Runtime};

use super::baseline::Baseline;
use super::condition::{check_gates, early_options, explained};
use super::decide::{GateResult, Verdicts, decide};
use super::environment::{Update, claim_name};
use super::eval::{Eval, Source};
use super::figures::{Finished, complete, value};
use super::findings::{GateVerdict, sign};
use super::message::{self, Notes, print_always};
use super::models::EvalModels;
use super::pending;
use super::pending::Pending;
use crate::contract::{IsProgram, Pair, Program};
use crate::evaluate::report::ResultRow;
use crate::evaluate::{
    Ending, Evaluate, EvaluateBuilder, EvaluateError, EvaluationResult, RowResult, Running,
};
use crate::messages::escape;
use crate::results::Results;

// Has the same bounds as the methods, so rustc names the type that does not implement `Serialize`.
impl<G: Send + Sync + 'static, P: Send + Sync + 'static> Eval<G, P> {
    /// Runs the program on each row, then checks the gates.
    ///
    /// The test fails if a gate fails.
    pub fn run<K: 'static>(self, program: impl IsProgram<G, K> + Program<G, P, K> + 'static)
    where
        G: Serialize,
        P: Serialize,
    {
        self.conclude(|evaluate, runtime| {
            let run: Running<'_, G, P> = Box::pin(evaluate.run(program));
            runtime.block_on(run)
        });
    }

    /// Scores the rows returned by a function, then checks the gates.
    ///
    /// The test fails if a gate fails.
    pub fn score<I: IntoIterator<Item = Pair<G, P>>>(self, rows: impl Future<Output = I>)
    where
        G: Serialize,
        P: Serialize,
    {
        self.try_score(async { Ok::<_, String>(rows.await) });
    }

    /// Scores the rows returned by a fallible function, then checks the gates.
    ///
    /// The test fails if the function returns an error or a gate fails.
    pub fn try_score<I: IntoIterator<Item = Pair<G, P>>, E: Display>(
        self,
        rows: impl Future<Output = Result<I, E>>,
    ) where
        G: Serialize,
        P: Serialize,
    {
        self.conclude(|evaluate, runtime| {
            let rows = runtime.block_on(rows);
            let rows = rows.map_err(|error| {
                EvaluateError::input(format!("the eval's function returned an error: {error}"))
            })?;
            // Collected first, because the iterator may be lazy and slow.
            let rows: Vec<Pair<G, P>> = rows.into_iter().collect();
            runtime.block_on(evaluate.score(rows))
        });
    }
}

impl<G, P> Eval<G, P>
where
    G: Serialize + Send + Sync + 'static,
    P: Serialize + Send + Sync + 'static,
{
    /// Runs the eval and prints its message. The test fails because its thread panics.
    fn conclude(
        self,
        evaluate: impl FnOnce(Evaluate<G, P>, &Runtime) -> Result<EvaluationResult<G, P>, EvaluateError>,
    ) {
        let (source, is_github) = (self.source, self.environment.is_github);
        match self.execute(evaluate) {
            Ok((verdicts, message)) => {
                if is_github {
                    print_always(&message::annotations(&source, &verdicts));
                }
                if verdicts.is_failure() {
                    fail(message);
                }
                // Captured, and shown with `--nocapture`.
                eprint!("{message}");
                let is_undecided = |gate: &&GateResult| gate.verdict == GateVerdict::Undecided;
                for gate in verdicts.gates.iter().filter(is_undecided) {
                    let (text, sentence) = (gate.text, &gate.sentence);
                    print_always(&format!(
                        "warning: eval `{}`: {text} undecided: {sentence}\n",
                        source.name
                    ));
                }
            }
            Err(error) => {
                let error = format!("eval `{}`: {error}", source.name);
                if is_github {
                    print_always(&message::annotation(&source, "error", &error));
                }
                fail(format!("{error}\n"));
            }
        }
    }

    /// Returns the verdicts of the gates, and the message.
    fn execute(
        mut self,
        evaluate: impl FnOnce(Evaluate<G, P>, &Runtime) -> Result<EvaluationResult<G, P>, EvaluateError>,
    ) -> Result<(Verdicts, String), String> {
        let (source, settings) = (self.source, self.settings.clone());
        let (update, target_folder) = (self.environment.update?, self.environment.target_folder);
        if let Some(mistake) = settings.mistake {
            return Err(mistake);
        }
        let sampled = self.evaluate.sampled_metrics();
        check_gates(&self.gates, &self.evaluate.metric_specs(), &sampled)?;
        let folder = source.eval_folder(&target_folder);
        claim_name(&source, &folder, &target_folder)?;
        let baseline_path = settings.baseline.as_deref();
        let baseline_path = baseline_path
            .map(|path| source.in_package("baseline", path))
            .transpose()?;
        let mut baseline = None;
        if let Some(path) = &baseline_path {
            baseline = Baseline::read(path, source.name)?;
        }

        // Checked first: the end of the run writes these files, and must not fail after paying.
        let written = match update {
            Update::Always => baseline_path.clone(),
            Update::New { .. } => Some(folder.join(pending::FILE)),
            Update::No => None,
        };
        let html = cfg!(feature = "html").then(|| folder.join(REPORT));
        for path in written.iter().chain(&html) {
            pending::check_writable(path)?;
        }

        let runtime = runtime(settings.is_current_thread)?;
        let rescored = match (self.rescore, &mut baseline) {
            (Some(rescore), Some(baseline)) => rescore(self.evaluate.clone(), baseline, &runtime)?,
            _ => Vec::new(),
        };
        self.evaluate = self
            .evaluate
            .statistics(|statistics| statistics.seed(settings.seed));
        if let Some(rows) = settings.limit {
            self.evaluate = self.evaluate.sampled(rows, settings.seed);
        }
        if let Some(field) = settings.group {
            self.evaluate = grouped(self.evaluate, field);
        }
        let mut notes = Notes::default();
        if let Some(alpha) = settings.early {
            let writes_baseline = baseline_path.is_some()
                && (update == Update::Always || baseline.is_none() && update != Update::No);
            let specs = self.evaluate.metric_specs();
            let early = early_options(&self.gates, &specs, alpha, baseline.as_ref())?;
            match early.filter(|_| !writes_baseline) {
                Some(early) => self.evaluate = self.evaluate.early(early),
                None => notes
                    .lines
                    .push("all rows were evaluated: a baseline needs them".to_owned()),
            }
        }
        let progress = self.evaluate.display_progress(shows_output());
        let models = EvalModels::new(&source, &self.settings, update)?;
        if !settings.is_live
            && let Some(model) = models.scope(|| progress.remote_model())
        {
            return Err(format!(
                "a metric calls {}, which `#[eval]` does not declare; write `live = {model:?}`, so that `cargo test` skips the eval, or add `replay` too, to record the calls once",
                escape::name(&model)
            ));
        }
        let evaluation = models.recorded(progress).label(source.name).build();
        let evaluation = evaluation.map_err(|error| explained(&error, &settings))?;
        let result = models.scope(|| evaluate(evaluation, &runtime));
        let spent = models.finish(result.as_ref().ok())?;
        // A program that never answers must not keep the test from ending.
        runtime.shutdown_timeout(Duration::from_secs(1));
        let result = result.map_err(|error| explained(&error, &settings))?;
        complete(&result)?;

        let results = Results::of(&result)
            .map_err(|error| error.to_string())?
            .with_name(source.name);
        let run = Finished::new(&result, &results, settings.group);
        let baseline_or_reason = baseline.ok_or_else(|| match &settings.baseline {
            Some(path) => missing_baseline(&source, path, update, settings.is_live),
            None => "the eval has no baseline".to_owned(),
        });
        // The run that records the first baseline has no other one to compare with.
        let is_first = update == Update::Always && baseline_or_reason.is_err();
        let without_baseline = match self.environment.is_ci && !is_first && baseline_path.is_some()
        {
            true => GateVerdict::Failed,
            false => GateVerdict::Undecided,
        };
        let baseline = (&baseline_or_reason, without_baseline);
        let (seed, is_strict) = (settings.seed, settings.is_strict);
        let gates = decide(&self.gates, &run, baseline, seed, is_strict);

        notes.lines.extend(spent);
        notes.lines.extend(rescored);
        if let Ok(Baseline { results: old, .. }) = &baseline_or_reason {
            let (rows, old_rows) = (results.rows(), old.rows().len());
            let common = rows.iter().filter(|row| old.row(&row.id).is_some()).count();
            let (added, removed) = (rows.len() - common, old_rows - common);
            if added + removed > 0 {
                notes.lines.push(format!(
                    "compared with the baseline: {common} rows; {added} rows added, {removed} removed since"
                ));
            }
        }
        if let Some(path) = &baseline_path
            && result.ending == Ending::Complete
        {
            let content = Baseline::render(source.name, &results, settings.baseline_has_rows)
                .map_err(|error| format!("cannot write the baseline: {error}"))?;
            let old = baseline_or_reason.as_ref().ok();
            let new = Pending::new(&source, path, old, content);
            notes.next.extend(updated(update, &folder, &new, old)?);
        }
        let old = baseline_or_reason.as_ref().ok();
        let old = old.map(|baseline| &baseline.results);
        #[cfg(feature = "html")]
        let report = report(&folder, &run, old, is_strict)?;
        #[cfg(feature = "html")]
        notes.next.insert(0, report);
        let verdicts = Verdicts {
            gates,
            is_strict: settings.is_strict && !is_first,
        };
        let rows = match verdicts.is_failure() {
            true => explaining_rows(&verdicts.gates, &run, old),
            false => None,
        };
        let message = message::message(source.name, &verdicts, rows, &notes);
        Ok((verdicts, message))
    }
}

/// The name of the HTML report.
const REPORT: &str = "report.html";

/// Fails the test. The message is printed as test output; the panic itself prints nothing.
fn fail(message: String) -> ! {
    eprint!("{message}");
    panic::resume_unwind(Box::new(message))
}

/// Returns `true` if the test harness shows the output of tests as it is printed.
fn shows_output() -> bool {
    let is_set = std::env::var("RUST_TEST_NOCAPTURE").is_ok_and(|value| value != "0");
    is_set || std::env::args().any(|it| matches!(&*it, "--nocapture" | "--no-capture"))
}

fn runtime(is_current_thread: bool) -> Result<Runtime, String> {
    let mut builder = match is_current_thread {
        true => Builder::new_current_thread(),
        false => Builder::new_multi_thread(),
    };
    builder
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start a tokio runtime: {error}"))
}

/// Says that there is no baseline, and how to get one. This run becomes pending unless nothing is written, as in CI.
fn missing_baseline(source: &Source, path: &str, update: Update, is_live: bool) -> String {
    let name = source.name;
    let ignored = if is_live { " -- --ignored" } else { "" };
    let record = match update {
        Update::No => format!("record one: DSRS_UPDATE=new cargo test {name}{ignored}, then"),
        Update::New { .. } | Update::Always => "to accept this run as the first one:".to_owned(),
    };
    format!("missing baseline `{path}`; {record} dsrs-metrics accept {name}")
}

/// Sets each row's group: the value at this path, or otherwise the gold row's field with this name.
fn grouped<G, P>(evaluate: EvaluateBuilder<G, P>, field: &'static str) -> EvaluateBuilder<G, P>
where
    G: Serialize + Send + Sync + 'static,
    P: Serialize + Send + Sync + 'static,
{
    let group = move |row: &RowResult<G, P>| {
        let row = ResultRow::of(row, &[]);
        value(&row, field).or_else(|| value(&row, &format!("gold.{field}")))
    };
    evaluate.statistics(|statistics| statistics.named_group(field, group))
}

/// Writes the new baseline where the update mode says. Returns what to do next.
fn updated(
    update: Update,
    folder: &Path,
    pending: &Pending,
    old: Option<&Baseline>,
) -> Result<Option<String>, String> {
    let is_same = old.is_some_and(|old| old.is_same(&pending.content));
    match update {
        _ if is_same => {
            Pending::remove(folder)?;
            Ok(None)
        }
        Update::No => Ok(None),
        Update::Always => {
            pending.accept()?;
            Pending::remove(folder)?;
            let path = pending.baseline.display();
            Ok(Some(format!("the baseline was replaced: {path}")))
        }
        Update::New { .. } => {
            pending.write(folder)?;
            let command = format!("dsrs-metrics accept {}", pending.eval);
            Ok(Some(format!(
                "to accept these results as the baseline: {command}"
            )))
        }
    }
}

/// Writes the HTML report. Returns a line with its path.
#[cfg(feature = "html")]
fn report(
    folder: &Path,
    run: &Finished<'_>,
    old: Option<&Results>,
    is_strict: bool,
) -> Result<String, String> {
    use crate::results::HtmlReport;
    let mut report = HtmlReport::new(run.results);
    let old = old.map(|old| old.clone().with_name("baseline"));
    if let Some(old) = &old {
        report = HtmlReport::comparison(old, run.results).strict_identity(is_strict);
    }
    if let Some(group) = &run.group {
        report = report.group(group);
    }
    let path = folder.join(REPORT);
    // Changed gold rows cannot be compared side by side.
    let html = report.to_html();
    let html = html.or_else(|_| HtmlReport::new(run.results).to_html());
    let html = html.map_err(|error| error.to_string())?;
    pending::write(&path, html.as_bytes())?;
    Ok(format!("report: {}", path.display()))
}

/// Returns the rows that explain the first gate that does not pass.
fn explaining_rows(
    gates: &[GateResult],
    run: &Finished<'_>,
    old: Option<&Results>,
) -> Option<String> {
    // If gates are equally bad, the first one is chosen.
    let gates = gates.iter().rev().filter(|gate| gate.metric.is_some());
    let gate = gates.max_by_key(|gate| gate.verdict)?;
    let metric = gate.metric?;
    let sign = run.direction(metric).map_or(1.0, sign);
    let old = old.filter(|_| gate.is_relative);
    message::rows(metric, sign, old, run.results)
}
