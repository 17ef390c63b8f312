//! Server-sent events as a client reads them.

use axum::body::Body;
use http_body_util::BodyExt as _;
use serde_json::Value;

/// The events of a body that may never end. Dropping it is leaving.
pub(crate) struct Events {
    body: Body,
    text: String,
}

impl Events {
    pub(crate) fn of(body: Body) -> Self {
        Self { body, text: String::new() }
    }

    /// The next event and its data; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
                let name = field("event: ").unwrap().to_owned();
                let data = serde_json::from_str(field("data: ").unwrap()).unwrap();
                self.text = rest.to_owned();
                return Some((name, data));
            }
            let frame = self.body.frame().await?.unwrap();
            self.text.push_str(std::str::from_utf8(&frame.into_data().unwrap()).unwrap());
        }
    }

    /// The data of the next event of this name; others are passed over.
    pub(crate) async fn next_of(&mut self, wanted: &str) -> Value {
        loop {
            let (name, data) = self.next().await.unwrap_or_else(|| panic!("it ends before {wanted}"));
            if name == wanted {
                return data;
            }
        }
    }

    /// All that is left.
    pub(crate) async fn rest(mut self) -> Vec<(String, Value)> {
        let mut rest = Vec::new();
        while let Some(event) = self.next().await {
            rest.push(event);
        }
        rest
    }
}
