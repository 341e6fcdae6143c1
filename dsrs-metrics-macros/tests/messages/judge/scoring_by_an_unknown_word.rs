/// Say whether it is polite.
#[judge(scoring(by = probabilities))]
struct Polite {
    #[input(pred)]
    text: String,
    #[output]
    polite: bool,
}
