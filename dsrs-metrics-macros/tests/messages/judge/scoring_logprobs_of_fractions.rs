/// Grade the text.
#[judge(scoring(by = logprobs))]
struct Graded {
    #[input(pred)]
    text: String,
    #[output(range = 0.0..=1.0)]
    score: f64,
}
