/// Grade the text.
#[judge(score = grade, scoring(by = logprobs))]
struct Graded {
    #[input(pred)]
    text: String,
    #[output(range = 1..=5)]
    grade: u8,
    #[output]
    is_polite: bool,
    #[output]
    comment: String,
}
