//! A run, from the first row to the result. The threads or tasks in `workers/` evaluate the rows.

use std::any::Any;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::early::EarlyRun;
use super::error::{EvaluateError, EvaluateErrorKind, Level, Stop, lock};
use super::input::Source;
use super::manifest::{Manifest, RunCosts, RunManifest, StartedManifest, executable};
use super::options::{Observers, Options, RunStart};
use super::report::{Lines, Progress, ResultFiles};
use super::row::{MetricEntry, Plan, Predicted, RunStore, checked_requirements};
use super::summary::{Ending, EvaluationResult, Groups, MetricSummary, ProgramTotals, Tally};
use super::truth::TruthRun;
use super::workers::{Collector, Run, run_as_tasks, run_on_threads};
use crate::contract::declared::requirements;
use crate::contract::{MetricIdentity, MetricSpec, Program, Requirement, panic};

/// Runs a program on the rows.
pub(super) async fn run<G, P, Kind>(
    plan: Arc<Plan<'static, G, P>>,
    source: Source<'static, G, P>,
    program: impl Program<G, P, Kind> + 'static,
    options: &Options<G, P>,
) -> Result<EvaluationResult<G, P>, EvaluateError>
where
    G: Send + Sync + 'static,
    P: Send + Sync + 'static,
    Kind: 'static,
{
    check_runtime(&plan)?;
    let required = checked_requirements(&plan.metrics)?;
    let stop = Arc::new(Stop::default());
    // Created before the result files, so a signal leaves none behind.
    #[cfg(feature = "ctrl-c")]
    if options.stop_on_ctrl_c {
        super::workers::listen(&stop, options.grace_period);
    }
    let is_scored = (&program as &dyn Any).is::<Predicted>();
    // The threads take rows in batches, so they cannot keep the order.
    let is_immediate = options.early.is_none() && plan.never_waits(options.store.is_some());
    let on_threads = is_scored && is_immediate;
    let mut source = match on_threads {
        true => source,
        false => source.for_tasks(),
    };
    let early = match &options.early {
        Some(early) => {
            let order = (options.run.seed, &*stop);
            Some(EarlyRun::start(early, &plan, &mut source, order, !is_scored).await?)
        }
        None => None,
    };
    let mut run = Run::prepare(plan, source, options.clone(), stop, !is_scored)?;
    run.early = early;
    let run = Arc::new(run);
    run.check_models(required).await?;
    let start = RunStart {
        metrics: &run.names,
        rows: run.source.rows_left(),
        concurrency: run.options.concurrency,
        manifest: &run.manifest.run,
    };
    run.observers.notify(|observer| observer.on_start(&start));
    let ended = match on_threads {
        true => run_on_threads(&run).await,
        false => run_as_tasks(&run, program).await,
    };
    run.judge_samples().await;
    let mut result = ended.and_then(|()| run.finish());
    run.observers
        .notify(|observer| observer.on_end(result.as_ref()));
    if let Ok(result) = &mut result {
        result.observer_error = run.observers.error();
    }
    result
}

/// Runs the evaluation within the calling task, so the program and the metrics can borrow.
pub(super) async fn run_in_task<'a, G, P, Kind>(
    plan: Plan<'a, G, P>,
    source: Source<'a, G, P>,
    program: &impl Program<G, P, Kind>,
    options: Options<G, P>,
) -> Result<EvaluationResult<G, P>, EvaluateError>
where
    G: Send + Sync,
    P: Send + Sync,
{
    let required = checked_requirements(&plan.metrics)?;
    let run = Run::prepare(Arc::new(plan), source, options, Arc::default(), true)?;
    run.check_models(required).await?;
    let rows = run.source.rows_left().map(usize::try_from);
    let workers = rows.map_or(usize::MAX, |rows| rows.unwrap_or(usize::MAX));
    let workers = workers.min(run.options.concurrency);
    let work = |_| async {
        let first = run.source.next(&run.stop).await;
        run.work(first, program).await;
    };
    join_all((0..workers).map(work)).await;
    run.judge_samples().await;
    run.finish()
}

