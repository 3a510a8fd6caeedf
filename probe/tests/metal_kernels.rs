//! tt-metal's own kernels on its own firmware on the emulator: where their texts stand, and the
//! source lines of their waypoints.
//!
//! Runs if `MESHSCOPE_TT_METAL_ELFS` names the folder of the unpacked Python package, and
//! `MESHSCOPE_TT_KERNELS` a folder with kernels built from its sources.

use crate::{common, folder};

use decode::inspect::ReadSet;
use decode::state::{CoreState, ImageUse};
use folder::Folder;
use images::{Catalog, ImageRole, Mailbox, Provenance, Reading};
use layouts::{ChipId, CoreId, CoreKind, NocAddr, NocXy};
use machine::target::Allow;
use probe::session::Session;
use std::path::PathBuf;
use symbols::Symbols;

const ERISC: CoreId = CoreId { chip: ChipId(0), tile: NocXy { x: 1, y: 6 }, core: CoreKind::Erisc };
const BRISC: CoreId = CoreId { chip: ChipId(0), tile: NocXy { x: 1, y: 2 }, core: CoreKind::Brisc };
/// The base of tt-metal's kernel configuration on a compute tile, and on an Ethernet tile.
const TENSIX_CONFIG: u32 = 0x8960;
const ETH_CONFIG: u32 = 0x3_F120;

fn named(variable: &str) -> Option<PathBuf> {
    let value = std::env::var_os(variable).map(PathBuf::from);
    if value.is_none() {
        println!("skipped: {variable} is not set");
    }
    value
}

/// Opens a mesh with tt-metal's firmware, and a cache with these kernels.
fn open(name: &str, kernels: &[(&str, &str)]) -> Option<(Session, Folder)> {
    let (wheel, built) = (named("MESHSCOPE_TT_METAL_ELFS")?, named("MESHSCOPE_TT_KERNELS")?);
    let build = wheel.join("ttnn/tt_metal/pre-compiled/1003041148146844629");
    let words = format!("emulator:n300,firmware={}", build.display());
    let mut session = Session::open(&words, &common::host(), Allow::ALL).unwrap();
    let cache = Folder::new(name);
    for (kernel, core) in kernels {
        let elf = std::fs::read(built.join(kernel).join(format!("{core}.elf"))).unwrap();
        cache.put(&format!("kernels/{kernel}/1/{core}/{core}.elf"), &elf);
    }
    session.add_catalog(Catalog::read(&[cache.path().to_owned()]).unwrap());
    Some((session, cache))
}

fn put(session: &mut Session, core: CoreId, offset: u64, bytes: &[u8]) {
    let mut bytes = bytes.to_vec();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let addr = NocAddr { chip: core.chip, tile: core.tile, offset };
    session.target().write(addr, &bytes).unwrap();
}

/// Loads a kernel, its text at another address than it is linked at.
fn load(session: &mut Session, cache: &Folder, core: CoreId, kernel: &str, moved: u32) {
    let name = core.core.name();
    let elf = cache.path().join(format!("kernels/{kernel}/1/{name}/{name}.elf"));
    let (symbols, _) = Symbols::open(elf).unwrap();
    for segment in symbols.segments() {
        let at = if segment.executable {
            (segment.address as u32).wrapping_add(moved)
        } else {
            segment.load_address as u32
        };
        if !segment.bytes.is_empty() {
            put(session, core, at.into(), segment.bytes);
        }
    }
}

/// Writes launch message and go message.
fn launch(session: &mut Session, core: CoreId, config: (u64, u32), text_offset: u32) {
    let mailbox = session.images().mailbox_of(core).unwrap().0.clone();
    let Mailbox { launch, config_bases, text_offsets, .. } = mailbox;
    let word = u32::to_le_bytes;
    put(session, core, launch + config_bases.unwrap() + config.0, &word(config.1));
    put(session, core, launch + text_offsets.unwrap(), &word(text_offset));
    put(session, core, launch + mailbox.kernel_id(core.core), &word(7));
    put(session, core, launch + mailbox.mode, &[1, 0, 0, 0]);
    put(session, core, launch + mailbox.enables, &word(1));
    put(session, core, mailbox.go_word().0, &word(0x80 << mailbox.go_word().1));
    session.target().pass(2_000_000).unwrap();
}

