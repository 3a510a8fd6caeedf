//! The client of a simulation server: its chips as devices of a BAR that can only be read.
//!
//! A window is where this client points it: the server takes tile and address, and has windows of
//! its own. Nothing is sent but reads of what the layout of the chip lists, and questions.

use super::message::{Command, DeviceInfo, Request, Response, WORMHOLE, receive, send};
use super::{live_sockets, only_server};
use crate::SIMULATOR_BUDGET;
use crate::shared_bar::window_at;
use layouts::{ChipKind, NocXy, Space};
use machine::bar::{Bar, BarOp};
use machine::snapshot::AccessError;
use machine::target::Abilities;
use std::collections::HashMap;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// A server that is silent for so long is stuck: an access takes less than a second.
const WATCHDOG: Duration = Duration::from_secs(30);
/// Most bytes of one read, which keeps the program at the other end from its device.
const MOST_READ_BYTES: usize = 64 << 10;

/// A [`Bar`] over the sockets of a simulation server.
pub struct UmdBar {
    devices: Vec<Device>,
    chip: ChipKind,
    /// Tile and page of each window, by device and index.
    views: HashMap<(u8, u16), (NocXy, u64)>,
    opened: Instant,
}

struct Device {
    stream: UnixStream,
    gone: Option<AccessError>,
}

/// Returns what a simulation server supports, and what must not be read of the simulator behind it.
///
/// # Errors
/// When the shipped list is invalid.
pub fn abilities() -> Result<Abilities, String> {
    Ok(Abilities {
        budget: Some(SIMULATOR_BUDGET),
        refusals: layouts::ttsim_refusals()?,
        unchangeable: Some("the simulation server of another program is only read".to_owned()),
        ..Abilities::default()
    })
}

impl UmdBar {
    /// Connects to the server of a folder, or to the only one that runs.
    ///
    /// # Errors
    /// `Unreachable` if none answers; `Refused` for chips of another kind.
    pub fn connect(folder: Option<&Path>) -> Result<Self, AccessError> {
        let folder = folder.map_or_else(only_server, |folder| Ok(folder.to_owned()))?;
        let here = |error: io::Error| AccessError::Unreachable(error.to_string());
        let mut devices = Vec::new();
        for stream in live_sockets(&folder).map_err(here)?.into_values() {
            let mut device = Device::new(stream).map_err(here)?;
            let info = device.ask(&Request::of(Command::DeviceInfo), DeviceInfo::decode)?;
            if (info.status, info.arch) != (0, WORMHOLE) {
                let why = format!("its chip is no Wormhole: architecture {}", info.arch);
                return Err(AccessError::Refused(why));
            }
            devices.push(device);
        }
        if devices.is_empty() {
            let why = format!("{}: no simulation server answers there", folder.display());
            return Err(AccessError::Unreachable(why));
        }
        let (chip, views) = (ChipKind::Wormhole, HashMap::new());
        Ok(Self { devices, chip, views, opened: Instant::now() })
    }

    /// Returns the ids of the processes that serve, as far as this one can see them.
    pub fn servers(&self) -> Vec<u32> {
        let of = |device: &Device| {
            let peer = rustix::net::sockopt::socket_peercred(&device.stream).ok()?;
            u32::try_from(peer.pid.as_raw_pid()).ok()
        };
        let mut servers: Vec<u32> = self.devices.iter().filter_map(of).collect();
        servers.dedup();
        servers
    }

