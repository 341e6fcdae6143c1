/// Judge the answer.
#[judge(score = share(verdicts, |it| it))]
struct Supported {
    #[input(pred)]
    answer: String,
    /// Write the statements.
    #[step(from(answer))]
    statements: Vec<String>,
    /// Judge each.
    #[step(from(answer), each = statements, empty = 1.0)]
    grades: Vec<u8>,
    #[output(each = statements, empty = 1.0)]
    verdicts: Vec<bool>,
}
