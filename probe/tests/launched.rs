//! Finding kernels by launch messages: load addresses, ended kernels, instruction RAM, and
//! unreadable memory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::folder;

use access::bar_target::BarTarget;
use decode::inspect::ReadSet;
use decode::state::{Activity, CoreState, ImageUse, MeshState};
use folder::Folder;
use images::{Catalog, ImageMap, ImageRole, Mailbox, Provenance, Reading, TextCheck};
use layouts::{ChipId, CoreId, CoreKind, NocAddr, NocXy, Space, TileKind};
use machine::patience::Deadlines;
use machine::snapshot::{AccessError, Gap, Plan, Snapshot};
use machine::target::{Abilities, Allow, Mesh, Target};
use probe::session::Session;
use std::path::PathBuf;
use symbols::Symbols;
use transport::emulator_bar::EmulatorBar;

const TENSIX: NocXy = NocXy { x: 3, y: 3 };
const ETH: NocXy = NocXy { x: 9, y: 6 };
/// Load address of a kernel, far from the address it is linked at.
const CONFIG: u32 = 0x3_0000;
const TEXT: u32 = 0x400;

/// Returns a mesh on which nothing runs.
fn bare() -> BarTarget {
    let mesh = emulator::Mesh::new(emulator::MeshConfig::n300()).unwrap();
    let abilities = Abilities { allow: Allow::ALL, stepped_time: true, ..Abilities::default() };
    let bar = Box::new(EmulatorBar::new(mesh));
    BarTarget::open("bare", bar, abilities, Deadlines::default()).unwrap()
}

fn put(target: &mut dyn Target, tile: NocXy, offset: u64, bytes: &[u8]) {
    let mut bytes = bytes.to_vec();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    target.write(NocAddr { chip: ChipId(0), tile, offset }, &bytes).unwrap();
}

/// Writes the text of an ELF at moved addresses.
fn load(target: &mut dyn Target, tile: NocXy, elf: &[u8], at: impl Fn(u64) -> u64) {
    let (symbols, _) = Symbols::load(elf.to_vec(), "elf").unwrap();
    for segment in symbols.segments().iter().filter(|s| s.executable) {
        put(target, tile, at(segment.address), segment.bytes);
    }
}

fn mailbox(name: &str) -> Mailbox {
    ImageMap::firmware().0.named(name).unwrap().mailbox.clone().unwrap()
}

/// Writes a launch message of a kernel into an entry of the launch ring.
fn launch(
    target: &mut dyn Target,
    mailbox: &Mailbox,
    entry: u64,
    id: u16,
    enables: u32,
    core: u64,
) {
    let start = mailbox.launch + entry * mailbox.launch_bytes;
    put(target, TENSIX, start + mailbox.enables, &enables.to_le_bytes());
    put(target, TENSIX, start + mailbox.config_bases.unwrap(), &CONFIG.to_le_bytes());
    let text = start + mailbox.text_offsets.unwrap() + 4 * core;
    put(target, TENSIX, text, &TEXT.to_le_bytes());
    let ids = start + mailbox.kernel_ids + 2 * core;
    put(target, TENSIX, ids & !3, &(u32::from(id) << (8 * (ids & 3))).to_le_bytes());
}

fn session(target: impl Target + 'static, folder: &Folder) -> Session {
    let mut session =
        Session::with_target(Box::new(target), ImageMap::new(layouts::ChipKind::Wormhole));
    session.add_catalog(Catalog::read(&[folder.path().to_owned()]).unwrap());
    session
}

fn inspected(session: &mut Session, tile: NocXy, texts: bool) -> MeshState {
    let tile = Some((ChipId(0), tile));
    session.inspect(&ReadSet { tile, proofs: true, texts, ..ReadSet::default() }).state
}

fn core_of(state: &MeshState, tile: NocXy, core: CoreKind) -> &CoreState {
    state.core(CoreId { chip: ChipId(0), tile, core }).unwrap()
}

fn kernel(core: &CoreState) -> Option<&ImageUse> {
    core.images.iter().find(|image| image.role == ImageRole::Kernel)
}

