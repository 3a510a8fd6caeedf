//! What files of tt-metal describe, and what is said of those that are wrong.
#![allow(clippy::unwrap_used, reason = "tests")]

mod kinds;
mod samples;
