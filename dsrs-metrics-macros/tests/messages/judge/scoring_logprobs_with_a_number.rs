/// Say whether it is polite.
#[judge(scoring(by = logprobs(20)))]
struct Polite {
    #[input(pred)]
    text: String,
    #[output]
    polite: bool,
}
