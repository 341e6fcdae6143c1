/// Judge whether the last message is polite.
#[judge(turns(of = assistant, window = 0))]
struct Polite {
    #[input(pred)]
    conversation: Trajectory,
    #[output]
    polite: bool,
}
