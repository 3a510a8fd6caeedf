//! From the options of `run --from` to a trace and its fabric, before the mesh is known.

use super::RunArguments;
use super::sweep::timeout;
use crate::amount::{chips, count};
use collectives::RunSettings;
use console::run::replay::ReplayOrder;
use std::path::Path;

impl RunArguments {
    /// Returns what is to be sent again from this file.
    ///
    /// # Errors
    /// The first option that is invalid, in one sentence.
    pub(crate) fn replay(&self, file: &Path) -> Result<ReplayOrder, String> {
        let list = match self.chips.as_slice() {
            [] => Ok(Vec::new()),
            [list] => chips(list),
            _ => Err("--chips: a trace is sent over the fabric of one list of chips".to_owned()),
        };
        let planes = self.planes.as_deref().map(|text| count("--planes", text, 1, 16)).transpose();
        let deadline = self.timeout.as_deref().map(timeout).transpose()?;
        Ok(ReplayOrder {
            file: file.to_owned(),
            chips: list?,
            topology: self.fabric,
            planes: planes?,
            faults: self.faults()?,
            deadline_cycles: deadline.unwrap_or(RunSettings::default().deadline_cycles),
        })
    }
}
