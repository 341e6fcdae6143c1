//! The scheduler process.

use std::sync::{Arc, Mutex};

use ballista_core::error::Result;
use ballista_core::utils::default_session_builder;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::{create_scheduler, start_grpc_service_with_listener};
use datafusion::common::plan_datafusion_err;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};

use crate::address::listen;
use crate::cluster::Cluster;
use crate::executors::{CheckedExecutors, Known};

impl Cluster {
    /// Runs a scheduler until it fails. It listens on `bind_host` and `bind_port` of the configuration, where port 0 is a free
    /// one, and calls a function with its port once executors can connect.
    ///
    /// Builders and codecs of the configuration are kept: the functions of the cluster are added to them. An executor that does
    /// not have these functions is refused.
    ///
    /// # Errors
    /// The configuration is not valid, or the port is taken.
    pub async fn run_scheduler(
        &self,
        mut config: SchedulerConfig,
        started: impl FnOnce(u16),
    ) -> Result<()> {
        let functions = self.functions();
        let known = Arc::new(Mutex::new(Known::default()));

        let listener = listen(&config.bind_host, config.bind_port).await?;
        config.bind_port = listener.local_addr()?.port();

        functions.add_codecs(
            &mut config.override_logical_codec,
            &mut config.override_physical_codec,
        );
        let build = config.override_session_builder.take();
        let build = build.unwrap_or_else(|| Arc::new(default_session_builder));
        let (added, executors) = (Arc::clone(&functions), Arc::clone(&known));
        config.override_session_builder = Some(Arc::new(move |settings| {
            Known::check(&executors).map_err(|problem| plan_datafusion_err!("{problem}"))?;
            let mut state = build(settings)?;
            added.register(&mut state)?;
            Ok(state)
        }));
        config.validate()?;

        let cluster = BallistaCluster::new_from_config(&config).await?;
        let executors = CheckedExecutors {
            state: cluster.cluster_state(),
            functions: functions.descriptions.clone(),
            known,
        };
        let cluster = BallistaCluster::new(Arc::new(executors), cluster.job_state());
        let port = config.bind_port;
        let scheduler =
            create_scheduler::<LogicalPlanNode, PhysicalPlanNode>(cluster, Arc::new(config))
                .await?;
        started(port);
        start_grpc_service_with_listener(listener, scheduler).await
    }
}
