//! Gateways that do not lead to a far chip: passed over while another does, and retried after a
//! delay.

use super::Access;
use super::far::FarRoute;
use crate::queue::{Command, Far, Gateway};
use layouts::NocXy;
use machine::snapshot::AccessError;

impl Access {
    /// Passes a gateway over for a chip from now on.
    pub(super) fn pass_over_gateway(
        &mut self,
        route: FarRoute<'_>,
        tile: NocXy,
        error: &AccessError,
        now: u64,
    ) {
        let why =
            format!("it refused requests for this chip, which go through other gateways ({error})");
        let reason = AccessError::Unreachable(why);
        let until = now.saturating_add(self.patience.retry_cycles);
        self.quarantine.lose_gateway((route.device, route.coord), tile, reason, until);
    }

    /// Allows gateways again that were passed over long enough.
    pub(super) fn retry_gateways(&mut self, route: FarRoute<'_>) -> Result<(), AccessError> {
        if self.quarantine.lost_gateways().iter().any(|lost| lost.chip.0 == route.device) {
            let now = self.bus.now()?;
            self.quarantine.retry_gateways(now);
        }
        Ok(())
    }

    /// Whether this gateway is passed over for the chip.
    pub(super) fn is_passed_over(&self, route: FarRoute<'_>, tile: NocXy) -> bool {
        self.quarantine.is_lost_gateway((route.device, route.coord), tile)
    }

    /// Reads a word of the chip through a gateway that lost a write, before the next write goes
    /// through it.
    pub(super) fn cleared_of_doubt(
        &mut self,
        route: FarRoute<'_>,
        at: usize,
        tile: NocXy,
    ) -> Result<Result<(), AccessError>, AccessError> {
        if !self.doubted.contains(&(route.device, tile)) {
            return Ok(Ok(()));
        }
        let Some(queue) = self.queues.remove(&(route.device, tile)) else { return Ok(Ok(())) };
        let gateways = vec![Gateway { queue, direct: true, depth: route.depth(at) }];
        let first_tile = self.bus.layout().eth_tile(0)?;
        let offset = self.bus.layout().blocks.eth_niu0 + self.bus.layout().niu.router_cfg_3.at;
        let word = Command::ReadWord(Far { coord: route.coord, tile: first_tile, offset });
        let mut reads = self.read_by(route, gateways, &[word])?.reads;
        match reads.pop() {
            Some(Ok(_)) => {
                self.doubted.remove(&(route.device, tile));
                Ok(Ok(()))
            }
            Some(Err(gone @ AccessError::DeviceGone(_))) => Err(gone),
            refused => {
                let error = refused.and_then(Result::err).unwrap_or(AccessError::NotRequested);
                let now = self.bus.now()?;
                self.pass_over_gateway(route, tile, &error, now);
                Ok(Err(error))
            }
        }
    }
}
