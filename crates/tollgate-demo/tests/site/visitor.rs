//! Only a client at the server's own machine may act as another visitor.

use std::sync::Arc;

use axum::{
    body::Body,
    http::{Request, header},
};
use serde_json::{Value, json};
use tollgate_demo::Config;
use tollgate_memory::MemoryStore;

use crate::support::{Answer, TestSite};

fn behind(source: &str, has_fault_switch: bool, peer: [u8; 4]) -> TestSite {
    let mut config = Config::development().unwrap();
    config.visitor = source.parse().unwrap();
    config.has_fault_switch = has_fault_switch;
    TestSite::behind(config, Arc::new(MemoryStore::new()), peer)
}

const LOOPBACK: [u8; 4] = [127, 0, 0, 1];
const DEFAULT: &str = "cloudflare peers=loopback missing=local";

/// Sends what a browser would, with these headers.
async fn send(site: &TestSite, method: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.header(header::CONTENT_TYPE, "application/json");
    site.send_request(request.body(Body::from(body.to_string())).unwrap()).await
}

async fn act_as(site: &TestSite, headers: &[(&str, &str)], role: &str) -> Answer {
    send(site, "PUT", "/api/visitor", headers, &json!({ "acts_as": role })).await
}

#[tokio::test]
async fn a_developer_has_the_limits_of_the_role() {
    let site = behind(DEFAULT, true, LOOPBACK);
    let own = send(&site, "GET", "/api/visitor", &[], &json!(null)).await.json();
    assert_eq!((&own["visitor"], &own["acts_as"]), (&json!("local"), &json!(null)));
    assert_eq!(own["roles"].as_array().unwrap().len(), 3);
    for role in own["roles"].as_array().unwrap() {
        let name = role["name"].as_str().unwrap();
        let answer = act_as(&site, &[], name).await;
        assert_eq!((&answer.json()["visitor"], &answer.json()["acts_as"]), (&role["visitor"], &role["name"]));
        let set = answer.header("set-cookie");
        assert!(set.contains("HttpOnly") && set.contains("SameSite=Strict"), "{set}");
        let cookie = [("cookie", set.split(';').next().unwrap())];

        let question = json!({ "project": "tollgate", "question": "What is a key?" });
        assert_eq!(send(&site, "POST", "/api/ask", &cookie, &question).await.status, 200);
        let rows = send(&site, "GET", "/api/limits", &cookie, &json!(null)).await.json();
        let key = format!("ask-burst:{}", role["visitor"].as_str().unwrap());
        assert_eq!((&rows[0]["key"], &rows[0]["used"]), (&json!(key), &json!(1)));

        // From another peer, or through a proxy that names its client, the cookie is nothing.
        let through = [cookie[0], ("cf-connecting-ip", "192.0.2.9")];
        let rows = send(&site, "GET", "/api/limits", &through, &json!(null)).await.json();
        assert_eq!(rows[0]["key"], "ask-burst:192.0.2.9");

        let back = send(&site, "PUT", "/api/visitor", &cookie, &json!({ "acts_as": null })).await;
        assert!(back.header("set-cookie").contains("Max-Age=0"), "{back:?}");
        assert_eq!(back.json()["visitor"], "local");
    }
    assert_eq!(
        site.send("GET", "/api/limits", "192.0.2.1", None).await.json()[3]["used"],
        3,
        "all count for all"
    );
    act_as(&site, &[], "nobody").await.assert_problem(404);
    send(&site, "PUT", "/api/visitor", &[], &json!({ "acts_as": 7 })).await.assert_problem(422);
    let made_up = [("cookie", "tollgate-demo-acts-as=ada")];
    assert_eq!(send(&site, "GET", "/api/visitor", &made_up, &json!(null)).await.json()["visitor"], "local");
}

#[tokio::test]
async fn nobody_else_may_act() {
    let client = [("cf-connecting-ip", "192.0.2.9")];
    let forwarded = [("x-forwarded-for", "192.0.2.9")];
    for (source, has_switch, peer, headers, may) in [
        (DEFAULT, true, LOOPBACK, &[][..], true),
        (DEFAULT, false, LOOPBACK, &[], false),
        (DEFAULT, true, LOOPBACK, &client, false),
        (DEFAULT, true, [192, 0, 2, 9], &[], false),
        ("peer", true, LOOPBACK, &[], true),
        ("peer", true, [192, 0, 2, 9], &[], false),
        ("x-forwarded-for hops=1 peers=loopback", true, LOOPBACK, &forwarded, false),
    ] {
        let site = behind(source, has_switch, peer);
        let answer = act_as(&site, headers, "ada").await;
        if may {
            assert_eq!(answer.json()["acts_as"], "ada", "{source}");
        } else {
            answer.assert_problem(403);
            assert!(answer.header("set-cookie").is_empty());
        }
    }
}
