//! Benches of Tollgate beside its peers
