//! Recorded calls: recording, replay without server and key, the file.
//!
//! The file is long because all tests share one set-up, and each records before it replays.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dsrs_metrics::contract::{RepeatNumber, Settings};
use dsrs_metrics::judge::{Models, shipped::SemanticEquivalence};
use dsrs_metrics::lm::replay::{Replay, Summary};
use dsrs_metrics::lm::{
    LanguageModel, Lm, LmBudget, LmBuilder, LmError, LmErrorKind, LmRequest, RetryPolicy,
};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{Evaluate, runs::EvaluationResult};
use futures_util::future::join_all;

use crate::server::{Answer, Received, Server};
use crate::{KEY, ask};

const MODEL: &str = "openai:gpt-6-luna";

/// Answers as a program: `answer` and the number of the question. As a judge: whether this number is below 4.
fn served(received: &Received) -> Answer {
    let number = |text: &str| text.rsplit(' ').next().unwrap().parse::<usize>().unwrap();
    match received.body["response_format"].is_null() {
        true => Answer::chat(&format!("answer {}", number(received.prompt()))),
        false => verdict(received, |answer| answer < 4),
    }
}

fn verdict(received: &Received, is_equivalent: fn(usize) -> bool) -> Answer {
    let text = received.body["messages"].to_string();
    let digits = |rest: &str| {
        rest.chars()
            .take_while(char::is_ascii_digit)
            .collect::<String>()
    };
    let answer = text
        .split("answer ")
        .skip(1)
        .find_map(|rest| digits(rest).parse().ok());
    let equivalent = is_equivalent(answer.unwrap_or(0));
    Answer::chat(&format!(
        r#"{{"reasoning":"because","equivalent":{equivalent}}}"#
    ))
}

/// How an evaluation is run. Without a URL, its models have neither an address of their own nor a key.
#[derive(Clone)]
struct Run {
    url: Option<String>,
    store: Option<std::path::PathBuf>,
    prompt: &'static str,
    concurrency: usize,
    repeats: u32,
}

impl Run {
    fn offline() -> Self {
        Self {
            url: None,
            store: None,
            prompt: "Question",
            concurrency: 8,
            repeats: 1,
        }
    }

    fn with(server: &Server) -> Self {
        Self {
            url: Some(server.url("/v1")),
            ..Self::offline()
        }
    }

    fn set_up(&self, builder: LmBuilder) -> LmBuilder {
        let builder = builder
            .variables(|_| None)
            .no_proxy()
            .retry(RetryPolicy::never());
        let builder = match &self.store {
            Some(dir) => builder.store(dir),
            None => builder.no_store(),
        };
        match &self.url {
            Some(url) => builder.key(KEY).base_url(url),
            None => builder,
        }
    }

    /// Twelve rows with ten different questions, a program and a judge that call the model.
    async fn evaluate(&self) -> EvaluationResult {
        let (run, prompt) = (self.clone(), self.prompt);
        let models = Models::built_by(Some(MODEL.to_owned()), move |it| run.set_up(it));
        let lm = Arc::new(self.set_up(Lm::builder(MODEL)).build().unwrap());
        let program = move |row: Example| {
            let lm = Arc::clone(&lm);
            async move {
                let question = format!("{prompt} {}", row.get("question").unwrap());
                let request = LmRequest::new("program version 1").user(question);
                let request = request.with_draw(RepeatNumber::current().0);
                let reply = lm.complete(&request).await?;
                Ok::<_, LmError>(prediction! { "answer" => reply.text })
            }
        };
        let row = |row: u32| example! { "question" => row % 10, "answer" => "five" };
        let evaluate = Evaluate::builder()
            .devset((0..12).map(row))
            .inputs(["question"]);
        let evaluate = evaluate
            .metric(SemanticEquivalence::default())
            .repeats(self.repeats);
        let evaluate = evaluate.concurrency(self.concurrency).build().unwrap();
        let run = async { evaluate.run(program).await };
        Settings::new().with(models).scope(run).await.unwrap()
    }

    async fn record(&self, file: &Path, keep: bool) -> (EvaluationResult, Summary) {
        let replay = Arc::new(Replay::recording(file, keep).unwrap());
        let result = replay.scope(self.evaluate()).await;
        (result, replay.finish().unwrap())
    }

