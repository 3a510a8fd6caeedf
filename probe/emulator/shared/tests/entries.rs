//! The C functions one by one: devices, unmapped addresses, host memory, and restarts of the
//! machine.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(unsafe_code, reason = "C functions are called")]

use crate::common;

use common::{BAR0, BAR2, Client};
use std::ffi::c_void;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

const ABSENT: u32 = u32::MAX;
/// Window 0 on tile (2,2), strict, static VC, at address 0.
const TENSIX: u64 = 0x0000_2400_0082_0000;
/// Window 0 on the PCIe tile (0,3), at its window to the host.
const PCIE: u64 = 0x0000_2400_00C0_8000;

#[test]
fn devices_stand_in_a_row() {
    for (mesh, devices) in [("n150", 1), ("n300", 1), ("t3000", 4)] {
        let client = Client::on(mesh);
        for device in 0..32 {
            let identity = if device < devices { 0x401E_1E52 } else { ABSENT };
            assert_eq!(client.config(device << 3, 0), identity, "{mesh} device {device}");
        }
        for device in 0..devices {
            let word = |offset| client.config(device << 3, offset);
            assert_eq!((word(0x08), word(0x3C), word(0x34)), (0x1200_0001, 0xFF, 0));
            let high = device * 0x10;
            assert_eq!((word(0x10), word(0x14)), (4, 1 + high));
            assert_eq!((word(0x18), word(0x1C)), (0x2000_0004, 1 + high));
            assert_eq!((word(0x20), word(0x24)), (4, 8 + high));
            // The ARC's node id through each device's BAR0, and through BAR4, which
            // maps its end.
            let share = u64::from(device) * 0x10_0000_0000;
            assert_eq!(client.word(share + BAR0 + 0x1FF5_002C), 0x1060_A280);
            assert_eq!(client.word(share + 0x8_01F5_002C), 0x1060_A280);
        }
        assert_eq!(client.config(1, 0), ABSENT, "there is one function");
        assert_eq!(client.config(0x100, 0), ABSENT, "there is one bus");
        client.set_config(0, 0x10, u32::MAX);
        assert_eq!(client.config(0, 0x10), 0xE000_0004);
        assert_eq!(client.word(BAR0 + 0x1FF5_002C), 0x1060_A280, "a BAR cannot be moved");
    }
}

#[test]
fn what_is_not_there_reads_all_ones_and_the_process_survives() {
    let client = Client::on("n300");
    for address in [0, 0x7000_0000, BAR0 + 0x2000_0000 + (1 << 20), BAR0 + (1 << 36), u64::MAX] {
        assert_eq!(client.word(address), ABSENT, "{address:#x}");
        client.set_word(address, 1);
    }
    assert_eq!(client.tile_read(1, 1, 0), ABSENT);
    // A window beyond the grid loses the device, as on silicon; the probe of wormhole.md 1.6
    // detects it.
    client.entry(0, 0x0000_2400_034C_0000);
    assert_eq!(client.word(BAR0), ABSENT);
    assert_eq!(client.word(BAR0 + 0x1FF5_002C), ABSENT);
    assert_eq!(client.config(0, 0), 0x401E_1E52);
    assert!(client.read(BAR0, 0).is_empty());
}

#[test]
fn each_life_begins_with_a_new_mesh() {
    let client = Client::on("n300");
    client.entry(0, TENSIX);
    client.set_word(BAR0 + 0x2_0000, 0xCAFE);
    client.plain("libttsim_init");
    assert_eq!(client.word(BAR0 + 0x2_0000), 0xCAFE, "a second call changes nothing");
    client.plain("libttsim_exit");
    assert_eq!((client.config(0, 0), client.word(BAR0 + 0x2_0000)), (ABSENT, ABSENT));
    client.clock(1000);
    client.plain("libttsim_init");
    client.entry(0, TENSIX);
    assert_eq!(client.word(BAR0 + 0x2_0000), 0);
}

#[test]
fn a_scene_runs_already_and_a_mesh_alone_does_not() {
    for (mesh, soft_reset) in [("n300", 0x4_7800), ("n300,run=idle", 0), ("n300,at=10ms", 0)] {
        let client = Client::on(mesh);
        client.entry(0, TENSIX | 0xFFB);
        assert_eq!(client.word(BAR0 + 0x1_21B0), soft_reset, "{mesh}");
    }
}

static MEMORY: Mutex<[u8; 4096]> = Mutex::new([0; 4096]);
static CONFIG: Mutex<Option<extern "C" fn(u32, u32) -> u32>> = Mutex::new(None);
static IDENTITY_IN_CALLBACK: AtomicU32 = AtomicU32::new(0);

