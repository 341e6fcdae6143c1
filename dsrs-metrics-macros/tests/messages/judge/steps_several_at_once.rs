/// Judge the answer.
#[judge(score = share(verdicts, |it| it), range = 0.0..=1.0, cost = "100 msat")]
struct Supported {
    #[input(pred)]
    answer: String,
    #[step(from(anwser), max_items = 0)]
    statements: Vec<String>,
    /// Name the topic.
    #[step(from(claims), cost = "150 msat")]
    topic: String,
    #[output(each = topic, empty = 2.0)]
    verdicts: bool,
}
