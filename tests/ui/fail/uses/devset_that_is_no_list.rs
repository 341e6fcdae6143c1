use dsrs_metrics::Evaluate;

fn main() {
    let _ = Evaluate::builder().devset(5);
}
