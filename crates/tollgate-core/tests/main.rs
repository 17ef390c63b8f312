//! The tests of the window math, one idea a file.

mod support;

mod bucket;
mod cases;
mod decide;
mod fixed;
mod limit;
mod retry;
mod serde;
mod sliding;
mod states;
