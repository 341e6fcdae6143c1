//! The guide: a tutorial, a page for each task, and reference pages.
//!
//! Start with the [`tutorial`]. Pages on tasks, in an order in which they can be read:
//! [`your_files`], [`write_a_metric`], [`metric_by_hand`], [`service`], [`rows`], [`evaluate`],
//! [`evals`], [`results`], [`composites`], [`judges`],
//! [`models`], [`store`], [`rag`], [`agents`],
//! [`conversations`], [`agreement`], [`scorer`],
//! [`code_and_sandbox`], [`sparql`], [`tracing`]. For users of
//! other libraries: [`coming_from`].
//!
//! Reference: [`command_line`], [`formats`], [`identity`],
//! [`durability`], [`untrusted_input`], [`glossary`]. Other
//! reference pages are with their items: [`metric`](macro@crate::metric), [`judge`](macro@crate::judge), [`eval`](macro@crate::eval),
//! [`judge_output`](macro@crate::judge_output) and [`metrics`](crate::metrics).

// Includes a page. Markdown uses the first definition of a link, so these lead to pages here, and those at the end of
// the page to files of the repository.
macro_rules! pages {
    ($($(#[$summary:meta])* $page:ident: $file:literal $(if $feature:literal)?;)*) => {$(
        $(#[$summary])*
        #[doc = "\n"]
        #[doc = include_str!("guide_links.md")]
        #[doc = "\n"]
        #[cfg_attr(all($(feature = $feature)?), doc = include_str!($file))]
        pub mod $page {}
    )*};
}

pages! {
    /// From an empty folder to a gate in CI.
    tutorial: "../docs/guide/tutorial.md";
    /// Functions as metrics: parameters, return types, errors, verdicts.
    write_a_metric: "../docs/guide/write_a_metric.md";
    /// Metrics with state: `impl Metric`, and rows of your own type.
    metric_by_hand: "../docs/guide/metric_by_hand.md";
    /// One request scored: shared metrics, a timeout, a budget for the process.
    service: "../docs/guide/service.md";
    /// Dynamic rows and typed rows.
    rows: "../docs/guide/rows.md";
    /// Running a program over a devset, and the outcomes of its rows.
    evaluate: "../docs/guide/evaluate.md";
    /// Gates in `cargo test` and in CI.
    evals: "../docs/guide/evals.md";
    /// Several metrics combined into one.
    composites: "../docs/guide/composites.md";
    /// Cheap metrics before expensive ones, within a budget.
    scorer: "../docs/guide/scorer.md";
    /// Metrics that a language model answers.
    judges: "../docs/guide/judges.md";
    /// Providers of language models, their keys and addresses (feature `lm`).
    models: "../docs/guide/models.md" if "lm";
    /// What a run keeps, what a change pays for again, and where the store is (feature `store`).
    store: "../docs/guide/store.md" if "store";
    /// Retrieved contexts and the answers from them, judged statement by statement.
    rag: "../docs/guide/rag.md";
    /// Conversations, judged reply by reply.
    conversations: "../docs/guide/conversations.md";
    /// Trajectories and tool calls of agents.
    agents: "../docs/guide/agents.md";
    /// A metric compared with labels.
    agreement: "../docs/guide/agreement.md";
    /// Result files, and the comparison of two runs.
    results: "../docs/guide/results.md";
    /// A line for each tool whose files can be read (feature `cli`).
    your_files: "../docs/guide/your_files.md" if "cli";
    /// Files of other programs, field by field (feature `formats`).
    formats: "../docs/guide/formats.md" if "formats";
    /// The output of each command for each difference between two runs.
    identity: "../docs/guide/identity.md";
    /// Scores and calls of models as OpenTelemetry events and spans (feature `otel`).
    tracing: "../docs/guide/tracing.md" if "otel";
    /// Interrupted runs, and what every fault does to a run.
    durability: "../docs/guide/durability.md";
    /// The commands `list`, `score`, `agree`, `compare`, `report`, `export` and `accept` (feature `cli`).
    command_line: "../docs/guide/command_line.md" if "cli";
    /// Limits on files and replies of unknown origin.
    untrusted_input: "../docs/guide/untrusted_input.md";
    /// Metrics of code, tool calls and programs.
    code_and_sandbox: "../docs/guide/code_and_sandbox.md";
    /// Metrics of predicted SPARQL queries (feature `sparql`).
    sparql: "../docs/guide/sparql.md" if "sparql";
    /// Metrics, judges and evaluations of DSPy, deepeval and inspect_ai, and what to write here.
    coming_from: "../docs/guide/coming_from.md";
    /// Each term in one sentence, with its page.
    glossary: "../docs/guide/glossary.md";
}
