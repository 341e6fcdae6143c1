/// Say whether it is polite.
#[judge(scoring(by = draws))]
struct Polite {
    #[input(pred)]
    text: String,
    #[output]
    polite: bool,
}
