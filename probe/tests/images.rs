//! Finding the ELF of a directory that runs on a core: records name it, its text verifies it, and
//! mismatches are reported.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::{built, idle};
use crate::{common, folder};

use decode::inspect::ReadSet;
use decode::state::{CoreState, ImageUse, MeshState};
use folder::Folder;
use images::{Catalog, ImageMap, ImageRole, Provenance, TextCheck};
use layouts::{ChipId, CoreId, CoreKind, NocAddr, NocXy};
use machine::snapshot::Span;
use probe::session::Session;
use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};
use workloads::scene::{Scene, Workload};

const TENSIX: NocXy = NocXy { x: 1, y: 2 };
const ETH: NocXy = NocXy { x: 9, y: 6 };

fn core(tile: NocXy, core: CoreKind) -> CoreId {
    CoreId { chip: ChipId(0), tile, core }
}

/// Returns a session on a mesh with built-in firmware and kernels, which knows images only from
/// these directories.
fn session(folders: &[&Folder], run: Workload) -> Session {
    let (mut images, _) = ImageMap::firmware();
    let scene = Scene { run: Some(run), ..Scene::new("n300") };
    let target = scene.build(&mut images).unwrap();
    let mut session =
        Session::with_target(Box::new(target), ImageMap::new(layouts::ChipKind::Wormhole));
    let folders: Vec<_> = folders.iter().map(|folder| folder.path().to_owned()).collect();
    session.add_catalog(Catalog::read(&folders).unwrap());
    session
}

/// Inspects the compute tile and the Ethernet tiles.
fn inspected(session: &mut Session, texts: bool) -> MeshState {
    let tile = Some((ChipId(0), TENSIX));
    session.inspect(&ReadSet { tile, links: true, proofs: true, texts, ..ReadSet::default() }).state
}

fn core_of(state: &MeshState, tile: NocXy, kind: CoreKind) -> &CoreState {
    state.core(core(tile, kind)).unwrap()
}

fn only(core: &CoreState, role: ImageRole) -> &ImageUse {
    let mut images = core.images.iter().filter(|image| image.role == role);
    let first = images.next().unwrap_or_else(|| panic!("{:?} {:?}", core.images, core.findings));
    assert_eq!(images.next(), None);
    first
}

fn write(session: &mut Session, tile: NocXy, offset: u64, word: u32) {
    let addr = NocAddr { chip: ChipId(0), tile, offset };
    session.target().write(addr, &word.to_le_bytes()).unwrap();
}

#[test]
fn a_build_is_found_by_its_text() {
    let folder = Folder::new("build");
    folder.firmware("123");
    let mut session = session(&[&folder], Workload::Idle);
    let state = inspected(&mut session, false);
    for kind in [CoreKind::Brisc, CoreKind::Ncrisc, CoreKind::Trisc2] {
        let core = core_of(&state, TENSIX, kind);
        let image = only(core, ImageRole::BaseFirmware);
        assert_eq!(image.name, format!("123/{}", kind.name()));
        assert_eq!(image.evidence, Provenance::Sampled, "not all of it was compared");
        assert!(image.path.as_ref().unwrap().ends_with(&format!("123/{0}/{0}.elf", kind.name())));
        assert!(image.comparison.compared_bytes < image.comparison.text_bytes);
        // The mailbox is that of the file.
        assert!(core.waypoint.known().is_some(), "{kind:?}");
    }
    // No application was launched, so there is none to find.
    let eth = core_of(&state, ETH, CoreKind::Erisc);
    assert!(eth.images.is_empty() && eth.findings.is_empty(), "{:?}", eth.findings);
    let whole = inspected(&mut session, true);
    let image = only(core_of(&whole, TENSIX, CoreKind::Brisc), ImageRole::BaseFirmware).clone();
    assert_eq!(image.comparison.compared_bytes, image.comparison.text_bytes);
    assert_eq!(
        (&image.comparison.check, image.evidence),
        (&TextCheck::Equal, Provenance::Verified)
    );
}

#[test]
fn the_core_to_verify_is_compared_whole() {
    let folder = Folder::new("one");
    folder.firmware("1");
    let mut session = session(&[&folder], Workload::Idle);
    let trisc = |unit| core(TENSIX, unit);
    session.verify_on(trisc(CoreKind::Trisc1));
    let firmware = |session: &mut Session, unit| {
        let loads = session.images().loads(trisc(unit)).into_iter();
        loads.map(|load| load.evidence).collect::<Vec<_>>()
    };
    assert_eq!(firmware(&mut session, CoreKind::Trisc1), [Provenance::Verified]);
    assert_eq!(firmware(&mut session, CoreKind::Trisc2), [Provenance::Sampled]);
    // This word is between the sampled words.
    write(&mut session, TENSIX, 0xA120, 0xDEAD_BEEF);
    session.verify_on(trisc(CoreKind::Trisc1));
    assert_eq!(firmware(&mut session, CoreKind::Trisc1), [Provenance::Mismatch]);
    assert!(session.images().resolved(trisc(CoreKind::Trisc1)).is_empty());
}

