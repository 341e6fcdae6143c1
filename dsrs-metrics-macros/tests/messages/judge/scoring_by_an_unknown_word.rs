/// Say whether it is polite.
#[judge(scoring = probabilities)]
struct Polite {
    #[input(pred)]
    text: String,
    #[output]
    polite: bool,
}
