//! TLS, to a server whose certificate the test has signed itself.

use std::{fs, time::Duration};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use tollgate_core::{Limit, Timestamp, Window};
use tollgate_redis::RedisStore;
use tollgate_store::{Charge, Key, Name, Store as _, StoreErrorKind, Take};
use tollgate_testbed::RedisServer;

/// A server that speaks TLS alone, under this name, and its certificate.
struct Encrypted {
    _server: RedisServer,
    port: u16,
    certificate: String,
    _folder: tempfile::TempDir,
}

fn start(name: &str) -> Encrypted {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed([name.to_owned()]).expect("a name can be certified");
    let folder = tempfile::TempDir::new().expect("a folder for the key");
    let (certificate, key) = (folder.path().join("certificate.pem"), folder.path().join("key.pem"));
    fs::write(&certificate, cert.pem()).expect("a file");
    fs::write(&key, signing_key.serialize_pem()).expect("a file");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    drop(listener);
    let path = |path: &std::path::Path| path.display().to_string();
    let server = RedisServer::start_with(&[
        "--tls-port",
        &port.to_string(),
        "--tls-cert-file",
        &path(&certificate),
        "--tls-key-file",
        &path(&key),
        "--tls-ca-cert-file",
        &path(&certificate),
        "--tls-auth-clients",
        "no",
    ]);
    Encrypted { _server: server, port, certificate: cert.pem(), _folder: folder }
}

async fn take(store: &RedisStore) -> Result<i64, StoreErrorKind> {
    let charge = Charge::new(Key::new(Name::new("ask"), &[]), Limit::fixed(9, Window::DAY));
    let take = Take { charges: &[charge], now: Timestamp::from_unix_ms(1_796_040_000_000) };
    store.take(take).await.map(|decisions| decisions[0].left()).map_err(|error| error.kind())
}

#[tokio::test]
async fn a_server_is_trusted_by_its_certificate_and_name() {
    let server = start("localhost");
    let url = format!("rediss://localhost:{}", server.port);
    let builder = || RedisStore::builder(&url).deadline(Duration::from_secs(5));
    let known = builder().root_certificates(server.certificate.as_str()).build().expect("good settings");
    assert_eq!(take(&known).await, Ok(8));
    assert_eq!(take(&known).await, Ok(7));

    let unknown = builder().build().expect("good settings");
    assert_eq!(take(&unknown).await, Err(StoreErrorKind::Unreachable), "nobody vouches for it");
    let url = format!("rediss://127.0.0.1:{}", server.port);
    let renamed = RedisStore::builder(&url).root_certificates(server.certificate.as_str()).build();
    assert_eq!(
        take(&renamed.expect("good settings")).await,
        Err(StoreErrorKind::Unreachable),
        "its certificate names another"
    );
    let plain = RedisStore::connect(&format!("redis://localhost:{}", server.port)).expect("good settings");
    assert!(take(&plain).await.is_err(), "it does not speak without");
}
