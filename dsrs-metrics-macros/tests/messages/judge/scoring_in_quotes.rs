/// Say whether it is polite.
#[judge(scoring = "logprobs")]
struct Polite {
    #[input(pred)]
    text: String,
    #[output]
    polite: bool,
}
