//! tt-metal's own firmware, booted on the emulator and on the vendor's simulator by the same steps.
//!
//! Runs if `MESHSCOPE_TT_METAL_ELFS` names the folder of the unpacked Python package; on the
//! vendor's simulator also `MESHSCOPE_TTSIM_DIR` must name its libraries.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common;

use decode::inspect::ReadSet;
use decode::state::{Activity, CoreState};
use images::{GoSignal, Outline, Provenance, Reading};
use layouts::{ChipId, CoreId, CoreKind, NocXy};
use machine::target::Allow;
use probe::session::Session;
use std::path::PathBuf;

fn folder() -> Option<PathBuf> {
    let root = std::env::var_os("MESHSCOPE_TT_METAL_ELFS").map(PathBuf::from);
    if root.is_none() {
        println!("skipped: MESHSCOPE_TT_METAL_ELFS names no unpacked ttnn wheel");
    }
    root.map(|root| root.join("ttnn/tt_metal/pre-compiled/1003041148146844629"))
}

fn open(words: &str) -> Session {
    Session::open(words, &common::host(), Allow::ALL).unwrap()
}

fn core(session: &mut Session, id: CoreId) -> (CoreState, machine::snapshot::Snapshot) {
    let tile = Some((id.chip, id.tile));
    let inspected = session.inspect(&ReadSet { tile, members: Some(id), ..ReadSet::default() });
    (inspected.state.core(id).unwrap().clone(), inspected.snapshot)
}

fn id(chip: u16, x: u8, y: u8, core: CoreKind) -> CoreId {
    CoreId { chip: ChipId(chip), tile: NocXy { x, y }, core }
}

/// Returns the text of a member's value by its path.
fn member(core: &CoreState, snapshot: &machine::snapshot::Snapshot, path: &str) -> String {
    let nodes = core.outlines.iter().flat_map(Outline::nodes);
    let node = nodes.into_iter().find(|node| node.path == path).expect(path);
    let at = layouts::NocAddr { chip: core.id.chip, tile: core.id.tile, offset: node.addr };
    node.value(snapshot.bytes(at, node.size as u32).unwrap()).to_string()
}

/// Asserts that the application waits for a go message and that its mailbox holds what the host and
/// the application wrote.
fn waits(session: &mut Session, chip: u16, x: u8, y: u8) {
    let (core, snapshot) = core(session, id(chip, x, y, CoreKind::Erisc));
    assert_eq!(core.activity, Reading::Known(Activity::Waiting), "{}", core.id);
    assert_eq!(core.go, Reading::Known(GoSignal::Init));
    assert!(core.lacks_waypoints(), "{:?}", core.waypoint);
    let stated =
        core.images.iter().any(|i| i.name == "erisc" && i.evidence != Provenance::Mismatch);
    assert!(stated, "{:?}", core.images);
    assert_eq!(core.channels.len(), 8);
    for (path, text) in [
        ("mailboxes.go_messages[0].signal", "64"),
        ("mailboxes.core_info.core_magic_number", "ACTIVE_ETH"),
        ("mailboxes.launch_msg_rd_ptr", "0"),
        ("erisc_info.channels[0].bytes_sent", "0"),
        ("routing_info.routing_enabled", "1"),
    ] {
        assert_eq!(member(&core, &snapshot, path), text, "{path}");
    }
    // The application itself wrote its translated coordinates, one for each NoC.
    let image = session.images().named("erisc").unwrap().clone();
    let words = ["my_x", "my_y"].map(|name| image.symbols.locate(name).unwrap().address());
    let spans = words.map(|offset| machine::snapshot::Span {
        addr: layouts::NocAddr { chip: core.id.chip, tile: core.id.tile, offset },
        len: 2,
    });
    let snapshot = session.target().read(&machine::snapshot::Plan { spans: spans.to_vec() });
    for (span, wide) in spans.iter().zip([16..26, 16..18]) {
        let bytes = snapshot.bytes(span.addr, 2).unwrap();
        assert!(bytes[0] == bytes[1] && wide.contains(&bytes[0]), "{span:?} {bytes:?}");
    }
}

