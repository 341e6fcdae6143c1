/// Grade the text.
#[judge(score = grade.len() as f64, scoring = logprobs)]
struct Graded {
    #[input(pred)]
    text: String,
    #[output]
    grade: String,
}
