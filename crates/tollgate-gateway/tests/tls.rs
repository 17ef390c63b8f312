//! Redis behind TLS.

use std::{fs, net::TcpListener};

use tempfile::TempDir;

use crate::{
    program::{Running, ping, program},
    support::RedisServer,
};

#[test]
fn a_certificate_is_asked_for_and_has_to_be_trusted() {
    let folder = TempDir::new().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let certificate = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    fs::write(file("cert.pem"), certificate.cert.pem()).unwrap();
    fs::write(file("key.pem"), certificate.signing_key.serialize_pem()).unwrap();
    let stranger = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    fs::write(file("stranger.pem"), stranger.cert.pem()).unwrap();

    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let (cert, key) = (file("cert.pem"), file("key.pem"));
    let tls =
        ["--tls-port", &port, "--tls-cert-file", &cert, "--tls-key-file", &key, "--tls-auth-clients", "no"];
    let _redis = RedisServer::start_with(&[&tls[..], &["--tls-ca-cert-file", &cert]].concat());

    let url = format!("rediss://127.0.0.1:{port}");
    for (trusted, status) in [("cert.pem", 200), ("stranger.pem", 503)] {
        let args = ["--redis", &url, "--listen=127.0.0.1:0", "--token=t"];
        let mut running = Running::start(program().args(args).env("SSL_CERT_FILE", file(trusted)));
        assert_eq!(ping(&running.line("listening on "), "t"), status, "{trusted}");
    }
}
