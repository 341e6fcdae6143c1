//! `generate`: the completions work in a shell, and the manual pages have the options.

use std::process::Command;

use insta::assert_snapshot;

use crate::{Folder, Ran, Words as _, scorer};

fn generate(args: &str) -> Ran {
    Ran::from(
        scorer()
            .arg("generate")
            .args(args.words())
            .output()
            .unwrap(),
    )
}

/// The words that bash completes at the end of these words.
fn completed(script: &str, words: &[&str]) -> Vec<String> {
    let folder = Folder::with("completions", script);
    // What bash does when the tabulator key is pressed.
    let press = r#"
        source completions
        [[ "$(complete -p scorer)" =~ -F\ ([^ ]+) ]]
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        "${BASH_REMATCH[1]}" scorer "${!#}" "${@:$#-1:1}"
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", press, "bash"])
        .args(words)
        .current_dir(folder.path(""));
    let output = bash.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

#[test]
fn bash_completes_commands_options_and_values_of_the_program() {
    let script = generate("complete-bash");
    assert_eq!((script.code, &*script.err), (Some(0), ""));
    assert_eq!(completed(&script.out, &["scorer", "sc"]), ["score"]);
    assert_eq!(
        completed(&script.out, &["scorer", "score", "--fail-u"]),
        ["--fail-under"]
    );
    assert_eq!(
        completed(&script.out, &["scorer", "score", "--format", ""]),
        ["jsonl", "json", "csv", "parquet", "text"]
    );
}

#[test]
fn each_shell_has_a_script_of_its_own_for_the_name_of_the_program() {
    for (shell, first) in [
        ("complete-elvish", "\nuse builtin;"),
        ("complete-fish", "# Print an optspec for argparse"),
        (
            "complete-powershell",
            "\nusing namespace System.Management.Automation\n",
        ),
        ("complete-zsh", "#compdef scorer\n"),
    ] {
        let script = generate(shell);
        assert_eq!((script.code, &*script.err), (Some(0), ""), "{shell}");
        assert!(
            script.out.starts_with(first),
            "{shell}: {}",
            &script.out[..200]
        );
        assert!(
            script.out.contains("fail-under") && script.out.contains("scorer"),
            "{shell}"
        );
    }
}

#[test]
fn a_manual_page_describes_the_program_or_one_command() {
    let program = generate("man");
    assert_eq!((program.code, &*program.err), (Some(0), ""));
    assert!(
        program.out.contains("\n.TH scorer 1 "),
        "{}",
        &program.out[..200]
    );
    assert!(program.out.contains("scorer\\-score(1)"));
    let score = generate("man score");
    assert!(
        score.out.contains("\n.TH scorer-score 1 "),
        "{}",
        &score.out[..200]
    );
    assert!(
        score
            .out
            .contains("\\fB\\-\\-fail\\-under\\fR \\fI<NAME=X>\\fR")
    );
    assert_snapshot!(generate("man scores"), @"
    -- standard error --
    error: unknown command 'scores'; write one of: list, score, rejudge, agree, compare, plan, report, export, accept, generate, help
    -- exit code 2 --
    ");
}
