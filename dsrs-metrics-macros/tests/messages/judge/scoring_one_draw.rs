/// Say whether it is polite.
#[judge(scoring(by = draws(1)))]
struct Polite {
    #[input(pred)]
    text: String,
    #[output]
    polite: bool,
}
