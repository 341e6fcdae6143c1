//! Addresses of processes: listening, and waiting until one can be reached.

use std::time::{Duration, Instant};

use ballista_core::error::{BallistaError, Result};
use tokio::net::{TcpListener, TcpStream};

/// Listens on a port of a host; 0 is a free port.
pub(crate) async fn listen(host: &str, port: u16) -> Result<TcpListener> {
    let address = format!("{host}:{port}");
    TcpListener::bind(&address).await.map_err(|error| {
        BallistaError::Configuration(format!("cannot listen on {address}: {error}"))
    })
}

/// Waits until the scheduler can be reached.
pub(crate) async fn wait_for_scheduler(host: &str, port: u16, wait: Duration) -> Result<()> {
    let address = format!("{host}:{port}");
    let deadline = Instant::now() + wait;
    loop {
        match TcpStream::connect(&address).await {
            Ok(_) => return Ok(()),
            Err(error) if Instant::now() >= deadline => {
                return Err(BallistaError::Configuration(format!(
                    "cannot connect to the scheduler at {address}: {error}"
                )));
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
        }
    }
}