/// Returns a mesh with a tile that has built-in firmware and a kernel at another address than it is
/// linked at.
fn moved(folder: &Folder) -> BarTarget {
    let mut target = bare();
    folder.firmware("1");
    folder.image("kernels/worker/9/brisc/brisc.elf", "tensix_worker");
    for name in ["brisc", "ncrisc", "trisc0", "trisc1", "trisc2"] {
        load(&mut target, TENSIX, folder::image(&format!("tensix_{name}")), |at| at);
    }
    let at = u64::from(CONFIG + TEXT);
    load(&mut target, TENSIX, folder::image("tensix_worker"), |linked| linked - 0x14400 + at);
    target
}

#[test]
fn a_kernel_that_was_moved_is_found_where_the_launch_message_says() {
    let folder = Folder::new("moved-text");
    let mut target = moved(&folder);
    launch(&mut target, &mailbox("tensix_brisc"), 0, 5, 1, 0);
    let mut session = session(target, &folder);
    let state = inspected(&mut session, TENSIX, true);
    let image = kernel(core_of(&state, TENSIX, CoreKind::Brisc)).unwrap();
    assert_eq!(image.evidence, Provenance::Verified);
    assert_eq!((image.bias, image.load_addr), (CONFIG + TEXT - 0x14400, CONFIG + TEXT));
    assert_eq!(image.comparison.compared_bytes, image.comparison.text_bytes);
    assert_eq!(kernel(core_of(&state, TENSIX, CoreKind::Trisc0)), None, "number 0 is none");
}

/// The first tile of a kind has one build, another tile a second one, and one code of no build.
#[test]
fn firmware_unlike_that_of_the_first_tile_is_found_by_all_texts() {
    let folder = Folder::new("unlike");
    folder.firmware("1");
    // Any other text will do.
    let second = folder::image("tensix_worker");
    folder.put("2/brisc/brisc.elf", second);
    let mut target = bare();
    let [first, unlike, unknown, bare] = [1, 2, 3, 4].map(|x| NocXy { x, y: 1 });
    load(&mut target, first, folder::image("tensix_brisc"), |at| at);
    load(&mut target, unlike, second, |at| at);
    // It jumps to itself, and is not in reset.
    put(&mut target, unknown, 0, &0x6Fu32.to_le_bytes());
    put(&mut target, unknown, 0xFFB1_21B0, &0x4_7000u32.to_le_bytes());
    let mut session = session(target, &folder);
    let read_set = ReadSet { compute: vec![ChipId(0)], proofs: true, ..ReadSet::default() };
    let state = session.inspect(&read_set).state;
    let seen = |tile| {
        let core = core_of(&state, tile, CoreKind::Brisc);
        let names: Vec<&str> = core.images.iter().map(|image| image.name.as_str()).collect();
        (names.join(" "), core.findings.iter().map(ToString::to_string).collect::<String>())
    };
    assert_eq!(seen(first), ("1/brisc".to_owned(), String::new()));
    assert_eq!(seen(unlike), ("2/brisc".to_owned(), String::new()));
    let (names, said) = seen(unknown);
    assert!(names.is_empty() && said.contains("matches the firmware loaded at"), "{names} {said}");
    assert_eq!(seen(bare), (String::new(), String::new()), "nothing is expected there");
}

/// A cache is written while it is read, or was left when its program died.
#[test]
fn a_file_half_written_is_named_and_the_others_are_used() {
    let folder = Folder::new("half");
    let mut target = moved(&folder);
    launch(&mut target, &mailbox("tensix_brisc"), 0, 5, 1, 0);
    let whole = folder::image("tensix_worker");
    let half = folder.put("kernels/worker/8/brisc/brisc.elf", &whole[..whole.len() / 2]);
    let empty = folder.put("kernels/worker/7/brisc/brisc.elf", b"");
    let mut session = session(target, &folder);
    let state = inspected(&mut session, TENSIX, true);
    let image = kernel(core_of(&state, TENSIX, CoreKind::Brisc)).unwrap();
    assert_eq!(image.evidence, Provenance::Verified);
    let named = |path: &std::path::Path, why: &str| {
        let says = format!("{}: {why}", path.display());
        assert!(state.problems.iter().any(|it| it.starts_with(&says)), "{:?}", state.problems);
    };
    named(&half, "truncated: ");
    named(&empty, "not an ELF file: empty");
}

