//! The PCIe endpoint: config space, host memory behind the PCIe tile, outbound translation, DMA.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use crate::common;

use common::Host;
use emulator::{HistoryLimits, HostMemory, HostTape, JournalError};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The PCIe tile, and its window to the host.
const PCIE: (u8, u8) = (0, 3);
const WINDOW: u64 = 0x8_0000_0000;
const REGION_3: u64 = 0x1200 + 0x200 * 3;

/// Host memory that is zero until written.
#[derive(Debug, Default)]
struct Memory(Mutex<BTreeMap<u64, u8>>);

impl HostMemory for Memory {
    fn read(&self, address: u64, out: &mut [u8]) -> bool {
        let bytes = self.0.lock().unwrap();
        for (byte, at) in out.iter_mut().zip(address..) {
            *byte = bytes.get(&at).map_or(0, |byte| *byte);
        }
        true
    }

    fn write(&self, address: u64, data: &[u8]) -> bool {
        self.0.lock().unwrap().extend((address..).zip(data.iter().copied()));
        true
    }
}

fn host() -> (Host, Arc<Memory>) {
    let (mut host, memory) = (Host::n300(), Arc::new(Memory::default()));
    host.mesh.set_host_memory(Arc::clone(&memory) as Arc<dyn HostMemory>);
    (host, memory)
}

fn set_bar2(host: &mut Host, offset: u64, value: u32) {
    host.mesh.bar_write(0, 2, offset, &value.to_le_bytes());
}

fn names(host: &Host) -> Vec<&'static str> {
    host.mesh.conditions().iter().map(|condition| condition.name).collect()
}

#[test]
fn a_bar_reports_its_size_and_does_not_move() {
    let (mut host, _) = host();
    for (offset, base, size_mask) in
        [(0x10, 4, 0xE000_0004), (0x18, 0x2000_0004, 0xFFF0_0004), (0x20, 4, 0xFE00_0004)]
    {
        assert_eq!(host.mesh.config_read(0, offset), base);
        host.mesh.config_write(0, offset, u32::MAX);
        host.mesh.config_write(0, offset + 4, u32::MAX);
        assert_eq!(host.mesh.config_read(0, offset), size_mask);
        assert_eq!(host.mesh.config_read(0, offset + 4), u32::MAX);
        host.mesh.config_write(0, offset, base);
    }
    host.mesh.config_write(0, 0, 0);
    assert_eq!(host.mesh.config_read(0, 0), 0x401E_1E52);
    // A bus address is a device, a BAR and an offset.
    let mut word = [0; 4];
    host.mesh.bus_read(0x1_1FF5_002C, &mut word);
    assert_eq!(u32::from_le_bytes(word), 0x1060_A280);
    host.mesh.bus_read(0x7000_0000, &mut word);
    assert_eq!((word, names(&host)), ([0xFF; 4], vec!["no-such-bus-address"]));
    host.mesh.bus_write(0x11_1000_0000, &word);
    assert_eq!(names(&host)[1], "no-such-device");
}

#[test]
fn host_memory_is_behind_the_pcie_tile() {
    let (mut host, memory) = host();
    // No region is on: offsets are bus addresses.
    host.write_tile(PCIE, WINDOW + 0x3800_0000, b"plain");
    assert_eq!(host.read_tile(PCIE, WINDOW + 0x3800_0000, 5), b"plain");
    for (word, value) in [(2, 0x4000_0000), (4, 0x4000_FFFF), (5, 0x1234_0000), (6, 0x7)] {
        set_bar2(&mut host, REGION_3 + 4 * word, value);
    }
    host.write_tile(PCIE, WINDOW + 0x4000_0010, b"still plain");
    set_bar2(&mut host, REGION_3 + 4, 1 << 31);
    host.write_tile(PCIE, WINDOW + 0x4000_0010, b"translated");
    let at = |address: u64, len: usize| {
        let mut bytes = vec![0; len];
        memory.read(address, &mut bytes);
        bytes
    };
    assert_eq!(at(0x3800_0000, 5), b"plain");
    assert_eq!(at(0x4000_0010, 11), b"still plain");
    // A target at the end of the address space wraps modulo 2^64.
    for (word, value) in [(5, 0xFFFF_FFF0), (6, u32::MAX)] {
        set_bar2(&mut host, REGION_3 + 4 * word, value);
    }
    host.write_tile(PCIE, WINDOW + 0x4000_0020, b"round");
    assert_eq!(at(0x10, 5), b"round");
    assert_eq!(at(0x7_1234_0010, 10), b"translated");
    assert_eq!(names(&host), Vec::<&str>::new());
    host.write_tile(PCIE, WINDOW + 0xFFFE_0000, b"dbi");
    assert_eq!(names(&host), ["pcie-dbi-not-modelled"]);
}

