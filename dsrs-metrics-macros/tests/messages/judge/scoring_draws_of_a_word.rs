/// Say whether it is polite.
#[judge(scoring = draws(many))]
struct Polite {
    #[input(pred)]
    text: String,
    #[output]
    polite: bool,
}
