/// Judge the answer.
#[judge(score = share(verdicts, |it| it == "true"))]
struct Supported {
    #[input(pred)]
    answer: String,
    /// Write the statements.
    #[step(from(answer))]
    statements: Vec<String>,
    #[output(each = statements, empty = 1.0, labels = ["true", "false"])]
    verdicts: Vec<String>,
}
