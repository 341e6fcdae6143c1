/// Grade the text.
#[judge(scoring = logprobs, range = 0..=9)]
struct Graded {
    #[input(pred)]
    text: String,
    #[output]
    score: u8,
}
