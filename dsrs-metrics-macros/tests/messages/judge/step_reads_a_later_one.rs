/// Judge the answer.
#[judge(score = share(verdicts, |it| it))]
struct Supported {
    #[input(pred)]
    answer: String,
    /// Write the claims.
    #[step(from(statements))]
    claims: Vec<String>,
    /// Write the statements.
    #[step(from(answer))]
    statements: Vec<String>,
    #[output(each = statements, empty = 1.0)]
    verdicts: Vec<bool>,
}
