//! Claims through a gateway on a real Redis: the suite, and answers that are lost on the way.

use std::time::Duration;

use tollgate_core::{Timestamp, Window};
use tollgate_store::{Claim, ClaimKey, ClaimToken, Claimed, Claims as _, Confirm, Hold, Key, Name, Part};
use tollgate_testbed::Proxy;
use tollgate_upstash::{Credentials, UpstashStore};

use crate::support::{TOKEN, served};

mod in_batches {
    use crate::support::served;

    tollgate_suite::certify_claims! { #[tokio::test] served(|builder| builder) }
}

mod one_by_one {
    use crate::support::served;

    tollgate_suite::certify_claims! { #[tokio::test] served(|builder| builder.batching(false)) }
}

#[tokio::test]
async fn a_lost_answer_is_asked_for_again_and_the_claim_is_still_ours() {
    let served = served(|builder| builder);
    let proxy = Proxy::start(served.gateway.address());
    let credentials = Credentials::new(&format!("http://{}", proxy.address()), TOKEN).unwrap();
    let store = UpstashStore::builder(credentials).deadline(Duration::from_secs(20)).build().unwrap();
    let parts = [Part::Text("17"), Part::Text("1")];
    let key = ClaimKey::Key(Key::new(Name::new("github"), &parts));
    let now = Timestamp::from_unix_ms(1_796_040_000_000);
    let claim = Claim { key, token: ClaimToken::new(7), lease: Window::MINUTE, now };
    let confirm = Confirm { key, token: claim.token, retention: Window::WEEK, now };
    let another = Claim { token: ClaimToken::new(8), ..claim };

    // The scripts are known, and the connection is open.
    let warm = ClaimKey::Literal("warm");
    let _ = store.claim(Claim { key: warm, ..claim }).await.unwrap();
    assert_eq!(store.confirm(Confirm { key: warm, ..confirm }).await.unwrap(), Hold::Ours);

    proxy.lose(1);
    assert!(matches!(store.claim(claim).await, Ok(Claimed::Ours { .. })));
    assert!(matches!(served.claim(another).await, Ok(Claimed::Running { .. })));
    proxy.lose(1);
    assert_eq!(store.confirm(confirm).await.unwrap(), Hold::Ours);
    assert_eq!(served.claim(another).await.unwrap(), Claimed::Done);
}
