//! The executors of a cluster: one that does not have the functions of the scheduler is refused.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use ballista_core::JobId;
use ballista_core::error::{BallistaError, Result};
use ballista_core::serde::protobuf::ExecutorHeartbeat;
use ballista_core::serde::scheduler::{ExecutorData, ExecutorMetadata};
use ballista_scheduler::cluster::{BoundTask, ClusterState, ClusterStateEventStream, ExecutorSlot};
use ballista_scheduler::config::TaskDistributionPolicy;
use ballista_scheduler::state::task_manager::JobInfoCache;

use crate::flight;
use crate::functions::{Descriptions, check_executor};

/// The executors that the scheduler knows.
#[derive(Debug, Default)]
pub(crate) struct Known {
    executors: HashSet<String>,
    /// Why an executor was refused since the last one was accepted, with its address.
    refused: Option<String>,
}

impl Known {
    /// Validates that there is an executor to run a query.
    ///
    /// # Errors
    /// There is none, with the reason why the last one was refused.
    pub(crate) fn check(known: &Mutex<Self>) -> std::result::Result<(), String> {
        let known = known.lock().unwrap_or_else(PoisonError::into_inner);
        match &known.refused {
            _ if !known.executors.is_empty() => Ok(()),
            Some(reason) => Err(format!("the cluster has no executor: {reason}")),
            None => {
                Err("the cluster has no executor; start one, and run the query again".to_owned())
            }
        }
    }
}

/// The state of a cluster that asks each executor for its functions before it may run tasks.
pub(crate) struct CheckedExecutors {
    pub(crate) state: Arc<dyn ClusterState>,
    pub(crate) functions: Descriptions,
    pub(crate) known: Arc<Mutex<Known>>,
}

impl CheckedExecutors {
    fn change(&self, change: impl FnOnce(&mut Known)) {
        change(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

#[async_trait]
impl ClusterState for CheckedExecutors {
    async fn init(&self) -> Result<()> {
        self.state.init().await
    }

    async fn register_executor(
        &self,
        metadata: ExecutorMetadata,
        data: ExecutorData,
    ) -> Result<()> {
        let ExecutorMetadata { id, host, port, .. } = &metadata;
        let found = flight::functions_of(host, *port).await;
        let checked = found.and_then(|found| check_executor(&self.functions, &found));
        if let Err(problem) = checked {
            let reason = format!("executor {host}:{port} was refused: {problem}");
            self.change(|known| known.refused = Some(reason.clone()));
            return Err(BallistaError::Configuration(reason));
        }
        let id = id.clone();
        self.state.register_executor(metadata, data).await?;
        self.change(|known| {
            known.executors.insert(id);
            known.refused = None;
        });
        Ok(())
    }

    async fn remove_executor(&self, executor: &str) -> Result<()> {
        self.change(|known| {
            known.executors.remove(executor);
        });
        self.state.remove_executor(executor).await
    }

    async fn bind_schedulable_tasks(
        &self,
        distribution: TaskDistributionPolicy,
        active_jobs: Arc<HashMap<JobId, JobInfoCache>>,
        executors: Option<HashSet<String>>,
    ) -> Result<Vec<BoundTask>> {
        self.state
            .bind_schedulable_tasks(distribution, active_jobs, executors)
            .await
    }

    async fn unbind_tasks(&self, slots: Vec<ExecutorSlot>) -> Result<()> {
        self.state.unbind_tasks(slots).await
    }

    async fn save_executor_metadata(&self, metadata: ExecutorMetadata) -> Result<()> {
        self.state.save_executor_metadata(metadata).await
    }

    async fn get_executor_metadata(&self, executor: &str) -> Result<ExecutorMetadata> {
        self.state.get_executor_metadata(executor).await
    }

    async fn registered_executor_metadata(&self) -> Vec<ExecutorMetadata> {
        self.state.registered_executor_metadata().await
    }

    async fn save_executor_heartbeat(&self, heartbeat: ExecutorHeartbeat) -> Result<()> {
        self.state.save_executor_heartbeat(heartbeat).await
    }

    fn executor_heartbeats(&self) -> HashMap<String, ExecutorHeartbeat> {
        self.state.executor_heartbeats()
    }

    fn get_executor_heartbeat(&self, executor: &str) -> Option<ExecutorHeartbeat> {
        self.state.get_executor_heartbeat(executor)
    }

    async fn cluster_state_events(&self) -> Result<ClusterStateEventStream> {
        self.state.cluster_state_events().await
    }
}
