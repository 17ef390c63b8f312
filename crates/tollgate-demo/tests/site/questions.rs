//! The site answers from its own pages, and says nothing where it knows nothing.

use serde_json::json;

use crate::support::{Answer, TestSite};

const QUESTIONS: [(&str, &str); 14] = [
    ("What can an adversary reach with a sliding window?", "sliding-windows"),
    ("When does a fixed window of one day begin?", "fixed-windows"),
    ("How large a burst does a token bucket allow?", "token-buckets"),
    ("Which keys does the memory store evict first?", "memory-store"),
    ("Does Cloudflare's cf-connecting-ip header count from anybody?", "visitors"),
    ("Is ::ffff:203.0.113.7 mapped into IPv6 the same visitor?", "visitors"),
    ("How is Retry-After rounded?", "headers"),
    ("What does a 429 problem body say about violated policies?", "headers"),
    ("May two policies share a name, or extend one by a colon?", "keys"),
    ("What if the clock of one of several machines lags behind?", "clocks"),
    ("Why is a refused request charged to none of several limits?", "several-limits"),
    ("Who pays for a streamed answer that is cut off half way?", "budgets"),
    ("How is a duplicate delivery of a push answered?", "webhooks"),
    ("How do I switch the store off on purpose to see an outage?", "this-site"),
];

async fn ask(site: &TestSite, question: &str) -> Answer {
    let body = json!({ "project": "tollgate", "question": question });
    site.send("POST", "/api/ask", "203.0.113.7", Some(&body)).await
}

#[tokio::test]
async fn questions_find_their_page_first() {
    let site = TestSite::new();
    for (question, page) in QUESTIONS {
        let answer = ask(&site, question).await.json();
        let pages: Vec<_> =
            answer["passages"].as_array().unwrap().iter().map(|found| &found["page"]).collect();
        assert_eq!(*pages.first().expect(question), page, "{question}: {pages:?}");
        assert!(pages.len() <= 3);
        assert!(!answer["passages"][0]["text"].as_str().unwrap().is_empty());
    }
}

#[tokio::test]
async fn the_playground_answers_from_the_same_index() {
    let site = TestSite::new();
    for (question, page) in QUESTIONS {
        let answer =
            site.send("POST", "/api/chat", "203.0.113.7", Some(&json!({ "message": question }))).await;
        assert_eq!(answer.json()["page"], page, "{question}");
    }
    let nonsense = json!({ "message": "purple bananas gallop" });
    let answer = site.send("POST", "/api/chat", "203.0.113.7", Some(&nonsense)).await;
    assert!(answer.json()["page"].is_null() && answer.json()["reply"].is_string(), "{}", answer.text);
}

#[tokio::test]
async fn nonsense_finds_nothing() {
    let site = TestSite::new();
    for question in [
        "purple bananas gallop",
        "xyzzy plugh",
        "?!",
        "Who won the football world cup in 1998?",
        "What is the airspeed velocity of an unladen swallow?",
        "the of and is",
    ] {
        let answer = ask(&site, question).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.json(), json!({ "passages": [] }), "{question}");
    }
}
