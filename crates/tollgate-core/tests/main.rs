//! The tests of the window math, one idea a file.

mod support;

mod bucket;
mod cases;
mod fixed;
mod retry;
mod sliding;
