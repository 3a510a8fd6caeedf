//! Figures that the vendor published, with quotations. Studies print them beside their
//! measurements.

use std::fmt;

/// The vendor's guide.
pub const GUIDE: &str =
    "Basic Ethernet guide (tt-metal, tech_reports/EthernetMultichip/BasicEthernetGuide.md)";
/// The vendor's regression test. Its runs must meet its figures within a tenth (bandwidths: within
/// 0.5 GB/s).
pub const TEST: &str = "tt-metal, tests/tt_metal/microbenchmarks/ethernet/test_ethernet_link_write_worker_with_transaction_id_*.py of 2025";

/// Deviation above which a study explains the difference, in percent.
pub const EXPLAINED_PERCENT: f64 = 10.0;

/// Returns by how many percent a measured figure is above (or, negative, below) a published one.
pub(super) fn deviation_percent(measured: f64, published: f64) -> f64 {
    100.0 * (measured / published - 1.0)
}

/// A published figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// In the unit of the study: ns or GB/s.
    pub figure: f64,
    /// Where it is published: [`GUIDE`] or [`TEST`].
    pub source: &'static str,
    /// The quotation.
    pub words: &'static str,
}

impl Published {
    pub(super) const fn guide(figure: f64, words: &'static str) -> Self {
        Self { figure, source: GUIDE, words }
    }

    pub(super) const fn test(figure: f64, words: &'static str) -> Self {
        Self { figure, source: TEST, words }
    }

    /// Returns the source in one word.
    pub fn source_name(&self) -> &'static str {
        if self.source == GUIDE { "guide" } else { "test" }
    }

    /// Returns by how many percent a measurement is above (or, negative, below) the figure.
    pub fn deviation_percent(&self, measured: f64) -> f64 {
        deviation_percent(measured, self.figure)
    }

    /// Returns true if a measurement deviates by more than [`EXPLAINED_PERCENT`].
    pub fn is_far_from(&self, measured: f64) -> bool {
        self.deviation_percent(measured).abs() > EXPLAINED_PERCENT
    }
}

impl fmt::Display for Published {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.source_name(), self.words)
    }
}
