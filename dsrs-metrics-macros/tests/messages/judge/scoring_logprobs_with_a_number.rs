/// Say whether it is polite.
#[judge(scoring = logprobs(20))]
struct Polite {
    #[input(pred)]
    text: String,
    #[output]
    polite: bool,
}
