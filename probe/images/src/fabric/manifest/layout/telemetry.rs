//! `FabricTelemetry` of a router that a manifest describes (tt-metal.md 4.2).

use super::{Described, NO_TELEMETRY, NOT_DESCRIBED};
use crate::fabric::location::{Formula, Located, Location};
use crate::fabric::static_info::StaticInfo;

impl Described<'_> {
    pub(super) fn static_info(self) -> Option<StaticInfo> {
        StaticInfo::find(|member| self.in_telemetry(&format!("static_info.{member}")))
    }

    /// Returns the postcode, with the names of the status.
    pub(super) fn postcode(self) -> Option<Location> {
        let formula = self.in_telemetry("postcode")?;
        Some(Location { formula, names: self.names("EDMStatus") })
    }

    /// Returns a member of the part that the router writes, if it collects these statistics.
    pub(super) fn telemetry(self, statistics: u64, member: &str) -> Located {
        match self.erisc("telemetry_stats_mask") {
            Some(mask) if mask & statistics == 0 => Located::Nowhere(NO_TELEMETRY),
            Some(_) => {
                let found = self.in_telemetry(&format!("dynamic_info.{member}"));
                Located::or(found, NOT_DESCRIBED)
            }
            None => Located::Nowhere(NOT_DESCRIBED),
        }
    }

    fn in_telemetry(self, member: &str) -> Option<Formula> {
        self.inside(&self.manifest.areas.telemetry, member)
    }
}
