//! What is evaluated and paid for again after a change: exactly what depends on it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dsrs_metrics::Evaluate;
use dsrs_metrics::contract::MetricFile;
use dsrs_metrics::lm::{LmRequest, ScriptedLm};
use dsrs_metrics::optimizers::MetricScore;
use dsrs_metrics::prelude::*;
use dsrs_metrics::runs::EvaluateBuilder;

/// Is the answer polite?
#[judge(reasoning = false)]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output(range = 0.0..=1.0)]
    score: f64,
}

/// Is the answer kind?
#[judge(name = "polite", reasoning = false)]
struct Kind {
    #[input(pred)]
    answer: String,
    #[output(range = 0.0..=1.0)]
    score: f64,
}

/// Is the answer polite?
#[judge(name = "polite", reasoning = false, scoring(temperature = 1.0))]
struct Warm {
    #[input(pred)]
    answer: String,
    #[output(range = 0.0..=1.0)]
    score: f64,
}

/// The calls of [`Dear`] and [`Dearer`].
static DEAR: AtomicU64 = AtomicU64::new(0);

/// A function with a price.
#[metric(cost = "3 msat")]
fn dear(#[pred] answer: &str) -> bool {
    DEAR.fetch_add(1, Ordering::SeqCst);
    answer.len() > 20
}

/// The same with other code.
#[metric(name = "dear", cost = "3 msat")]
fn dearer(#[pred] answer: &str) -> bool {
    DEAR.fetch_add(1, Ordering::SeqCst);
    answer.len() > 21
}

/// The calls of one run.
#[derive(Default)]
struct Calls {
    program: AtomicU64,
    service: AtomicU64,
}

/// A service with a price, written by hand: with a version, a parameter, and a file that it reads.
struct Service {
    calls: Arc<Calls>,
    version: &'static str,
    weight: f64,
    words: PathBuf,
}

#[async_trait]
impl Metric for Service {
    fn name(&self) -> &str {
        "service"
    }

    fn spec(&self) -> MetricSpec<'_> {
        MetricSpec::new("service")
            .with_version(self.version)
            .with_cost_msats(9)
            .with_async()
    }

    fn parameters(&self, all: &mut Vec<(String, String)>) {
        all.push(("Service.weight".to_owned(), self.weight.to_string()));
    }

    fn files(&self, all: &mut Vec<MetricFile>) {
        all.push(MetricFile::new("Service.words", &self.words));
    }

    async fn evaluate(&self, gold: &Example, _: &Prediction) -> dsrs_metrics::Result<MetricScore> {
        self.calls.service.fetch_add(1, Ordering::SeqCst);
        let words = fs::read_to_string(&self.words).unwrap();
        let number = gold
            .get("number")
            .and_then(serde_json::Value::as_f64)
            .unwrap();
        Ok(MetricScore::new(self.weight * number / (10 + words.len()) as f64).with_cost_msats(9))
    }
}

/// One setup of a run.
#[derive(Clone)]
struct Setup {
    rows: Vec<Example>,
    version: &'static str,
    weight: f64,
    judge: &'static str,
    has_other_code: bool,
    model: &'static str,
    program: Option<&'static str>,
    repeats: u32,
    words: PathBuf,
}

impl Setup {
    fn new(dir: &Path) -> Self {
        let rows = (0..6).map(row).collect();
        let words = dir.join("words.txt");
        fs::write(&words, "one\n").unwrap();
        Self {
            rows,
            version: "1",
            weight: 0.5,
            judge: "polite",
            has_other_code: false,
            model: "p:m",
            program: Some("1"),
            repeats: 3,
            words,
        }
    }

