//! Runs that are healthy, or only slow.

use super::routers::Load;
use fabric::random::TrafficPattern;

/// Traffic that lasts while it is watched.
pub(super) const LONG_LOAD: Load =
    Load { pattern: TrafficPattern::Random, packets: 400, interval_cycles: 500_000 };