/// Device dispatch moves the pointer with each launch.
#[test]
fn the_current_launch_is_read_wherever_it_stands() {
    let folder = Folder::new("entries");
    let mut target = moved(&folder);
    let mailbox = mailbox("tensix_brisc");
    for entry in [0, 3] {
        launch(&mut target, &mailbox, entry, 5 + entry as u16, 1, 0);
    }
    let mut session = session(target, &folder);
    let read_set = ReadSet { compute: vec![ChipId(0)], proofs: true, ..ReadSet::default() };
    let mut current = |pointer: u32| {
        put(session.target(), TENSIX, mailbox.rd_ptr, &pointer.to_le_bytes());
        let state = session.inspect(&read_set).state;
        let launch = core_of(&state, TENSIX, CoreKind::Brisc).launch.known().cloned().unwrap();
        (launch.rd_ptr, launch.enables, launch.kernel_id)
    };
    assert_eq!([0, 3, 3, 2].map(&mut current), [(0, 1, 5), (3, 1, 8), (3, 1, 8), (2, 0, 0)]);
}

#[test]
fn a_text_that_is_loaded_otherwise_than_linked_is_compared_by_its_copy() {
    let folder = Folder::new("placed");
    let mut target = moved(&folder);
    launch(&mut target, &mailbox("tensix_brisc"), 0, 5, 1, 0);
    let elf = "kernels/worker/9/brisc/brisc.elf";
    // The linked file has another text than the loaded one, and the same names.
    let mut linked = folder::image("tensix_worker").to_vec();
    let (symbols, _) = Symbols::load(linked.clone(), "worker").unwrap();
    let text = symbols.segments().into_iter().find(|s| s.executable).unwrap().bytes.to_vec();
    let at = linked.windows(text.len()).position(|bytes| bytes == text).unwrap();
    linked[at + 3] ^= 0xFF;
    folder.put(elf, &linked);
    let brisc = CoreKind::Brisc;
    let mut session = session(target, &folder);
    let state = inspected(&mut session, TENSIX, true);
    let core = core_of(&state, TENSIX, brisc);
    assert_eq!(kernel(core), None);
    let message = core.findings[0].to_string();
    assert!(message.contains("matches the kernel 5 loaded at 0x30400"), "{message}");
    folder.image(&format!("{elf}.xip.elf"), "tensix_worker");
    session.add_catalog(Catalog::read(&[folder.path().to_owned()]).unwrap());
    let state = inspected(&mut session, TENSIX, true);
    let image = kernel(core_of(&state, TENSIX, brisc)).unwrap();
    assert_eq!(
        (image.evidence, &image.comparison.check),
        (Provenance::Verified, &TextCheck::Equal)
    );
    assert!(image.path.as_ref().unwrap().ends_with(elf));
}

/// No log names it, and no text is equal.
#[test]
fn a_text_that_was_overwritten_is_that_of_the_nearest_kernel() {
    let folder = Folder::new("overwritten");
    let mut target = moved(&folder);
    launch(&mut target, &mailbox("tensix_brisc"), 0, 5, 1, 0);
    let at = u64::from(CONFIG + TEXT) + 0x40;
    put(&mut target, TENSIX, at, &0xDEAD_BEEF_u32.to_le_bytes());
    let state = inspected(&mut session(target, &folder), TENSIX, true);
    let core = core_of(&state, TENSIX, CoreKind::Brisc);
    let found = kernel(core).unwrap();
    assert_eq!((found.name.as_str(), found.evidence), ("worker/brisc", Provenance::Mismatch));
    let said = core.findings[0].to_string();
    assert!(said.contains("its text is not in L1: 0x30440 holds 0xdeadbeef, not "), "{said}");
}

