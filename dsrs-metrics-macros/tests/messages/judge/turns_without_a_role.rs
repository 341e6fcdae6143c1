/// Judge whether the last message is polite.
#[judge(turns(window = 10, max = 5, reduce = mean))]
struct Polite {
    #[input(pred)]
    conversation: Trajectory,
    #[output]
    polite: bool,
}