/// Asserts that all five cores are up.
fn is_up(session: &mut Session, chip: u16, x: u8, y: u8) {
    for kind in [CoreKind::Brisc, CoreKind::Ncrisc, CoreKind::Trisc2] {
        let (core, snapshot) = core(session, id(chip, x, y, kind));
        assert_eq!(core.activity, Reading::Known(Activity::Waiting), "{}", core.id);
        assert_eq!(core.go, Reading::Known(GoSignal::Done));
        let magic = "mailboxes.core_info.core_magic_number";
        assert_eq!(member(&core, &snapshot, magic), "WORKER");
        let sync = member(&core, &snapshot, "mailboxes.subordinate_sync.map");
        assert_eq!(sync, "{0, 0, 0, 0}", "every other core has acknowledged");
    }
}

#[test]
fn on_the_emulator() {
    let Some(folder) = folder() else { return };
    let mut session = open(&format!("emulator:n300,firmware={}", folder.display()));
    for (chip, x, y) in [(0, 9, 6), (0, 1, 6), (1, 9, 0), (1, 1, 0)] {
        waits(&mut session, chip, x, y);
    }
    is_up(&mut session, 0, 1, 2);
    is_up(&mut session, 1, 1, 2);
}

#[test]
fn on_the_vendors_simulator_of_one_chip() {
    let (Some(folder), Some(library)) = (folder(), common::library("wh")) else { return };
    let mut session = open(&format!("ttsim:{},firmware={}", library.display(), folder.display()));
    is_up(&mut session, 0, 1, 1);
}

#[test]
fn on_the_vendors_simulator_of_two_chips() {
    let (Some(folder), Some(library)) = (folder(), common::library("wh_x2")) else { return };
    let mut session = open(&format!("ttsim:{},firmware={}", library.display(), folder.display()));
    for (chip, x, y) in [(0, 9, 6), (0, 1, 6), (1, 9, 0), (1, 1, 0)] {
        waits(&mut session, chip, x, y);
    }
    is_up(&mut session, 0, 1, 1);
    is_up(&mut session, 1, 1, 1);
}

#[test]
fn firmware_that_cannot_be_booted_is_refused_with_a_reason() {
    let wrong = |words: &str| match Session::open(words, &common::host(), Allow::default()) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{words} opened"),
    };
    let at = std::env::temp_dir().join(format!("meshscope-metal-{}", std::process::id()));
    let words = format!("emulator:n300,firmware={}", at.display());
    assert!(wrong(&words).contains("there is no such folder of firmware"));
    std::fs::create_dir_all(at.join("erisc")).unwrap();
    let elf = at.join("erisc/erisc.elf");
    assert!(wrong(&words).contains("erisc/erisc.elf: No such file"), "{}", wrong(&words));
    std::fs::write(&elf, b"no firmware at all").unwrap();
    assert!(wrong(&words).contains("erisc/erisc.elf: "), "{}", wrong(&words));
    std::fs::copy(std::env::current_exe().unwrap(), &elf).unwrap();
    assert!(wrong(&words).contains("64-bit"), "{}", wrong(&words));
    std::fs::write(&elf, firmware::image("ring_ping").unwrap().elf).unwrap();
    assert!(
        wrong(&words).contains("it begins at 0xa840; base firmware of a Wormhole calls 0x9040")
    );
    std::fs::remove_dir_all(&at).unwrap();
    let Some(folder) = folder() else { return };
    let ring = format!("emulator:n300,run=ring-ping,firmware={}", folder.display());
    assert!(wrong(&ring).contains("instruction RAM"), "{}", wrong(&ring));
    let Some(library) = common::library("wh") else { return };
    let closed = format!("ttsim:{},firmware={}", library.display(), folder.display());
    assert!(wrong(&closed).contains("needs --allow launch,write,reset"), "{}", wrong(&closed));
}
