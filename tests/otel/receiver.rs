//! A collector on the loopback interface: an OTLP receiver over HTTP that decodes requests with the published protobufs.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use opentelemetry_proto::tonic::collector::logs::v1::{
    ExportLogsPartialSuccess, ExportLogsServiceRequest, ExportLogsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::resource::v1::Resource;
use prost::Message as _;
use serde_json::{Value, json};

/// How the collector replies.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reply {
    Accept,
    /// With a body.
    Status(u16, &'static str),
    /// A redirect to a path.
    Redirect(&'static str),
    /// The first records of each request are rejected.
    Reject(i64),
    /// After a time that no test waits for.
    Never,
}

/// A log record that was received.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Record {
    pub(crate) event_name: String,
    pub(crate) body: Value,
    pub(crate) severity: i32,
    pub(crate) trace_id: String,
    pub(crate) span_id: String,
    pub(crate) time: u64,
    pub(crate) observed: u64,
    pub(crate) attributes: BTreeMap<String, Value>,
    pub(crate) service: Value,
    pub(crate) scope: String,
}

/// A span that was received.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Span {
    pub(crate) name: String,
    pub(crate) kind: i32,
    pub(crate) trace_id: String,
    pub(crate) parent: String,
    pub(crate) nanoseconds: u64,
    /// Code and message.
    pub(crate) status: (i32, String),
    pub(crate) attributes: BTreeMap<String, Value>,
}

#[derive(Debug)]
struct Received {
    reply: Reply,
    records: Vec<Record>,
    spans: Vec<Span>,
    headers: Vec<HeaderMap>,
}

/// The running receiver. Its thread ends with the process.
#[derive(Debug, Clone)]
pub(crate) struct Receiver {
    pub(crate) url: String,
    received: Arc<Mutex<Received>>,
}

/// Returns an address at which nothing listens.
pub(crate) fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
}

impl Receiver {
    pub(crate) fn start(reply: Reply) -> Self {
        Self::at(free_address(), reply)
    }

