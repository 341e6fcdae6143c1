/// Say whether it is polite.
#[judge(scoring = text, aggregation = average, threshold = 0.5)]
struct Polite {
    #[input(pred)]
    text: String,
    #[output]
    polite: bool,
}
