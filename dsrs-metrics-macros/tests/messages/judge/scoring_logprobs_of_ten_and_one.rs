/// Grade the text.
#[judge(scoring = logprobs)]
struct Graded {
    #[input(pred)]
    text: String,
    #[output(range = 0..=10)]
    score: u8,
}
