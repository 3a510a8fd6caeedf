//! Signatures: what hangs of the same cause have in common.

use super::Case;
use crate::finding::Finding;
use crate::look::Kernel;

impl Case<'_> {
    /// Returns condition, kernel, waypoint and chain of a finding without its places.
    pub(super) fn signature(&self, finding: &Finding) -> String {
        let mut parts = vec![finding.condition.name().to_owned()];
        let core = finding.party.and_then(|party| self.core_of(party));
        if let Some(kernel) = core.and_then(|core| self.launched.get(&core)) {
            parts.push(kernel.name().map_or("unknown kernel", |name| name).to_owned());
            parts.extend(Some(kernel.waypoint().to_owned()).filter(|code| !code.is_empty()));
        }
        // A longer ring repeats the same waits.
        let mut chain: Vec<String> = Vec::new();
        for step in finding.chain.iter().rev() {
            let waiter = self.core_of(step.waiter).and_then(|core| self.launched.get(&core));
            let name = waiter.and_then(Kernel::name).map_or("unknown kernel", |name| name);
            let words = format!("{name} waits for {}", step.reason);
            if !chain.contains(&words) {
                chain.push(words);
            }
        }
        parts.extend(chain);
        parts.join("; ")
    }
}
