/// Judge the answer.
#[judge(score = share(verdicts, |it| it))]
struct Supported {
    #[input(pred)]
    answer: String,
    #[param(default = 1)]
    strictness: u8,
    /// Write the statements.
    #[step(from(answer, strictness))]
    statements: Vec<String>,
    #[output(each = statements, empty = 1.0)]
    verdicts: Vec<bool>,
}