#[test]
fn dma_moves_bytes_through_windows_and_signals_completion() {
    let (mut host, memory) = host();
    // Windows 0 and 1 point at two tiles; the transfer crosses from one to the other.
    host.point(0, (1, 1), 0);
    host.point(1, (2, 1), 0);
    let bytes: Vec<u8> = (0..=255).cycle().take(10_000).collect();
    memory.write(0x1_0000_0000, &bytes);
    let device = 0x10_0000 - 5000;
    let to_device = [(0x308, 10_000), (0x30C, 0), (0x310, 1), (0x314, device), (0x318, 0)];
    let done = [(0x2C, 1), (0xCC, 0x9000), (0xD0, 0), (0xDC, 0xFACA)];
    for (register, value) in to_device.into_iter().chain(done) {
        set_bar2(&mut host, register, value);
    }
    let before = host.mesh.now();
    set_bar2(&mut host, 0x30, 0);
    assert_eq!(host.mesh.now() - before, 510, "10 for the doorbell, and 20 bytes per cycle");
    let mut word = [0; 4];
    memory.read(0x9000, &mut word);
    assert_eq!(u32::from_le_bytes(word), 0xFACA);
    // Read back through the same windows.
    assert_eq!(host.read(u64::from(device), 5000), bytes[..5000]);
    assert_eq!(host.read(0x10_0000, 5000), bytes[5000..]);
    for (register, value) in [(0x0C, 1), (0x60, 0x9004), (0x70, 0xFACB), (0x208, 10_000)] {
        set_bar2(&mut host, register, value);
    }
    for (register, value) in [(0x20C, device), (0x214, 0x2_0000), (0x10, 0)] {
        set_bar2(&mut host, register, value);
    }
    let mut back = vec![0; 10_000];
    memory.read(0x2_0000, &mut back);
    assert_eq!(back, bytes);
    memory.read(0x9004, &mut word);
    assert_eq!(u32::from_le_bytes(word), 0xFACB);
    assert_eq!(names(&host), Vec::<&str>::new());
}

/// What a recording keeps of a run has what the host's memory answered.
#[test]
fn a_run_that_read_host_memory_is_executed_again() {
    let limits =
        |bytes| Some(HistoryLimits { bytes, interval: Duration::MAX, ..HistoryLimits::default() });
    let run = |bytes| {
        let (mut host, memory) = host();
        host.mesh.keep_history(limits(bytes));
        memory.write(0x1_0000_0000, &[7; 5000]);
        host.point(0, (1, 1), 0);
        let transfer = [(0x308, 5000), (0x310, 1), (0x2C, 1), (0xCC, 0x9000), (0x30, 0)];
        for (word, value) in transfer {
            set_bar2(&mut host, word, value);
        }
        // A transfer reads the memory as it is then.
        memory.write(0x1_0000_0000, &[8; 100]);
        host.mesh.clock(1000);
        let between = host.mesh.now();
        set_bar2(&mut host, 0x308, 100);
        set_bar2(&mut host, 0x30, 0);
        assert_eq!(host.read(0, 5000), [vec![8; 100], vec![7; 4900]].concat());
        (host.mesh, between)
    };
    let (mut mesh, between) = run(1 << 20);
    let (journal, tape) = mesh.whole_journal().unwrap().unwrap();
    let (journal, tape) = (journal.clone(), tape.to_bytes());
    assert!((5100..5200).contains(&tape.len()), "{}", tape.len());
    let (end, checksum) = (mesh.now(), mesh.l1_checksum());
    let mut alike = Host::n300().mesh;
    alike.keep_history(limits(1 << 20));
    let before = alike.history().unwrap();
    let execute = |tape: &[u8]| {
        let run = (&journal, HostTape::from_bytes(tape).unwrap());
        before.execute(run, end, HistoryLimits::default(), &mut |_| true).unwrap()
    };
    let (again, same) = execute(&tape);
    assert_eq!(same, checksum);
    let mut copy = again.at(between, &mut |_| true).unwrap();
    let mut first = [0; 100];
    copy.l1(0, 1, 1).unwrap().read(0, &mut first).unwrap();
    assert_eq!(first, [7; 100]);
    assert_ne!(execute(&[]).1, checksum);
    for cut in 1..40 {
        // Nothing of it is believed without its bytes.
        let cut = HostTape::from_bytes(&tape[..cut]);
        assert!(matches!(cut, Err(JournalError::CutOff)), "{cut:?}");
    }
    let large = HostTape::from_bytes(&[0, 1, 0, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]);
    assert!(matches!(large, Err(JournalError::WrongEntry)), "{large:?}");
    // Twice as many bytes of answers as there may be: the past is given up.
    let (full, _) = run(5000);
    assert!(full.history().is_none() && full.whole_journal().unwrap().is_err());
}

#[test]
fn a_refused_transfer_is_named_and_never_completes() {
    let (mut host, memory) = host();
    set_bar2(&mut host, 0x60, 0x9004);
    set_bar2(&mut host, 0x70, 0xFACB);
    for (set_up, name) in [
        (&[(0x10, 1)][..], "dma-channel-not-modelled"),
        (&[(0x10, 0)], "dma-set-up-wrong"),
        (&[(0x0C, 1), (0x208, 6), (0x10, 0)], "dma-set-up-wrong"),
        (&[(0x208, 8), (0x20C, 0x1FF3_0060), (0x10, 0)], "dma-outside-the-windows"),
        (&[(0x34, 0)], "register-not-modelled"),
        (&[(0x1300, 0)], "register-not-modelled"),
    ] {
        for (register, value) in set_up {
            set_bar2(&mut host, *register, *value);
        }
        assert_eq!(host.mesh.conditions().last().unwrap().name, name);
    }
    let mut word = [0; 4];
    memory.read(0x9004, &mut word);
    assert_eq!(word, [0; 4]);
    // A mesh without host memory, and a chip without a host.
    let mut alone = Host::n300();
    alone.write_tile(PCIE, WINDOW, b"nobody");
    assert_eq!(names(&alone), ["no-host-memory"]);
}