    /// Runs with a store, or an empty one. Returns the calls of program, service, function and judge, and the result file.
    async fn run(&self, store: &Path, out: &Path) -> ([u64; 4], Vec<u8>) {
        let calls = Arc::new(Calls::default());
        let reply = |request: &LmRequest| {
            let length = request
                .messages
                .iter()
                .map(|message| message.content.len())
                .sum::<usize>();
            format!("{{\"score\": {}}}", (length % 11) as f64 / 10.0)
        };
        let lm = Arc::new(ScriptedLm::new().named(self.model).otherwise(reply).cost(5));
        let service = Service {
            calls: Arc::clone(&calls),
            version: self.version,
            weight: self.weight,
            words: self.words.clone(),
        };
        let evaluate: EvaluateBuilder<Example, Prediction> = Evaluate::builder();
        let evaluate = evaluate
            .devset(self.rows.clone())
            .inputs(["question"])
            .metric(service);
        let lm_of_judge = Arc::clone(&lm);
        let evaluate = match self.judge {
            "polite" => evaluate.metric(PoliteJudge::default().with_lm(lm_of_judge)),
            "kind" => evaluate.metric(KindJudge::default().with_lm(lm_of_judge)),
            _ => evaluate.metric(WarmJudge::default().with_lm(lm_of_judge)),
        };
        let evaluate = match self.has_other_code {
            false => evaluate.metric(Dear),
            true => evaluate.metric(Dearer),
        };
        let evaluate = match self.program {
            Some(version) => evaluate.models(|models| models.program_version(version)),
            None => evaluate,
        };
        let counted = Arc::clone(&calls);
        let program = move |inputs: Example| {
            counted.program.fetch_add(1, Ordering::SeqCst);
            let question = inputs
                .get("question")
                .and_then(|it| it.as_str())
                .unwrap()
                .to_owned();
            async move {
                prediction! { "answer" => format!("{question}, please") }
            }
        };
        let evaluate = evaluate
            .repeats(self.repeats)
            .models(|models| models.store(store))
            .files(|files| files.jsonl(out));
        let result = evaluate.run(program).await.unwrap();
        assert_eq!(result.failed_rows, 0, "{result}");
        let [program, service] =
            [&calls.program, &calls.service].map(|it| it.load(Ordering::SeqCst));
        (
            [program, service, DEAR.swap(0, Ordering::SeqCst), lm.calls()],
            fs::read(out).unwrap(),
        )
    }
}

fn row(number: u64) -> Example {
    question(number, &format!("What is {number}?"))
}

fn question(number: u64, question: &str) -> Example {
    example! { "number" => number, "question" => question }
}

/// Six rows with three repeats: 18 calls of the program, of each metric and of the judge.
#[tokio::test]
async fn a_change_pays_for_what_depends_on_it() {
    type Change = fn(&mut Setup);
    let changes: [(&str, Change, [u64; 4]); 15] = [
        ("nothing", |_| {}, [0, 0, 0, 0]),
        (
            "input of a row",
            |it| it.rows[2] = question(2, "Two?"),
            [3, 3, 3, 3],
        ),
        (
            "gold of a row",
            |it| it.rows[2] = question(7, "What is 2?"),
            [0, 3, 3, 0],
        ),
        ("version of a metric", |it| it.version = "2", [0, 18, 0, 0]),
        (
            "code of a metric",
            |it| it.has_other_code = true,
            [0, 0, 18, 0],
        ),
        ("parameter", |it| it.weight = 0.25, [0, 18, 0, 0]),
        ("prompt of the judge", |it| it.judge = "kind", [0, 0, 0, 18]),
        ("model", |it| it.model = "p:other", [0, 0, 0, 18]),
        ("temperature", |it| it.judge = "warm", [0, 0, 0, 18]),
        (
            "file of a metric",
            |it| fs::write(&it.words, "one\ntwo\n").unwrap(),
            [0, 18, 0, 0],
        ),
        (
            "version of the program",
            |it| it.program = Some("2"),
            [18, 0, 0, 0],
        ),
        ("no version", |it| it.program = None, [18, 0, 0, 0]),
        ("repeats 3 to 5", |it| it.repeats = 5, [12, 12, 12, 12]),
        ("row added", |it| it.rows.push(row(6)), [3, 3, 3, 3]),
        ("row removed", |it| drop(it.rows.remove(1)), [0, 0, 0, 0]),
    ];
    let dir = tempfile::tempdir().unwrap();
    println!("{:24} program  service  function  judge", "change");
    for (number, (name, change, expected)) in changes.into_iter().enumerate() {
        let store = dir.path().join(format!("store-{number}"));
        let out = dir.path().join("out.jsonl");
        let mut setup = Setup::new(dir.path());
        let (calls, _) = setup.run(&store, &out).await;
        assert_eq!(calls, [18; 4], "with an empty store");
        change(&mut setup);
        let (calls, found) = setup.run(&store, &out).await;
        println!(
            "{name:24} {:7}  {:7}  {:8}  {:5}",
            calls[0], calls[1], calls[2], calls[3]
        );
        assert_eq!(calls, expected, "{name}");
        let (_, empty) = setup
            .run(&dir.path().join(format!("empty-{number}")), &out)
            .await;
        assert_eq!(String::from_utf8(found), String::from_utf8(empty), "{name}");
    }
}