#[test]
fn a_kernel_that_has_ended_is_in_the_entry_before() {
    let folder = Folder::new("ended");
    let (mut target, mailbox) = (moved(&folder), mailbox("tensix_brisc"));
    launch(&mut target, &mailbox, 3, 5, 0, 0);
    put(&mut target, TENSIX, mailbox.rd_ptr, &4u32.to_le_bytes());
    let logs = "- kernel:\n    watcher_kernel_id: 5\n    name: worker\n    path: ";
    let path = folder.path().join("kernels/worker/9");
    folder.put("kernels.yaml", format!("{logs}{}\n", path.display()).as_bytes());
    let mut session = session(target, &folder);
    let state = inspected(&mut session, TENSIX, false);
    let image = kernel(core_of(&state, TENSIX, CoreKind::Brisc)).unwrap();
    assert_eq!((image.name.as_str(), image.evidence), ("worker/brisc", Provenance::Sampled));
    // The next kernel can overwrite its text, which is no fault.
    let addr = u64::from(CONFIG + TEXT);
    put(session.target(), TENSIX, addr, &[7; 64]);
    let state = inspected(&mut session, TENSIX, true);
    let core = core_of(&state, TENSIX, CoreKind::Brisc);
    assert_eq!(kernel(core).unwrap().evidence, Provenance::Mismatch);
    assert_eq!(core.findings, []);
}

/// The log of another process, or of one that has died, can count other kernels.
#[test]
fn a_doubtful_log_counts_where_l1_has_the_text() {
    let (folder, logs) = (Folder::new("doubtful"), Folder::new("doubtful-logs"));
    std::fs::create_dir_all(folder.path()).unwrap();
    let log = "- kernel:\n    watcher_kernel_id: 5\n    name: named\n    path: ";
    let path = logs.path().join("kernels/other/5");
    logs.put("kernels.yaml", format!("{log}{}\n", path.display()).as_bytes());
    let of_brisc = |image: &str, add: fn(&mut Catalog, PathBuf)| {
        logs.image("kernels/other/5/brisc/brisc.elf", image);
        let mut target = moved(&folder);
        std::fs::remove_dir_all(folder.path().join("kernels/worker")).unwrap();
        launch(&mut target, &mailbox("tensix_brisc"), 0, 5, 1, 0);
        let mut session = session(target, &folder);
        let mut catalog = Catalog::read(&[folder.path().to_owned()]).unwrap();
        add(&mut catalog, logs.path().to_owned());
        session.add_catalog(catalog);
        let state = inspected(&mut session, TENSIX, true);
        let core = core_of(&state, TENSIX, CoreKind::Brisc);
        let evidence = kernel(core).map(|image| image.evidence);
        (evidence, core.findings.iter().map(ToString::to_string).collect::<String>())
    };
    let sure = |catalog: &mut Catalog, logs| catalog.add(&[logs]).unwrap();
    let doubtful = |catalog: &mut Catalog, logs| catalog.add_doubtful(logs).unwrap();
    let (evidence, said) = of_brisc("ccl_worker", sure);
    assert_eq!(evidence, Some(Provenance::Mismatch));
    assert!(said.contains("is on record, but its text is not in L1"), "{said}");
    let (evidence, said) = of_brisc("ccl_worker", doubtful);
    assert_eq!(evidence, None);
    assert!(said.contains("matches the kernel 5 loaded at 0x30400"), "{said}");
    for add in [sure, doubtful] {
        assert_eq!(of_brisc("tensix_worker", add), (Some(Provenance::Verified), String::new()));
    }
}