extern "C" fn dma_read(address: u64, bytes: *mut c_void, size: u32) {
    let memory = MEMORY.lock().unwrap();
    // SAFETY: the library provides room for that many bytes.
    let out = unsafe { std::slice::from_raw_parts_mut(bytes.cast::<u8>(), size as usize) };
    out.copy_from_slice(&memory[address as usize..][..size as usize]);
}

extern "C" fn dma_write(address: u64, bytes: *const c_void, size: u32) {
    if let Some(config) = *CONFIG.lock().unwrap() {
        IDENTITY_IN_CALLBACK.store(config(0, 0), Ordering::Relaxed);
    }
    // SAFETY: the library provides that many bytes.
    let data = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), size as usize) };
    MEMORY.lock().unwrap()[address as usize..][..size as usize].copy_from_slice(data);
}

#[test]
fn host_memory_is_reached_by_the_callbacks() {
    let client = Client::on("n300");
    client.entry(0, PCIE);
    client.host_memory(None, None);
    assert_eq!(client.word(BAR0 + 0x40), ABSENT, "there is no memory yet");
    client.host_memory(Some(dma_read), Some(dma_write));
    client.write(BAR0 + 0x40, b"over the NoC");
    assert_eq!(&MEMORY.lock().unwrap()[0x40..0x4C], b"over the NoC");
    assert_eq!(client.read(BAR0 + 0x45, 7), b"the NoC");
    // The DMA engine, from window 0 on a tile to host address 0x100, with its completion word
    // at 0x80.
    client.entry(0, TENSIX);
    client.write(BAR0 + 0x2_0000, b"by the DMA engine...");
    let set_up = [(0x0C, 1), (0x60, 0x80), (0x70, 0xD0), (0x208, 20), (0x20C, 0x2_0000)];
    for (register, value) in set_up.into_iter().chain([(0x214, 0x100), (0x10, 0)]) {
        client.set_word(BAR2 + register, value);
    }
    assert_eq!(&MEMORY.lock().unwrap()[0x100..0x114], b"by the DMA engine...");
    assert_eq!(MEMORY.lock().unwrap()[0x80], 0xD0);
    // A call from inside a callback is refused, and the access continues.
    *CONFIG.lock().unwrap() = Some(client.config_function());
    client.entry(0, PCIE);
    client.set_word(BAR0 + 0x40, 7);
    *CONFIG.lock().unwrap() = None;
    assert_eq!(IDENTITY_IN_CALLBACK.load(Ordering::Relaxed), ABSENT);
    assert_eq!((client.word(BAR0 + 0x40), client.config(0, 0)), (7, 0x401E_1E52));
    client.host_memory(None, None);
}

/// Helper for the tests below, which start it again with a mesh in its environment: prints device
/// 0's identity and the number of new threads.
#[test]
fn helper() {
    if std::env::var_os("MESHSCOPE_MESH").is_some() {
        let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
        let before = threads();
        let client = Client::on_environment();
        client.clock(10_000);
        println!("device 0 is {:#x}", client.config(0, 0));
        println!("new threads: {}", threads() - before);
    }
}

fn helped(mesh: &str) -> (String, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "entries::helper", "--nocapture"]).env("MESHSCOPE_MESH", mesh);
    let output = command.output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// The API guarantees it, so that a process may fork and continue with a copy of the machine.
#[test]
fn a_large_mesh_makes_no_threads_either() {
    let (printed, errors) = helped("t3000,run=idle");
    assert!(printed.contains("device 0 is 0x401e1e52"), "{printed}{errors}");
    assert!(printed.contains("new threads: 0"), "{printed}{errors}");
}

#[test]
fn a_name_of_no_mesh_is_reported_and_there_is_no_device() {
    for (mesh, expected) in [
        ("n3000", "MESHSCOPE_MESH=n3000: no mesh is called n3000; there is"),
        ("n300,color=red", "MESHSCOPE_MESH=n300,color=red: `color` is not a setting"),
        ("n300,run=idle,at=1us", "MESHSCOPE_MESH=n300,run=idle,at=1us: at: 1us is too early"),
        ("/no/such.yaml", "MESHSCOPE_MESH=/no/such.yaml: emulator:/no/such.yaml: No such file"),
    ] {
        let (printed, errors) = helped(mesh);
        assert!(printed.contains("device 0 is 0xffffffff"), "{mesh}: {printed}");
        let lines: Vec<&str> = errors.lines().filter(|line| line.contains(expected)).collect();
        assert_eq!(lines.len(), 1, "{mesh}: {errors}");
        assert!(lines[0].starts_with("meshscope: "), "{errors}");
    }
}
