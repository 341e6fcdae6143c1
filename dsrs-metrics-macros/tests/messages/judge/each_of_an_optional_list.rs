/// Judge the answer.
#[judge(score = share(verdicts, |it| it))]
struct Supported {
    #[input(pred)]
    contexts: Option<Vec<String>>,
    #[output(each = contexts, empty = 1.0)]
    verdicts: Vec<bool>,
}
