//! Replies without bound: compressed bombs, endless bodies, very long answers. Each is stopped at the limit of a
//! reply, and the memory of the process stays near that limit.
//!
//! `cargo test -p dsrs-metrics-tests --features lm --test lm_bombs -- --nocapture`
//!
//! Alone in its process, because it measures the memory of all of it. Prints the peak for each reply.

use std::io::Write as _;
use std::time::Duration;

use dsrs_metrics::lm::{LanguageModel, Lm, LmRequest, RetryPolicy};
use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

const MIB: usize = 1 << 20;
/// Every reply ends here, so that a client without a limit does not exhaust the memory of the machine.
const REPLY: usize = 256 * MIB;
/// The peak above the memory before the call: the limit of 8 MiB several times over, and far below [`REPLY`].
const MOST: usize = 64 * MIB;

/// How the server sends its reply.
#[derive(Debug, Clone, Copy)]
enum Bomb {
    /// Spaces, 256 MiB that gzip compresses to 256 KiB.
    Gzip,
    /// A chunked body of 256 MiB of spaces.
    Endless,
    /// A well-formed reply whose text has 256 MiB.
    LongText,
    /// The same as the message of an error.
    LongError,
    /// 7 MiB of JSON, below the limit, that consists of empty lists.
    ManyValues,
}

const BEFORE: &str = r#"{"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":""#;
const AFTER: &str = r#""}}]}"#;

#[tokio::test]
async fn replies_without_bound_are_stopped_at_the_limit() {
    let bombs = [
        Bomb::Gzip,
        Bomb::Endless,
        Bomb::LongText,
        Bomb::LongError,
        Bomb::ManyValues,
    ];
    let mut misses = Vec::new();
    for bomb in bombs {
        let reply = reply(bomb);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let server = tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                // The client may close the connection at any time.
                let _ = serve(connection, bomb, &reply).await;
            }
        });
        let Some(before) = reset_peak() else {
            eprintln!("skipped: /proc/self/clear_refs cannot be written");
            return;
        };
        let result = complete(&url).await;
        let peak = memory("VmHWM").saturating_sub(before);
        println!(
            "{bomb:?}: peak +{} MiB; {}",
            peak / MIB,
            &result[..result.len().min(200)]
        );
        if peak > MOST {
            misses.push(format!("{bomb:?}: +{} MiB", peak / MIB));
        }
        // The beginning of an error is its message.
        let is_stopped = match bomb {
            Bomb::LongError => {
                result.contains("provider returned status 400") && result.len() < 1000
            }
            _ => result.contains("expected a reply of at most"),
        };
        if !is_stopped {
            misses.push(format!("{bomb:?}: {result}"));
        }
        server.abort();
    }
    assert!(misses.is_empty(), "{misses:?}");
}

/// The error of a call, or how much of the reply was accepted.
async fn complete(url: &str) -> String {
    let lm = Lm::builder("openai:m")
        .variables(|_| None)
        .key("sk-test-0123456789")
        .base_url(url)
        .no_proxy()
        .no_store()
        .retry(RetryPolicy::never())
        .timeout(Duration::from_secs(100))
        .build()
        .unwrap();
    match lm.complete(&LmRequest::new("test").user("?")).await {
        Ok(reply) => format!("a reply of {} bytes was accepted", reply.text.len()),
        Err(error) => error.to_string(),
    }
}

/// The body of a bomb, unless it is sent piece by piece.
fn reply(bomb: Bomb) -> Vec<u8> {
    match bomb {
        Bomb::Gzip => {
            let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
            (0..REPLY / MIB).for_each(|_| gzip.write_all(&[b' '; MIB]).unwrap());
            gzip.finish().unwrap()
        }
        Bomb::ManyValues => {
            let mut body = b"{\"choices\":[[]".to_vec();
            while body.len() < 7 * MIB {
                body.extend(b",[]");
            }
            body.extend(b"]}");
            body
        }
        _ => Vec::new(),
    }
}

async fn serve(mut connection: TcpStream, bomb: Bomb, body: &[u8]) -> std::io::Result<()> {
    read_request(&mut connection).await?;
    let head = |status: &str, length: &str| {
        format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{length}\r\n\r\n")
    };
    match bomb {
        Bomb::Gzip | Bomb::ManyValues => {
            let encoding = if matches!(bomb, Bomb::Gzip) {
                "content-encoding: gzip\r\n"
            } else {
                ""
            };
            let length = format!("{encoding}content-length: {}", body.len());
            connection
                .write_all(head("200 OK", &length).as_bytes())
                .await?;
            connection.write_all(body).await
        }
        Bomb::Endless => {
            connection
                .write_all(head("200 OK", "transfer-encoding: chunked").as_bytes())
                .await?;
            let chunk = vec![b' '; MIB];
            for _ in 0..REPLY / MIB {
                connection
                    .write_all(format!("{MIB:x}\r\n").as_bytes())
                    .await?;
                connection.write_all(&chunk).await?;
                connection.write_all(b"\r\n").await?;
            }
            connection.write_all(b"0\r\n\r\n").await
        }
        Bomb::LongText | Bomb::LongError => {
            let status = if matches!(bomb, Bomb::LongText) {
                "200 OK"
            } else {
                "400 Bad Request"
            };
            // Without a length, the end of the connection is the end of the body.
            connection
                .write_all(head(status, "connection: close").as_bytes())
                .await?;
            connection.write_all(BEFORE.as_bytes()).await?;
            let piece = vec![b'x'; MIB];
            for _ in 0..REPLY / MIB {
                connection.write_all(&piece).await?;
            }
            connection.write_all(AFTER.as_bytes()).await
        }
    }
}

/// Reads the headers and the body, so that the connection is not reset.
async fn read_request(connection: &mut TcpStream) -> std::io::Result<()> {
    let mut request = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let read = connection.read(&mut piece).await?;
        request.extend(&piece[..read]);
        let text = String::from_utf8_lossy(&request);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        if read == 0 || length.is_none_or(|length| body.len() >= length.parse().unwrap()) {
            return Ok(());
        }
    }
}

/// Resets the peak, and returns the memory that is in use.
fn reset_peak() -> Option<usize> {
    std::fs::write("/proc/self/clear_refs", "5").ok()?;
    Some(memory("VmRSS"))
}

/// A number of `/proc/self/status`, in bytes.
fn memory(name: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace()
        .nth(1)
        .unwrap()
        .parse::<usize>()
        .unwrap()
        * 1024
}
