/// Judge the answer.
#[judge(score = share(verdicts, |it| it))]
struct Supported {
    #[input(pred)]
    answer: String,
    #[param]
    aspects: Vec<String>,
    #[output(each = aspects, empty = 1.0)]
    verdicts: Vec<bool>,
}
