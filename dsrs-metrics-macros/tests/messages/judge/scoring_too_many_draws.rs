/// Say whether it is polite.
#[judge(scoring(by = draws(5000000000)))]
struct Polite {
    #[input(pred)]
    text: String,
    #[output]
    polite: bool,
}
