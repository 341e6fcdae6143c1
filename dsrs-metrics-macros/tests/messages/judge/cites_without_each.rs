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
    #[output(cites = contexts)]
    verdicts: Vec<Support>,
}
