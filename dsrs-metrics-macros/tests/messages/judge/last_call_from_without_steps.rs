/// Judge the answer.
#[judge(from(answer))]
struct Polite {
    #[input(gold)]
    question: String,
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}
