//! Gateways that do not lead to a far chip: passed over while another does, and tried again after a while.

use super::Access;
use super::far::FarRoute;
use crate::queue::{Command, Far, Gateway};
use layouts::NocXy;
use machine::snapshot::AccessError;

impl Access {
    /// This gateway is passed over for the chip from now on.
    pub(super) fn pass_over_gateway(
        &mut self,
        route: FarRoute<'_>,
        tile: NocXy,
        said: &AccessError,
        now: u64,
    ) {
        let why =
            format!("it refused requests for this chip, which go through other gateways ({said})");
        let reason = AccessError::Unreachable(why);
        let until = now.saturating_add(self.patience.retry_cycles);
        self.quarantine.lose_gateway((route.device, route.coord), tile, reason, until);
    }

    /// What was passed over long enough may be asked again.
    pub(super) fn retry_gateways(&mut self, route: FarRoute<'_>) -> Result<(), AccessError> {
        if self.quarantine.lost_gateways().iter().any(|lost| lost.chip.0 == route.device) {
            let now = self.bus.now()?;
            self.quarantine.retry_gateways(now);
        }
        Ok(())
    }

    /// Are others asked for the chip in place of this gateway?
    pub(super) fn is_passed_over(&self, route: FarRoute<'_>, tile: NocXy) -> bool {
        self.quarantine.is_lost_gateway((route.device, route.coord), tile)
    }

    /// A gateway through which a write was lost is asked for a word of the chip before another is written through it.
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
        let any = self.bus.layout().eth_tile(0)?;
        let offset = self.bus.layout().blocks.eth_niu0 + self.bus.layout().niu.router_cfg_3.at;
        let word = Command::ReadWord(Far { coord: route.coord, tile: any, offset });
        let mut reads = self.read_by(route, gateways, &[word])?.reads;
        match reads.pop() {
            Some(Ok(_)) => {
                self.doubted.remove(&(route.device, tile));
                Ok(Ok(()))
            }
            Some(Err(gone @ AccessError::DeviceGone(_))) => Err(gone),
            refused => {
                let error = refused.and_then(Result::err).unwrap_or(AccessError::NotAsked);
                let now = self.bus.now()?;
                self.pass_over_gateway(route, tile, &error, now);
                Ok(Err(error))
            }
        }
    }
}
