#!/usr/bin/env python3
"""Runs rust-analyzer on a crate with ten mistakes in attributes, and checks what an editor still knows about it.

    tests/ui/editor.py [--show]    --show prints the diagnostics

Each mistake is in an attribute; below it the crate uses the function, the struct and the builder that the attribute makes.
An editor completes and renames these only if they resolve. The command fails if rust-analyzer reports a name, a type or a
method of a use that does not resolve, or misses a mistake. It needs `rustup component add rust-analyzer`.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
JUDGE = "pub struct %s { #[input(gold)] question: String, #[input(pred)] answer: String, #[output] good: bool }"
# The mistake, and a use of what the attribute makes.
MISTAKES = {
    "an unknown key": (
        "#[metric(treshold = 0.5)]\npub fn short(#[pred] answer: &str, #[param(default = 9)] max: usize) -> f64 { max as f64 / answer.len() as f64 }",
        'short("", 1); let _ = Short::builder().max(3).build(); Short::default()',
    ),
    "a text for a number": (
        '#[metric(threshold = "0.5")]\npub fn long(#[pred] answer: &str, #[param(default = 9)] min: usize) -> f64 { (min + answer.len()) as f64 }',
        'long("", 1); let _ = Long::builder().min(3).build(); Long::default()',
    ),
    "a parameter without a role": (
        "#[metric]\npub fn polite(answer: &str, #[param(default = 1)] times: usize) -> bool { answer.len() > times }",
        'polite("", 1); let _ = Polite::builder().times(3).build(); Polite::default()',
    ),
    "an unknown tier": (
        "#[metric(tier = gold)]\npub fn exact(#[gold] answer: &str, #[pred(\"answer\")] found: &str) -> bool { answer == found }",
        'exact("", ""); Exact::default()',
    ),
    "a cost without a unit": (
        '/// Is the answer right?\n#[judge(cost = "10")]\n' + JUDGE % "Right",
        "let _ = RightJudge::builder().build(); RightJudge::default()",
    ),
    "an unknown key of a judge": (
        '/// Is the answer kind?\n#[judge(costs = "10 msat")]\n' + JUDGE % "Kind",
        "let _ = KindJudge::builder().build(); KindJudge::default()",
    ),
    "weights that are not numbers": (
        "#[metric(weighted(F1 = half, AnswerExactMatch = 0.5))]\npub struct Both;",
        "let _ = Both.name(); Both",
    ),
    "an unknown combinator": (
        "#[metric(average(F1, AnswerExactMatch))]\npub struct Mean;",
        "let _ = Mean.name(); Mean",
    ),
    "a gate without a bound": (
        "#[eval(devset = Vec::<Example>::new(), metrics(F1), gate(f1))]\npub fn program(question: String) -> Prediction { prediction! { \"answer\" => question } }",
        "program(String::new())",
    ),
    "a doubled key": (
        "#[metric(version = 1, version = 2)]\npub fn same(#[pred] answer: &str) -> bool { answer.is_empty() }",
        'same(""); Same::default()',
    ),
}
LINE = re.compile(r"file (\S+): Error (.*?) from LineCol .*?: (.*)$")


def diagnostics(folder):
    """The errors that rust-analyzer reports: file, kind and message."""
    command = ["rust-analyzer", "diagnostics", "--severity", "error", str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder)
    lines = map(LINE.search, (done.stdout + done.stderr).splitlines())
    return [(pathlib.Path(line[1]).name, line[2], line[3]) for line in lines if line]


def main():
    head = "#![allow(dead_code)]\nuse dsrs_metrics::metrics::{AnswerExactMatch, F1};\nuse dsrs_metrics::prelude::*;\n"
    mistakes = "\n".join(mistake for mistake, _ in MISTAKES.values())
    uses = [f"fn use_{index}() {{ let _ = {{ {use} }}; }}" for index, (_, use) in enumerate(MISTAKES.values())]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "src").mkdir()
        (folder / "src/lib.rs").write_text(f"{head}mod uses;\n{mistakes}\n")
        (folder / "src/uses.rs").write_text("\n".join(["use super::*;", *uses, ""]))
        library = f'dsrs-metrics = {{ path = "{ROOT / "dsrs-metrics"}" }}'
        manifest = f'[package]\nname = "mistakes"\nedition = "2024"\n[dependencies]\n{library}\n[workspace]\n'
        (folder / "Cargo.toml").write_text(manifest)
        (folder / "Cargo.lock").write_text((ROOT / "Cargo.lock").read_text())
        found = diagnostics(folder)
    reported = [(kind, message) for file, kind, message in found if file == "lib.rs"]
    unresolved = [(kind, message) for file, kind, message in found if file == "uses.rs"]
    if "--show" in sys.argv:
        print("\n".join(f"{kind}: {message}" for kind, message in reported))
    print(f"{len(reported)} errors for {len(MISTAKES)} mistakes, {len(unresolved)} in uses of what the attributes make")
    for kind, message in unresolved:
        print(f"does not resolve: {kind}: {message}")
    sys.exit(len(reported) != len(MISTAKES) or bool(unresolved))


if __name__ == "__main__":
    main()
