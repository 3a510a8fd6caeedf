//! Gateways that do not lead to a far chip: passed over while another does, and tried again after a while.

use super::Access;
use super::far::Way;
use crate::queue::{Command, Far, Gateway};
use layouts::NocXy;
use machine::snapshot::AccessError;

impl Access {
    /// This gateway is passed over for the chip from now on.
    pub(super) fn lose_way(&mut self, way: Way<'_>, tile: NocXy, said: &AccessError, now: u64) {
        let why =
            format!("it refused requests for this chip, which go through other gateways ({said})");
        let reason = AccessError::Unreachable(why);
        let until = now.saturating_add(self.patience.retry_cycles);
        self.latch.lose_way((way.device, way.coord), tile, reason, until);
    }

    /// What was passed over long enough may be asked again.
    pub(super) fn try_ways_again(&mut self, way: Way<'_>) -> Result<(), AccessError> {
        if self.latch.lost_ways().iter().any(|lost| lost.chip.0 == way.device) {
            let now = self.bus.now()?;
            self.latch.try_ways_again(now);
        }
        Ok(())
    }

    /// Are others asked for the chip in place of this gateway?
    pub(super) fn is_passed_over(&self, way: Way<'_>, tile: NocXy) -> bool {
        self.latch.is_lost_way((way.device, way.coord), tile)
    }

    /// A gateway through which a write was lost is asked for a word of the chip before another is written through it.
    pub(super) fn cleared_of_doubt(
        &mut self,
        way: Way<'_>,
        at: usize,
        tile: NocXy,
    ) -> Result<Result<(), AccessError>, AccessError> {
        if !self.doubted.contains(&(way.device, tile)) {
            return Ok(Ok(()));
        }
        let Some(queue) = self.queues.remove(&(way.device, tile)) else { return Ok(Ok(())) };
        let gateways = vec![Gateway { queue, direct: true, depth: way.depth(at) }];
        let any = self.bus.layout().eth_tile(0)?;
        let offset = self.bus.layout().blocks.eth_niu0 + self.bus.layout().niu.router_cfg_3.at;
        let word = Command::ReadWord(Far { coord: way.coord, tile: any, offset });
        let mut reads = self.read_by(way, gateways, &[word])?.reads;
        match reads.pop() {
            Some(Ok(_)) => {
                self.doubted.remove(&(way.device, tile));
                Ok(Ok(()))
            }
            Some(Err(gone @ AccessError::DeviceGone(_))) => Err(gone),
            refused => {
                let error = refused.and_then(Result::err).unwrap_or(AccessError::NotAsked);
                let now = self.bus.now()?;
                self.lose_way(way, tile, &error, now);
                Ok(Err(error))
            }
        }
    }
}
