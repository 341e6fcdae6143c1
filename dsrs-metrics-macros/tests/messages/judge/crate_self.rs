/// Say whether it is polite.
#[judge(crate = Self)]
struct Polite {
    #[input(pred)]
    text: String,
    #[output]
    polite: bool,
}
