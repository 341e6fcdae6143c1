use dsrs_metrics::Evaluate;

fn main() {
    let _ = Evaluate::builder().inputs(1);
}