fn inspected(session: &mut Session, core: CoreId) -> CoreState {
    let tile = Some((core.chip, core.tile));
    let read_set = ReadSet { tile, proofs: true, texts: true, ..ReadSet::default() };
    session.inspect(&read_set).state.core(core).unwrap().clone()
}

fn kernel(core: &CoreState) -> &ImageUse {
    core.images.iter().find(|image| image.role == ImageRole::Kernel).unwrap()
}

/// Asserts that the innermost line of the core's waypoint sets it.
fn sets_waypoint(core: &CoreState) {
    let code = core.waypoint.known().unwrap();
    let lines = core.candidates.iter().chain([&core.location]).filter_map(|lines| lines.first());
    let lines: Vec<_> = lines.collect();
    assert!(!lines.is_empty(), "{code}");
    for line in lines {
        let text = std::fs::read_to_string(line.file.as_ref().unwrap()).unwrap();
        let text = text.lines().nth(line.line.unwrap() as usize - 1).unwrap();
        assert!(text.contains(&format!("WAYPOINT(\"{code}\")")), "{code}: {line:?}: {text}");
    }
}

#[test]
fn a_router_stands_in_l1_and_runs_from_instruction_ram() {
    let kernels = [("router_a_waypoints", "erisc"), ("router_a", "erisc")];
    let Some((mut session, cache)) = open("metal-router", &kernels) else { return };
    put(&mut session, ERISC, 0x1_8000, &[0; 0x300]);
    load(&mut session, &cache, ERISC, "router_a_waypoints", 0xA840u32.wrapping_sub(0xFFC0_0000));
    launch(&mut session, ERISC, (4, ETH_CONFIG), 0);
    let core = inspected(&mut session, ERISC);
    let image = kernel(&core);
    assert_eq!(
        (image.name.as_str(), image.evidence),
        ("router_a_waypoints/erisc", Provenance::Verified)
    );
    assert_eq!((image.load_addr, image.run_addr, image.bias), (0xA840, 0xFFC0_0000, 0));
    sets_waypoint(&core);
    // The firmware around it has no waypoints.
    let other = inspected(&mut session, CoreId { tile: NocXy { x: 9, y: 6 }, ..ERISC });
    assert_eq!((&other.waypoint, other.lacks_waypoints()), (&Reading::Absent, true));
}

#[test]
fn a_worker_stands_where_the_launch_message_says() {
    let kernels = [("worker_waypoints", "brisc"), ("worker", "brisc")];
    let Some((mut session, cache)) = open("metal-worker", &kernels) else { return };
    load(&mut session, &cache, BRISC, "worker_waypoints", 0);
    launch(&mut session, BRISC, (0, TENSIX_CONFIG), 0x3_0000 - TENSIX_CONFIG);
    let core = inspected(&mut session, BRISC);
    let image = kernel(&core);
    assert_eq!(
        (image.name.as_str(), image.evidence),
        ("worker_waypoints/brisc", Provenance::Verified)
    );
    assert_eq!((image.load_addr, image.run_addr, image.bias), (0x3_0000, 0x3_0000, 0));
    sets_waypoint(&core);
}

#[test]
fn a_mux_that_was_moved_has_no_waypoints() {
    let Some((mut session, cache)) = open("metal-mux", &[("mux", "brisc")]) else { return };
    load(&mut session, &cache, BRISC, "mux", 0x400);
    // Only the message counts: its code runs nowhere but at its link address.
    let mailbox = session.images().mailbox_of(BRISC).unwrap().0.clone();
    let launch = mailbox.launch;
    let offset = 0x3_0400 - TENSIX_CONFIG;
    put(&mut session, BRISC, launch + mailbox.config_bases.unwrap(), &TENSIX_CONFIG.to_le_bytes());
    put(&mut session, BRISC, launch + mailbox.text_offsets.unwrap(), &offset.to_le_bytes());
    put(&mut session, BRISC, launch + mailbox.kernel_ids, &7u32.to_le_bytes());
    put(&mut session, BRISC, launch + mailbox.enables, &1u32.to_le_bytes());
    let core = inspected(&mut session, BRISC);
    let image = kernel(&core);
    assert_eq!((image.name.as_str(), image.evidence), ("mux/brisc", Provenance::Verified));
    assert_eq!((image.load_addr, image.run_addr, image.bias), (0x3_0400, 0x3_0400, 0x400));
    assert_eq!((&core.waypoint, core.lacks_waypoints()), (&Reading::Absent, true));
}
