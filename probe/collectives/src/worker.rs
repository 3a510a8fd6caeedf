//! A worker's launch: its commands, banks and arguments in the layout of the kernel `ccl_worker`,
//! by the names of its members.

use super::edm_builder::{ChannelAddresses, xy};
use super::op::DataType;
use super::program::{Bank, Channel, Program, WorkerCommand, WorkerPlan};
use images::ImageMap;
use launch::records::{records, size};
use launch::{
    CONFIG_BASE, ControlError, Firmware, KernelLaunch, Operation, TEXT_OFFSET, arguments,
    constant_of, image, semaphore_address,
};
use layouts::NocAddr;

/// The kernel's image.
pub(super) const WORKER: &str = "ccl_worker";
/// The type of its arguments.
const ARGUMENTS: &str = "ccl_worker_args_t";
/// The start of a worker's commands, banks and digests in its L1, and their end. Packets are staged
/// after them; shards of tensors follow.
const LISTS: u32 = 0x2_0000;
const STAGING: u32 = 0x4_0000;
const STAGING_END: u32 = 0x8_0000;
/// Number of packets staged at a time, and the bytes each needs in addition to its pages.
const STAGED_PACKETS: u64 = 4;
const STAGED_EXTRA_BYTES: u64 = 64;
/// Bytes after each buffer, as in an EDM.
const FIFO_EXTRA_BYTES: u64 = 16;
/// Alignment of the first buffer, in bytes: that of reads from DRAM.
const ALIGNMENT: u64 = 64;

/// Routing tables of the chip, for senders over a fabric of two dimensions: between the kernel's
/// data and the lists.
const ROUTING: u32 = 0x1_F000;

/// The inputs of a worker's launch, apart from its plan.
#[derive(Clone, Debug)]
pub(super) struct WorkerContext<'a> {
    /// The program.
    pub(super) program: &'a Program,
    /// The id of the launch, the same for all its cores.
    pub(super) run_id: u32,
    /// Addresses of its inbound channel.
    pub(super) inbound: Option<ChannelAddresses>,
    /// Addresses of its outbound channel.
    pub(super) outbound: Option<ChannelAddresses>,
    /// The stage before which it parks: 1 is its first packet, and 0 none.
    pub(super) pause_at_stage: u32,
    /// Argument members for a worker that uses a fabric.
    pub(super) fabric: Vec<(String, u32)>,
}

/// The addresses of a worker's parts in its L1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WorkerPlaces {
    commands: u32,
    banks: u32,
    /// One word per command.
    pub(super) digests: u32,
    /// Buffers of a channel that arrives over the fabric: at the end, so that the address is the same
    /// in workers whose packets differ in size.
    pub(super) fifo: u32,
}

impl WorkerPlaces {
    /// Returns the addresses for a plan.
    ///
    /// # Errors
    /// `Settings` if it does not fit.
    pub(super) fn of(
        images: &ImageMap,
        program: &Program,
        plan: &WorkerPlan,
    ) -> Result<Self, ControlError> {
        let worker = image(images, WORKER)?;
        let size = |of: &str| size(&worker, of);
        let commands = size("ccl_command_t")? * plan.commands.len() as u64;
        let banks = size("ccl_bank_t")? * plan.banks.len() as u64;
        let end = u64::from(LISTS) + commands + banks + 4 * plan.commands.len() as u64;
        let refuse = |why: String| Err(ControlError::Settings(format!("{}: {why}", plan.place)));
        if end > STAGING.into() {
            return refuse(format!("a list of {} commands is too long", plan.commands.len()));
        }
        let page = plan.tensors.iter().map(|tensor| tensor.page_bytes).fold(0, u32::max);
        let packet = u64::from(plan.packet_pages) * u64::from(page) + STAGED_EXTRA_BYTES;
        if STAGED_PACKETS * packet > (STAGING_END - STAGING).into() {
            return refuse(format!(
                "packets of {} pages of {page} bytes are too large",
                plan.packet_pages
            ));
        }
        let staged = STAGED_PACKETS * packet;
        let buffer = u64::from(program.buffer_bytes) + FIFO_EXTRA_BYTES;
        let fifo = (buffer * u64::from(program.buffers_per_channel)).next_multiple_of(ALIGNMENT);
        let over_fabric = program.crossing.is_some();
        if over_fabric && staged + fifo > (STAGING_END - STAGING).into() {
            return refuse(format!(
                "{} buffers of {} bytes are too large",
                program.buffers_per_channel, program.buffer_bytes
            ));
        }
        let banks_at = LISTS + commands as u32;
        Ok(Self {
            commands: LISTS,
            banks: banks_at,
            digests: banks_at + banks as u32,
            fifo: STAGING_END.saturating_sub(fifo as u32),
        })
    }
}

/// Returns the address of a worker's semaphore, the same in every worker.
///
/// # Errors
/// `NoImage`, or `NoMember` if the image does not describe its arguments.
pub(super) fn worker_semaphore(images: &ImageMap, name: &str) -> Result<u32, ControlError> {
    let number = constant_of(images, WORKER, name)?;
    let bytes = size(&*image(images, WORKER)?, ARGUMENTS)?;
    Ok(semaphore_address(CONFIG_BASE, bytes, number) as u32)
}