#[test]
fn instruction_ram_is_as_the_log_says_or_what_was_copied_there() {
    let folder = Folder::new("iram");
    let mut target = moved(&folder);
    launch(&mut target, &mailbox("tensix_brisc"), 0, 5, 2, 1);
    // An ELF that is linked to NCRISC's instruction RAM: the built-in NCRISC image with another
    // address.
    let mut elf = folder::image("tensix_ncrisc").to_vec();
    let header = u32::from_le_bytes(elf[28..32].try_into().unwrap()) as usize;
    let first =
        (0..8).map(|n| header + 32 * n).find(|at| elf[*at..at + 4] == [1, 0, 0, 0]).unwrap();
    elf[first + 8..first + 12].copy_from_slice(&0xFFC0_0000u32.to_le_bytes());
    let path = folder.put("kernels/reader/4/ncrisc/ncrisc.elf", &elf);
    let mut unlogged = session(moved_again(&folder), &folder);
    let state = inspected(&mut unlogged, TENSIX, false);
    let core = core_of(&state, TENSIX, CoreKind::Ncrisc);
    assert_eq!(kernel(core), None, "nothing is guessed");
    assert!(core.findings[0].is_unknown());
    let message = core.findings[0].to_string();
    assert!(message.contains("kernel 5") && message.contains("IRAM"), "{message}");

    // With what was copied there at the offset of the launch message, no log is needed.
    let mut copied = moved_again(&folder);
    let linked = 0xFFC0_0000;
    load(&mut copied, TENSIX, &elf, |at| u64::from(CONFIG + TEXT) + at - linked);
    let state = inspected(&mut session(copied, &folder), TENSIX, false);
    let core = core_of(&state, TENSIX, CoreKind::Ncrisc);
    let image = kernel(core).unwrap();
    assert_eq!((image.evidence, image.bias), (Provenance::Sampled, 0));
    assert_eq!((image.comparison.check.clone(), &*core.findings), (TextCheck::Iram, &[][..]));

    let logs = format!("5: {}\n", path.display());
    folder.put("kernel_elf_paths.txt", logs.as_bytes());
    let mut session = session(target, &folder);
    let state = inspected(&mut session, TENSIX, true);
    let core = core_of(&state, TENSIX, CoreKind::Ncrisc);
    let image = kernel(core).unwrap();
    assert_eq!((image.evidence, image.bias), (Provenance::Recorded, 0));
    assert_eq!(image.comparison.check, TextCheck::Iram);
    assert_eq!(core.findings, []);
}

fn moved_again(folder: &Folder) -> BarTarget {
    let mut target = moved(folder);
    launch(&mut target, &mailbox("tensix_brisc"), 0, 5, 2, 1);
    target
}

/// A target that lacks a part of L1, as a recording can.
struct Partial {
    inner: BarTarget,
    from: u64,
}

impl Target for Partial {
    fn name(&self) -> &str {
        self.inner.name()
    }
    fn abilities(&self) -> &Abilities {
        self.inner.abilities()
    }
    fn mesh(&self) -> &Mesh {
        self.inner.mesh()
    }
    fn read(&mut self, plan: &Plan) -> Snapshot {
        let hidden = self.from..self.from + 0x1000;
        let hides = |span: &machine::snapshot::Span| hidden.contains(&span.addr.offset);
        let (gone, there): (Vec<_>, Vec<_>) = plan.spans.iter().partition(|span| hides(span));
        let mut snapshot = self.inner.read(&Plan { spans: there });
        let gap = |span| Gap { span, reason: AccessError::NotRecorded };
        snapshot.gaps.extend(gone.into_iter().map(gap));
        snapshot
    }
    fn write(&mut self, addr: NocAddr, bytes: &[u8]) -> Result<(), AccessError> {
        self.inner.write(addr, bytes)
    }
    fn now(&mut self) -> Result<u64, AccessError> {
        self.inner.now()
    }
    fn pass(&mut self, cycles: u64) -> Result<(), AccessError> {
        self.inner.pass(cycles)
    }
}

