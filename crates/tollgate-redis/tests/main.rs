//! The store on a real server.

mod histories;
mod served;
mod suite;
