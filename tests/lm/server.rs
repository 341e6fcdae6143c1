//! A local HTTP server that responds by a function, and records the requests it received.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use futures_util::StreamExt;
use futures_util::stream;
use serde_json::{Value, json};

/// A request that the server received.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    /// The last message, in OpenAI's format.
    pub(crate) fn prompt(&self) -> &str {
        let last = self.body["messages"]
            .as_array()
            .and_then(|messages| messages.last());
        last.and_then(|message| message["content"].as_str())
            .unwrap_or_default()
    }
}

/// A response of the server.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: String,
    transfer: Transfer,
}

/// How the body is sent.
#[derive(Debug, Clone, Copy)]
enum Transfer {
    Complete,
    /// The first half; then the connection is closed.
    Interrupted,
    /// In eight parts over this time.
    Slow(Duration),
}

impl Answer {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        let headers = vec![("content-type", "application/json".to_owned())];
        Self {
            status,
            headers,
            body: body.to_string(),
            transfer: Transfer::Complete,
        }
    }

    pub(crate) fn html(status: u16, body: &str) -> Self {
        let headers = vec![("content-type", "text/html".to_owned())];
        Self {
            status,
            headers,
            body: body.to_owned(),
            transfer: Transfer::Complete,
        }
    }

    /// A reply in OpenAI's format.
    pub(crate) fn chat(text: &str) -> Self {
        Self::json(200, &chat(text, "stop"))
    }

    pub(crate) fn error(status: u16, message: &str) -> Self {
        Self::json(status, &json!({ "error": { "message": message } }))
    }

    pub(crate) fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Replaces the content type, or removes it.
    pub(crate) fn with_content_type(mut self, content_type: Option<&str>) -> Self {
        self.headers.retain(|(name, _)| *name != "content-type");
        self.headers
            .extend(content_type.map(|found| ("content-type", found.to_owned())));
        self
    }

    pub(crate) fn with_prefix(mut self, prefix: &str) -> Self {
        self.body.insert_str(0, prefix);
        self
    }

    /// Sends the body twice.
    pub(crate) fn doubled(mut self) -> Self {
        self.body = self.body.repeat(2);
        self
    }

    pub(crate) fn truncated(mut self) -> Self {
        self.body.truncate(self.body.len() / 2);
        self
    }

    pub(crate) fn interrupted(mut self) -> Self {
        self.transfer = Transfer::Interrupted;
        self
    }

    pub(crate) fn slow(mut self, over: Duration) -> Self {
        self.transfer = Transfer::Slow(over);
        self
    }

    fn respond(self) -> Response {
        let mut response = Response::builder().status(self.status);
        for (name, value) in self.headers {
            response = response.header(name, value);
        }
        let bytes = Bytes::from(self.body);
        let body = match self.transfer {
            Transfer::Complete => Body::from(bytes),
            Transfer::Interrupted => {
                response = response.header("content-length", bytes.len());
                let half = bytes.slice(..bytes.len() / 2);
                let end = stream::once(async {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                    Err(std::io::Error::other("interrupted"))
                });
                Body::from_stream(stream::iter([Ok(half)]).chain(end))
            }
            Transfer::Slow(over) => {
                let pause = over / 8;
                let step = bytes.len().div_ceil(8).max(1);
                let pieces: Vec<_> = bytes.chunks(step).map(Bytes::copy_from_slice).collect();
                Body::from_stream(stream::iter(pieces).then(move |piece| async move {
                    tokio::time::sleep(pause).await;
                    Ok::<_, std::io::Error>(piece)
                }))
            }
        };
        response.body(body).unwrap()
    }
}

/// The body of a reply in OpenAI's format.
pub(crate) fn chat(text: &str, finish_reason: &str) -> Value {
    json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "served-model",
        "system_fingerprint": "fp_served",
        "choices": [{
            "index": 0,
            "message": { "role": "assistant", "content": text },
            "finish_reason": finish_reason,
        }],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 10,
            "total_tokens": 110,
            "prompt_tokens_details": { "cached_tokens": 40 },
        },
    })
}

type Handler = dyn Fn(&Received) -> Answer + Send + Sync;

struct Shared {
    handler: Box<Handler>,
    received: Mutex<Vec<Received>>,
    is_recording: bool,
}

/// A running server; it stops with the runtime of the test.
pub(crate) struct Server {
    address: String,
    shared: Arc<Shared>,
}

impl Server {
    pub(crate) async fn start(
        handler: impl Fn(&Received) -> Answer + Send + Sync + 'static,
    ) -> Self {
        Self::serve(handler, true).await
    }

    /// A server that records nothing, for many calls.
    #[allow(dead_code)]
    pub(crate) async fn without_recording(
        handler: impl Fn(&Received) -> Answer + Send + Sync + 'static,
    ) -> Self {
        Self::serve(handler, false).await
    }

    async fn serve(
        handler: impl Fn(&Received) -> Answer + Send + Sync + 'static,
        is_recording: bool,
    ) -> Self {
        let handler: Box<Handler> = Box::new(handler);
        let shared = Arc::new(Shared {
            handler,
            received: Mutex::default(),
            is_recording,
        });
        let router = Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&shared));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, shared }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.shared
            .received
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let received = Received {
        path: uri.path().to_owned(),
        headers,
        body,
    };
    let answer = (shared.handler)(&received);
    if shared.is_recording {
        shared
            .received
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(received);
    }
    answer.respond()
}
