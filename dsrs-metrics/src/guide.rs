//! The guide: a tutorial, a page for each task, and reference pages.
//!
//! Start with the [`tutorial`]. Each of the following pages explains one task; this is a good order to read them in:
//! [`your_files`], [`write_a_metric`], [`metric_by_hand`], [`service`], [`rows`], [`evaluate`], [`evals`], [`results`],
//! [`composites`], [`judges`], [`models`], [`store`], [`rag`], [`agents`], [`conversations`], [`agreement`],
//! [`scorer`], [`code_and_sandbox`], [`sparql`], [`tracing`]. If you come from another library, see [`coming_from`].
//!
//! For reference, see [`command_line`], [`formats`], [`identity`], [`durability`], [`untrusted_input`] and
//! [`glossary`], and the documentation of [`metric`](macro@crate::metric), [`judge`](macro@crate::judge),
//! [`eval`](macro@crate::eval), [`judge_output`](macro@crate::judge_output) and [`metrics`](crate::metrics).

// Includes a page. If a link is defined twice, Markdown uses the first definition. The definitions in `guide_links.md`
// come first, so links lead to pages here; on GitHub, the definitions at the end of a page lead to files in the
// repository.
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
    /// Go from an empty folder to a gate in CI.
    tutorial: "../docs/guide/tutorial.md";
    /// Turn a function into a metric: parameters, return types, errors, verdicts.
    write_a_metric: "../docs/guide/write_a_metric.md";
    /// Metrics with state: `impl Metric`, and rows of your own type.
    metric_by_hand: "../docs/guide/metric_by_hand.md";
    /// Score requests in a service: shared metrics, a timeout, a budget for the process.
    service: "../docs/guide/service.md";
    /// Use dynamic or typed rows.
    rows: "../docs/guide/rows.md";
    /// Run a program over a devset and see the outcome of each row.
    evaluate: "../docs/guide/evaluate.md";
    /// Set gates in `cargo test` and in CI.
    evals: "../docs/guide/evals.md";
    /// Combine several metrics into one.
    composites: "../docs/guide/composites.md";
    /// Run cheap metrics before expensive ones, within a budget.
    scorer: "../docs/guide/scorer.md";
    /// Metrics that ask a language model.
    judges: "../docs/guide/judges.md";
    /// Set up language model providers, with their keys and addresses (feature `lm`).
    models: "../docs/guide/models.md" if "lm";
    /// What a run stores, what you pay for again after a change, and where the store is located (feature `store`).
    store: "../docs/guide/store.md" if "store";
    /// Judge retrieved contexts, and answers based on them, statement by statement.
    rag: "../docs/guide/rag.md";
    /// Judge conversations reply by reply.
    conversations: "../docs/guide/conversations.md";
    /// Evaluate the trajectories and tool calls of agents.
    agents: "../docs/guide/agents.md";
    /// Compare a metric with labels.
    agreement: "../docs/guide/agreement.md";
    /// Result files, and how to compare two runs with them.
    results: "../docs/guide/results.md";
    /// The command to use for each tool whose files the command line can read (feature `cli`).
    your_files: "../docs/guide/your_files.md" if "cli";
    /// How files from other programs are converted, field by field (feature `formats`).
    formats: "../docs/guide/formats.md" if "formats";
    /// What each command prints when two runs differ in some way.
    identity: "../docs/guide/identity.md";
    /// Send scores and model calls as OpenTelemetry events and spans (feature `otel`).
    tracing: "../docs/guide/tracing.md" if "otel";
    /// Interrupted runs, and what each kind of fault does to a run.
    durability: "../docs/guide/durability.md";
    /// The commands `list`, `score`, `agree`, `compare`, `report`, `export` and `accept` (feature `cli`).
    command_line: "../docs/guide/command_line.md" if "cli";
    /// How files and replies that you don't trust are limited.
    untrusted_input: "../docs/guide/untrusted_input.md";
    /// Metrics for code, tool calls and programs.
    code_and_sandbox: "../docs/guide/code_and_sandbox.md";
    /// Metrics for predicted SPARQL queries (feature `sparql`).
    sparql: "../docs/guide/sparql.md" if "sparql";
    /// Metrics, judges and evaluations in DSPy, deepeval and inspect_ai, and what to write here instead.
    coming_from: "../docs/guide/coming_from.md";
    /// Explains each term in one sentence, with a link to its page.
    glossary: "../docs/guide/glossary.md";
}

/// The examples in the README and in the comparison page.
#[cfg(doctest)]
mod repository {
    #[doc = include_str!("../README.md")]
    mod readme {}
    #[doc = include_str!("../COMPARE.md")]
    mod compare {}
}