/// Makes a cache with the worker and the ring ping in tt-metal's layout.
fn cache(folder: &Folder) {
    folder.firmware("cache/c0ffee/777/firmware/55");
    folder.image("cache/c0ffee/777/kernels/worker/99/brisc/brisc.elf", "tensix_worker");
    folder.image("cache/c0ffee/777/kernels/ring/42/erisc/erisc.elf", "ring_ping");
    // Another kernel of the same name, which does not run.
    folder.image("cache/c0ffee/777/kernels/worker/11/brisc/brisc.elf", "tensix_brisc");
}

fn item(id: u16, name: &str, path: &str) -> String {
    format!(
        "- kernel:\n    watcher_kernel_id: {id}\n    name: {name}\n    path: {path}\n    source: a.cpp\n    \
         program_id: 0\n"
    )
}

#[test]
fn a_log_leads_to_the_kernel_and_its_text_verifies_it() {
    let (folder, logs) = (Folder::new("cache"), Folder::new("logs"));
    cache(&folder);
    let kernels = folder.path().join("cache/c0ffee/777/kernels");
    let path = |tail: &str| kernels.join(tail).display().to_string();
    // The log of a program that is still writing it.
    let text = item(2, "worker", &path("worker/99")) + &item(1, "ring", &path("ring/42/"));
    logs.put("generated/inspector/kernels.yaml", format!("{text}- kern").as_bytes());
    let mut session = session(&[&folder, &logs], Workload::RingPing);
    let state = inspected(&mut session, true);
    let worker = only(core_of(&state, TENSIX, CoreKind::Brisc), ImageRole::Kernel);
    assert_eq!((worker.name.as_str(), worker.evidence), ("worker/brisc", Provenance::Verified));
    assert_eq!((worker.bias, worker.load_addr), (0, 0x14400));
    let erisc = core_of(&state, ETH, CoreKind::Erisc);
    let ring = only(erisc, ImageRole::Kernel);
    assert_eq!((ring.name.as_str(), ring.evidence), ("ring/erisc", Provenance::Verified));
    assert_eq!(only(erisc, ImageRole::Application).name, "777/erisc");
    assert_eq!(ring.comparison.compared_bytes, ring.comparison.text_bytes);
    assert_eq!(erisc.findings, []);
    assert_eq!(erisc.channels.len(), 8, "decoded by the file's own erisc_info_t");
    let problems: Vec<_> =
        state.problems.iter().filter(|p| p.contains("kernels.yaml:13")).collect();
    assert_eq!(problems.len(), 1, "{:?}", state.problems);
}

#[test]
fn without_a_log_the_text_decides() {
    let folder = Folder::new("unlogged");
    cache(&folder);
    let same = folder.image("cache/c0ffee/777/kernels/same/5/erisc/erisc.elf", "ring_ping");
    let later = SystemTime::now() + Duration::from_secs(9);
    std::fs::File::open(same).unwrap().set_modified(later).unwrap();
    let mut session = session(&[&folder], Workload::RingPing);
    let state = inspected(&mut session, false);
    let ring = only(core_of(&state, ETH, CoreKind::Erisc), ImageRole::Kernel);
    // The newest of equal texts.
    assert_eq!((ring.name.as_str(), ring.evidence), ("same/erisc", Provenance::Verified));
    assert_eq!(ring.also, ["ring/erisc"], "two candidates with equal text are both named");
    let worker = only(core_of(&state, TENSIX, CoreKind::Brisc), ImageRole::Kernel);
    assert_eq!(worker.name, "worker/brisc");
    assert!(worker.path.as_ref().unwrap().contains("/99/"));
}

