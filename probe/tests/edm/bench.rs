//! Launches EDMs and workers directly, with arguments by the members' names, and reads the kernels'
//! state.
#![allow(unreachable_pub, dead_code, reason = "a module of a test")]

use crate::common::{built, idle};
use access::bar_target::BarTarget;
use images::ImageMap;
use launch::{Firmware, KernelLaunch, Step, launch_kernel, start_application};
use layouts::{ChipId, NocXy};
use machine::place::Place;
use machine::snapshot::{Plan, Span};
use machine::target::Target;

/// The near end of an n300's link e8-e0.
pub const NEAR: Place = Place { chip: ChipId(0), tile: NocXy { x: 9, y: 6 } };
/// The far end.
pub const FAR: Place = Place { chip: ChipId(1), tile: NocXy { x: 9, y: 0 } };

/// Values of arguments by member.
pub type Values = Vec<(String, u32)>;

/// A target with application firmware on both ends of the link.
pub struct Bench {
    pub target: BarTarget,
    pub images: ImageMap,
    pub run_id: u32,
}

impl Bench {
    pub fn emulated() -> Self {
        let (target, images) = built(&idle("n300"));
        Self::on(target, images)
    }

    pub fn on(target: BarTarget, images: ImageMap) -> Self {
        let mut bench = Self { target, images, run_id: 0 };
        for place in [NEAR, FAR] {
            let start = start_application(&mut bench.images, Firmware::BUILT_IN, place).unwrap();
            start.finish(&mut bench.target).unwrap();
        }
        bench
    }

    pub fn arguments(&self, kernel: &str, of: &str, values: &[(String, u32)]) -> Vec<u8> {
        let symbols = &self.images.named(kernel).unwrap().symbols;
        let mut bytes = vec![0; symbols.type_named(of).unwrap().size().unwrap() as usize];
        for (member, value) in values {
            let field = symbols.field(&format!("{of}.{member}")).unwrap();
            let at = field.offset as usize;
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        bytes
    }

    pub fn launch_edm(&mut self, place: Place, values: &[(String, u32)]) {
        let launch = KernelLaunch {
            place,
            kernel: "edm",
            firmware: "erisc_app",
            core_type: "ACTIVE_ETH",
            config_base: crate::common::layout().eth.l1.kernel_config.at,
            text_offset: 0,
            arguments: self.arguments("edm", "edm_args_t", values),
            semaphores: Vec::new(),
            in_place: false,
            host_assigned_id: self.run_id,
        };
        let launch = launch_kernel(&mut self.images, &launch).unwrap();
        launch.finish(&mut self.target).unwrap();
    }

    /// Launches a kernel whose semaphores, all zero, are at an offset from its config base.
    pub fn launch_with_semaphores(
        &mut self,
        launch: &KernelLaunch<'_>,
        base: u64,
        offset: u32,
        count: usize,
    ) {
        let zeros = vec![0; 16 * count];
        self.target.write(launch.place.at(base + u64::from(offset)), &zeros).unwrap();
        let operation = launch_kernel(&mut self.images, launch).unwrap();
        let symbols = &self.images.named(launch.firmware).unwrap().symbols;
        let member = "mailboxes->launch[0].kernel_config.sem_offset[0]";
        let member = launch.place.at(symbols.locate(member).unwrap().address());
        for step in operation.steps() {
            let Step::Write { addr, bytes } = step else { panic!("a launch only writes") };
            let mut bytes = bytes.clone();
            let at = member.offset.wrapping_sub(addr.offset) as usize;
            if addr.tile == member.tile && at < bytes.len() {
                bytes[at..at + 2].copy_from_slice(&offset.to_le_bytes()[..2]);
            }
            self.target.write(*addr, &bytes).unwrap();
        }
    }

    pub fn bytes(&mut self, place: Place, at: u64, len: u32) -> Vec<u8> {
        let span = Span { addr: place.at(at), len };
        let snapshot = self.target.read(&Plan { spans: vec![span] });
        snapshot.bytes(span.addr, len).unwrap().to_vec()
    }

    pub fn word(&mut self, place: Place, at: u64) -> u32 {
        u32::from_le_bytes(self.bytes(place, at, 4).try_into().unwrap())
    }

    /// Writes a kernel's termination signal: 1 gracefully, 2 at once.
    pub fn terminate(&mut self, place: Place, kernel: &str, signal: u32) {
        self.set(place, kernel, "control.termination_signal", signal);
    }

    pub fn set(&mut self, place: Place, kernel: &str, member: &str, value: u32) {
        let at = self.member(kernel, member).0;
        self.target.write(place.at(at), &value.to_le_bytes()).unwrap();
    }

    fn member(&self, kernel: &str, member: &str) -> (u64, u32) {
        let global = format!("{kernel}_state");
        let symbols = &self.images.named(kernel).unwrap().symbols;
        let found = symbols.locate(&format!("{global}.{member}")).unwrap();
        (found.address(), found.field.size as u32)
    }

    /// Reads a member of a kernel's state.
    pub fn state(&mut self, place: Place, kernel: &str, member: &str) -> u64 {
        let (at, size) = self.member(kernel, member);
        let bytes = self.bytes(place, at, size);
        bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
    }

    /// Lets time pass until both EDMs have ended. Returns their phases.
    pub fn finish_edms(&mut self, patience_cycles: u64) -> [u64; 2] {
        for _ in 0..patience_cycles.div_ceil(2_000) {
            let phases = [NEAR, FAR].map(|place| self.state(place, "edm", "phase"));
            if phases.iter().all(|phase| *phase >= 4) {
                return phases;
            }
            self.target.pass(2_000).unwrap();
        }
        [NEAR, FAR].map(|place| self.state(place, "edm", "phase"))
    }
}

/// Returns the arguments of an EDM without its channels.
pub fn edm(run_id: u32, first: bool, channels: u32, buffers: u32, buffer_bytes: u32) -> Values {
    let values = [
        ("run_id", run_id),
        ("handshake_sender", u32::from(first)),
        ("channels", channels),
        ("buffers_per_channel", buffers),
        ("buffer_bytes", buffer_bytes),
        ("buffers_address", 0x1_9000),
        ("idle_count", 64),
        ("busy_count", 256),
    ];
    values.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

/// Returns the arguments of a channel of an EDM.
pub fn channel(index: u32, sends: bool, messages: u32) -> Values {
    let values = [("is_sender", u32::from(sends)), ("message_count", messages)];
    values.map(|(name, value)| (format!("channel[{index}].{name}"), value)).to_vec()
}
