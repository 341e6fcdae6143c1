use dsrs_metrics::prelude::*;

#[judge_output]
struct Verdict {
    supported: bool,
}

/// Judge the answer.
#[judge(score = share(verdicts, |it| it.suported), range = 0.0..=1.0)]
struct Supported {
    #[input(pred)]
    answer: String,
    /// Write the statements.
    #[step(from(answer))]
    statements: Vec<String>,
    #[output(each = statements, empty = 1.0)]
    verdicts: Vec<Verdict>,
}

fn main() {}
