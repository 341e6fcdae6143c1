/// Grade the text.
#[judge(scoring(by = logprobs), range = 0..=9)]
struct Graded {
    #[input(pred)]
    text: String,
    #[output]
    score: u8,
}
