//! A bounded in-memory store for Tollgate
