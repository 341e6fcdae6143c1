/// Judge the answer.
#[judge(score = share(verdicts, |it| it))]
struct Supported {
    #[input(pred)]
    answer: String,
    /// Write the topic.
    #[step(from(answer), max_items = 3)]
    topic: String,
    /// Write the statements.
    #[step(from(answer))]
    statements: Vec<String>,
    #[output(each = statements, empty = 1.0)]
    verdicts: Vec<bool>,
}
