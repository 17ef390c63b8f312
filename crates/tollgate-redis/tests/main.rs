//! The store on a real server.

mod histories;
mod outages;
mod served;
mod setting_up;
mod suite;
