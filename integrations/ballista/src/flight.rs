//! The Flight service of an executor, which also answers which functions it has.

use std::sync::Arc;
use std::time::Duration;

use arrow_flight::flight_service_client::FlightServiceClient;
use arrow_flight::flight_service_server::{FlightService, FlightServiceServer};
use arrow_flight::{
    Action, Criteria, Empty, FlightData, FlightDescriptor, FlightInfo, HandshakeRequest, PollInfo,
    SchemaResult, Ticket,
};
use ballista_core::error::BallistaError;
use ballista_executor::executor_process::ExecutorProcessConfig;
use ballista_executor::flight_service::BallistaFlightService;
use futures::stream::{self, StreamExt as _};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tonic::transport::Endpoint;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status, Streaming};

use crate::functions::Descriptions;

/// The action that returns the functions of an executor as JSON.
const FUNCTIONS: &str = "dsrs_metrics.functions";

/// How long the scheduler waits for the functions of an executor.
const WAIT: Duration = Duration::from_secs(10);

/// Asks an executor for its functions.
///
/// # Errors
/// The executor does not answer, or was started by another program.
pub(crate) async fn functions_of(host: &str, port: u16) -> Result<Descriptions, String> {
    let asked = async {
        let endpoint = Endpoint::from_shared(format!("http://{host}:{port}"));
        let endpoint = endpoint.map_err(|error| format!("expected a host name: {error}"))?;
        let channel = endpoint.connect().await;
        let channel = channel.map_err(|error| format!("cannot connect: {error}"))?;
        let mut client = FlightServiceClient::new(channel);
        let action = Action {
            r#type: FUNCTIONS.to_owned(),
            body: Vec::new().into(),
        };
        let answer = client.do_action(action).await;
        let found = match answer {
            Ok(answer) => answer.into_inner().message().await,
            Err(status) => Err(status),
        };
        let found = found.map_err(|status| {
            let message = status.message();
            format!(
                "expected an executor of dsrs-metrics-ballista, found one that answers: {message}"
            )
        })?;
        let body = found.map(|result| result.body).unwrap_or_default();
        serde_json::from_slice(&body).map_err(|error| {
            format!("expected the descriptions of its functions, found other bytes: {error}")
        })
    };
    let answer = tokio::time::timeout(WAIT, asked).await;
    answer.unwrap_or_else(|_| Err(format!("no answer within {} seconds", WAIT.as_secs())))
}

/// A running Flight service.
pub(crate) struct FlightServer {
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<(), BallistaError>>,
}

impl FlightServer {
    /// Starts the service of an executor.
    pub(crate) fn start(
        config: &ExecutorProcessConfig,
        work_dir: String,
        listener: TcpListener,
        functions: &Descriptions,
    ) -> Result<Self, BallistaError> {
        let functions = serde_json::to_vec(functions)
            .map_err(|error| BallistaError::Internal(format!("cannot write functions: {error}")))?;
        let service = Service {
            shuffles: BallistaFlightService::new(work_dir),
            functions: functions.into(),
        };
        let service = FlightServiceServer::new(service)
            .max_decoding_message_size(config.grpc_max_decoding_message_size as usize)
            .max_encoding_message_size(config.grpc_max_encoding_message_size as usize);
        let mut server = ballista_core::utils::create_grpc_server(&config.grpc_server_config);
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            let stopped = async { stopped.await.unwrap_or_default() };
            let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
            let server = server
                .add_service(service)
                .serve_with_incoming_shutdown(incoming, stopped);
            server.await.map_err(BallistaError::TonicError)
        });
        Ok(Self { stop, task })
    }

    /// Stops the service, and waits until it has ended.
    pub(crate) async fn stop(self) -> Result<(), BallistaError> {
        // The service may have ended with an error before.
        let _ = self.stop.send(());
        self.task.await.map_err(BallistaError::TokioError)?
    }
}

/// The service of Ballista, with one more action.
struct Service {
    shuffles: BallistaFlightService,
    functions: Arc<[u8]>,
}

#[tonic::async_trait]
impl FlightService for Service {
    type HandshakeStream = <BallistaFlightService as FlightService>::HandshakeStream;
    type ListFlightsStream = <BallistaFlightService as FlightService>::ListFlightsStream;
    type DoGetStream = <BallistaFlightService as FlightService>::DoGetStream;
    type DoPutStream = <BallistaFlightService as FlightService>::DoPutStream;
    type DoActionStream = <BallistaFlightService as FlightService>::DoActionStream;
    type ListActionsStream = <BallistaFlightService as FlightService>::ListActionsStream;
    type DoExchangeStream = <BallistaFlightService as FlightService>::DoExchangeStream;

    async fn do_action(
        &self,
        request: Request<Action>,
    ) -> Result<Response<Self::DoActionStream>, Status> {
        if request.get_ref().r#type == FUNCTIONS {
            let result = arrow_flight::Result {
                body: self.functions.to_vec().into(),
            };
            return Ok(Response::new(stream::iter([Ok(result)]).boxed()));
        }
        self.shuffles.do_action(request).await
    }

    async fn do_get(
        &self,
        request: Request<Ticket>,
    ) -> Result<Response<Self::DoGetStream>, Status> {
        self.shuffles.do_get(request).await
    }

    async fn do_put(
        &self,
        request: Request<Streaming<FlightData>>,
    ) -> Result<Response<Self::DoPutStream>, Status> {
        self.shuffles.do_put(request).await
    }

    async fn do_exchange(
        &self,
        request: Request<Streaming<FlightData>>,
    ) -> Result<Response<Self::DoExchangeStream>, Status> {
        self.shuffles.do_exchange(request).await
    }

    async fn handshake(
        &self,
        request: Request<Streaming<HandshakeRequest>>,
    ) -> Result<Response<Self::HandshakeStream>, Status> {
        self.shuffles.handshake(request).await
    }

    async fn list_flights(
        &self,
        request: Request<Criteria>,
    ) -> Result<Response<Self::ListFlightsStream>, Status> {
        self.shuffles.list_flights(request).await
    }

    async fn list_actions(
        &self,
        request: Request<Empty>,
    ) -> Result<Response<Self::ListActionsStream>, Status> {
        self.shuffles.list_actions(request).await
    }

    async fn get_flight_info(
        &self,
        request: Request<FlightDescriptor>,
    ) -> Result<Response<FlightInfo>, Status> {
        self.shuffles.get_flight_info(request).await
    }

    async fn poll_flight_info(
        &self,
        request: Request<FlightDescriptor>,
    ) -> Result<Response<PollInfo>, Status> {
        self.shuffles.poll_flight_info(request).await
    }

    async fn get_schema(
        &self,
        request: Request<FlightDescriptor>,
    ) -> Result<Response<SchemaResult>, Status> {
        self.shuffles.get_schema(request).await
    }
}
