/// Say whether it is polite.
#[judge(scoring(by = "logprobs"))]
struct Polite {
    #[input(pred)]
    text: String,
    #[output]
    polite: bool,
}
