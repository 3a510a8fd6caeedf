//! The launch of a traffic worker.

use super::mux::offset;
use super::traffic::{Traffic, Worker, WorkerId};
use super::traffic_lists::{KERNEL, Lists, SOURCES, lists};
use images::ImageMap;
use launch::records::{size, variable};
use launch::{
    CONFIG_BASE, ControlError, Firmware, KernelLaunch, Operation, TEXT_OFFSET, arguments,
    constant_of, go_kernel, image, place_kernel,
};
use layouts::NocXy;

const ARGUMENTS: &str = "fabric_traffic_args_t";
pub(super) const WORDS_TYPE: &str = "fabric_traffic_words_t";
/// Addresses behind the kernel and its data: words, routing tables, packet staging, sources, lists.
pub(super) const WORDS: u32 = 0x1_A000;
const ROUTING: u32 = 0x1_A400;
const STAGING: u32 = 0x1_B000;
const LISTS: u32 = 0x2_0000;
const LISTS_END: u32 = 0x6_0000;

impl Traffic {
    /// Launches a worker: [`Traffic::place_kernel`], then the go message.
    ///
    /// # Errors
    /// The same.
    pub fn launch(
        &self,
        images: &mut ImageMap,
        id: WorkerId,
        run_id: u32,
        routing: &[u8],
    ) -> Result<Operation, ControlError> {
        let mut operation = self.place_kernel(images, id, run_id, routing)?;
        operation.then(go_kernel(images, Firmware::BUILT_IN.tensix[0], self.place(id)?)?);
        Ok(operation)
    }

    /// Prepares the launch of a worker up to, but without, the go message: no worker may send to it
    /// before. `routing` is its chip's `routing_l1_info_t`, in two dimensions.
    ///
    /// # Errors
    /// When there is no room, or an image is missing or lacks a member.
    pub fn place_kernel(
        &self,
        images: &mut ImageMap,
        id: WorkerId,
        run_id: u32,
        routing: &[u8],
    ) -> Result<Operation, ControlError> {
        let kernel = image(images, KERNEL)?;
        let missing = || ControlError::Settings(format!("traffic has no worker {}", id.0));
        let worker = self.workers.get(id.0).ok_or_else(missing)?;
        let place = worker.place;
        let source_bytes = size(&kernel, "fabric_traffic_source_t")? as u32;
        let Lists { packets, sources, arrivals } =
            lists(images, &kernel, id, worker, source_bytes)?;
        let arrivals_at = LISTS + packets.len() as u32;
        let connections = constant_of(images, KERNEL, "TRAFFIC_MAX_CONNECTIONS")?;
        let fits = arrivals_at + arrivals.len() as u32 <= LISTS_END
            && SOURCES + sources.len() as u32 <= LISTS
            && worker.connections.len() <= connections as usize;
        if !fits {
            return Err(ControlError::Settings(format!("{place} has no room for its lists")));
        }
        let mut operation = Operation::new(format!("traffic on {place}"));
        operation.write(place.at(WORDS.into()), vec![0; size(&kernel, WORDS_TYPE)? as usize]);
        for (at, bytes) in [
            (SOURCES, &sources),
            (LISTS, &packets),
            (arrivals_at, &arrivals),
            (ROUTING, &routing.to_vec()),
        ] {
            if !bytes.is_empty() {
                operation.write(place.at(at.into()), bytes.clone());
            }
        }
        let counts = [
            ("packets_address", LISTS),
            ("packets", worker.packets.len() as u32),
            ("sources", worker.arrivals.len() as u32),
            ("arrivals_address", arrivals_at),
        ];
        let launch = KernelLaunch {
            place,
            kernel: KERNEL,
            firmware: Firmware::BUILT_IN.tensix[0],
            core_type: "TENSIX",
            config_base: CONFIG_BASE,
            text_offset: TEXT_OFFSET,
            arguments: arguments(
                &kernel,
                ARGUMENTS,
                &self.values(images, id, worker, run_id, &counts)?,
            )?,
            semaphores: Vec::new(),
            in_place: false,
            host_assigned_id: run_id,
        };
        operation.then(place_kernel(images, &launch)?);
        Ok(operation)
    }

    /// Stops a worker that waits for packets that do not arrive.
    ///
    /// # Errors
    /// When there is no such worker, or the image is missing or lacks the word.
    pub fn stop(&self, images: &ImageMap, id: WorkerId) -> Result<Operation, ControlError> {
        let place = self.place(id)?;
        let path = "fabric_traffic_state.control.termination_signal";
        let word = variable(&*image(images, KERNEL)?, path)?.address();
        let mut operation = Operation::new(format!("stop the traffic on {place}"));
        let value = constant_of(images, KERNEL, "GRACEFULLY_TERMINATE")?;
        operation.write_word(place.at(word), value);
        Ok(operation)
    }

    fn values(
        &self,
        images: &ImageMap,
        id: WorkerId,
        worker: &Worker,
        run_id: u32,
        counts: &[(&str, u32)],
    ) -> Result<Vec<(String, u32)>, ControlError> {
        let own = [
            ("run_id", run_id),
            ("source", id.0 as u32),
            ("is_2d", self.two_dimensions.into()),
            ("own_xy", xy(worker.place.tile)),
            ("device_id", worker.node.device.into()),
            ("mesh_id", worker.node.mesh.into()),
            ("words_address", WORDS),
            ("routing_info_address", ROUTING),
            ("staging_address", STAGING),
            ("sources_address", SOURCES),
            ("interval_cycles", worker.interval_cycles),
            ("never_closes", worker.never_closes.into()),
            ("connections", worker.connections.len() as u32),
        ];
        let values = own.iter().chain(counts).map(|(member, value)| ((*member).to_owned(), *value));
        let mut values: Vec<_> = values.collect();
        let kernel = image(images, KERNEL)?;
        for (index, (connection, termination)) in worker.connections.iter().enumerate() {
            let path = format!("connection[{index}]");
            values.extend(connection.values(&format!("{path}.client")));
            if let Some(ends) = termination {
                let part = if ends.master == id { "TERMINATION_MASTER" } else { "TELLS_MASTER" };
                let done = format!("{WORDS_TYPE}.done[{}].value", ends.master_connection);
                let master = xy(self.place(ends.master)?.tile);
                for (member, value) in [
                    ("termination", constant_of(images, KERNEL, part)?),
                    ("mux_clients", ends.clients),
                    ("master_xy", master),
                    ("master_address", WORDS + offset(&kernel, &done)?),
                    ("termination_address", ends.signal),
                ] {
                    values.push((format!("{path}.{member}"), value));
                }
            }
        }
        Ok(values)
    }
}

fn xy(tile: NocXy) -> u32 {
    u32::from(tile.x) | u32::from(tile.y) << 16
}