#[test]
fn what_is_not_recorded_is_no_mismatch() {
    let folder = Folder::new("unrecorded");
    let mut inner = moved(&folder);
    // A core in reset needs no image.
    let trisc1 = &crate::common::layout().tensix.cores.trisc1;
    let reset = crate::common::layout().tensix.reset_all & !(1 << trisc1.reset_bit);
    let debug = crate::common::layout().block(Space::Tile(TileKind::Tensix), "debug").unwrap();
    put(
        &mut inner,
        TENSIX,
        debug + crate::common::layout().debug.soft_reset_0.at,
        &reset.to_le_bytes(),
    );
    let mut session = session(Partial { inner, from: 0xA000 }, &folder);
    let state = inspected(&mut session, TENSIX, false);
    let core = core_of(&state, TENSIX, CoreKind::Trisc1);
    let findings: Vec<_> = core.findings.iter().map(ToString::to_string).collect();
    let says =
        "0:3-3:trisc1: which image is the firmware loaded at 0xa000 is not known: not recorded";
    assert_eq!(findings, [says]);
    assert!(core.findings[0].is_unknown());
    assert_eq!(core_of(&state, TENSIX, CoreKind::Trisc0).findings, []);
}

/// Returns the folder of the wheel's builds for Wormhole.
fn builds() -> Option<std::path::PathBuf> {
    let root = std::env::var_os("MESHSCOPE_TT_METAL_ELFS")?;
    let root = std::path::PathBuf::from(root);
    let within = ["ttnn/tt_metal/pre-compiled", "tt_metal/pre-compiled", "pre-compiled"];
    within.iter().map(|path| root.join(path)).find(|path| path.is_dir())
}

#[test]
fn of_all_builds_of_a_package_the_right_one_is_found() {
    let Some(root) = builds() else {
        return println!("skipped: MESHSCOPE_TT_METAL_ELFS names no package");
    };
    let mut keys: Vec<_> = std::fs::read_dir(&root).unwrap().map(|e| e.unwrap().path()).collect();
    keys.retain(|build| build.join("erisc/erisc.elf").is_file());
    keys.sort();
    let mut found = 0;
    for build in &keys {
        let mut target = bare();
        for core in ["brisc", "ncrisc", "trisc0", "trisc1", "trisc2"] {
            let elf = std::fs::read(build.join(core).join(format!("{core}.elf"))).unwrap();
            load(&mut target, TENSIX, &elf, |at| at);
        }
        let erisc = std::fs::read(build.join("erisc/erisc.elf")).unwrap();
        load(&mut target, ETH, &erisc, |at| at);
        put(&mut target, ETH, crate::common::layout().eth.l1.launch_flag.at, &1u32.to_le_bytes());
        let mut session =
            Session::with_target(Box::new(target), ImageMap::new(layouts::ChipKind::Wormhole));
        session.add_catalog(Catalog::read(std::slice::from_ref(&root)).unwrap());
        let tile = Some((ChipId(0), TENSIX));
        let read_set =
            ReadSet { links: true, tile, proofs: true, texts: true, ..ReadSet::default() };
        let state = session.inspect(&read_set).state;
        let key = build.file_name().unwrap().to_str().unwrap();
        for (tile, kind) in
            [(TENSIX, CoreKind::Brisc), (TENSIX, CoreKind::Trisc2), (ETH, CoreKind::Erisc)]
        {
            let core = core_of(&state, tile, kind);
            let [image] = &core.images[..] else { panic!("{key} {:?}", core.findings) };
            let name = format!("{key}/{}", kind.name());
            assert_eq!(image.evidence, Provenance::Verified);
            assert!(image.name == name || image.also.contains(&name), "{name}: {image:?}");
            // Builds with equal texts are distinguished by the other firmware on the chip, if it
            // differs.
            found += usize::from(image.name == name);
        }
        // The file's own DWARF locates the mailbox; no image of tt-metal is built in.
        let erisc = core_of(&state, ETH, CoreKind::Erisc);
        assert!(matches!(erisc.launch, Reading::Known(_)), "{:?}", erisc.launch);
        assert_eq!(erisc.activity, Reading::Known(Activity::InReset));
        assert!(state.problems.is_empty(), "{:?}", state.problems);
    }
    println!("{} builds, {found} of {} names are the very build's", keys.len(), 3 * keys.len());
    // All 28 builds of the package, or those that are unpacked.
    assert!(!keys.is_empty());
}
