/// Judge the answer.
#[judge]
struct Polite {
    #[input(pred)]
    answer: String,
    #[param(default = 1.0, in_prompt = no)]
    beta: f64,
    #[output]
    polite: bool,
}
