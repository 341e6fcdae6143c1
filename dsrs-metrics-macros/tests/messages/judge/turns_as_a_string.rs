/// Judge whether the last message is polite.
#[judge(turns(of = "assistant"))]
struct Polite {
    #[input(pred)]
    conversation: Trajectory,
    #[output]
    polite: bool,
}