#[test]
fn a_cache_that_was_moved_is_found_by_the_end_of_its_paths_and_stale_paths_are_reported() {
    let (folder, logs) = (Folder::new("moved"), Folder::new("moved-logs"));
    cache(&folder);
    let text = item(2, "worker", "/elsewhere/kernels/worker/99") + &item(1, "ring", "/gone/ring/1");
    let log = logs.put("kernels.yaml", text.as_bytes());
    let mut session = session(&[&folder, &logs], Workload::RingPing);
    let state = inspected(&mut session, false);
    let worker = core_of(&state, TENSIX, CoreKind::Brisc);
    assert_eq!(only(worker, ImageRole::Kernel).name, "worker/brisc");
    assert_eq!(worker.findings, []);
    let erisc = core_of(&state, ETH, CoreKind::Erisc);
    let findings: Vec<_> = erisc.findings.iter().map(ToString::to_string).collect();
    let file = "/gone/ring/1/erisc/erisc.elf";
    let says = format!(
        "0:9-6:erisc: kernel 1 is {file} by {}:7, but there is no such file",
        log.display()
    );
    assert_eq!(findings, [says]);
    // The text still identifies it.
    assert_eq!(only(erisc, ImageRole::Kernel).name, "ring/erisc");
}

#[test]
fn a_log_that_is_wrong_is_a_finding() {
    let (folder, logs) = (Folder::new("wrong"), Folder::new("wrong-logs"));
    cache(&folder);
    let wrong = folder.path().join("cache/c0ffee/777/kernels/worker/11/brisc/brisc.elf");
    logs.put(
        "watcher/kernel_elf_paths.txt",
        format!("0: blank\n2: {}\n", wrong.display()).as_bytes(),
    );
    let mut session = session(&[&folder, &logs], Workload::RingPing);
    let state = inspected(&mut session, false);
    let core = core_of(&state, TENSIX, CoreKind::Brisc);
    let kernels: Vec<_> = core.images.iter().filter(|i| i.role == ImageRole::Kernel).collect();
    let evidence: Vec<_> = kernels.iter().map(|image| image.evidence).collect();
    // A verified image takes precedence over a recorded one.
    assert_eq!(evidence, [Provenance::Verified, Provenance::Mismatch]);
    assert!(kernels[0].path.as_ref().unwrap().contains("/99/"));
    let message = core.findings[0].to_string();
    let begins = "0:1-2:brisc: worker/brisc is on record, but its text is not in L1: 0x";
    assert!(message.starts_with(begins), "{message}");
    assert_eq!(core.findings.len(), 1);
}

#[test]
fn a_kernel_on_record_of_which_one_byte_differs_is_not_verified() {
    let (folder, logs) = (Folder::new("byte"), Folder::new("byte-logs"));
    folder.firmware("cache/c0ffee/777/firmware/55");
    let file = folder.image("cache/c0ffee/777/kernels/ring/42/erisc/erisc.elf", "ring_ping");
    logs.put("watcher/kernel_elf_paths.txt", format!("1: {}\n", file.display()).as_bytes());
    let mut session = session(&[&folder, &logs], Workload::RingPing);
    // This word is between the sampled words.
    write(&mut session, ETH, 0xA940, 0xDEAD_BEEF);
    let state = inspected(&mut session, false);
    let ring = only(core_of(&state, ETH, CoreKind::Erisc), ImageRole::Kernel).clone();
    assert_eq!(ring.evidence, Provenance::Sampled);
    for _ in 0..2 {
        session.verify_on(core(ETH, CoreKind::Erisc));
        let loads = session.images().loads(core(ETH, CoreKind::Erisc));
        let evidence_of =
            |role| loads.iter().find(|load| load.image.role == role).unwrap().evidence;
        assert_eq!(evidence_of(ImageRole::Kernel), Provenance::Mismatch);
        assert_eq!(evidence_of(ImageRole::Application), Provenance::Verified);
    }
}

#[test]
fn one_word_that_differs_is_reported_with_its_place() {
    let folder = Folder::new("word");
    folder.firmware("1");
    let mut session = session(&[&folder], Workload::Idle);
    // This word is between the sampled words, so that only the whole comparison detects it.
    write(&mut session, TENSIX, 0xA120, 0xDEAD_BEEF);
    let sampled = inspected(&mut session, false);
    let trisc1 = core_of(&sampled, TENSIX, CoreKind::Trisc1);
    assert_eq!(only(trisc1, ImageRole::BaseFirmware).evidence, Provenance::Sampled);
    let whole = inspected(&mut session, true);
    let trisc1 = core_of(&whole, TENSIX, CoreKind::Trisc1);
    assert_eq!(only(trisc1, ImageRole::BaseFirmware).evidence, Provenance::Mismatch);
    let message = trisc1.findings[0].to_string();
    assert!(
        message.contains("1/trisc1") && message.contains("0xa120 holds 0xdeadbeef, not 0x"),
        "{message}"
    );
    assert_eq!(trisc1.findings.len(), 1);
    // A snapshot with a smaller read set does not drop it.
    let again = inspected(&mut session, false);
    assert_eq!(core_of(&again, TENSIX, CoreKind::Trisc1).findings.len(), 1);
}