    async fn replay(&self, file: &Path) -> (EvaluationResult, Summary) {
        let replay = Arc::new(Replay::read(file).unwrap());
        let result = replay.scope(self.evaluate()).await;
        (result, replay.finish().unwrap())
    }
}

fn values(result: &EvaluationResult) -> Vec<Option<f64>> {
    result
        .results
        .iter()
        .map(|row| row.outcomes[0].value())
        .collect()
}

fn summary(recorded: usize, replayed: usize, unused: usize) -> Summary {
    Summary {
        recorded,
        replayed,
        unused,
    }
}

#[tokio::test]
async fn a_recorded_evaluation_is_replayed_without_server_and_key() {
    let server = Server::start(served).await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("evals/x.replay");
    let (recorded, made) = Run::with(&server).record(&file, false).await;
    // Each different call once, and the probe of the judge's model.
    assert_eq!((made, server.received().len()), (summary(20, 0, 0), 21));
    let expected = (0..12)
        .map(|row| Some(f64::from(u8::from(row % 10 < 4))))
        .collect::<Vec<_>>();
    assert_eq!(values(&recorded), expected);

    let (replayed, made) = Run::offline().replay(&file).await;
    assert_eq!((made, server.received().len()), (summary(0, 20, 0), 21));
    assert_eq!(values(&replayed), expected);
    let judged_by = &replayed.metrics[0].judged_by;
    assert_eq!(judged_by, &recorded.metrics[0].judged_by);
    assert_eq!(
        (&*judged_by[0].model, judged_by[0].replies),
        ("served-model", 12)
    );

    let content = fs::read_to_string(&file).unwrap();
    assert_eq!(content.lines().count(), 21);
    assert!(content.starts_with(r#"{"replay":1,"#), "{content}");
    assert!(
        !content.contains(KEY) && !content.contains("127.0.0.1"),
        "{content}"
    );
}

#[tokio::test]
async fn a_replayed_reply_is_counted_as_cached_and_without_cost() {
    let server = Server::start(|_| Answer::chat("yes")).await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.replay");
    let replay = Arc::new(Replay::recording(&file, false).unwrap());
    let lm = Run::with(&server)
        .set_up(Lm::builder(MODEL))
        .build()
        .unwrap();
    let reply = replay.scope(lm.complete(&ask("?"))).await.unwrap();
    assert_eq!((reply.cost_msats, reply.cached), (Some(12), false));
    assert!(
        lm.ledger().total().to_string().contains(" 12 msat"),
        "{}",
        lm.ledger().total()
    );
    replay.finish().unwrap();

    let replay = Arc::new(Replay::read(&file).unwrap());
    let calls = async {
        let lm = Run::offline().set_up(Lm::builder(MODEL)).build()?;
        assert_eq!(lm.probe().await?, None);
        let replies = (lm.complete(&ask("?")).await?, lm.complete(&ask("?")).await?);
        assert_eq!(
            lm.ledger().total().to_string(),
            "2 calls (2 cached, 0 failed), 0 prompt + 0 completion tokens, 0 msat"
        );
        Ok::<_, LmError>(replies)
    };
    let mut expected = reply;
    expected.cached = true;
    assert_eq!(replay.scope(calls).await, Ok((expected.clone(), expected)));
    assert_eq!(
        (replay.finish().unwrap(), server.received().len()),
        (summary(0, 1, 0), 1)
    );
}

#[tokio::test]
async fn a_changed_prompt_is_an_error_until_it_is_recorded() {
    let server = Server::start(served).await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.replay");
    let _ = Run::with(&server).record(&file, false).await;

    let before = fs::read(&file).unwrap();
    let changed = Run {
        prompt: "Reply to",
        ..Run::offline()
    };
    let (result, made) = changed.replay(&file).await;
    assert_eq!((result.metrics[0].failed, made), (12, summary(0, 0, 20)));
    let expected = format!(
        "{MODEL}: call not recorded in {}: purpose `program version 1`, last message `Reply to 3`; record it: DSRS_UPDATE=new cargo test",
        file.display()
    );
    let error = format!("{:?}", result.results[3]);
    assert!(error.contains(&expected), "{error}");
    assert_eq!(fs::read(&file).unwrap(), before);

    let calls = server.received().len();
    let changed = Run {
        prompt: "Reply to",
        ..Run::with(&server)
    };
    // The judge reads the same answers.
    assert_eq!(changed.record(&file, true).await.1, summary(10, 10, 10));
    assert_eq!(
        server.received().len() - calls,
        11,
        "the new calls, and a probe"
    );
    assert_eq!(Run::offline().replay(&file).await.1, summary(0, 20, 10));
    assert_eq!(changed.record(&file, false).await.1, summary(20, 0, 10));
    assert_eq!(
        fs::read_to_string(&file).unwrap().lines().count(),
        21,
        "unused calls are removed"
    );
    assert_eq!(
        Run {
            url: None,
            ..changed
        }
        .replay(&file)
        .await
        .1,
        summary(0, 20, 0)
    );
}

#[tokio::test]
async fn an_error_shows_the_first_80_characters_of_the_message_in_one_line_and_costs_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.replay");
    fs::write(&file, "{\"replay\":1}\n").unwrap();
    let replay = Arc::new(Replay::read(&file).unwrap());
    let call = async {
        let lm = Run::offline().set_up(Lm::builder(MODEL)).build().unwrap();
        lm.complete(&ask(&format!("a\n{}", "é".repeat(100))))
            .await
            .unwrap_err()
    };
    let error = replay.scope(call).await;
    let kind = LmErrorKind::NotRecorded(format!(
        "{}: purpose `test version 1`, last message `a\\n{}`",
        file.display(),
        "é".repeat(78)
    ));
    assert_eq!(error, LmError::new(MODEL, kind).with_cost_msats(Some(0)));
    let end = format!(
        "last message `a\\n{}`; record it: DSRS_UPDATE=new cargo test",
        "é".repeat(78)
    );
    assert!(error.to_string().ends_with(&end), "{error}");
    assert!(!error.is_transient());
}

#[tokio::test]
async fn the_same_calls_are_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = async |name: &str, run: Run| {
        let file = dir.path().join(name);
        let (_, made) = run.record(&file, false).await;
        assert_eq!(made.recorded, 20, "{name}");
        fs::read_to_string(file).unwrap()
    };
    let server = Server::start(served).await;
    let run = |concurrency| Run {
        concurrency,
        ..Run::with(&server)
    };
    let first = bytes("first", run(1)).await;
    assert!(first.contains(r#""cost_msats":12,"#), "{first}");
    assert_eq!(bytes("second", run(32)).await, first);
    assert_eq!(bytes("first", run(8)).await, first, "recorded again");
    let other_port = Server::start(served).await;
    assert_eq!(bytes("third", Run::with(&other_port)).await, first);
    let calls = server.received().len();
    let stored = Run {
        store: Some(dir.path().join("store")),
        ..run(8)
    };
    assert_eq!(bytes("fourth", stored.clone()).await, first);
    assert_eq!(bytes("fourth", stored).await, first, "from the store");
    assert_eq!(
        server.received().len() - calls,
        22,
        "20 calls, and two probes"
    );
}

/// A server whose replies all differ.
async fn varying() -> Server {
    let calls = AtomicUsize::new(0);
    Server::start(
        move |received| match received.body["response_format"].is_null() {
            true => Answer::chat(&format!("answer {}", calls.fetch_add(1, Ordering::SeqCst))),
            false => verdict(received, |answer| answer % 2 == 0),
        },
    )
    .await
}

#[tokio::test]
async fn repeats_are_different_calls_and_are_replayed_each() {
    let server = varying().await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.replay");
    let (recorded, made) = Run {
        repeats: 3,
        ..Run::with(&server)
    }
    .record(&file, false)
    .await;
    // Three answers to each of ten questions, and a verdict on each answer.
    assert_eq!(made, summary(60, 0, 0));
    let offline = Run {
        repeats: 3,
        concurrency: 1,
        ..Run::offline()
    };
    let (replayed, made) = offline.replay(&file).await;
    assert_eq!(
        (values(&replayed), made),
        (values(&recorded), summary(0, 60, 0))
    );
}

#[tokio::test]
async fn equal_calls_are_made_once_and_repeat_their_reply() {
    let server = varying().await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.replay");
    let texts = async |run: Run| {
        let lm = run.set_up(Lm::builder(MODEL)).build().unwrap();
        let requests: Vec<_> = (0..12).map(|call| ask("?").with_draw(call % 3)).collect();
        let replies = join_all(requests.iter().map(|request| lm.complete(request))).await;
        replies
            .into_iter()
            .map(|reply| reply.unwrap().text)
            .collect::<Vec<_>>()
    };
    let replay = Arc::new(Replay::recording(&file, false).unwrap());
    let recorded = replay.scope(texts(Run::with(&server))).await;
    assert_eq!(
        (replay.finish().unwrap(), server.received().len()),
        (summary(3, 0, 0), 3)
    );
    assert!(
        (3..12).all(|call| recorded[call] == recorded[call % 3]),
        "{recorded:?}"
    );
    let replay = Arc::new(Replay::read(&file).unwrap());
    assert_eq!(replay.scope(texts(Run::offline())).await, recorded);
}

#[tokio::test]
async fn a_budget_reserves_nothing_for_recorded_calls() {
    let server = Server::start(|_| Answer::chat("yes")).await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.replay");
    let lm = Run::with(&server)
        .set_up(Lm::builder(MODEL))
        .budget(LmBudget::msats(1 << 20));
    let lm = lm.build().unwrap();
    let is_reserved = || [ask("?"), ask("!")].map(|request| lm.quote(&request).is_some());
    let replay = Arc::new(Replay::recording(&file, false).unwrap());
    let record = async {
        let before = is_reserved();
        lm.complete(&ask("?")).await.unwrap();
        (before, is_reserved())
    };
    assert_eq!(replay.scope(record).await, ([true, true], [false, true]));
    replay.finish().unwrap();
    let replaying = async |replay: Replay| Arc::new(replay).scope(async { is_reserved() }).await;
    let anew = Replay::recording(&file, false).unwrap();
    assert_eq!(replaying(anew).await, [true, true]);
    let only_new = Replay::recording(&file, true).unwrap();
    assert_eq!(replaying(only_new).await, [false, true]);
    assert_eq!(
        replaying(Replay::read(&file).unwrap()).await,
        [false, false]
    );
    assert_eq!(is_reserved(), [true, true]);
}

#[tokio::test]
async fn a_model_that_is_built_without_a_key_is_used_only_where_calls_are_replayed() {
    let server = Server::start(|_| Answer::chat("yes")).await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.replay");
    let replay = Arc::new(Replay::recording(&file, false).unwrap());
    let lm = Run::with(&server)
        .set_up(Lm::builder(MODEL))
        .build()
        .unwrap();
    replay.scope(lm.complete(&ask("?"))).await.unwrap();
    replay.finish().unwrap();
    let models = Models::built_by(None, |builder| Run::offline().set_up(builder));
    let call = async || models.named(MODEL).unwrap().complete(&ask("?")).await;
    let replay = Arc::new(Replay::read(&file).unwrap());
    assert_eq!(replay.scope(call()).await.unwrap().text, "yes");
    let error = call().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("{MODEL}: missing API key; set OPENAI_API_KEY")
    );
}

#[tokio::test]
async fn a_damaged_file_is_named_with_its_line_and_not_overwritten() {
    let server = Server::start(|_| Answer::chat("yes")).await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.replay");
    let shown = file.display();
    let error = |content: &str| {
        fs::write(&file, content).unwrap();
        Replay::read(&file).unwrap_err().to_string()
    };
    let missing = Replay::read(&file).unwrap_err().to_string();
    assert_eq!(
        missing,
        format!(
            "no recorded calls: {shown} does not exist; record them: DSRS_UPDATE=new cargo test"
        )
    );
    let lm = Run::with(&server)
        .set_up(Lm::builder(MODEL))
        .build()
        .unwrap();
    let replay = Arc::new(Replay::recording(&file, true).unwrap());
    replay.scope(lm.complete(&ask("?"))).await.unwrap();
    replay.finish().unwrap();
    let good = fs::read_to_string(&file).unwrap();

    let restore = "; restore the line, or record all calls again: DSRS_UPDATE=always cargo test";
    let conflict = error(&good.replace("\n{", "\n<<<<<<< HEAD\n{"));
    let reason = "found expected value at column 1";
    assert_eq!(
        conflict,
        format!("{shown}:2: expected a recorded call, {reason}{restore}")
    );
    let kept = Replay::recording(&file, true).unwrap_err();
    assert_eq!(kept.to_string(), conflict);
    assert!(
        Replay::recording(&file, false).is_ok(),
        "all calls are recorded again"
    );
    let call = good.lines().nth(1).unwrap();
    let twice = error(&format!("{good}\n{call}\n"));
    let reason = "found a duplicate of an earlier call";
    assert_eq!(
        twice,
        format!("{shown}:4: expected a recorded call, {reason}{restore}")
    );
    let cut = error(&good[..good.len() - 10]);
    assert!(
        cut.starts_with(&format!("{shown}:2: expected a recorded call, found EOF ")),
        "{cut}"
    );

    let newer = good.replace(r#""replay":1"#, r#""replay":2"#);
    let start =
        format!("{shown}: expected recorded calls of version 1, found version 2; use the version ");
    assert!(error(&newer).starts_with(&start));
    let other = format!(
        "{shown}: expected recorded calls, starting with the line {{\"replay\":1}}; use another file, or remove this one"
    );
    for (content, expected) in [("# Notes\n", &other), ("", &other), (&newer, &start)] {
        assert!(error(content).starts_with(expected), "{content}");
        for keep in [true, false] {
            let error = Replay::recording(&file, keep).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), content);
    }
    // As git writes it on Windows.
    fs::write(&file, good.replace('\n', "\r\n")).unwrap();
    assert_eq!(
        Replay::read(&file).unwrap().finish().unwrap(),
        summary(0, 0, 1)
    );
}

#[tokio::test]
async fn a_file_that_cannot_be_written_is_an_error_and_remains() {
    let dir = tempfile::tempdir().unwrap();
    let (folder, file) = (dir.path().join("new"), dir.path().join("new/x.replay"));
    let replay = Replay::recording(&file, false).unwrap();
    fs::remove_dir_all(&folder).unwrap();
    fs::write(&folder, "mine").unwrap();
    let of_system = Path::new("/proc/x.replay");
    let before_a_call = Replay::recording(of_system, true).unwrap_err();
    for (file, error) in [
        (&*file, replay.finish().unwrap_err()),
        (of_system, before_a_call),
    ] {
        let error = error.to_string();
        let start = format!("cannot write the recorded calls {}: ", file.display());
        assert!(error.starts_with(&start), "{error}");
        assert!(
            error.ends_with("; check the folder and its permissions"),
            "{error}"
        );
    }
    assert_eq!(fs::read_to_string(folder).unwrap(), "mine");
}

#[tokio::test]
#[cfg(unix)]
async fn a_second_recording_and_a_pipe_are_refused_before_any_call() {
    let server = Server::start(|_| Answer::chat("yes")).await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("new/x.replay");
    let first = Arc::new(Replay::recording(&file, false).unwrap());
    for keep in [true, false] {
        assert_eq!(
            Replay::recording(&file, keep).unwrap_err().to_string(),
            format!(
                "cannot write the recorded calls {}: another run is writing to it; wait until that run ends, or write to another file",
                file.display()
            )
        );
    }
    let lm = Run::with(&server)
        .set_up(Lm::builder(MODEL))
        .build()
        .unwrap();
    first.scope(lm.complete(&ask("?"))).await.unwrap();
    first.finish().unwrap();
    let second = Arc::new(Replay::recording(&file, true).unwrap());
    second.scope(lm.complete(&ask("!"))).await.unwrap();
    assert_eq!(second.finish().unwrap(), summary(1, 0, 1));
    assert_eq!(
        Replay::read(&file).unwrap().finish().unwrap(),
        summary(0, 0, 2)
    );

    let pipe = dir.path().join("pipe");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let expected = format!(
        "cannot read the recorded calls {}: expected a regular file, found a pipe, socket or device",
        pipe.display()
    );
    assert_eq!(Replay::read(&pipe).unwrap_err().to_string(), expected);
    assert_eq!(
        Replay::recording(&pipe, true).unwrap_err().to_string(),
        expected
    );
}
