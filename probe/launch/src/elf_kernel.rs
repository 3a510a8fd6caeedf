//! Launching a kernel of a person's own ELF, by the same host protocol as the built-in ones: the
//! core for which it is linked, whether it fits its tile, its launch, and its end.

mod end;
mod linked;
mod room;
mod site;

pub use end::{
    Ending, Left, exit_flag, hold_operation, reset_operation, termination_address,
    termination_values,
};
pub use linked::core_for;
pub use site::{KernelSite, check_free, survey};

use crate::firmware::{load, load_ncrisc};
use crate::kernel::{core_of, message, semaphore_address};
use crate::l1_range::mailbox;
use crate::{ControlError, KernelLaunch, Operation, image};
use images::{Image, ImageMap, Provenance};
use layouts::CoreKind;
use room::{Room, room_for};

/// Bytes of one circular buffer's configuration (tt-metal.md 1.2).
const BUFFER_BYTES: u64 = 16;
/// The first kernel number of ELFs of a person; built-in kernels have lower ones.
const FIRST_ID: u16 = 0x8000;

/// A circular buffer of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CircularBuffer {
    /// Its number.
    pub number: u8,
    /// Its address in L1.
    pub address: u32,
    /// Number of pages.
    pub pages: u32,
    /// Bytes of a page.
    pub page_bytes: u32,
}

/// A kernel of an ELF with what it is launched with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElfKernel {
    /// Name of its image.
    pub image: String,
    /// Runtime arguments.
    pub arguments: Vec<u32>,
    /// Common runtime arguments.
    pub common: Vec<u32>,
    /// Initial values of the semaphores.
    pub semaphores: Vec<u32>,
    /// Circular buffers.
    pub buffers: Vec<CircularBuffer>,
}

/// A kernel that fits a tile, with the addresses at which its configuration goes.
#[derive(Clone, Debug)]
pub struct FittedKernel<'a> {
    kernel: &'a ElfKernel,
    site: &'a KernelSite,
    room: Room,
}

impl ElfKernel {
    /// Checks that the kernel, its arguments, semaphores and buffers fit a tile.
    ///
    /// # Errors
    /// `Settings`: what does not fit, and where.
    pub fn fit<'a>(
        &'a self,
        images: &ImageMap,
        site: &'a KernelSite,
    ) -> Result<FittedKernel<'a>, ControlError> {
        let image = image(images, &self.image)?;
        let room = room_for(&image, site, self.config_bytes())?;
        Ok(FittedKernel { kernel: self, site, room })
    }

    /// Returns the offset of the common arguments.
    fn common_offset(&self) -> u64 {
        4 * self.arguments.len() as u64
    }

    /// Returns the offset of the circular buffers' configurations.
    fn buffers_offset(&self) -> u64 {
        let arguments = self.common_offset() + 4 * self.common.len() as u64;
        semaphore_address(0, arguments, self.semaphores.len() as u32)
    }

    fn config_bytes(&self) -> u64 {
        let slots = self.buffers.iter().map(|buffer| u64::from(buffer.number) + 1).max();
        self.buffers_offset() + BUFFER_BYTES * slots.unwrap_or(0)
    }
}

impl FittedKernel<'_> {
    /// Returns the address of the runtime arguments.
    pub fn config_base(&self) -> u64 {
        self.room.config_base
    }

    /// Returns the launch without the go message.
    ///
    /// # Errors
    /// When an image is missing or lacks a member.
    pub fn place(&self, images: &mut ImageMap) -> Result<Operation, ControlError> {
        let (kernel, place, room) = (self.kernel, self.site.place, &self.room);
        let own = image(images, &kernel.image)?;
        let firmware = image(images, self.site.firmware_name()?)?;
        let words = kernel.arguments.iter().chain(&kernel.common);
        let launch = KernelLaunch {
            place,
            kernel: &kernel.image,
            firmware: &firmware.name,
            core_type: if own.core == CoreKind::Erisc { "ACTIVE_ETH" } else { "TENSIX" },
            config_base: room.config_base,
            text_offset: room.text.wrapping_sub(room.config_base) & u64::from(u32::MAX),
            arguments: words.flat_map(|word| word.to_le_bytes()).collect(),
            semaphores: kernel.semaphores.clone(),
            in_place: false,
            host_assigned_id: number(&own).into(),
        };
        let mut operation = Operation::new(format!("launch {} on {place}", kernel.image));
        let mut members = self.members(&own, &firmware)?;
        if room.is_copied {
            let bytes = load_ncrisc(&mut operation, place, &own, room.text)?;
            members.push(("ncrisc_kernel_size16".to_owned(), bytes.div_ceil(16)));
        } else {
            load(&mut operation, place, &own)?;
        }
        for zeros in &room.zeros {
            let bytes = zeros.end.saturating_sub(zeros.start);
            operation.write(place.at(zeros.start), vec![0; bytes as usize]);
        }
        operation.write(place.at(room.config_base), launch.config());
        for buffer in &kernel.buffers {
            let CircularBuffer { number, address, pages, page_bytes } = *buffer;
            let at = kernel.buffers_offset() + BUFFER_BYTES * u64::from(number);
            let words = [address, pages.saturating_mul(page_bytes), pages, page_bytes];
            let bytes = words.into_iter().flat_map(u32::to_le_bytes).collect();
            operation.write(place.at(room.config_base + at), bytes);
        }
        let mut message = message(images, &firmware, &own, &launch)?;
        for (member, value) in members {
            let path = format!("mailboxes->launch[0].kernel_config.{member}");
            message.put_named(&firmware, &path, value)?;
        }
        operation.write(place.at(message.start), message.bytes);
        images.declare(core_of(place, own.core), &kernel.image, Provenance::Stated);
        Ok(operation)
    }

    /// Returns the members of the launch message that other kernels do not set.
    fn members(&self, own: &Image, firmware: &Image) -> Result<Vec<(String, u64)>, ControlError> {
        let kernel = self.kernel;
        let processor = mailbox(firmware)?.processor(own.core);
        let number = number(own).into();
        let mut members = vec![(format!("watcher_kernel_ids[{processor}]"), number)];
        if !kernel.common.is_empty() {
            let path = format!("rta_offset[{processor}].crta_offset");
            members.push((path, kernel.common_offset()));
        }
        if !kernel.buffers.is_empty() {
            let mask = kernel.buffers.iter().fold(0, |mask, buffer| mask | 1 << buffer.number);
            members.push(("local_cb_offset".to_owned(), kernel.buffers_offset()));
            members.push(("local_cb_mask".to_owned(), mask));
        }
        Ok(members)
    }
}

/// Returns the number by which launch messages name a kernel: the same for the same ELF, wherever its
/// image comes from.
fn number(kernel: &Image) -> u16 {
    if kernel.kernel_id != 0 {
        return kernel.kernel_id;
    }
    // FNV-1a, folded to 15 bits.
    let hash = kernel.elf().iter().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3)
    });
    FIRST_ID | ((hash ^ hash >> 15 ^ hash >> 30 ^ hash >> 45) & 0x7FFF) as u16
}