#[test]
fn no_image_is_a_finding_that_names_the_nearest_and_the_version_of_the_package() {
    let installed = Folder::new("none");
    installed.put("ttnn-0.80.1.dist-info/METADATA", b"");
    installed.put("ttnn-\x1b[2J.dist-info/METADATA", b"");
    let folder = Folder(installed.path().join("ttnn/tt_metal/pre-compiled"));
    folder.firmware("1");
    let mut session = session(&[&folder], Workload::Idle);
    write(&mut session, TENSIX, 0xA010, 0xDEAD_BEEF);
    let state = inspected(&mut session, false);
    let trisc1 = core_of(&state, TENSIX, CoreKind::Trisc1);
    assert!(trisc1.images.is_empty());
    let message = trisc1.findings[0].to_string();
    let begins = format!(
        "0:1-2:trisc1: no image in {} (ttnn 0.80.1) matches the firmware loaded at 0xa000; of the nearest, \
         1/trisc1, 0xa010 holds 0xdeadbeef, not 0x",
        folder.path().display()
    );
    assert!(message.starts_with(&begins), "{message}");
    assert_eq!(core_of(&state, TENSIX, CoreKind::Trisc0).findings, []);
}

/// One core of each kind proves the build by all samples of its text, the others by one of them, each by
/// another than its neighbour.
#[test]
fn siblings_prove_a_build_by_one_sample_each() {
    let folder = Folder::new("siblings");
    folder.firmware("1");
    let mut session = session(&[&folder], Workload::Idle);
    let mesh = session.target().mesh().clone();
    let trisc1 = |tile: NocXy| core(tile, CoreKind::Trisc1);
    let tiles: Vec<NocXy> = mesh.compute_tiles(ChipId(0)).map(|place| place.tile).collect();
    // A word of one of the samples differs on all tiles but the first.
    for tile in tiles.iter().skip(1) {
        write(&mut session, *tile, 0xA010, 0xDEAD_BEEF);
    }
    let state = session.inspect(&ReadSet::everything(&mesh)).state;
    let is_unlike = |tile: &&NocXy| !state.core(trisc1(**tile)).unwrap().findings.is_empty();
    let (unlike, like): (Vec<&NocXy>, Vec<&NocXy>) = tiles.iter().partition(is_unlike);
    let compared = |tile: NocXy| {
        let core = state.core(trisc1(tile)).unwrap();
        only(core, ImageRole::BaseFirmware).comparison.compared_bytes
    };
    assert!(compared(tiles[0]) > compared(*like[1]), "all samples, and one");
    assert!(unlike.len() > 5 && like.len() > unlike.len(), "{unlike:?} {like:?}");
    let columns = |tiles: &[&NocXy]| tiles.iter().map(|tile| tile.x).collect::<BTreeSet<u8>>();
    assert_eq!(columns(&unlike).len(), columns(&like).len(), "another one from tile to tile");
}

#[test]
fn a_guess_is_no_finding_where_another_image_is_verified() {
    let (folder, mut wrong) = (Folder::new("guess"), folder::image("erisc_app").to_vec());
    // A byte of the text between the sampled words.
    let (symbols, _) = symbols::Symbols::load(folder::image("erisc_app"), "app").unwrap();
    let text = symbols.segments().into_iter().find(|s| s.executable).unwrap().bytes;
    let text = wrong.windows(16).position(|at| at == &text[0x80..0x90]);
    wrong[text.unwrap()] ^= 1;
    folder.put("erisc_app.elf", &wrong);
    let (mut images, _) = ImageMap::firmware();
    let scene = Scene { run: Some(Workload::RingPing), ..Scene::new("n300") };
    let target = scene.build(&mut images).unwrap();
    let mut session = Session::with_target(Box::new(target), images);
    session.add_catalog(Catalog::read(&[folder.path().to_owned()]).unwrap());
    let state = inspected(&mut session, true);
    let core = core_of(&state, ETH, CoreKind::Erisc);
    let application = only(core, ImageRole::Application);
    assert_eq!((application.evidence, &application.path), (Provenance::Verified, &None));
    assert_eq!(core.findings, []);
}

/// Names of the built-in images that were opened.
fn opened(session: &mut Session) -> Vec<String> {
    session.images().all().filter(|image| image.is_open()).map(|image| image.name.clone()).collect()
}

