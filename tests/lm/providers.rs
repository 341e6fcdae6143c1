//! Every provider of the guide: its address, path, key and limits, and the providers without a prefix.

use dsrs_metrics::lm::{LanguageModel, Lm, LmBuilder, LmErrorKind, ReplySchema, RetryPolicy};
use serde_json::{Value, json};

use crate::server::{Answer, Server, chat};
use crate::{KEY, ask};

const GUIDE: &str = include_str!("../../dsrs-metrics/docs/guide/models.md");

/// A row of the guide's table of providers.
#[derive(Debug)]
struct Row {
    /// The name, and the aliases after it.
    names: Vec<&'static str>,
    keys: Vec<&'static str>,
    address: &'static str,
    format: &'static str,
}

impl Row {
    /// The path of the default address.
    fn path(&self) -> &'static str {
        let (_, rest) = self.address.split_once("://").unwrap();
        &rest[rest.find('/').unwrap()..]
    }

    /// The path of a call after the path of the address, and the header of the key with its value.
    fn call(&self) -> (&'static str, &'static str, String) {
        match self.format {
            "OpenAI" => ("chat/completions", "authorization", format!("Bearer {KEY}")),
            "Anthropic" => ("messages", "x-api-key", KEY.to_owned()),
            "Gemini" => ("models/m:generateContent", "x-goog-api-key", KEY.to_owned()),
            format => panic!("{format}"),
        }
    }
}

/// What is between backticks.
fn code(cell: &'static str) -> Vec<&'static str> {
    cell.split('`').skip(1).step_by(2).collect()
}

fn rows() -> Vec<Row> {
    let (_, section) = GUIDE.split_once("\n## Providers\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
            let [name, keys, address, format] = cells[..] else {
                panic!("{line}")
            };
            Row {
                names: code(name),
                keys: code(keys),
                address: code(address)[0],
                format,
            }
        });
    rows.collect()
}

/// A model of a provider whose key is in `variable`.
fn model(provider: &str, variable: &'static str) -> LmBuilder {
    Lm::builder(format!("{provider}:m"))
        .variables(move |name| (name == variable).then(|| KEY.to_owned()))
        .no_proxy()
        .no_store()
        .retry(RetryPolicy::never())
}

/// A reply that is valid in each format.
fn any_format() -> Value {
    let mut reply = chat("yes", "stop");
    reply["content"] = json!([{ "type": "text", "text": "yes" }]);
    reply["candidates"] =
        json!([{ "content": { "parts": [{ "text": "yes" }] }, "finishReason": "STOP" }]);
    reply
}

fn unknown(id: &str) -> String {
    Lm::builder(id)
        .variables(|_| None)
        .no_store()
        .build()
        .unwrap_err()
        .to_string()
}

#[test]
fn the_guide_has_a_row_for_each_provider() {
    let message = unknown("nobody:m");
    let (_, known) = message.split_once("provider is one of ").unwrap();
    let (known, _) = known.split_once(';').unwrap();
    let rows = rows();
    let names: Vec<_> = rows.iter().map(|row| row.names[0]).collect();
    assert_eq!(names.join(", "), known);
    let aliases: Vec<_> = rows.iter().flat_map(|row| &row.names[1..]).collect();
    assert_eq!(aliases.len(), 6, "{aliases:?}");
}

#[tokio::test]
async fn each_provider_is_called_at_its_path_with_its_key() {
    let server = Server::start(|_| Answer::json(200, &any_format())).await;
    for row in rows() {
        let (path, header, key) = row.call();
        for (name, variable) in row
            .names
            .iter()
            .flat_map(|name| row.keys.iter().map(move |key| (name, key)))
        {
            let lm = model(name, variable)
                .base_url(server.url(row.path()))
                .build()
                .unwrap();
            assert_eq!(lm.id(), format!("{}:m", row.names[0]));
            assert_eq!(lm.complete(&ask("?")).await.unwrap().text, "yes", "{row:?}");
            let received = server.received().pop().unwrap();
            assert_eq!(received.path, format!("{}{path}", row.path()), "{row:?}");
            assert_eq!(received.header(header), key, "{row:?}");
        }
        let [variable, ..] = row.keys[..] else {
            panic!("{row:?}")
        };
        let lm = model(row.names[0], variable).base_url(server.url(row.path()));
        let error = lm
            .max_reply_bytes(100)
            .build()
            .unwrap()
            .complete(&ask("?"))
            .await
            .unwrap_err();
        let too_large = LmErrorKind::ReplyTooLarge {
            limit: 100,
            unit: "bytes",
        };
        assert_eq!(error.kind(), &too_large, "{row:?}");
    }
}

