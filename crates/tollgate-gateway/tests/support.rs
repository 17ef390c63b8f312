//! A gateway in this process, and a client of it.

use std::{
    net::SocketAddr,
    thread::{self, JoinHandle},
    time::Duration,
};

use serde_json::Value;
use tokio::{net::TcpListener, sync::oneshot};
use tollgate_gateway::{Gateway, GatewayBuilder};
use ureq::{Agent, http::Request};

pub(crate) use tollgate_testbed::RedisServer;

pub(crate) const TOKEN: &str = "a-token";
pub(crate) const READ_ONLY_TOKEN: &str = "a-token-that-reads";

/// A running gateway, stopped at the end.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) agent: Agent,
    pub(crate) gateway: Gateway,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What came back: status, header fields by name, body.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: ureq::http::response::Parts,
    pub(crate) body: String,
}

impl Server {
    pub(crate) fn start(redis: &RedisServer) -> Self {
        Self::start_with(redis, |builder| builder)
    }

    pub(crate) fn start_with(
        redis: &RedisServer,
        more: impl FnOnce(GatewayBuilder) -> GatewayBuilder,
    ) -> Self {
        let builder = Gateway::builder(redis.url()).token(TOKEN).read_only_token(READ_ONLY_TOKEN);
        let gateway = more(builder).build().unwrap();
        let serving = gateway.clone();
        let (stop, stopped) = oneshot::channel();
        let (tell, told) = std::sync::mpsc::channel();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
            runtime.unwrap().block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                tell.send(listener.local_addr().unwrap()).unwrap();
                let stop = async {
                    let _ = stopped.await;
                };
                serving.serve(listener, stop).await.unwrap();
            });
        });
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .allow_non_standard_methods(true)
            .timeout_global(Some(Duration::from_secs(20)))
            .build();
        Self {
            address: told.recv().unwrap(),
            agent: agent.new_agent(),
            gateway,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Sends a request with these header fields.
    pub(crate) fn send(&self, method: &str, path: &str, fields: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut request = Request::builder().method(method).uri(format!("http://{}{path}", self.address));
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        let response = if body.is_empty() && method != "POST" && method != "PUT" {
            self.agent.run(request.body(()).unwrap())
        } else {
            self.agent.run(request.body(body).unwrap())
        };
        let (head, mut body) = response.unwrap().into_parts();
        Answer { status: head.status.as_u16(), head, body: body.read_to_string().unwrap() }
    }

    /// Posts JSON with the full token.
    pub(crate) fn post(&self, path: &str, body: &str) -> (u16, Value) {
        self.post_as(TOKEN, path, body)
    }

    pub(crate) fn post_as(&self, token: &str, path: &str, body: &str) -> (u16, Value) {
        let answer = self.send("POST", path, &[("authorization", &bearer(token))], body.as_bytes());
        (answer.status, answer.json())
    }

    /// The result of one command that must succeed.
    pub(crate) fn run(&self, command: &str) -> Value {
        let (status, mut body) = self.post("/", command);
        assert_eq!(status, 200, "{command}: {body}");
        body["result"].take()
    }

    /// Asks the gateway to stop, without waiting for it.
    pub(crate) fn stop(&mut self) {
        drop(self.stop.take());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
        let ended = self.thread.take().unwrap().join();
        assert!(ended.is_ok() || thread::panicking(), "the gateway panicked");
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {:?}", self.body))
    }

    pub(crate) fn field(&self, name: &str) -> &str {
        self.head.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

pub(crate) fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}
