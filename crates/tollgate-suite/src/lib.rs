//! What every Tollgate store owes, as cases and a differential test
