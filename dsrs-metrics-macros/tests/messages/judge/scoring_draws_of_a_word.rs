/// Say whether it is polite.
#[judge(scoring(by = draws(many)))]
struct Polite {
    #[input(pred)]
    text: String,
    #[output]
    polite: bool,
}
