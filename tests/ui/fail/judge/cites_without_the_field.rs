use dsrs_metrics::prelude::*;

#[judge_output]
struct Support {
    reason: String,
    sources: Vec<u32>,
}

/// Judge which contexts support each statement.
#[judge(score = share(verdicts, |it| it.sources.is_empty()), reasoning = false)]
struct Supported {
    #[input(pred)]
    contexts: Vec<String>,
    #[input(pred)]
    statements: Vec<String>,
    #[output(each = statements, empty = 1.0, cites = contexts)]
    verdicts: Vec<Support>,
}

#[judge_output]
struct Named {
    contexts: Vec<String>,
}

/// Judge which contexts support each statement.
#[judge(score = share(verdicts, |it| it.contexts.is_empty()), reasoning = false)]
struct SupportedByName {
    #[input(pred)]
    contexts: Vec<String>,
    #[input(pred)]
    statements: Vec<String>,
    #[output(each = statements, empty = 1.0, cites = contexts)]
    verdicts: Vec<Named>,
}

fn main() {}
