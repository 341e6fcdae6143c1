//! An OpenAI-compatible server on the loopback interface, which records what it receives.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The server refuses further requests, so that a loop cannot run on.
const MAX_REQUESTS: usize = 500;
/// The server stops after this time.
const LIFETIME: Duration = Duration::from_secs(300);

/// The body of one request.
#[derive(Debug, Clone)]
pub(crate) struct Received(pub(crate) Value);

impl Received {
    /// Returns the system message.
    pub(crate) fn system(&self) -> String {
        self.messages()
            .find(|message| message["role"] == "system")
            .map(content)
            .unwrap_or_default()
    }

    /// Returns the last message.
    pub(crate) fn prompt(&self) -> String {
        self.messages().last().map(content).unwrap_or_default()
    }

    /// Returns `true` if the reply starts with this output field of a signature.
    pub(crate) fn has_output(&self, field: &str) -> bool {
        self.system()
            .contains(&format!("Your output fields are:\n1. `{field}`"))
    }

    fn messages(&self) -> impl Iterator<Item = &Value> {
        self.0["messages"].as_array().into_iter().flatten()
    }
}

/// A reply, or the HTTP status and the error of the provider.
pub(crate) type Reply = Result<String, (u16, Value)>;

type Model = dyn Fn(usize, &Received) -> Reply + Send + Sync;

/// The server. It stops when it is dropped.
pub(crate) struct Server {
    url: String,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

struct Shared {
    model: Box<Model>,
    received: Mutex<Vec<Received>>,
}

impl Server {
    /// Starts the server. The model gets the number of earlier requests, and the request.
    pub(crate) async fn start(
        model: impl Fn(usize, &Received) -> Reply + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            model: Box::new(model),
            received: Mutex::default(),
        });
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let url = format!("http://{}/v1", listener.local_addr()?);
        let router = Router::new().route("/v1/chat/completions", post(complete));
        let router = router.with_state(shared.clone());
        let task = tokio::spawn(async move {
            // The error is that of a closed listener, or the end of the lifetime.
            _ = tokio::time::timeout(LIFETIME, async { axum::serve(listener, router).await }).await;
        });
        Ok(Self { url, shared, task })
    }

    /// Returns the base URL.
    pub(crate) fn url(&self) -> String {
        self.url.clone()
    }

    /// Returns the requests so far.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.shared
            .received
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn complete(
    State(shared): State<Arc<Shared>>,
    Json(body): Json<Value>,
) -> (StatusCode, Json<Value>) {
    let received = Received(body);
    let number = {
        let mut all = shared
            .received
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        all.push(received.clone());
        all.len() - 1
    };
    let reply = match number {
        ..MAX_REQUESTS => (shared.model)(number, &received),
        _ => Err((
            429,
            json!({ "error": { "message": "too many requests", "type": "rate_limit" } }),
        )),
    };
    match reply {
        Ok(text) => (StatusCode::OK, Json(completion(&text))),
        Err((status, body)) => (
            StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST),
            Json(body),
        ),
    }
}

/// The content of a message: a string, or a list of parts.
fn content(message: &Value) -> String {
    match &message["content"] {
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect(),
        content => content.as_str().unwrap_or_default().to_owned(),
    }
}

fn completion(text: &str) -> Value {
    json!({
        "id": "local",
        "object": "chat.completion",
        "created": 0,
        "model": "local",
        "choices": [{
            "index": 0,
            "message": { "role": "assistant", "content": text },
            "logprobs": null,
            "finish_reason": "stop",
        }],
        "usage": { "prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25 },
    })
}
