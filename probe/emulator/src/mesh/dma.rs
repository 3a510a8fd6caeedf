//! BAR2 of a device: registers for address translation and DMA, and the transfers that a doorbell
//! starts.

use super::Mesh;
use super::bar::{self, Refused};
use crate::chip::Chip;
use crate::condition::Refusal;
use crate::devices::endpoint::Transfer;

/// Bytes per step of a transfer, between two checks of the window.
const CHUNK_BYTES: usize = 4096;

impl Mesh {
    /// Reads BAR2 and returns the cycles it takes. A refused read returns all ones.
    pub(crate) fn bar2_read(
        &mut self,
        device: usize,
        chip: usize,
        offset: u64,
        out: &mut [u8],
    ) -> u64 {
        let now = self.now;
        let value = match self.chips[chip].host_endpoint() {
            Some(endpoint) => endpoint.read(offset, out.len()),
            None => Err(Refusal::refused("no-pcie-endpoint")),
        };
        match value {
            Ok(value) => out.copy_from_slice(&value.to_le_bytes()),
            Err(refusal) => {
                out.fill(0xFF);
                self.chips[chip].host_refused(chip, device, (refusal, None, offset), now);
            }
        }
        self.timing.host_read
    }

    /// Writes BAR2 and returns the cycles it takes, including those of a transfer.
    pub(crate) fn bar2_write(
        &mut self,
        device: usize,
        chip: usize,
        offset: u64,
        data: &[u8],
    ) -> u64 {
        let now = self.now;
        let transfer = match self.chips[chip].host_endpoint() {
            Some(endpoint) => endpoint.write(offset, data),
            None => Err(Refusal::refused("no-pcie-endpoint")),
        };
        let mut cost = self.timing.host_write;
        let done = match transfer {
            Ok(None) => Ok(()),
            Ok(Some(transfer)) => {
                cost += u64::from(transfer.bytes) / self.timing.dma_bytes_per_cycle.max(1);
                self.chips[chip].transfer(&transfer, now)
            }
            Err(refusal) => Err((refusal, None, offset)),
        };
        if let Err(refused) = done {
            self.chips[chip].host_refused(chip, device, refused, now);
        }
        self.apply_reset_requests();
        cost
    }
}

impl Chip {
    /// Moves the bytes, then writes the completion word. A refused transfer never completes.
    fn transfer(&mut self, transfer: &Transfer, now: u64) -> Result<(), Refused> {
        let mut chunk = [0; CHUNK_BYTES];
        let mut moved = 0;
        while moved < transfer.bytes {
            let (device, host) =
                (transfer.device + u64::from(moved), transfer.host.wrapping_add(u64::from(moved)));
            if !bar::in_window(device) {
                return Err((Refusal::refused("dma-outside-the-windows"), None, device));
            }
            let left = CHUNK_BYTES.min((transfer.bytes - moved) as usize);
            let (len, _) = bar::split(device, left);
            let bytes = &mut chunk[..len];
            if transfer.to_host {
                self.host_read(device, bytes, now)?;
                self.on_host(host, |endpoint| endpoint.write_bus(host, bytes))?;
            } else {
                self.on_host(host, |endpoint| endpoint.read_bus(host, bytes))?;
                self.host_write(device, bytes, now)?;
            }
            moved += len as u32;
        }
        let (address, word) = transfer.done;
        self.on_host(address, |endpoint| endpoint.write_bus(address, &word.to_le_bytes()))
    }

    fn on_host(
        &mut self,
        address: u64,
        access: impl FnOnce(&mut crate::devices::endpoint::Endpoint) -> Result<(), Refusal>,
    ) -> Result<(), Refused> {
        let endpoint = self.host_endpoint();
        let endpoint = endpoint.ok_or((Refusal::refused("no-pcie-endpoint"), None, address))?;
        access(endpoint).map_err(|refusal| (refusal, None, address))
    }
}
