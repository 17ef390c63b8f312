//! wrong_types
