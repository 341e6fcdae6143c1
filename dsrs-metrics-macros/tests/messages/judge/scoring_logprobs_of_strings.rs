/// Grade the text.
#[judge(score = grade.len() as f64, scoring(by = logprobs))]
struct Graded {
    #[input(pred)]
    text: String,
    #[output]
    grade: String,
}
