/// Say whether it is polite.
#[judge(scoring = draws(1))]
struct Polite {
    #[input(pred)]
    text: String,
    #[output]
    polite: bool,
}
