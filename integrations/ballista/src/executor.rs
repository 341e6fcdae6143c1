//! The executor process.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ballista_core::error::Result;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_core::utils::default_session_builder;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use datafusion::prelude::SessionConfig;

use crate::address::{listen, wait_for_scheduler};
use crate::cluster::Cluster;
use crate::flight::FlightServer;

impl Cluster {
    /// Runs an executor until it is stopped by a signal or by the scheduler, and calls a function once the scheduler has accepted
    /// it. A port of the configuration that is 0 is a free one. Without `work_dir`, the intermediate files are in a temporary
    /// folder, which is removed at the end.
    ///
    /// Codecs of the configuration are kept: the functions of the cluster are added to them. The function registry and the
    /// Flight service are those of the cluster.
    ///
    /// # Errors
    /// The configuration is not valid, a port is taken, the scheduler does not answer, or it refuses the executor, because this
    /// program does not have its functions.
    pub async fn run_executor(
        &self,
        mut config: ExecutorProcessConfig,
        started: impl FnOnce() + Send + 'static,
    ) -> Result<()> {
        let functions = self.functions();

        let listener = listen(&config.bind_host, config.port).await?;
        let address = listener.local_addr()?;
        config.port = address.port();
        // Ballista reads an address here, and no name.
        config.bind_host = match address.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        if config.grpc_port == 0 {
            // Ballista opens this port itself, so it is released here.
            config.grpc_port = listen(&config.bind_host, 0).await?.local_addr()?.port();
        }
        let folder = match &config.work_dir {
            Some(_) => None,
            None => Some(tempfile::tempdir()?),
        };
        let temporary = folder
            .as_ref()
            .map(|folder| folder.path().to_string_lossy().into_owned());
        let work_dir = config.work_dir.take().or(temporary).unwrap_or_default();
        config.work_dir = Some(work_dir.clone());

        functions.add_codecs(
            &mut config.override_logical_codec,
            &mut config.override_physical_codec,
        );
        let mut state = default_session_builder(SessionConfig::new())?;
        functions.register(&mut state)?;
        config.override_function_registry = Some(Arc::new(BallistaFunctionRegistry::from(&state)));

        // Ballista measures this time from zero again and again, and would wait without end.
        let wait = Duration::from_secs(config.scheduler_connect_timeout_seconds.into());
        wait_for_scheduler(&config.scheduler_host, config.scheduler_port, wait).await?;
        config.scheduler_connect_timeout_seconds = 0;

        // The scheduler asks for the functions while it registers the executor, which is before Ballista starts the service.
        let server = FlightServer::start(&config, work_dir, listener, &functions.descriptions)?;
        let once = Mutex::new(Some((server, started)));
        config.override_arrow_flight_service = Some(Arc::new(move |_, _, mut shutdown, _| {
            let once = once.lock().unwrap_or_else(PoisonError::into_inner).take();
            tokio::spawn(async move {
                let Some((server, started)) = once else {
                    return Ok(());
                };
                started();
                shutdown.recv().await;
                server.stop().await
            })
        }));
        start_executor_process(Arc::new(config)).await
    }
}
