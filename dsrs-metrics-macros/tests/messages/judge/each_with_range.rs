/// Judge the answer.
#[judge(score = share(grades, |it| it > 0.5))]
struct Supported {
    #[input(pred)]
    answer: String,
    /// Write the statements.
    #[step(from(answer))]
    statements: Vec<String>,
    #[output(each = statements, empty = 1.0, range = 0.0..=1.0)]
    grades: Vec<f64>,
}
