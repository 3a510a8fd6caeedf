//! The ring ping: one payload circles a ring of links and is checked at every lap.

use super::erisc::start_application;
use super::kernel::await_done;
use super::l1_range::{arguments, constant_of};
use super::running::running;
use super::{
    Condition, ControlError, Firmware, KernelLaunch, Operation, Ring, RingStop, image,
    launch_kernel,
};
use images::ImageMap;
use machine::place::Place;
use machine::target::{Mesh, Target};

const KERNEL: &str = "ring_ping";

/// Settings of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingPingSettings {
    /// Number of the run: the same on every core, different for each launch, not zero.
    pub run_id: u32,
    /// Number of laps; 0: until the run is torn down.
    pub laps: u32,
    /// Bytes of the payload: a multiple of 16 from 16 to 65520.
    pub payload_bytes: u32,
    /// Delay at each hop, in cycles, so that its progress is visible.
    pub delay_cycles: u32,
    /// Park before this stage: 0 never, 1 the offer of the handshake, 2 its answer, 3 meeting the
    /// sibling, 4 the first lap.
    pub pause_at_stage: u32,
}

impl Default for RingPingSettings {
    fn default() -> Self {
        Self { run_id: 1, laps: 0, payload_bytes: 1024, delay_cycles: 0, pause_at_stage: 0 }
    }
}

/// A ring ping on a mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingPing {
    /// The firmware that runs the kernels.
    pub firmware: Firmware,
    /// Its cores in ring order, the master first.
    pub stops: Vec<RingStop>,
}

impl RingPing {
    /// Places the ring ping on a ring of the mesh.
    ///
    /// # Errors
    /// `NoRing`, or `Settings` if the chips lack a channel.
    pub fn on(mesh: &Mesh) -> Result<Self, ControlError> {
        let stops = Ring::find(mesh).ok_or(ControlError::NoRing)?.stops(mesh)?;
        Ok(Self { firmware: Firmware::BUILT_IN, stops })
    }

    /// Starts the application firmware on every core of the ring.
    ///
    /// # Errors
    /// As [`start_application`].
    pub fn prepare(&self, images: &mut ImageMap) -> Result<Operation, ControlError> {
        let mut operation = Operation::new("start application firmware on the ring");
        for stop in &self.stops {
            operation.then(start_application(images, self.firmware, stop.place)?);
        }
        Ok(operation)
    }

    /// Launches the kernels. The application firmware must be running.
    ///
    /// # Errors
    /// `Settings` for a payload that the kernel would refuse, or as [`launch_kernel`].
    pub fn launch(
        &self,
        images: &mut ImageMap,
        settings: &RingPingSettings,
    ) -> Result<Operation, ControlError> {
        let payload = settings.payload_bytes;
        if !payload.is_multiple_of(16) || !(16..=65520).contains(&payload) {
            return Err(ControlError::Settings(format!(
                "a payload of {payload} bytes is not a multiple of 16 from 16 to 65520"
            )));
        }
        let mut operation = Operation::new("launch the ring ping");
        for stop in &self.stops {
            let launch = KernelLaunch {
                place: stop.place,
                kernel: KERNEL,
                firmware: self.firmware.application,
                core_type: "ACTIVE_ETH",
                config_base: images.layout().eth.l1.kernel_config.at,
                text_offset: 0,
                arguments: self.arguments(images, stop, settings)?,
                semaphores: Vec::new(),
                in_place: false,
                host_assigned_id: settings.run_id,
            };
            operation.then(launch_kernel(images, &launch)?);
        }
        Ok(operation)
    }

    /// Returns the `ring_ping_args_t` of a core.
    fn arguments(
        &self,
        images: &ImageMap,
        stop: &RingStop,
        settings: &RingPingSettings,
    ) -> Result<Vec<u8>, ControlError> {
        /// A wait yields to base firmware at every poll.
        const YIELD_INTERVAL: u32 = 1;
        let role = if stop.sends { "RING_PING_SENDER" } else { "RING_PING_RECEIVER" };
        let values = [
            ("run_id", settings.run_id),
            ("role", constant_of(images, KERNEL, role)?),
            ("master", u32::from(stop.position == 0)),
            ("laps", settings.laps),
            ("payload_bytes", settings.payload_bytes),
            ("dwell_cycles", settings.delay_cycles),
            ("sibling_x", stop.sibling.tile.x.into()),
            ("sibling_y", stop.sibling.tile.y.into()),
            ("ring_position", stop.position),
            ("ring_length", self.stops.len() as u32),
            ("pause_at_stage", settings.pause_at_stage),
            ("yield_interval", YIELD_INTERVAL),
        ];
        arguments(&*image(images, KERNEL)?, "ring_ping_args_t", &values)
    }

    /// Returns true if any core of the ring runs it. Writes nothing.
    ///
    /// # Errors
    /// When a core cannot be read, or an image is missing.
    pub fn runs(&self, target: &mut dyn Target, images: &ImageMap) -> Result<bool, ControlError> {
        let places = self.places().collect();
        let found = running(target, images, self.firmware.application, KERNEL, places)?;
        Ok(!found.is_empty())
    }

    /// Ends the run: the master marks its next lap as the last, every credit comes back, and all
    /// kernels return.
    ///
    /// # Errors
    /// When an image is missing or lacks a member.
    pub fn tear_down(&self, images: &ImageMap) -> Result<Operation, ControlError> {
        let mut operation = Operation::new("tear down the ring ping");
        if let Some(master) = self.stops.first() {
            let signal = self.state(images, "control.termination_signal")?;
            let gracefully = constant_of(images, KERNEL, "GRACEFULLY_TERMINATE")?;
            operation.write_word(master.place.at(signal), gracefully);
        }
        operation.then(self.await_finish(images)?);
        Ok(operation)
    }

    /// Waits until every core has returned with every credit.
    ///
    /// # Errors
    /// When an image is missing or lacks a member.
    pub fn await_finish(&self, images: &ImageMap) -> Result<Operation, ControlError> {
        let phase = self.state(images, "phase")?;
        let finished = constant_of(images, KERNEL, "RING_PING_FINISHED")?;
        let mut operation = Operation::new("wait for the end of the ring ping");
        for stop in &self.stops {
            let finished = Condition::Masked { mask: u32::MAX, value: finished };
            let what = format!("{} has every credit back", stop.eth);
            operation.wait(what, stop.place.at(phase), finished);
            operation.then(await_done(images, self.firmware.application, stop.place)?);
        }
        Ok(operation)
    }

    /// Returns the address of a member of `ring_ping_state`, the same on every core.
    ///
    /// # Errors
    /// When the image is missing or lacks the member.
    pub fn state(&self, images: &ImageMap, member: &str) -> Result<u64, ControlError> {
        let kernel = image(images, KERNEL)?;
        let place = kernel.symbols.locate(&format!("ring_ping_state.{member}"));
        let missing = |_| ControlError::NoMember(KERNEL.to_owned(), member.to_owned());
        place.map(|place| place.address()).map_err(missing)
    }

    /// Returns the tiles of the ring.
    pub fn places(&self) -> impl Iterator<Item = Place> {
        self.stops.iter().map(|stop| stop.place)
    }
}
