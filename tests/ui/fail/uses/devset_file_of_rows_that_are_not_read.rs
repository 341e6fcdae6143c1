use dsrs_metrics::Evaluate;

struct Question;

fn main() {
    let _ = Evaluate::<Question, f64>::typed().devset("dev.jsonl");
}
