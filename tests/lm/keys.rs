//! API keys appear in no error, log, `Debug` output or store.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use dsrs_metrics::lm::{LanguageModel, Lm};
use tracing_subscriber::fmt::MakeWriter;

use crate::server::{Answer, Server};
use crate::{KEY, ask, plain};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Returns `true` if `text` contains the key or a recognizable part of it.
fn leaks(text: &str) -> bool {
    text.contains("verysecret") || text.contains("0123456789abcdef")
}

#[tokio::test]
async fn a_key_in_a_provider_message_is_removed() {
    let messages = [
        format!("Incorrect API key provided: {KEY}. You can find it at ..."),
        "Incorrect API key provided: sk-proj-********cdef.".to_owned(),
        format!(
            "Received API Key = {KEY}, Key Hash (Token) = {}",
            "0123456789abcdef".repeat(4)
        ),
        format!("header 'Authorization: Bearer {KEY}' is malformed"),
        format!("key prefix {} is unknown", &KEY[..18]),
    ];
    for message in messages {
        for status in [400, 401, 403, 429, 500] {
            let answer = Answer::error(status, &message);
            let server = Server::start(move |_| answer.clone()).await;
            let lm = plain("openai:m", &server.url("/v1")).build().unwrap();
            let error = lm.complete(&ask("?")).await.unwrap_err();
            for text in [
                error.to_string(),
                format!("{error:?}"),
                format!("{error:#?}"),
            ] {
                assert!(!leaks(&text) && !text.contains("cdef"), "{status}: {text}");
            }
        }
    }
}

#[tokio::test]
async fn debug_contains_neither_keys_nor_passwords() {
    let builder = plain(
        "openai:m",
        "http://user:verysecret@127.0.0.1:1/v1?k=verysecret",
    )
    .proxy("http://user:verysecret@127.0.0.1:2");
    assert!(!leaks(&format!("{builder:?}")));
    let lm = builder.build().unwrap();
    let shown = format!("{lm:?} {:?}", lm.endpoint());
    assert!(!leaks(&shown), "{shown}");
    assert!(shown.contains("127.0.0.1:1"), "{shown}");
    let error = lm.complete(&ask("?")).await.unwrap_err();
    assert!(!leaks(&format!("{error} {error:?}")), "{error}");
}

#[tokio::test]
async fn neither_the_log_nor_the_store_contains_a_key() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_writer(log.clone())
        .finish();
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(|received| match received.prompt() {
        "fail" => Answer::error(401, "no"),
        _ => Answer::chat("yes"),
    })
    .await;
    let lm: Lm = plain("openai:m", &server.url("/v1"))
        .store(dir.path())
        .build()
        .unwrap();
    // The runtime of this test has one thread, so the subscriber receives the log of the whole
    // client.
    let guard = tracing::subscriber::set_default(subscriber);
    assert_eq!(lm.complete(&ask("ok")).await.unwrap().text, "yes");
    lm.complete(&ask("fail")).await.unwrap_err();
    drop(guard);
    let log = String::from_utf8_lossy(&log.0.lock().unwrap()).into_owned();
    assert!(
        log.contains("reqwest") || log.contains("hyper"),
        "nothing was logged: {log}"
    );
    assert!(!leaks(&log), "the log contains the key");
    let path = lm.store().unwrap().path().to_owned();
    drop(lm);
    let bytes = std::fs::read(path).unwrap();
    let stored = String::from_utf8_lossy(&bytes);
    assert!(
        stored.contains("openai:m") && !leaks(&stored),
        "the store contains the key"
    );
}
