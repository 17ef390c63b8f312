//! Tests through the public API, most of them against a real server.

mod credentials;
