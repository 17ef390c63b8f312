//! The contract between the window math and whatever keeps the counts
