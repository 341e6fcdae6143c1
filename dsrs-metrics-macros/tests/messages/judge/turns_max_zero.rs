/// Judge whether the last message is polite.
#[judge(turns(of = user, max = 0))]
struct Polite {
    #[input(pred)]
    conversation: Trajectory,
    #[output]
    polite: bool,
}
