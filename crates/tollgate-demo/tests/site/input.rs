//! What is sent wrongly is answered in JSON and charged to nothing.

use std::sync::Arc;

use axum::{
    body::Body,
    http::{Request, header},
};
use serde_json::json;
use tollgate_demo::Config;
use tollgate_memory::MemoryStore;

use crate::support::TestSite;

const VISITOR: &str = "203.0.113.7";

#[tokio::test]
async fn bad_bodies_are_problems_and_charge_nothing() {
    let mut site = TestSite::new();
    site.sign_in("acme").await;
    let long = format!(r#"{{"project":"docs","question":"{}"}}"#, "a".repeat(501));
    let huge = format!(r#"{{"project":"docs","question":"{}"}}"#, "a".repeat(20_000));
    let json = "application/json";
    for (method, path, kind, body, status) in [
        ("POST", "/api/ask", json, "", 400),
        ("POST", "/api/ask", json, "{", 400),
        ("POST", "/api/ask", json, "[]", 422),
        ("POST", "/api/ask", json, "{}", 422),
        ("POST", "/api/ask", json, r#"{"project":"docs"}"#, 422),
        ("POST", "/api/ask", json, r#"{"question":"why?"}"#, 422),
        ("POST", "/api/ask", json, r#"{"project":"docs","question":"  "}"#, 422),
        ("POST", "/api/ask", json, r#"{"project":"docs","question":7}"#, 422),
        ("POST", "/api/ask", json, r#"{"project":"a:b","question":"why?"}"#, 422),
        ("POST", "/api/ask", json, r#"{"project":"","question":"why?"}"#, 422),
        ("POST", "/api/ask", json, "{\"project\":\"docs\",\"question\":\"\u{0}\"}", 400),
        ("POST", "/api/ask", json, &long, 422),
        ("POST", "/api/ask", json, &huge, 413),
        ("POST", "/api/ask", "text/plain", r#"{"project":"docs","question":"why?"}"#, 415),
        ("POST", "/api/chat", json, r#"{"message":""}"#, 422),
        ("POST", "/api/chat", "", r#"{"message":"why?"}"#, 415),
        ("POST", "/api/session", json, r#"{"org":"../acme"}"#, 422),
        ("POST", "/api/session", json, r#"{"org":null}"#, 422),
        ("POST", "/api/page-retries", json, r#"{"page":"no-such-page"}"#, 404),
        ("POST", "/api/page-retries", json, r#"{"page":"../Cargo"}"#, 422),
        ("PUT", "/api/store", json, r#"{"up":"no"}"#, 422),
        ("POST", "/api/webhook-replays", json, "7", 422),
        ("POST", "/api/webhook-replays", json, "", 400),
        ("GET", "/api/limits?project=a%20b", json, "", 400),
        ("GET", "/api/nothing", json, "", 404),
        ("GET", "/api/ask", json, "", 405),
        ("DELETE", "/api/publishes", json, "", 405),
    ] {
        let mut request = Request::builder().method(method).uri(path).header("cf-connecting-ip", VISITOR);
        if !kind.is_empty() {
            request = request.header(header::CONTENT_TYPE, kind);
        }
        request = request.header(header::COOKIE, site.cookie().unwrap());
        let answer = site.send_request(request.body(Body::from(body.to_owned())).unwrap()).await;
        answer.assert_problem(status);
        assert!(!answer.header("x-request-id").is_empty());
        assert_eq!(answer.header("allow").is_empty(), status != 405, "{method} {path}");
    }
    let rows = site.send("GET", "/api/limits", VISITOR, None).await.json();
    assert_eq!(rows.as_array().unwrap().len(), 15);
    for row in rows.as_array().unwrap() {
        assert_eq!(row["used"], 0, "{row}");
    }
}

#[tokio::test]
async fn a_session_is_needed_and_cannot_be_made_up() {
    let mut site = TestSite::new();
    let page = json!({ "page": "overview" });
    site.sign_in("acme").await;
    let cookie = site.cookie().unwrap().to_owned();
    let forged = cookie.replace("acme", "evil");
    assert_ne!(cookie, forged);
    let mut other = TestSite::new();
    other.sign_in("acme").await;
    let foreign = other.cookie().unwrap().to_owned();
    for bad in [None, Some(forged), Some(foreign), Some("tollgate-demo-session=acme".to_owned())] {
        site.set_cookie(bad);
        for (path, body) in [
            ("/api/lookups", None),
            ("/api/docs-runs", None),
            ("/api/page-retries", Some(&page)),
            ("/api/publishes", None),
        ] {
            let answer = site.send("POST", path, VISITOR, body).await;
            answer.assert_problem(401);
            assert!(!answer.header("www-authenticate").is_empty());
        }
        assert!(site.send("GET", "/api/session", VISITOR, None).await.json()["org"].is_null());
    }
    site.set_cookie(Some(cookie));
    assert_eq!(site.send("GET", "/api/session", VISITOR, None).await.json()["org"], "acme");
    for key in ["github:acme", "docs-run:acme", "page-retry:acme", "publish:acme"] {
        assert_eq!(site.limit(key, VISITOR).await["used"], 0);
    }

    site.advance_seconds(12 * 60 * 60);
    assert!(site.send("GET", "/api/session", VISITOR, None).await.json()["org"].is_null(), "it has ended");

    let answer = site.send("DELETE", "/api/session", VISITOR, None).await;
    assert!(answer.header("set-cookie").contains("Max-Age=0"), "{answer:?}");
}

#[tokio::test]
async fn one_client_is_one_visitor_however_it_is_spelled() {
    let site = TestSite::new();
    let body = json!({ "project": "docs", "question": "What is a key?" });
    for (visitors, key) in [
        (["2001:db8::1", "2001:db8:0:0:ffff::7"], "ask-burst:2001:db8:0:0::/64"),
        (["::ffff:203.0.113.7", "203.0.113.7"], "ask-burst:203.0.113.7"),
    ] {
        for visitor in visitors {
            assert_eq!(site.send("POST", "/api/ask", visitor, Some(&body)).await.status, 200);
        }
        for visitor in visitors {
            assert_eq!(site.limit(key, visitor).await["used"], 2);
        }
    }
    assert_eq!(site.limit("ask-burst:2001:db8:0:1::/64", "2001:db8:0:1::1").await["used"], 0);
    site.send("POST", "/api/ask", "not an address", Some(&body)).await.assert_problem(400);
}

#[tokio::test]
async fn a_visitor_comes_from_the_configured_source_only() {
    let default = "cloudflare peers=loopback missing=local";
    let (loopback, elsewhere) = ([127, 0, 0, 1], [192, 0, 2, 1]);
    for (source, peer, header, key) in [
        (default, loopback, ("cf-connecting-ip", VISITOR), "ask-burst:203.0.113.7"),
        (default, loopback, ("x-forwarded-for", VISITOR), "ask-burst:local"),
        (default, elsewhere, ("cf-connecting-ip", VISITOR), "ask-burst:192.0.2.1"),
        ("peer", loopback, ("cf-connecting-ip", VISITOR), "ask-burst:127.0.0.1"),
        (
            "x-forwarded-for hops=1 peers=loopback",
            loopback,
            ("x-forwarded-for", "198.51.100.66, 203.0.113.7"),
            "ask-burst:203.0.113.7",
        ),
    ] {
        let mut config = Config::development().unwrap();
        config.visitor = source.parse().unwrap();
        let site = TestSite::behind(config, Arc::new(MemoryStore::new()), peer);
        let request = Request::builder().uri("/api/limits").header(header.0, header.1);
        let answer = site.send_request(request.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.json()[0]["key"], key, "{source}, {header:?}");
    }
}

#[tokio::test]
async fn answers_name_their_request_and_carry_a_strict_policy() {
    let site = TestSite::new();
    let send = async |id: &str| {
        let request = Request::builder().uri("/").header("x-request-id", id).body(Body::empty()).unwrap();
        site.send_request(request).await
    };
    assert_eq!(send("abc-123").await.header("x-request-id"), "abc-123");
    for odd in ["a b", "a\"b", &"a".repeat(65), ""] {
        let answer = send(odd).await;
        assert_eq!(answer.header("x-request-id").len(), 36, "{odd:?}");
    }
    let page = send("x").await;
    assert!(page.header("content-security-policy").starts_with("default-src 'none'; script-src 'self'"));
    assert_eq!(page.header("x-content-type-options"), "nosniff");
    assert!(
        !page.text.contains("http://") && !page.text.contains("https://"),
        "the page asks no other server"
    );
    // What the page names, and what its scripts import, is served; nothing else is.
    let mut names: Vec<_> = names_in(&page.text, "\"/page/");
    let mut seen = 0;
    while let Some(name) = names.get(seen).cloned() {
        seen += 1;
        let answer = site.send("GET", &format!("/page/{name}"), VISITOR, None).await;
        let kind = if name.ends_with(".css") { "text/css" } else { "text/javascript" };
        assert_eq!(answer.status, 200, "{name}");
        assert_eq!(answer.header("content-type"), format!("{kind}; charset=utf-8"));
        for imported in names_in(&answer.text, "from \"./") {
            if !names.contains(&imported) {
                names.push(imported);
            }
        }
    }
    assert!(seen > 10, "{names:?}");
    site.send("GET", "/page/nothing.js", VISITOR, None).await.assert_problem(404);
}

/// The names that follow `mark` up to a quote.
fn names_in(text: &str, mark: &str) -> Vec<String> {
    text.split(mark).skip(1).filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())).collect()
}