    pub(crate) fn at(address: SocketAddr, reply: Reply) -> Self {
        let received = Received {
            reply,
            records: vec![],
            spans: vec![],
            headers: vec![],
        };
        let receiver = Self {
            url: format!("http://{address}"),
            received: Arc::new(Mutex::new(received)),
        };
        let listener = TcpListener::bind(address).unwrap();
        listener.set_nonblocking(true).unwrap();
        let router = Router::new().fallback(receive).with_state(receiver.clone());
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.unwrap().block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                axum::serve(listener, router).await.unwrap();
            });
        });
        receiver
    }

    fn with<T>(&self, read: impl FnOnce(&mut Received) -> T) -> T {
        read(&mut self.received.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn reply_by(&self, reply: Reply) {
        self.with(|it| it.reply = reply);
    }

    pub(crate) fn records(&self) -> Vec<Record> {
        self.with(|it| it.records.clone())
    }

    /// The records of a row, by metric.
    pub(crate) fn of_row(&self, row: &str) -> BTreeMap<String, Record> {
        let records = self.records().into_iter();
        let of_row = records.filter(|it| it.attributes["dsrs.row.id"] == row);
        let named = of_row.map(|it| {
            let name = it.attributes["gen_ai.evaluation.name"]
                .as_str()
                .unwrap()
                .to_owned();
            (name, it)
        });
        named.collect()
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        self.with(|it| it.spans.clone())
    }

    /// The headers of each request.
    pub(crate) fn headers(&self) -> Vec<HeaderMap> {
        self.with(|it| it.headers.clone())
    }
}

async fn receive(
    State(receiver): State<Receiver>,
    uri: Uri,
    headers: HeaderMap,
    mut body: Bytes,
) -> Response {
    if headers.contains_key("content-encoding") {
        let mut text = Vec::new();
        flate2::read::GzDecoder::new(&*body)
            .read_to_end(&mut text)
            .unwrap();
        body = text.into();
    }
    let reply = receiver.with(|it| {
        it.headers.push(headers);
        it.reply
    });
    match reply {
        Reply::Never => {
            tokio::time::sleep(Duration::from_secs(3600)).await;
            StatusCode::OK.into_response()
        }
        Reply::Status(status, body) => {
            (StatusCode::from_u16(status).unwrap(), body).into_response()
        }
        Reply::Redirect(path) => (StatusCode::FOUND, [("location", path)]).into_response(),
        Reply::Accept => receiver.accept(uri.path(), body, 0),
        Reply::Reject(count) => receiver.accept(uri.path(), body, count),
    }
}

impl Receiver {
    fn accept(&self, path: &str, body: Bytes, rejected: i64) -> Response {
        match path {
            "/v1/logs" => {
                let request = ExportLogsServiceRequest::decode(body).unwrap();
                let records = records(request)
                    .into_iter()
                    .skip(usize::try_from(rejected).unwrap());
                self.with(|it| it.records.extend(records));
                let partial_success = (rejected > 0).then(|| ExportLogsPartialSuccess {
                    rejected_log_records: rejected,
                    error_message: "quota".to_owned(),
                });
                ExportLogsServiceResponse { partial_success }
                    .encode_to_vec()
                    .into_response()
            }
            "/v1/traces" => {
                let request = ExportTraceServiceRequest::decode(body).unwrap();
                self.with(|it| it.spans.extend(spans(request)));
                StatusCode::OK.into_response()
            }
            _ => StatusCode::NOT_FOUND.into_response(),
        }
    }
}

fn records(request: ExportLogsServiceRequest) -> Vec<Record> {
    let mut found = Vec::new();
    for resource in request.resource_logs {
        let service = service(resource.resource);
        for logs in resource.scope_logs {
            let scope = logs.scope.map(|scope| scope.name).unwrap_or_default();
            found.extend(logs.log_records.into_iter().map(|record| Record {
                event_name: record.event_name,
                body: record.body.map(value).unwrap_or_default(),
                severity: record.severity_number,
                trace_id: hexadecimal(&record.trace_id),
                span_id: hexadecimal(&record.span_id),
                time: record.time_unix_nano,
                observed: record.observed_time_unix_nano,
                attributes: attributes(record.attributes),
                service: service.clone(),
                scope: scope.clone(),
            }));
        }
    }
    found
}

fn spans(request: ExportTraceServiceRequest) -> Vec<Span> {
    let scopes = request
        .resource_spans
        .into_iter()
        .flat_map(|it| it.scope_spans);
    let spans = scopes.flat_map(|it| it.spans).map(|span| {
        let status = span.status.unwrap_or_default();
        Span {
            name: span.name,
            kind: span.kind,
            trace_id: hexadecimal(&span.trace_id),
            parent: hexadecimal(&span.parent_span_id),
            nanoseconds: span.end_time_unix_nano - span.start_time_unix_nano,
            status: (status.code, status.message),
            attributes: attributes(span.attributes),
        }
    });
    spans.collect()
}

fn service(resource: Option<Resource>) -> Value {
    attributes(resource.unwrap_or_default().attributes)
        .remove("service.name")
        .unwrap_or_default()
}

/// The attributes by name; a name that occurs twice is an error.
fn attributes(attributes: Vec<KeyValue>) -> BTreeMap<String, Value> {
    let count = attributes.len();
    let named = attributes
        .into_iter()
        .map(|it| (it.key, it.value.map(value).unwrap_or_default()));
    let named: BTreeMap<_, _> = named.collect();
    assert_eq!(named.len(), count, "an attribute is set twice");
    named
}

fn value(value: AnyValue) -> Value {
    use any_value::Value as Any;
    match value.value {
        Some(Any::StringValue(text)) => text.into(),
        Some(Any::BoolValue(it)) => it.into(),
        Some(Any::IntValue(number)) => number.into(),
        Some(Any::DoubleValue(number)) => number.into(),
        Some(Any::ArrayValue(array)) => array.values.into_iter().map(self::value).collect(),
        other => json!(format!("unexpected {other:?}")),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
