/// Judge the answer.
#[judge(score = topics.len() as f64)]
struct Supported {
    #[input(pred)]
    answer: String,
    /// Write the statements.
    #[step(from(answer))]
    statements: Vec<String>,
    #[output(max_items = 3)]
    topics: Vec<String>,
}
