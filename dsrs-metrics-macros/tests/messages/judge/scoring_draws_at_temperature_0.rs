/// Say whether it is polite.
#[judge(scoring(by = draws(20), temperature = 0.0))]
struct Polite {
    #[input(pred)]
    text: String,
    #[output]
    polite: bool,
}
