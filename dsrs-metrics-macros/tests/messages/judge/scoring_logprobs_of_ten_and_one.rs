/// Grade the text.
#[judge(scoring(by = logprobs))]
struct Graded {
    #[input(pred)]
    text: String,
    #[output(range = 0..=10)]
    score: u8,
}
