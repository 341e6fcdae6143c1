/// Judge the answer.
#[judge(score = share(verdicts, |it| it))]
struct Supported {
    #[input(pred)]
    answer: String,
    #[output(each = statements, empty = 1.0)]
    verdicts: Vec<bool>,
    /// Write the statements.
    #[step(from(answer))]
    statements: Vec<String>,
}
