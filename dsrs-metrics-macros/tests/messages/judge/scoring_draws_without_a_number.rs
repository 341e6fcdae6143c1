/// Say whether it is polite.
#[judge(scoring = draws)]
struct Polite {
    #[input(pred)]
    text: String,
    #[output]
    polite: bool,
}
