//! Encryption: who is trusted, and that nothing has to be set for the whole process.

use std::sync::Arc;

use rcgen::CertifiedKey;
use rustls::{ServerConfig, pki_types::PrivateKeyDer};
use serde_json::json;
use tokio::{
    io::AsyncWriteExt,
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsAcceptor;
use tollgate_store::StoreErrorKind::Unreachable;
use tollgate_upstash::{Credentials, HttpTransport, UpstashStore};

use crate::support::{Server, TOKEN, chain, forget};

/// What speaks TLS before a server that does not; gives back its port and its certificate.
async fn encrypted(server: &Server) -> (u16, String) {
    let CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(["localhost".into()]).unwrap();
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let behind = server.address;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                let mut behind = TcpStream::connect(behind).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut stream, &mut behind).await;
            });
        }
    });
    (port, cert.pem())
}

#[tokio::test]
async fn a_certificate_is_trusted_that_one_was_told_to_trust() {
    let server = Server::start(|received| received.each(|_| json!({ "result": 1 }))).await;
    let (port, certificate) = encrypted(&server).await;
    let credentials = Credentials::new(&format!("https://localhost:{port}"), TOKEN).unwrap();

    let transport = HttpTransport::with_roots(&credentials, certificate.as_bytes()).unwrap();
    let store = UpstashStore::builder(credentials.clone()).transport(transport).build().unwrap();
    forget(&store, "a").await.unwrap();
    assert_eq!(server.seen().len(), 1);

    // Unknown, and of another host.
    let stranger = UpstashStore::new(credentials).unwrap();
    let elsewhere = Credentials::new(&format!("https://127.0.0.1:{port}"), TOKEN).unwrap();
    let transport = HttpTransport::with_roots(&elsewhere, certificate.as_bytes()).unwrap();
    let elsewhere = UpstashStore::builder(elsewhere).transport(transport).build().unwrap();
    for store in [stranger, elsewhere] {
        let error = forget(&store, "a").await.unwrap_err();
        assert_eq!(error.kind(), Unreachable);
        assert!(chain(&error).contains("certificate"), "{}", chain(&error));
    }
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn what_is_no_certificate_is_refused() {
    let credentials = Credentials::new("https://localhost", TOKEN).unwrap();
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for pem in ["", "certificate", broken] {
        assert!(HttpTransport::with_roots(&credentials, pem.as_bytes()).is_err(), "{pem:?}");
    }
}

/// What is at the other end does not speak TLS.
#[tokio::test]
async fn encryption_that_fails_is_an_outage() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    let store = UpstashStore::new(Credentials::new(&url, TOKEN).unwrap()).unwrap();
    let error = forget(&store, "a").await.unwrap_err();
    assert_eq!(error.kind(), Unreachable, "{}", chain(&error));
}
