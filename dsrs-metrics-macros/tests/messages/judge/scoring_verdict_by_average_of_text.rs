/// Say whether it is polite.
#[judge(scoring(by = text), panel(aggregation = average), threshold = 0.5)]
struct Polite {
    #[input(pred)]
    text: String,
    #[output]
    polite: bool,
}
