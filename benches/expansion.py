#!/usr/bin/env python3
"""What an item of each attribute costs in `cargo check`, beside a metric that is written by hand.

    benches/expansion.py [COUNT] [RUNS]    default: 200 items, the best of 5 runs
    benches/expansion.py edit [COUNT]      default: 200 judges

Prints the CPU time of an item (of rustc alone: the time with COUNT items less the time with none, divided by COUNT), its
ratio to a hand-written `impl Metric`, and the bytes of its expansion. With `edit` it prints the CPU time of an incremental
check after the edit of one of COUNT judges, beside a check from nothing and one without a change.
"""

import os
import pathlib
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/ui"))

from mistakes import libraries

HEAD = "#![allow(dead_code, unused_imports)]\nuse dsrs_metrics::prelude::*;\nuse dsrs_metrics::metrics::{AnswerExactMatch, F1};\n"
BY_HAND = """pub struct ByHand%n;
#[async_trait]
impl Metric<Example, Prediction> for ByHand%n {
    fn name(&self) -> &str { "by_hand_%n" }
    async fn evaluate(&self, gold: &Example, pred: &Prediction) -> dsrs_metrics::Result<MetricScore> {
        let text = |value: Option<&serde_json::Value>| value.and_then(|value| value.as_str()).map(str::to_owned);
        let (Some(expected), Some(answer)) = (text(gold.get("expected")), text(pred.get("answer"))) else {
            return Ok(MetricScore::new(0.0));
        };
        Ok(MetricScore::new(f64::from(u8::from(expected == answer))))
    }
}
"""
ITEMS = {
    "by hand": BY_HAND,
    "#[metric], 2 fields": "#[metric]\npub fn metric_%n(#[gold] expected: &str, #[pred] answer: &str) -> bool { expected == answer }\n",
    "#[metric], 2 parameters": "#[metric]\npub fn tuned_%n(#[gold] expected: &str, #[pred] answer: &str, #[param(default = 3)] limit: usize, #[param(default = false)] folded: bool) -> bool { expected == answer && answer.len() < limit && folded }\n",
    "#[judge]": '/// Is the answer right?\n#[judge(cost = "10 msat")]\npub struct Right%n { #[input(gold)] question: String, #[input(pred)] answer: String, #[output] good: bool }\n',
    "composite of 2": "#[metric(weighted(F1 = 0.5, AnswerExactMatch = 0.5))]\npub struct Both%n;\n",
    "#[eval]": '#[eval(devset = Vec::<Example>::new(), metrics(F1), gate(f1 >= 0.8))]\npub fn program_%n(question: String) -> Prediction { prediction! { "answer" => question } }\n',
}


def rustc(source, files, folder, more=()):
    file = folder / "lib.rs"
    file.write_text(source)
    library = pathlib.Path(files["dsrs_metrics"])
    command = ["rustc", "--edition=2024", "--crate-type=lib", "--emit=metadata", f"--out-dir={folder}", str(file), *more]
    command += ["--extern", f"dsrs_metrics={library}", "-L", f"dependency={library.parent}"]
    for other in ("serde", "serde_json", "tokio"):
        command += ["--extern", f"{other}={files[other]}"]
    env = dict(os.environ, CARGO_MANIFEST_DIR=str(folder), CARGO_PKG_NAME="expansion", RUSTC_BOOTSTRAP="1")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, env=env, check=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def source(item, count):
    return HEAD + "".join(item.replace("%n", str(number)) for number in range(count))


def edit(count):
    files = libraries("")
    judges = [ITEMS["#[judge]"].replace("%n", str(number)) for number in range(count)]
    middle = count // 2
    of_text = lambda text: [*judges[:middle], judges[middle].replace("Is the answer right?", text), *judges[middle + 1 :]]
    steps = {
        "from nothing": judges,
        "without a change": judges,
        "one judge's text": of_text("Is the answer true?"),
        "one judge's text, and a line more": of_text("Is it true?\n/// Or false?"),
        "one judge more": [*of_text("Is it true?\n/// Or false?"), ITEMS["#[judge]"].replace("%n", "Last")],
    }
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for step, items in steps.items():
            seconds, _ = rustc(HEAD + "".join(items), files, folder, [f"-Cincremental={folder}/incremental"])
            print(f"{step:34} {seconds:6.2f} s")


def main():
    if sys.argv[1:2] == ["edit"]:
        return edit(int((sys.argv[2:] + ["200"])[0]))
    count, runs = (int(argument) for argument in (sys.argv[1:] + ["200", "5"][len(sys.argv) - 1 :])[:2])
    files = libraries("")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        is_test = lambda name: ["--test"] if name == "#[eval]" else []
        best = {}
        for _ in range(runs):
            for name, item in ITEMS.items():
                none = rustc(source(item, 0), files, folder, is_test(name))[0]
                all_of_them = rustc(source(item, count), files, folder, is_test(name))[0]
                best[name] = min(best.get(name, 1e9), (all_of_them - none) / count)
        print(f"{'an item of':26} {'ms':>7} {'ratio':>6} {'bytes':>7}")
        for name, item in ITEMS.items():
            length = lambda count: len(rustc(source(item, count), files, folder, [*is_test(name), "-Zunpretty=expanded"])[1])
            print(f"{name:26} {best[name] * 1e3:7.2f} {best[name] / best['by hand']:6.1f} {length(11) - length(10):7}")


if __name__ == "__main__":
    main()
