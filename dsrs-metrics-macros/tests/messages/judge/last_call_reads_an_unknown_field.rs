/// Judge the answer.
#[judge(score = share(verdicts, |it| it), from(statement))]
struct Supported {
    #[input(gold)]
    question: String,
    #[input(pred)]
    answer: String,
    /// Write the statements.
    #[step(from(answer))]
    statements: Vec<String>,
    #[output(each = statements, empty = 1.0)]
    verdicts: Vec<bool>,
}
