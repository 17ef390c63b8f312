//! Policies, what happens when the store is gone, and the guard that applies both
