/// Judge the answer.
#[judge(score = share(verdicts, |it| it))]
struct Supported {
    #[input(pred)]
    answer: String,
    /// Write the statements.
    #[step(from(answer))]
    statements: Vec<String>,
    #[output(each = statements, empty = 1.0)]
    verdicts: Vec<bool>,
    #[output(each = verdicts, empty = 1.0)]
    reasons: Vec<String>,
}