/// Returns the operation that writes a worker's commands and banks.
///
/// # Errors
/// As [`WorkerPlaces::of`].
pub(super) fn write_lists(
    images: &ImageMap,
    program: &Program,
    plan: &WorkerPlan,
) -> Result<Operation, ControlError> {
    let places = WorkerPlaces::of(images, program, plan)?;
    let worker = image(images, WORKER)?;
    let members = [
        "flags",
        "source",
        "destination",
        "source_page",
        "destination_page",
        "rank",
        "first_element",
    ];
    let command = |c: &WorkerCommand| {
        let (source, destination) = (c.source.into(), c.destination.into());
        let (from, to) = (c.source_page, c.destination_page);
        [c.flags.into(), source, destination, from, to, c.rank, c.first_element]
    };
    let bank = |bank: &Bank| [xy(bank.place.tile), bank.address];
    let commands = plan.commands.iter().map(command);
    let mut lists = records(&worker, "ccl_command_t", members, commands)?;
    let banks = plan.banks.iter().map(bank);
    lists.extend(records(&worker, "ccl_bank_t", ["xy", "address"], banks)?);
    let mut operation = Operation::new(format!("list of {}, {}", plan.place, plan.role));
    operation.write(at(plan, places.commands), lists);
    Ok(operation)
}

/// Returns the launch of a worker whose commands are already in its L1.
///
/// # Errors
/// As [`WorkerPlaces::of`], or `NoMember` if the kernel's debug information lacks an argument.
pub(super) fn worker_launch(
    images: &ImageMap,
    plan: &WorkerPlan,
    context: &WorkerContext<'_>,
) -> Result<KernelLaunch<'static>, ControlError> {
    let places = WorkerPlaces::of(images, context.program, plan)?;
    let constant = |name| constant_of(images, WORKER, name);
    let program = context.program;
    // The delay is for transfers only, not for fills and checks.
    let moves = plan.inbound.is_some() || plan.outbound.is_some();
    let data_type = match program.data_type {
        DataType::Int32 => "CCL_INT32",
        DataType::Float32 => "CCL_FLOAT32",
        DataType::Bfloat16 => "CCL_BFLOAT16",
    };
    let mut values: Vec<(String, u32)> = [
        ("run_id", context.run_id),
        ("data_type", constant(data_type)?),
        ("commands_address", places.commands),
        ("commands", plan.commands.len() as u32),
        ("banks_address", places.banks),
        ("digests_address", places.digests),
        ("staging_address", STAGING),
        ("pages", plan.pages),
        ("last_page_bytes", plan.last_page_bytes),
        ("slice_pages", plan.slice_pages),
        ("packet_pages", plan.packet_pages),
        ("elements", plan.elements),
        ("seed", program.seed),
        ("fifo_bytes", plan.fifo_bytes),
        ("partner_xy", plan.partner.map_or(0, |partner| xy(partner.tile))),
        ("pause_at_stage", context.pause_at_stage),
        ("dwell_cycles", if moves { program.delay_cycles } else { 0 }),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec();
    for (index, tensor) in plan.tensors.iter().enumerate() {
        let mut put = |name: &str, value| values.push((format!("tensors[{index}].{name}"), value));
        put("first_bank", tensor.first_bank);
        put("banks", tensor.banks);
        put("pages_per_shard", tensor.pages_per_shard);
        put("page_bytes", tensor.page_bytes);
        put("offset", tensor.offset);
    }
    let sides = [
        ("inbound", plan.inbound, context.inbound, "CCL_SEMAPHORE_INBOUND"),
        ("outbound", plan.outbound, context.outbound, "CCL_SEMAPHORE_OUTBOUND"),
    ];
    for (side, channel, addresses, semaphore) in sides {
        if let (Some(Channel { edm, .. }), Some(addresses)) = (channel, addresses) {
            // Over the fabric too, this is the tile that has the buffers.
            let number = constant(semaphore)?;
            let mut put = |name: &str, value| values.push((format!("{side}.{name}"), value));
            put("used", 1);
            put("edm_xy", xy(edm.tile));
            put("buffers_address", addresses.buffers);
            put("buffers", program.buffers_per_channel);
            put("buffer_bytes", program.buffer_bytes);
            put("edm_semaphore_address", addresses.semaphore);
            put("semaphore", number);
            put("worker_initiated", program.worker_initiated.into());
        }
    }
    values.extend(context.fabric.iter().cloned());
    let last = constant("CCL_SEMAPHORE_NACKS")?;
    Ok(KernelLaunch {
        place: plan.place,
        kernel: WORKER,
        firmware: Firmware::BUILT_IN.tensix[0],
        core_type: "TENSIX",
        config_base: CONFIG_BASE,
        text_offset: TEXT_OFFSET,
        arguments: arguments(&*image(images, WORKER)?, ARGUMENTS, &values)?,
        semaphores: vec![0; last as usize + 1],
        in_place: false,
        host_assigned_id: context.run_id,
    })
}

/// Returns the address of the chip's routing tables in the L1 of a worker.
pub(super) fn routing_at(plan: &WorkerPlan) -> NocAddr {
    at(plan, ROUTING)
}

fn at(plan: &WorkerPlan, address: u32) -> NocAddr {
    plan.place.at(address.into())
}