fn check_runtime<G, P>(plan: &Plan<'_, G, P>) -> Result<(), EvaluateError> {
    let missing = |missing: &str| {
        EvaluateError::new(
            EvaluateErrorKind::Runtime,
            format!(
                "{missing}; run this under `#[tokio::main]`, or call `enable_all()` on the runtime's builder"
            ),
        )
    };
    Handle::try_current().map_err(|_| missing("no tokio runtime found"))?;
    let options = &plan.options;
    if options.timeout.or(options.resubmit_after).is_none() {
        return Ok(());
    }
    let timer = panic::catch(false, || drop(tokio::time::sleep(Duration::ZERO)));
    timer.map_err(|_| missing("the tokio runtime has no timer"))
}

impl<'a, G: Send + Sync, P: Send + Sync> Run<'a, G, P> {
    fn prepare(
        plan: Arc<Plan<'a, G, P>>,
        source: Source<'a, G, P>,
        options: Options<G, P>,
        stop: Arc<Stop>,
        has_program: bool,
    ) -> Result<Self, EvaluateError> {
        let (version, refresh) = (options.program_version.as_deref(), options.refresh);
        let open = |store| {
            let executable = executable().filter(|_| has_program && version.is_none());
            RunStore::open(store, &plan, refresh, version, executable.as_deref())
        };
        let store = options.store.as_ref().map(open).transpose()?;
        let files = ResultFiles::create(&options.outputs, options.escape_formulas)?;
        let render = options.render.filter(|_| files.is_some());
        let identity = |entry: &MetricEntry<'_, G, P>| {
            (entry.name.clone(), MetricIdentity::of(entry.metric()))
        };
        let run = RunManifest {
            metrics: plan.metrics.iter().map(identity).collect(),
            repeats: plan.options.repeats,
            program_inputs: plan.inputs.as_deref().map(<[String]>::to_vec),
            ..options.run.clone()
        };
        let by_group = options.group.is_some();
        let tally = |metric: &MetricEntry<'_, G, P>| {
            Tally::new(&metric.name, metric.kind, metric.range, &run, by_group)
        };
        let tallies = plan.metrics.iter().map(tally).collect();
        let manifest = StartedManifest::new(run, files.is_some(), options.ledger.clone());
        let truth = TruthRun::new(&plan, options.run.seed, options.max_errors);
        let keep_below = match options.keep_results {
            true => u64::MAX,
            false => options.table_rows as u64,
        };
        let collector = Collector {
            tallies,
            rows: 0,
            has_positional: false,
            failed_rows: 0,
            program: ProgramTotals::default(),
            results: Vec::new(),
            keep_below,
            max_errors: options.max_errors,
            groups: options.group.clone().map(Groups::new),
            files,
            progress: Progress::new(options.progress, source.rows_left()),
            first_error: None,
            too_many_errors: false,
            output_error: None,
        };
        let names = plan.metrics.iter().map(|metric| metric.name.clone());
        Ok(Self {
            names: names.collect(),
            collector: Mutex::new(collector),
            plan,
            thread_rows: Mutex::default(),
            source,
            stop,
            early: None,
            truth,
            observers: Observers::new(&options.observers),
            render,
            has_sides: has_program || options.save_rows,
            store,
            started: Instant::now(),
            manifest,
            options,
        })
    }

    /// Makes the first model calls once the run's files are open. A stop ends them.
    async fn check_models(&self, required: Vec<Requirement>) -> Result<(), EvaluateError> {
        tokio::select! {
            checked = requirements::probe(required) => Ok(checked?),
            () = self.stop.reached(Level::Stopped) => Ok(()),
        }
    }

    fn manifest(
        &self,
        collector: &Collector<G, P>,
        summaries: &[Vec<MetricSummary>],
        ending: &Ending,
        elapsed: Duration,
    ) -> Manifest {
        let usage = collector.program.usage;
        let metrics = || summaries.iter().filter_map(|summaries| summaries.first());
        let judges = metrics().filter(|metric| !metric.judged_by.is_empty());
        let others = metrics().filter(|metric| metric.judged_by_others > 0);
        let costs = RunCosts {
            metrics_cost_msats: metrics()
                .map(|it| it.cost_msats)
                .fold(0, u64::saturating_add),
            program_cost_msats: usage.and_then(|usage| usage.cost_msats),
            program_input_tokens: usage.map(|usage| usage.input_tokens),
            program_output_tokens: usage.map(|usage| usage.output_tokens),
            language_models: None,
        };
        let run = RunManifest {
            rows: collector.rows,
            positional_ids: collector.has_positional,
            failed_rows: collector.failed_rows,
            ending: ending.name().to_owned(),
            data: self.source.data(*ending == Ending::Complete),
            judged_by: judges
                .map(|it| (it.name.clone(), it.judged_by.clone()))
                .collect(),
            judged_by_others: others
                .map(|it| (it.name.clone(), it.judged_by_others))
                .collect(),
            ..self.manifest.run.clone()
        };
        self.manifest.finish(run, &costs, elapsed)
    }

    /// Takes the run by reference, because a worker that could not be cancelled may still use it.
    fn finish(&self) -> Result<EvaluationResult<G, P>, EvaluateError> {
        let stopped = self.stop.is_at(Level::Requested);
        for rows in &*lock(&self.thread_rows) {
            self.record(|collector| lock(rows).add_to(collector));
        }
        if let Some(early) = &self.early {
            let mut line = Lines::default();
            for (index, row) in early.rest(&self.source) {
                self.finished(index, row, &mut line);
            }
        }
        let mut collector = lock(&self.collector);
        // The gate's budget also covers killed runs. It ends with a run over all rows.
        if let Some(store) = &self.store
            && !stopped
            && !collector.is_full()
            && let Err(error) = store.end()
        {
            collector.output_error.get_or_insert(error.into());
        }
        if let Some(error) = self.source.error() {
            collector.files = None;
            return Err(error);
        }
        if collector.rows == 0 && !stopped {
            return Err(EvaluateError::no_rows());
        }
        let mut summaries = collector.summaries();
        let failed_rows = collector.failed_rows;
        let is_whole = !stopped && !collector.too_many_errors;
        let early = self.early.as_ref();
        let early = early.map(|early| early.finish(&mut summaries, failed_rows, is_whole));
        let truth = self.truth.as_ref().filter(|_| is_whole);
        let (truth, notes) = truth
            .map(|truth| truth.finish(&mut summaries))
            .unwrap_or_default();
        let is_decided = early.as_ref().is_some_and(|(_, is_decided)| *is_decided);
        let early = early.map(|(early, _)| early);
        let elapsed = self.started.elapsed();
        let ending = match collector.output_error.take() {
            Some(error) => Ending::OutputFailed(error),
            None if is_decided => Ending::Decided,
            None if collector.too_many_errors => Ending::MaxErrors,
            None if stopped => Ending::Stopped,
            None => Ending::Complete,
        };
        let mut manifest = self.manifest(&collector, &summaries, &ending, elapsed);
        manifest.run.early.clone_from(&early);
        manifest.run.truth = truth;
        collector.write_files(&manifest);
        let output_error = collector.output_error.take();
        let metrics = self.plan.metrics.iter().map(|entry| entry.metric().spec());
        let reads = |spec: MetricSpec<'_>| Vec::from_iter(spec.get_input_fields());
        let mut result = EvaluationResult {
            score: summaries[0][0].score,
            results: collector.take_results(),
            metrics: summaries.into_iter().flatten().collect(),
            program: collector.program,
            rows: collector.rows,
            failed_rows,
            first_error: collector.first_error.take().map(|(_, error)| error),
            ending: output_error.map_or(ending, Ending::OutputFailed),
            elapsed,
            manifest: Box::new(manifest),
            without_group: collector.groups.as_ref().map_or(0, Groups::rows_without),
            early,
            store: self.store.as_ref().map(RunStore::usage),
            reads: metrics.flat_map(reads).collect(),
            observer_error: None,
            unused_mappings: Vec::new(),
            notes,
        };
        if let Some(show_table) = self.options.show_table {
            show_table(&result, self.options.table_rows);
        }
        if !self.options.keep_results {
            result.results = Vec::new();
        }
        Ok(result)
    }
}