    /// Reads a range of BAR 0 that lies in a window.
    fn read(
        &mut self,
        (device, bar): (u8, u8),
        offset: u64,
        len: u32,
        answer: &mut Vec<u8>,
    ) -> Result<(), AccessError> {
        let window = window_at(self.chip.bar(), offset).filter(|_| bar == 0);
        let aimed = window.and_then(|(index, within, room)| {
            let (tile, page) = *self.views.get(&(device, index))?;
            (u64::from(len) <= room).then_some((tile, page + within))
        });
        let nowhere = || AccessError::Refused(format!("{offset:#x} of BAR {bar} is in no window"));
        let (tile, address) = aimed.ok_or_else(nowhere)?;
        let layout = self.chip.layout();
        let kind = layout.tile_at(tile).map(|tile| tile.kind).ok_or_else(nowhere)?;
        let readable = layout.readable(Space::Tile(kind), address, len.into());
        readable.map_err(|reason| AccessError::Refused(reason.to_string()))?;
        let device = self.devices.get_mut(usize::from(device)).ok_or_else(nowhere)?;
        for start in (0..len).step_by(MOST_READ_BYTES) {
            let size = (len - start).min(MOST_READ_BYTES as u32);
            answer.extend(device.read(tile, address + u64::from(start), size)?);
        }
        Ok(())
    }
}

impl Device {
    fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_read_timeout(Some(WATCHDOG))?;
        stream.set_write_timeout(Some(WATCHDOG))?;
        Ok(Self { stream, gone: None })
    }

    fn read(&mut self, tile: NocXy, address: u64, size: u32) -> Result<Vec<u8>, AccessError> {
        let (x, y) = (tile.x.into(), tile.y.into());
        let request = Request { x, y, address, size, ..Request::of(Command::Read) };
        let answer = self.ask(&request, Response::decode)?;
        if answer.status != 0 {
            let why = format!("the simulation server did not read {tile} {address:#x}");
            return Err(AccessError::Refused(why));
        }
        if answer.data.len() != size as usize {
            let why = format!("it answered {} bytes for {size}", answer.data.len());
            return Err(self.is_gone(why));
        }
        Ok(answer.data)
    }

    /// Sends a request and decodes its answer. After an error nothing more is sent.
    fn ask<T>(
        &mut self,
        request: &Request,
        decode: impl FnOnce(&[u8]) -> io::Result<T>,
    ) -> Result<T, AccessError> {
        if let Some(gone) = &self.gone {
            return Err(gone.clone());
        }
        let answer = send(&mut self.stream, &request.encode())
            .and_then(|()| receive(&mut self.stream))
            .and_then(|answer| decode(&answer));
        answer.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe => {
                self.is_gone("the simulation server closed the connection".to_owned())
            }
            io::ErrorKind::WouldBlock => {
                self.is_gone(format!("it did not answer within {WATCHDOG:?}"))
            }
            _ => self.is_gone(error.to_string()),
        })
    }

    fn is_gone(&mut self, why: String) -> AccessError {
        self.gone.insert(AccessError::DeviceGone(why)).clone()
    }
}

impl Bar for UmdBar {
    fn submit(&mut self, batch: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError> {
        for op in batch {
            match *op {
                BarOp::ConfigRead { device, offset } => {
                    let is_there = usize::from(device) < self.devices.len() && offset == 0;
                    let id = if is_there { self.chip.bar().config_id() } else { u32::MAX };
                    answer.extend(id.to_le_bytes());
                }
                BarOp::Point { device, window, x, y, page, .. } => {
                    self.views.insert((device, window), (NocXy { x, y }, page));
                }
                BarOp::Read { device, bar, offset, len, .. } => {
                    self.read((device, bar), offset, len, answer)?;
                }
                BarOp::Write { .. } => {
                    let why = "the simulation server of another program is only read";
                    return Err(AccessError::Refused(why.to_owned()));
                }
                // The other program's time cannot be read: it is the host's, of 1 ns, as on silicon.
                BarOp::Pass { cycles } => std::thread::sleep(Duration::from_nanos(cycles)),
                BarOp::Now => {
                    let now = self.opened.elapsed().as_nanos() as u64;
                    answer.extend(now.to_le_bytes());
                }
            }
            if op.ends(answer) {
                break;
            }
        }
        Ok(())
    }

    fn chip(&self) -> ChipKind {
        self.chip
    }

    fn most_devices(&self) -> u8 {
        self.devices.len() as u8
    }
}

#[cfg(test)]
mod tests;
