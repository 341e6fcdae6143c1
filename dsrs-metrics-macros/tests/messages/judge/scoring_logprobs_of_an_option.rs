/// Say whether it is polite.
#[judge(score = polite.is_some(), scoring(by = logprobs))]
struct Polite {
    #[input(pred)]
    text: String,
    #[output]
    polite: Option<bool>,
}
