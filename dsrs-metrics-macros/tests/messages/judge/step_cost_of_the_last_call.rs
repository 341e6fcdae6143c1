/// Judge the answer.
#[judge(score = share(verdicts, |it| it), cost = "300 msat")]
struct Supported {
    #[input(pred)]
    answer: String,
    /// Write the statements.
    #[step(from(answer))]
    statements: Vec<String>,
    #[output(each = statements, empty = 1.0, cost = "100 msat")]
    verdicts: Vec<bool>,
}