#[test]
fn a_built_in_image_is_opened_where_it_runs_only() {
    let scene = Scene { run: Some(Workload::RingPing), ..Scene::new("n300") };
    let target = scene.build(&mut ImageMap::firmware().0).unwrap();
    let mut session = Session::with_target(Box::new(target), ImageMap::firmware().0);
    let addr = NocAddr { chip: ChipId(0), tile: ETH, offset: 0x1000 };
    let spans = vec![Span { addr, len: 64 }];
    let memory = session.inspect(&ReadSet { spans, ..ReadSet::default() }).snapshot;
    assert_eq!((memory.bytes(addr, 64).unwrap().len(), opened(&mut session)), (64, Vec::new()));
    session.inspect(&ReadSet { links: true, proofs: true, ..ReadSet::default() });
    assert_eq!(opened(&mut session), ["erisc_base", "erisc_app", "ring_ping"]);
}

/// Inspects everything three times; returns the bus transactions of each snapshot.
fn costs(session: &mut Session) -> [u64; 3] {
    let everything = ReadSet::everything(session.target().mesh());
    [(); 3].map(|()| session.inspect(&everything).state.transactions)
}

#[test]
fn what_was_proved_is_not_read_again() {
    let scene = Scene { run: Some(Workload::RingPing), ..Scene::new("n300") };
    let target = scene.build(&mut ImageMap::firmware().0).unwrap();
    let mut session = Session::with_target(Box::new(target), ImageMap::firmware().0);
    assert_eq!(costs(&mut session), [4559, 2165, 2162]);
}

#[test]
fn a_kernel_that_was_replaced_is_found_in_the_next_snapshot() {
    let (target, _) = built(&idle("n300"));
    let mut session = Session::with_target(Box::new(target), ImageMap::firmware().0);
    let brisc = core(TENSIX, CoreKind::Brisc);
    let load = |session: &mut Session, kernel: &str| {
        let (symbols, _) = symbols::Symbols::load(folder::image(kernel), kernel).unwrap();
        for segment in symbols.segments().iter().filter(|segment| segment.executable) {
            let addr = NocAddr { chip: ChipId(0), tile: TENSIX, offset: segment.address };
            session.target().write(addr, segment.bytes).unwrap();
        }
    };
    let kernels = |session: &mut Session, proofs: bool| {
        let tile = Some((ChipId(0), TENSIX));
        let state = session.inspect(&ReadSet { tile, proofs, ..ReadSet::default() }).state;
        let images = state.core(brisc).unwrap().images.iter();
        let kernels = images.filter(|image| image.role == ImageRole::Kernel);
        kernels.map(|image| (image.name.clone(), image.evidence)).collect::<Vec<_>>()
    };
    let verified = |name: &str| vec![(name.to_owned(), Provenance::Verified)];
    assert_eq!(kernels(&mut session, true), []);
    // A shorter kernel leaves the build id of the longer one in place.
    for kernel in ["tensix_worker", "dispatch", "tensix_worker", "ccl_worker"] {
        load(&mut session, kernel);
        assert_eq!(kernels(&mut session, true), verified(kernel));
    }
    // Without proofs only another launch message says that there may be another kernel.
    assert_eq!(kernels(&mut session, false), verified("ccl_worker"));
    load(&mut session, "fabric_traffic");
    assert_eq!(kernels(&mut session, false), verified("ccl_worker"));
    let mailbox = session.images().mailbox_of(brisc).unwrap().0.clone();
    write(&mut session, TENSIX, mailbox.launch + mailbox.host_assigned_id, 0x77);
    assert_eq!(kernels(&mut session, false), verified("fabric_traffic"));
    // Of a kernel that begins otherwise than its build id says, the build id is read with its text.
    write(&mut session, TENSIX, 0x14400, 0xDEAD_BEEF);
    *session.images() = ImageMap::firmware().0;
    assert_eq!(kernels(&mut session, true), []);
    let core = core_of(&inspected(&mut session, true), TENSIX, CoreKind::Brisc).clone();
    let message = core.findings[0].to_string();
    assert!(message.contains("fabric_traffic") && message.contains("0x14400 holds"), "{message}");
}

#[test]
fn a_machine_without_our_firmware_opens_no_built_in_image() {
    let Some(target) = common::open("wh_x2") else { return };
    let mut session = Session::with_target(Box::new(target), ImageMap::firmware().0);
    assert_eq!(costs(&mut session), [2754, 1753, 1900]);
    assert_eq!(opened(&mut session), Vec::<String>::new());
}
