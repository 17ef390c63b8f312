//! The store on a real server.

mod served;
mod suite;
