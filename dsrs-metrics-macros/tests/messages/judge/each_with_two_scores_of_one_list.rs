/// Judge the answer.
#[judge(score = share(verdicts, |it| it))]
struct Supported {
    #[input(pred)]
    answer: String,
    /// Write the statements.
    #[step(from(answer))]
    statements: Vec<String>,
    /// Name the topic of each statement.
    #[step(from(statements), each = statements, empty = 0.0)]
    topics: Vec<String>,
    #[output(each = statements, empty = 1.0)]
    verdicts: Vec<bool>,
}
