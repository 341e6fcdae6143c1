/// Judge the answer.
#[judge(score = share(verdicts, |it| it))]
struct Supported {
    #[input(pred)]
    answer: String,
    #[input(trace)]
    trace: Trace,
    #[output(each = trace, empty = 1.0)]
    verdicts: Vec<bool>,
}
