//! Builds a router's launch and a client's connection to it, by the member names of its image.

use super::client::Connection;
use super::status_queue::StatusQueue;
use super::words::RouterImage;
use super::{FabricPlan, FabricSettings, Router};
use images::ImageMap;
use launch::{ControlError, Firmware, KernelLaunch, Operation, arguments};
use layouts::NocXy;
use machine::fabric::Direction;

/// The value for no tile.
const NONE: u32 = 0;

/// Returns a tile as kernels encode it.
fn xy(tile: NocXy) -> u32 {
    u32::from(tile.x) | u32::from(tile.y) << 16
}

/// Returns the launch of a router with its `fabric_router_args_t`. `run_id` is the same in the
/// whole fabric, different for each bring-up, and not zero.
///
/// # Errors
/// `NoImage` or `NoMember`, or `Settings` for a list that does not fit.
pub fn router_launch(
    images: &ImageMap,
    plan: &FabricPlan,
    router: &Router,
    settings: &FabricSettings,
    run_id: u32,
) -> Result<KernelLaunch<'static>, ControlError> {
    let kernel = RouterImage::of(images, plan.router_image())?;
    let queue = StatusQueue::placed(images, plan, router, settings, run_id)?;
    let local: Vec<&Router> = plan.routers_of(router.eth.chip).collect();
    let mut values: Vec<(String, u32)> = [
        ("run_id", run_id),
        ("my_direction", kernel.constant(router.direction.name())?),
        ("my_eth_channel", router.eth.channel.into()),
        ("neighbor_mesh_id", router.neighbor.mesh.into()),
        ("neighbor_device_id", router.neighbor.device.into()),
        ("is_local_master", router.master.into()),
        ("num_local_edms", local.len() as u32),
        ("fallback_index", router.plane),
        ("dateline", router.dateline.into()),
        ("inter_mesh", router.inter_mesh.into()),
        ("packet_timeout_cycles", settings.packet_timeout_cycles),
        ("unrouted_timeout_cycles", settings.unrouted_timeout_cycles),
        ("rate_interval_cycles", settings.rate_interval_cycles),
        ("status_queue_xy", queue.map_or(NONE, |queue| xy(queue.place.tile))),
        ("status_queue_address", queue.map_or(NONE, |queue| queue.address as u32)),
        ("idle_count", settings.idle_count),
        ("busy_count", settings.busy_count),
        ("pause_at_stage", settings.pause_at_stage),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec();
    let mut list = |name: &str, tiles: &[u32]| {
        let room = kernel.elements(&format!("fabric_router_args_t.{name}"))?;
        if tiles.len() as u64 > room {
            let (eth, number) = (router.eth, tiles.len());
            let why =
                format!("router of {eth}: {number} tiles for {name}, which has room for {room}");
            return Err(ControlError::Settings(why));
        }
        let tiles = tiles.iter().enumerate();
        values.extend(tiles.map(|(index, &tile)| (format!("{name}[{index}]"), tile)));
        Ok(())
    };
    let tiles: Vec<u32> = local.iter().map(|router| xy(router.place.tile)).collect();
    list("local_edm_xy", &tiles)?;
    let downstream = Direction::ALL.map(|route| {
        let other = plan.router(router.node, route, router.plane);
        let turns = plan.topology.is_2d() || route == router.direction.opposite();
        let other = other.filter(|_| turns && route != router.direction);
        other.map_or(NONE, |other| xy(other.place.tile))
    });
    list("downstream_xy", &downstream)?;
    let fallbacks = plan.fallbacks(router).into_iter().map(|other| xy(other.place.tile));
    list("fallback_xy", &fallbacks.collect::<Vec<_>>())?;
    Ok(KernelLaunch {
        place: router.place,
        kernel: kernel.name,
        firmware: Firmware::BUILT_IN.application,
        core_type: "ACTIVE_ETH",
        config_base: images.layout().eth.l1.kernel_config.at,
        text_offset: 0,
        arguments: arguments(&kernel.image, "fabric_router_args_t", &values)?,
        semaphores: Vec::new(),
        in_place: false,
        host_assigned_id: run_id,
    })
}

/// Returns the connection to a router's sender channel 0.
///
/// # Errors
/// `NoImage` or `NoMember`.
pub fn connection(
    images: &ImageMap,
    plan: &FabricPlan,
    router: &Router,
) -> Result<Connection, ControlError> {
    let kernel = RouterImage::of(images, plan.router_image())?;
    let constant = |name| kernel.constant(name);
    Ok(Connection {
        place: router.place,
        direction: constant(router.direction.name())?,
        buffers: constant("channel_buffers_addr")?,
        buffer_bytes: constant("channel_buffer_size")?,
        buffer_count: constant("sender_slots")?,
        handshake: constant("local_sender_channel_0_connection_semaphore_addr")?,
        location_info: constant("local_sender_channel_0_connection_info_addr")?,
        buffer_index: constant("local_sender_channel_0_connection_buffer_index_addr")?,
        stream: constant("sender_channel_0_free_slots_stream_id")?,
        status: constant("edm_status_ptr_addr")?,
    })
}

/// Returns the size of a packet's header in bytes.
///
/// # Errors
/// `NoImage` or `NoMember`.
pub fn header_bytes(images: &ImageMap, plan: &FabricPlan) -> Result<u32, ControlError> {
    RouterImage::of(images, plan.router_image())?.constant("packet_header_bytes")
}

/// Clears the words of a router before its launch, so that those of an earlier router are not
/// mistaken for its own.
pub(super) fn fresh_words(
    images: &ImageMap,
    plan: &FabricPlan,
    router: &Router,
) -> Result<Operation, ControlError> {
    let kernel = RouterImage::of(images, plan.router_image())?;
    let mut operation = Operation::new(format!("clear the words of router {}", router.eth));
    let words = kernel.constant("ROUTER_WORDS")?;
    let bytes = kernel.size("fabric_router_words_t")?;
    operation.write(router.place.at(words.into()), vec![0; bytes as usize]);
    let postcode = kernel.constant("postcode_addr")?;
    operation.write_word(router.place.at(postcode.into()), 0);
    Ok(operation)
}

/// Checks that the fabric fits the routers' image.
///
/// # Errors
/// `Settings` if the meshes are too large.
pub fn fits(images: &ImageMap, plan: &FabricPlan) -> Result<(), ControlError> {
    let kernel = RouterImage::of(images, plan.router_image())?;
    if !plan.topology.is_2d() {
        return Ok(());
    }
    let most = kernel.constant("HYBRID_MESH_MAX_ROUTE_BUFFER_SIZE")? as usize;
    let large = plan.meshes.iter().find(|mesh| mesh.rows + mesh.columns > most);
    large.map_or(Ok(()), |mesh| {
        let (rows, columns) = (mesh.rows, mesh.columns);
        Err(ControlError::Settings(format!(
            "{rows} rows and {columns} columns are more than the {most} that a packet's route can hold"
        )))
    })
}
