/// Judge the words.
#[judge(score = share(good, |it| it), scoring(by = logprobs))]
struct Words {
    #[input(pred)]
    words: Vec<String>,
    #[output(each = words, empty = abstain)]
    good: Vec<bool>,
}
