//! Streamed answers over real connections that are cut off at random: what is settled is what the server counted, to the unit.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, Bytes},
    routing::post,
};
use futures_util::{StreamExt as _, future, stream};
use serde_json::{Value, json};
use tollgate::redis::RedisStore;
use tollgate_demo::{App, Config, Model, router};
use tollgate_guard::{Clock as _, Limit, ManualClock, SystemClock, Window};
use tollgate_memory::MemoryStore;
use tollgate_store::{Claims, Store};
use tollgate_testbed::RedisServer;

const CHATS: usize = 200;

/// What a model does: says so many pieces, and ends in one of four ways.
#[derive(Clone, Copy)]
struct Plan {
    pieces: usize,
    end: usize,
    /// After how many pieces the client leaves; none is not at all.
    leaves_after: Option<usize>,
}

impl Plan {
    fn random(random: &mut fastrand::Rng) -> Self {
        let (pieces, end) = (random.usize(1..30), random.usize(0..4));
        // Somebody has to leave a model that never ends.
        let leaves = end == 3 || random.bool();
        Self { pieces, end, leaves_after: leaves.then(|| random.usize(0..=pieces)) }
    }

    /// The question carries it to the model.
    fn message(self) -> String {
        format!("What is the key of a policy made of? plan {} {}.", self.pieces, self.end)
    }

    fn of(prompt: &str) -> Self {
        let plan = prompt.split("plan ").nth(1).unwrap().split('.').next().unwrap();
        let (pieces, end) = plan.split_once(' ').unwrap();
        Self { pieces: pieces.parse().unwrap(), end: end.parse().unwrap(), leaves_after: None }
    }

    fn stream(self) -> Body {
        let delta = |n: usize| {
            let text = "word ".repeat(n % 7 + 1);
            format!("data: {}\n\n", json!({ "choices": [{ "index": 0, "delta": { "content": text } }] }))
        };
        let usage =
            json!({ "choices": [], "usage": { "prompt_tokens": 90, "completion_tokens": self.pieces * 2 } });
        let ends = match self.end {
            0 => vec![format!("data: {usage}\n\n"), "data: [DONE]\n\n".to_owned()],
            1 => vec!["data: [DONE]\n\n".to_owned()],
            // Cut off, or for ever silent.
            _ => vec![],
        };
        let said = stream::iter((0..self.pieces).map(delta).chain(ends)).then(|text| async {
            tokio::task::yield_now().await;
            text
        });
        let silence = stream::pending().take(if self.end == 3 { usize::MAX } else { 0 });
        Body::from_stream(said.chain(silence).map(Ok::<_, std::io::Error>))
    }
}

async fn serve(router: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(async move { axum::serve(listener, service).await.unwrap() });
    url
}

async fn model() -> String {
    let answer = |body: Bytes| async move {
        let body: Value = serde_json::from_slice(&body).unwrap();
        Plan::of(body["messages"][1]["content"].as_str().unwrap()).stream()
    };
    serve(Router::new().route("/v1/chat/completions", post(answer))).await + "/v1"
}

/// Reads an answer to its end, or leaves in the middle of it. How many tokens it has seen being used.
async fn chat(client: reqwest::Client, url: String, n: usize, plan: Plan) -> u64 {
    let request = client.post(format!("{url}/api/chat"));
    let request = request.header("cf-connecting-ip", format!("203.0.113.{}", n % 250 + 1));
    let request = request.header("accept", "text/event-stream").header("content-type", "application/json");
    let body = json!({ "message": plan.message() }).to_string();
    let mut response = request.body(body).send().await.unwrap();
    assert_eq!(response.status(), 200);
    let mut text = String::new();
    while plan.leaves_after.is_none_or(|most| text.matches("event: text").count() < most) {
        let Some(chunk) = response.chunk().await.unwrap() else { break };
        text.push_str(std::str::from_utf8(&chunk).unwrap());
    }
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let data: Vec<Value> = data.filter_map(|data| serde_json::from_str(data).ok()).collect();
    let usage = data.iter().find(|data| data["usage"].is_object()).map(|data| &data["usage"]);
    let bytes: usize = data.iter().filter_map(|data| data["text"].as_str()).map(str::len).sum();
    match usage {
        Some(usage) => {
            usage["prompt_tokens"].as_u64().unwrap() + usage["completion_tokens"].as_u64().unwrap()
        }
        None => u64::try_from(bytes.div_ceil(4)).unwrap(),
    }
}

#[expect(clippy::disallowed_methods, reason = "what a server does of its own is only to be asked for")]
async fn cut_off_at_random(seed: u64, store: Arc<dyn Store>, claims: Arc<dyn Claims>) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut config = Config::development().unwrap();
    config.playground_day = Limit::fixed(1_000, Window::DAY);
    config.model = Some(Model::new(&model().await, None, "random").unwrap());
    // It stands still, so that no window ends meanwhile.
    let clock = ManualClock::at_unix_ms(SystemClock.now().unix_ms());
    let app = App::new(config, store, claims, clock).unwrap();
    let url = serve(router(app.clone())).await;

    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let plans: Vec<_> = (0..CHATS).map(|_| Plan::random(&mut random)).collect();
    let chats =
        plans.iter().enumerate().map(|(n, &plan)| tokio::spawn(chat(client.clone(), url.clone(), n, plan)));
    let mut seen = 0;
    for chat in future::join_all(chats.collect::<Vec<_>>()).await {
        seen += chat.unwrap();
    }

    let settled = || async {
        let outcome = app.guard().peek(&[app.tokens().charge(())]).await;
        outcome.decisions().first().map(|said| said.decision().used().get()).unwrap()
    };
    // The server learns by and by that a client has left, and a store elsewhere by and by what that came to.
    for _ in 0..3_000 {
        let (answers, tokens) = app.spent_so_far();
        if answers == CHATS as u64 && settled().await == tokens {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let (answers, tokens) = app.spent_so_far();
    assert_eq!((answers, settled().await), (CHATS as u64, tokens));

    assert!(tokens >= seen && seen > 0, "{tokens} of {seen}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chats_that_are_cut_off_settle_to_what_they_used_in_memory() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let store = Arc::new(MemoryStore::new());
    cut_off_at_random(seed, Arc::clone(&store) as Arc<dyn Store>, store).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chats_that_are_cut_off_settle_to_what_they_used_on_redis() {
    let redis = RedisServer::start();
    // All come at once, to a machine that may be busy: that it is slow is not what is asked here.
    let store = RedisStore::builder(&redis.url()).deadline(Duration::from_secs(60)).build().unwrap();
    let store = Arc::new(store);
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    cut_off_at_random(seed, Arc::clone(&store) as Arc<dyn Store>, store).await;
}
