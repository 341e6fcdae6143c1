/// Judge which contexts support each statement.
#[judge(score = share(verdicts, |it| it.is_supported()))]
struct Supported {
    #[input(pred)]
    answer: String,
    #[input(pred)]
    contexts: Vec<String>,
    /// Write the statements.
    #[step(from(answer))]
    statements: Vec<String>,
    #[output(each = statements, empty = 1.0, cites = "contexts")]
    verdicts: Vec<Support>,
}
