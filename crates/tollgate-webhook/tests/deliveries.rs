//! Deliveries in memory: leases by an injected clock, what is dropped, what is handed over, and outages.

use std::{
    future::{Future, pending},
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use futures_util::{FutureExt as _, future::join_all};
use tollgate_core::{Timestamp, Window};
use tollgate_guard::{Clock as _, ManualClock};
use tollgate_memory::MemoryStore;
use tollgate_store::{Claim, Claimed, Claims, Confirm, Hold, Release, StoreError, StoreErrorKind};
use tollgate_testbed::Log;
use tollgate_webhook::{
    Begin, Deliveries, DeliveriesBuilder, DeliveriesError, Delivery, DeliveryId, DeliveryIdError,
    DeliveryTicket, OnClaimOutage,
};

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

const START: u64 = 1_796_040_000_000;

pub(crate) fn id(text: &str) -> DeliveryId {
    DeliveryId::try_new(text).unwrap()
}

/// The delivery, if it is this request's to process.
pub(crate) async fn first(deliveries: &Deliveries, id: &DeliveryId) -> Option<Delivery> {
    match deliveries.begin("17", id).await {
        Begin::First(delivery) => Some(delivery),
        _ => None,
    }
}

fn builder(claims: impl Claims, clock: &ManualClock, on_outage: OnClaimOutage) -> DeliveriesBuilder {
    let clock = clock.clone();
    Deliveries::builder("github", claims, on_outage, move || clock.now())
}

/// What is left to do in the background.
type Tasks = Arc<Mutex<Vec<Task>>>;

/// On this store; what is dropped is left to do.
fn leaving(store: &Slow, tasks: &Tasks) -> Deliveries {
    let (clock, spawned) = (ManualClock::at_unix_ms(START), Arc::clone(tasks));
    let builder = builder(store.clone(), &clock, OnClaimOutage::Unavailable);
    builder.spawner(move |task| spawned.lock().unwrap().push(task)).build().unwrap()
}

fn in_memory() -> (Deliveries, ManualClock) {
    let clock = ManualClock::at_unix_ms(START);
    let builder = builder(MemoryStore::new(), &clock, OnClaimOutage::Unavailable);
    // In memory there is nothing to wait for, so no spawner is needed.
    (builder.build().unwrap(), clock)
}

#[tokio::test]
async fn a_lease_runs_out_and_a_retention_later() {
    let (deliveries, clock) = in_memory();
    let id = id("1");
    let died = first(&deliveries, &id).await.unwrap().hand_over();
    let Begin::Running { until } = deliveries.begin("17", &id).await else { panic!("it is running") };
    assert_eq!(until, Timestamp::from_unix_ms(START + 300_000));
    clock.advance(Duration::from_millis(299_999));
    assert!(first(&deliveries, &id).await.is_none());
    clock.advance(Duration::from_millis(1));
    let delivery = first(&deliveries, &id).await.expect("the lease has run out");
    assert_eq!(deliveries.take_over(died).confirm().await.unwrap(), Hold::Lost);
    assert_eq!(delivery.confirm().await.unwrap(), Hold::Ours);
    clock.advance(Duration::from_secs(3 * 86_400));
    assert!(matches!(deliveries.begin("17", &id).await, Begin::Duplicate));
    clock.advance(Duration::from_secs(4 * 86_400));
    assert!(first(&deliveries, &id).await.is_some());
}

#[tokio::test]
async fn long_work_renews() {
    let (deliveries, clock) = in_memory();
    let id = id("1");
    let delivery = first(&deliveries, &id).await.unwrap();
    for _ in 0..10 {
        clock.advance(Duration::from_secs(200));
        assert_eq!(delivery.renew().await.unwrap(), Hold::Ours);
        assert_eq!(deliveries.renew(&delivery.ticket()).await.unwrap(), Hold::Ours);
    }
    assert!(first(&deliveries, &id).await.is_none());
    clock.advance(Duration::from_secs(300));
    assert_eq!(delivery.renew().await.unwrap(), Hold::Lost);
    assert_eq!(delivery.confirm().await.unwrap(), Hold::Lost);
    assert!(first(&deliveries, &id).await.is_some());
}

#[tokio::test]
async fn what_is_dropped_is_released() {
    let (deliveries, _) = in_memory();
    let id = id("1");
    drop(first(&deliveries, &id).await.unwrap());
    // A panic while it is held.
    let delivery = first(&deliveries, &id).await.expect("it was released");
    let panics = async move {
        let _delivery = delivery;
        panic!("a handler panics");
    };
    assert!(std::panic::AssertUnwindSafe(panics).catch_unwind().await.is_err());
    // A future that is given up while it works.
    let delivery = first(&deliveries, &id).await.expect("it was released");
    let mut work = Box::pin(async move {
        let _delivery = delivery;
        pending::<()>().await;
    });
    assert!(work.as_mut().now_or_never().is_none());
    assert!(first(&deliveries, &id).await.is_none());
    drop(work);
    assert!(first(&deliveries, &id).await.is_some());
}

#[tokio::test]
async fn a_confirmation_that_is_given_up_half_way_is_made_all_the_same() {
    let (store, tasks) = (Slow::default(), Tasks::default());
    let deliveries = leaving(&store, &tasks);
    let delivery = first(&deliveries, &id("1")).await.unwrap();
    store.0.stalls.store(true, Ordering::SeqCst);
    assert!(delivery.confirm().now_or_never().is_none());
    store.0.stalls.store(false, Ordering::SeqCst);
    let tasks = std::mem::take(&mut *tasks.lock().unwrap());
    assert_eq!(tasks.len(), 1);
    join_all(tasks).await;
    assert!(matches!(deliveries.begin("17", &id("1")).await, Begin::Duplicate));
}

#[tokio::test]
async fn a_confirmation_or_release_that_fails_is_tried_once_more() {
    let (store, tasks) = (Slow::default(), Tasks::default());
    let deliveries = leaving(&store, &tasks);
    let [done, failed] = [id("done"), id("failed")];
    let delivery = first(&deliveries, &done).await.unwrap();
    let other = first(&deliveries, &failed).await.unwrap();
    store.0.fails.store(true, Ordering::SeqCst);
    assert_eq!(delivery.confirm().await.unwrap_err().kind(), StoreErrorKind::Unreachable);
    assert_eq!(other.release().await.unwrap_err().kind(), StoreErrorKind::Unreachable);
    store.0.fails.store(false, Ordering::SeqCst);
    let tasks = std::mem::take(&mut *tasks.lock().unwrap());
    assert_eq!(tasks.len(), 2);
    join_all(tasks).await;
    assert!(matches!(deliveries.begin("17", &done).await, Begin::Duplicate));
    assert!(first(&deliveries, &failed).await.is_some());
}

#[tokio::test]
async fn a_spawner_that_panics_harms_nobody() {
    let clock = ManualClock::at_unix_ms(START);
    let builder = builder(MemoryStore::new(), &clock, OnClaimOutage::Unavailable);
    let deliveries = builder.spawner(|_| panic!("no runtime")).build().unwrap();
    let delivery = first(&deliveries, &id("1")).await.unwrap();
    let panics = async move {
        let _delivery = delivery;
        panic!("a handler panics");
    };
    assert!(std::panic::AssertUnwindSafe(panics).catch_unwind().await.is_err());
    assert!(first(&deliveries, &id("1")).await.is_none(), "until its lease ends");
}

#[test]
fn what_is_not_released_in_the_background_is_logged() {
    let drops: fn(Task) = drop;
    let begins_and_drops: fn(Task) = |task| assert!(task.now_or_never().is_none());
    let panics: fn(Task) = |_| panic!("no runtime");
    let works: fn(Task) = |task| task.now_or_never().unwrap();
    // A spawner, whether the store stalls, and whether it warns.
    let cases = [
        (Some(drops), false, true),
        (Some(begins_and_drops), true, true),
        (Some(panics), false, true),
        (Some(works), false, false),
        (None, true, true),
        (None, false, false),
    ];
    for (at, (spawner, stalls, warns)) in cases.into_iter().enumerate() {
        let (log, store) = (Log::default(), Slow::default());
        let mut builder = builder(store.clone(), &ManualClock::at_unix_ms(START), OnClaimOutage::Unavailable);
        if let Some(spawner) = spawner {
            builder = builder.spawner(spawner);
        }
        let deliveries = builder.build().unwrap();
        let delivery = first(&deliveries, &id("1")).now_or_never().unwrap().unwrap();
        store.0.stalls.store(stalls, Ordering::SeqCst);
        tracing::dispatcher::with_default(&log.dispatch(), || drop(delivery));
        let lines = log.lines();
        assert_eq!(lines.len(), usize::from(warns), "{at}: {lines:?}");
        assert!(lines.iter().all(|line| line.contains("held until its lease ends") && line.contains("id=1")));
        store.0.stalls.store(false, Ordering::SeqCst);
        assert_eq!(first(&deliveries, &id("1")).now_or_never().unwrap().is_none(), warns, "{at}");
    }
}

#[tokio::test]
async fn a_ticket_is_one_line_of_text() {
    let (deliveries, _) = in_memory();
    for scope in ["17", "", "acme corp: docs", "ä b  c"] {
        let Begin::First(delivery) = deliveries.begin(scope, &id("a:b")).await else { panic!("{scope}") };
        let text = delivery.hand_over().to_string();
        let ticket: DeliveryTicket = text.parse().unwrap();
        assert_eq!((ticket.scope(), ticket.id().as_str()), (scope, "a:b"));
        assert!(!format!("{ticket:?}").contains(&text[..32]), "{ticket:?}");
        assert_eq!(deliveries.take_over(ticket).confirm().await.unwrap(), Hold::Ours);
        assert!(matches!(deliveries.begin(scope, &id("a:b")).await, Begin::Duplicate));
    }
    let anyway = builder(MemoryStore::new(), &ManualClock::at_unix_ms(START), OnClaimOutage::ProcessAnyway);
    let anyway = anyway.build().unwrap();
    for scope in ["a\nb", "\r", "a\0", "\u{1b}[2J", "a\u{7f}", "a\u{85}b", "a\u{2028}b"] {
        for deliveries in [&deliveries, &anyway] {
            let begun = deliveries.begin(scope, &id("1")).await;
            let Begin::Unavailable(error) = begun else { panic!("{scope:?}: {begun:?}") };
            assert_eq!(error.kind(), StoreErrorKind::Misuse);
        }
    }
    let token = "0".repeat(32);
    for text in [
        "",
        "x",
        &token,
        &format!("{token} id"),
        &format!("+{} id s", &token[1..]),
        "1 id s",
        &format!("{token} i/d s"),
        &format!("{token}?? id s"),
        &format!("{token} id s\n"),
    ] {
        assert!(text.parse::<DeliveryTicket>().is_err(), "{text:?}");
    }
}

#[tokio::test]
async fn in_an_outage_the_endpoint_says_what_is_done() {
    let (clock, store) = (ManualClock::at_unix_ms(START), Slow::default());
    let release_at_once = |task: Task| task.now_or_never().unwrap();
    let with =
        |on_outage| builder(store.clone(), &clock, on_outage).spawner(release_at_once).build().unwrap();
    let (anyway, unavailable) = (with(OnClaimOutage::ProcessAnyway), with(OnClaimOutage::Unavailable));
    store.0.fails.store(true, Ordering::SeqCst);
    let Begin::Unavailable(error) = unavailable.begin("17", &id("1")).await else { panic!("it fails") };
    assert_eq!(error.kind(), StoreErrorKind::Unreachable);
    let [one, other] = [first(&anyway, &id("1")).await.unwrap(), first(&anyway, &id("1")).await.unwrap()];
    assert!(!one.is_claimed() && !other.is_claimed());
    assert_eq!(one.confirm().await.unwrap_err().kind(), StoreErrorKind::Unreachable);
    // The store is back before the work is done: what is done is a duplicate from then on.
    store.0.fails.store(false, Ordering::SeqCst);
    assert_eq!(other.confirm().await.unwrap(), Hold::Ours);
    assert!(matches!(anyway.begin("17", &id("1")).await, Begin::Duplicate));
}

#[tokio::test]
async fn what_is_processed_in_an_outage_is_claimed_when_it_is_renewed() {
    let (clock, store) = (ManualClock::at_unix_ms(START), Slow::default());
    for is_simple in [false, true] {
        let mut builder = builder(store.clone(), &clock, OnClaimOutage::ProcessAnyway);
        if is_simple {
            builder = builder.simple("github-delivery:");
        }
        let anyway = builder.build().unwrap();
        store.0.fails.store(true, Ordering::SeqCst);
        let one = first(&anyway, &id("1")).await.unwrap();
        let same = first(&anyway, &id("1")).await.unwrap().hand_over().to_string();
        let same: DeliveryTicket = same.parse().unwrap();
        let queued = first(&anyway, &id("2")).await.unwrap().hand_over().to_string();
        let queued: DeliveryTicket = queued.parse().unwrap();
        assert!(!one.is_claimed() && !same.is_claimed() && !queued.is_claimed());
        assert_eq!(one.renew().await.unwrap_err().kind(), StoreErrorKind::Unreachable);
        store.0.fails.store(false, Ordering::SeqCst);
        assert_eq!(anyway.renew(&queued).await.unwrap(), Hold::Ours);
        assert!(first(&anyway, &id("2")).await.is_none(), "its ticket has claimed it");
        // Each time for another lease.
        for _ in 0..3 {
            assert_eq!(one.renew().await.unwrap(), Hold::Ours);
            assert_eq!(anyway.renew(&same).await.unwrap(), Hold::Lost, "the other one has it");
            clock.advance(Duration::from_secs(200));
        }
        assert!(first(&anyway, &id("1")).await.is_none());
        assert_eq!(one.confirm().await.unwrap(), Hold::Ours);
        let late = anyway.take_over(same);
        assert_eq!(late.renew().await.unwrap(), Hold::Lost);
        assert_eq!(late.confirm().await.unwrap(), Hold::Lost);
        assert!(matches!(anyway.begin("17", &id("1")).await, Begin::Duplicate));
    }
}

#[tokio::test]
async fn a_claim_whose_answer_is_lost_for_good_is_released_later() {
    let (clock, store) = (ManualClock::at_unix_ms(START), Slow::default());
    let anyway = builder(store.clone(), &clock, OnClaimOutage::ProcessAnyway).build().unwrap();
    store.0.loses.store(true, Ordering::SeqCst);
    let delivery = first(&anyway, &id("1")).await.unwrap();
    assert!(!delivery.is_claimed(), "but the claim is there");
    store.0.loses.store(false, Ordering::SeqCst);
    assert!(first(&anyway, &id("1")).await.is_none());
    delivery.release().await.unwrap();
    assert!(first(&anyway, &id("1")).await.is_some());
}

#[tokio::test]
async fn what_a_store_refuses_as_misuse_is_never_let_through() {
    for on_outage in [OnClaimOutage::ProcessAnyway, OnClaimOutage::Unavailable] {
        let (clock, store) = (ManualClock::at_unix_ms(START), Slow::default());
        let deliveries = builder(store.clone(), &clock, on_outage).build().unwrap();
        store.0.refuses.store(true, Ordering::SeqCst);
        let Begin::Unavailable(error) = deliveries.begin("17", &id("1")).await else {
            panic!("{on_outage:?}")
        };
        assert_eq!(error.kind(), StoreErrorKind::Misuse);
    }
}

#[tokio::test]
async fn of_many_that_arrive_at_once_one_is_first() {
    let (deliveries, _) = in_memory();
    for round in 0..20 {
        let id = id(&format!("round-{round}"));
        let begun = join_all((0..20).map(|_| deliveries.begin("17", &id))).await;
        assert_eq!(begun.iter().filter(|begun| matches!(begun, Begin::First(_))).count(), 1);
    }
}

#[test]
fn what_cannot_be_is_refused_before_the_first_delivery() {
    let clock = ManualClock::at_unix_ms(START);
    let named = |name: &str| {
        let clock = clock.clone();
        Deliveries::builder(name, MemoryStore::new(), OnClaimOutage::Unavailable, move || clock.now())
    };
    assert!(matches!(named("GitHub!").build(), Err(DeliveriesError::Name(_))));
    let short = named("github").lease(Window::DAY).retention(Window::HOUR).build();
    assert!(matches!(short, Err(DeliveriesError::Retention { .. })));
    assert!(matches!(named("github").simple(" ").build(), Err(DeliveriesError::KeyPrefix)));
    // The mode has one time of its own, in whatever order they are said.
    for beside in [
        named("github").simple("x:").lease(Window::HOUR),
        named("github").lease(Window::HOUR).simple("x:"),
        named("github").simple("x:").retention(Window::WEEK),
        named("github").retention(Window::WEEK).simple("x:"),
    ] {
        assert!(matches!(beside.build(), Err(DeliveriesError::SimpleTimes)));
    }
    for error in [named("").build().unwrap_err(), short.unwrap_err()] {
        assert!(!error.to_string().is_empty());
    }
}

#[test]
fn an_id_is_what_senders_have() {
    let longest = "x".repeat(128);
    for good in
        ["1", "72d3162e-cc78-11e3-81ab-4c9367dc0958", "msg_p5jXN8AQM9LWM0D4loKWxJek", "a.b:c_d-E", &longest]
    {
        assert_eq!(DeliveryId::try_new(good).unwrap().as_str(), good);
    }
    assert_eq!(DeliveryId::try_new(""), Err(DeliveryIdError::Empty));
    assert_eq!(DeliveryId::try_new(&format!("{longest}x")), Err(DeliveryIdError::Long { bytes: 129 }));
    for bad in ["a b", "a/b", "a\n", "a\0", "ä", "a%b", "{a}", "a,b", " a", "*"] {
        let error = DeliveryId::try_new(bad).unwrap_err();
        assert_eq!(error, DeliveryIdError::Sign, "{bad:?}");
    }
    assert_eq!(DeliveryId::of_bytes(&[0xFF]), Err(DeliveryIdError::Sign));
}

/// A store that can stall, fail before it does anything, or fail after it has done it.
#[derive(Clone, Debug, Default)]
struct Slow(Arc<Faults>);

#[derive(Debug, Default)]
struct Faults {
    store: MemoryStore,
    stalls: AtomicBool,
    fails: AtomicBool,
    loses: AtomicBool,
    refuses: AtomicBool,
}

impl Slow {
    async fn call<T>(&self, call: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
        let error = || StoreError::new(StoreErrorKind::Unreachable, "a test says so");
        if self.0.stalls.load(Ordering::SeqCst) {
            pending::<()>().await;
        }
        if self.0.fails.load(Ordering::SeqCst) {
            return Err(error());
        }
        if self.0.refuses.load(Ordering::SeqCst) {
            return Err(StoreError::misuse("a test says so"));
        }
        let answer = call.await;
        if self.0.loses.load(Ordering::SeqCst) { Err(error()) } else { answer }
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Claims for Slow {
    async fn claim(&self, claim: Claim<'_>) -> Result<Claimed, StoreError> {
        self.call(self.0.store.claim(claim)).await
    }

    async fn renew(&self, claim: Claim<'_>) -> Result<Hold, StoreError> {
        self.call(self.0.store.renew(claim)).await
    }

    async fn confirm(&self, confirm: Confirm<'_>) -> Result<Hold, StoreError> {
        self.call(self.0.store.confirm(confirm)).await
    }

    async fn release(&self, release: Release<'_>) -> Result<(), StoreError> {
        self.call(self.0.store.release(release)).await
    }
}
