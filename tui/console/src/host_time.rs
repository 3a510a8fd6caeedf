//! The host's time.

use std::time::{SystemTime, UNIX_EPOCH};

/// Host time, in microseconds since the Unix epoch.
pub fn now_micros() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64)
}
