use dsrs_metrics::prelude::*;

fn main() {
    let prediction = prediction! { "answer" => "Paris" };
    let _ = prediction.get("answer", None);
}
