//! A documentation site whose expensive paths are metered by Tollgate