#[tokio::test]
async fn without_a_setting_each_provider_is_called_at_the_address_of_the_guide() {
    // A proxy that does not open a tunnel: its requests contain the address.
    let proxy = Server::start(|received| match received.body.is_null() {
        true => Answer::error(503, "no tunnel"),
        false => Answer::json(200, &any_format()),
    })
    .await;
    for row in rows() {
        let lm = model(row.names[0], row.keys[0])
            .proxy(proxy.url(""))
            .build()
            .unwrap();
        assert_eq!(lm.endpoint(), None, "{row:?}");
        let result = lm.complete(&ask("?")).await;
        let received = proxy.received().pop().unwrap();
        let (scheme, rest) = row.address.split_once("://").unwrap();
        let host = rest.split('/').next().unwrap();
        if scheme == "http" {
            // A local server. It needs no key.
            assert_eq!(result.unwrap().text, "yes", "{row:?}");
            assert_eq!(received.header("host"), host, "{row:?}");
            assert_eq!(
                received.path,
                format!("{}{}", row.path(), row.call().0),
                "{row:?}"
            );
            assert!(model(row.names[0], "UNSET").build().is_ok(), "{row:?}");
            continue;
        }
        let error = result.unwrap_err();
        let LmErrorKind::Unreachable { address, .. } = error.kind() else {
            panic!("{error}")
        };
        assert_eq!(address, row.address);
        assert_eq!(received.header("host"), format!("{host}:443"), "{row:?}");
        assert_eq!(
            received.header(row.call().1),
            "",
            "the proxy receives no key: {row:?}"
        );
        let missing = model(row.names[0], "UNSET").build().unwrap_err();
        let variable = row.keys[0].to_owned();
        assert_eq!(missing.kind(), &LmErrorKind::MissingApiKey(variable));
    }
}

#[tokio::test]
async fn requests_have_what_single_providers_expect() {
    let server = Server::start(|_| Answer::json(200, &any_format())).await;
    let send = async |id: &str| {
        let lm = Lm::builder(id)
            .variables(|_| None)
            .base_url(server.url("/v1"))
            .no_proxy();
        let lm = lm.key(KEY).no_store().build().unwrap();
        let schema = ReplySchema::new("s", json!({ "type": "object", "properties": {} }));
        lm.complete(&ask("?").with_schema(schema)).await.unwrap();
        server.received().pop().unwrap()
    };
    let fireworks = send("fireworks:qwen3").await;
    assert_eq!(fireworks.body["model"], "accounts/fireworks/models/qwen3");
    assert_eq!(fireworks.body["max_tokens"], 512_000);
    assert_eq!(
        send("fireworks_ai:team/own").await.body["model"],
        "team/own"
    );
    assert_eq!(send("openai:m").await.body.get("max_tokens"), None);
    let github = send("github_copilot:openai/gpt-6-luna").await;
    assert_eq!(github.header("accept"), "application/vnd.github+json");
    let minimax = send("opencode_go:MiniMax-M3").await;
    assert_eq!(
        (minimax.path.as_str(), minimax.header("x-api-key")),
        ("/v1/messages", KEY)
    );
    assert_eq!(send("opencode_go:glm-5").await.path, "/v1/chat/completions");
    assert_eq!(
        send("zai:glm-5").await.body["response_format"]["type"],
        "json_object"
    );
    assert_eq!(
        send("cohere:command-a").await.body["response_format"]["type"],
        "json_schema"
    );
}

const ANY_SERVER: &str =
    " for any other OpenAI-compatible server set OPENAI_BASE_URL and write openai:MODEL";

#[test]
fn a_provider_without_a_prefix_is_an_error_that_names_what_to_write() {
    for (id, meant) in [
        ("openai_resp:gpt-6-sol", "openai:gpt-6-sol"),
        ("gemini_ix:gemini-3.8-flash", "gemini:gemini-3.8-flash"),
        ("opnai:gpt-6-luna", "openai:gpt-6-luna"),
        ("Antropic:claude", "anthropic:claude"),
        ("gogle:g", "google:g"),
    ] {
        let expected =
            format!("unknown provider in model `{id}`; did you mean `{meant}`?{ANY_SERVER}");
        assert_eq!(unknown(id), expected);
    }
    let error = unknown("nobody:gpt");
    assert!(error.starts_with(
        "unknown provider in model `nobody:gpt`; write provider:model, where provider is one of aihubmix, "
    ));
    assert!(error.ends_with(&format!(", zai;{ANY_SERVER}")), "{error}");
}
