//! Signed-in routes really work on the pages: what changes in the folder is staged, and answers once it is published.

use std::{fs, path::PathBuf, sync::Arc};

use serde_json::{Value, json};
use tollgate_demo::{Config, Pages};
use tollgate_memory::MemoryStore;

use crate::support::TestSite;

/// A folder of pages that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn write(&self, page: &str, text: &str) {
        fs::write(self.0.join(format!("{page}.md")), text).unwrap();
    }

    fn remove(&self, page: &str) {
        fs::remove_file(self.0.join(format!("{page}.md"))).unwrap();
    }

    async fn site(&self) -> TestSite {
        let mut config = Config::development().unwrap();
        config.pages = Pages::Folder(self.0.clone());
        let mut site = TestSite::with(config, Arc::new(MemoryStore::new()));
        site.sign_in("acme").await;
        site
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

async fn post(site: &TestSite, path: &str, body: Option<Value>) -> Value {
    let answer = site.send("POST", path, "203.0.113.7", body.as_ref()).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    answer.json()
}

async fn pages_for(site: &TestSite, question: &str) -> Vec<String> {
    let answer = post(site, "/api/ask", Some(json!({ "project": "docs", "question": question }))).await;
    let passages = answer["passages"].as_array().unwrap().clone();
    passages.iter().map(|found| found["page"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_run_stages_and_publishing_makes_it_live() {
    let folder = Folder::new("runs");
    folder.write("rivers", "# Rivers\n\nWater flows downhill.");
    folder.write("hills", "# Hills\n\nA hill is lower than a mountain.");
    let site = folder.site().await;
    assert_eq!(pages_for(&site, "Where does water flow?").await, ["rivers"]);

    folder.write("rivers", "# Rivers\n\nThey carry boats.");
    folder.write("lakes", "# Lakes\n\nStill water.");
    folder.remove("hills");
    fs::write(folder.0.join("notes.txt"), "water").unwrap();
    assert_eq!(
        post(&site, "/api/lookups", None).await["pages"],
        json!([
            { "page": "lakes", "title": "Lakes", "bytes": 21, "live": false },
            { "page": "rivers", "title": "Rivers", "bytes": 27, "live": false },
        ])
    );
    assert_eq!(post(&site, "/api/docs-runs", None).await, json!({ "edition": 2, "pages": 2, "passages": 2 }));
    assert_eq!(pages_for(&site, "Where does water flow?").await, ["rivers"], "staged is not live");

    assert_eq!(
        post(&site, "/api/publishes", None).await,
        json!({ "edition": 2, "pages": 2, "passages": 2, "changed": true })
    );
    assert_eq!(pages_for(&site, "Where is water?").await, ["lakes"]);
    assert!(pages_for(&site, "What is a mountain?").await.is_empty());
    assert_eq!(post(&site, "/api/publishes", None).await["changed"], false);
    assert_eq!(post(&site, "/api/lookups", None).await["pages"][1]["live"], true);
}

#[tokio::test]
async fn a_retry_reads_one_page_only() {
    let folder = Folder::new("retries");
    folder.write("rivers", "# Rivers\n\nWater.");
    folder.write("hills", "# Hills\n\nStone.");
    let site = folder.site().await;
    folder.write("rivers", "# Rivers\n\nBoats.");
    folder.write("hills", "# Hills\n\nSheep.");

    post(&site, "/api/page-retries", Some(json!({ "page": "rivers" }))).await;
    post(&site, "/api/publishes", None).await;
    assert_eq!(pages_for(&site, "boats").await, ["rivers"]);
    assert!(pages_for(&site, "water").await.is_empty());
    assert_eq!(pages_for(&site, "stone").await, ["hills"]);

    folder.write("lakes", "# Lakes\n\nIce.");
    post(&site, "/api/page-retries", Some(json!({ "page": "lakes" }))).await;
    post(&site, "/api/page-retries", Some(json!({ "page": "hills" }))).await;
    let published = post(&site, "/api/publishes", None).await;
    assert_eq!((&published["edition"], &published["pages"]), (&json!(4), &json!(3)), "retries add up");
    assert_eq!(pages_for(&site, "ice").await, ["lakes"]);
    assert_eq!(pages_for(&site, "sheep").await, ["hills"]);
}

#[tokio::test]
async fn a_run_that_fails_leaves_the_site_as_it_was() {
    let folder = Folder::new("failures");
    folder.write("rivers", "# Rivers\n\nWater.");
    let site = folder.site().await;
    fs::write(folder.0.join("broken.md"), [0xFF, 0xFE]).unwrap();
    let answer = site.send("POST", "/api/docs-runs", "203.0.113.7", None).await;
    answer.assert_problem(500);
    assert!(!answer.text.contains("failures"), "a path is nothing for clients: {}", answer.text);
    assert_eq!(post(&site, "/api/publishes", None).await["changed"], false);
    assert_eq!(pages_for(&site, "water").await, ["rivers"]);
}
