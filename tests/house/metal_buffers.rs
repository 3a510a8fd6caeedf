//! `why` on plain kernels of tt-metal: a producer and a consumer of a circular buffer, built out of
//! the wheel's sources, on tt-metal's own firmware.
//!
//! Runs where `tt_fabric` runs.

use crate::tt_fabric::request;
use diagnosis::{Condition, Diagnosis, Place};
use images::{Image, ImageMap, ImageRole};
use launch::{KernelLaunch, NcriscKernel, go_kernel, place_kernels};
use layouts::{ChipId, ChipKind, CoreId, CoreKind, NocXy};
use machine::fabric::FabricTopology;
use machine::place;
use machine::target::Allow;
use probe::session::Session;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use symbols::Symbols;
use tests::tt_fabric::Route;
use transport::ttsim::HostCommand;

const AT: place::Place = place::Place { chip: ChipId(0), tile: NocXy { x: 1, y: 2 } };
const FIRMWARE: &str = "ttnn/tt_metal/pre-compiled/1003041148146844629";
/// Time over which a run is watched, in device cycles.
const WATCHED_CYCLES: u64 = 1_500_000;
const CONFIG_BASE: u64 = 0x8960;
/// Where BRISC's text is linked, and NCRISC's lies before it is copied.
const TEXT: u64 = 0x3_0000;
const NCRISC_TEXT: u64 = 0x3_8000;
/// The circular buffer of the kernels: its number, the offset of the configurations, its pages.
const BUFFER: u64 = 3;
const BUFFERS_OFFSET: u64 = 0x200;
const PAGES: u32 = 4;
const RETURNS: u32 = u32::MAX;
const FOREVER: u32 = u32::MAX;

/// What the kernels of a run do.
#[derive(Clone, Copy)]
struct Run {
    /// Pages that NCRISC pushes, and the semaphore that it waits for then.
    pushes: (u32, u32),
    /// Pages that BRISC pops, and the semaphore that it waits for then.
    pops: (u32, u32),
    /// Pages that BRISC pops at once.
    at_once: u32,
    /// Whether NCRISC is launched at all.
    is_fed: bool,
}

impl Run {
    fn of(pushes: (u32, u32), pops: (u32, u32)) -> Self {
        Self { pushes, pops, at_once: 1, is_fed: true }
    }
}

/// Compiles the kernels with waypoints; returns their ELFs, or why there are none.
fn kernels() -> Option<(PathBuf, [PathBuf; 2])> {
    let request = request("n300", FabricTopology::Line, Route::Direct)?;
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("tt-fabric");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tt-pages");
    let firmware = request.wheel.join(FIRMWARE);
    let elfs = ["brisc", "ncrisc"].map(|target| {
        let work = folder.join(target);
        fs::create_dir_all(&work).unwrap();
        let rest = ["NOC_SANITIZE", "ASSERT", "STACK_USAGE", "RING_BUFFER", "PAUSE", "DISPATCH"];
        let rest = rest.map(|part| format!("#define WATCHER_DISABLE_{part}\n")).concat();
        fs::write(work.join("arguments.h"), format!("#define WATCHER_ENABLED\n{rest}")).unwrap();
        fs::write(work.join("text"), format!("{TEXT:#x}")).unwrap();
        let elf = work.join(format!("{target}.elf"));
        let source = home.join("pages.cpp");
        let mut command = Command::new(home.join("compile.sh"));
        let ttnn = request.wheel.join("ttnn");
        command.args([&ttnn, &firmware, Path::new(target), &source, &work, &elf]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        elf
    });
    Some((firmware, elfs))
}

fn image(name: &str, core: CoreKind, elf: &Path, kernel_id: u16) -> Image {
    let (symbols, _) = Symbols::load(fs::read(elf).unwrap(), name).unwrap();
    let mut image = Image::new(ChipKind::Wormhole, name, ImageRole::Kernel, core, symbols);
    image.kernel_id = kernel_id;
    image
}

/// Launches the kernels on tt-metal's firmware, and judges them.
fn judged(run: Run, (firmware, elfs): &(PathBuf, [PathBuf; 2])) -> Diagnosis {
    let words = format!("emulator:n300,firmware={}", firmware.display());
    let mut session = Session::open(&words, &HostCommand::default(), Allow::ALL).unwrap();
    let (target, images): (_, &mut ImageMap) = session.parts();
    images.add(image("pops", CoreKind::Brisc, &elfs[0], 1));
    images.add(image("pushes", CoreKind::Ncrisc, &elfs[1], 2));
    let core = CoreId { chip: AT.chip, tile: AT.tile, core: CoreKind::Brisc };
    let (mailbox, brisc) = images.mailbox_of(core).unwrap();
    let (launch, bases) = (mailbox.launch, mailbox.circular_buffers.unwrap());
    let brisc = brisc.name.clone();
    let words =
        |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
    let message = KernelLaunch {
        place: AT,
        kernel: "pops",
        firmware: &brisc,
        core_type: "TENSIX",
        config_base: CONFIG_BASE,
        text_offset: TEXT - CONFIG_BASE,
        arguments: words(&[run.pushes.0, run.pushes.1, run.pops.0, run.pops.1, run.at_once]),
        semaphores: vec![0; 2],
        in_place: false,
        host_assigned_id: 5,
    };
    let ncrisc = NcriscKernel { kernel: "pushes", text_offset: NCRISC_TEXT - CONFIG_BASE };
    let ncrisc = run.is_fed.then_some(ncrisc);
    let mut operation = place_kernels(images, &message, ncrisc).unwrap();
    let config = CONFIG_BASE + BUFFERS_OFFSET + 16 * BUFFER;
    operation.write(AT.at(config), words(&[0x5_0000, PAGES * 64, PAGES, 64]));
    let go = go_kernel(images, &brisc, AT).unwrap();
    operation.finish(target).unwrap();
    // The launch message says where the circular buffers are described, and which there are.
    let (offset, mask) = (AT.at(launch + bases.0), AT.at(launch + bases.1));
    let word = target.read(&machine::snapshot::Plan {
        spans: vec![machine::snapshot::Span { addr: offset, len: 4 }],
    });
    let word = word.word(offset).unwrap() & !0xFFFF | BUFFERS_OFFSET as u32;
    target.write(offset, &words(&[word])).unwrap();
    target.write(mask, &words(&[1 << BUFFER, 0])).unwrap();
    go.finish(target).unwrap();
    target.pass(500_000).unwrap();
    session.diagnose(WATCHED_CYCLES).unwrap().diagnosis
}

#[test]
fn who_keeps_a_circular_buffer_waiting_is_named() {
    let Some(kernels) = kernels() else { return };
    let [brisc, ncrisc] = [CoreKind::Brisc, CoreKind::Ncrisc]
        .map(|core| Place::Core(CoreId { chip: AT.chip, tile: AT.tile, core }));
    // The producer waits for a semaphore; the consumer does; the producer has returned.
    for (run, root) in [
        (Run::of((10, 0), (20, RETURNS)), ncrisc),
        (Run::of((20, RETURNS), (5, 1)), brisc),
        (Run::of((10, RETURNS), (20, RETURNS)), ncrisc),
    ] {
        let diagnosis = judged(run, &kernels);
        let first = diagnosis.findings.first().unwrap();
        println!("{}: {} {:?} {:?}", first.place, first.sentence, first.chain, first.evidence);
        assert_eq!((first.condition, first.place), (Condition::IncrementNeverSent, root));
        assert_eq!(first.waiting, 1);
        let held = |it: &diagnosis::Evidence| it.name.ends_with("circular buffer 3");
        assert!(first.evidence.iter().any(held), "{:?}", first.evidence);
    }
    let moves = Run::of((FOREVER, RETURNS), (FOREVER, RETURNS));
    assert_eq!(judged(moves, &kernels).findings, []);
    // It has returned in time.
    let done = Run::of((50, RETURNS), (50, RETURNS));
    assert_eq!(judged(done, &kernels).findings, []);
    // Nobody waits for the one that waits for a semaphore, and nobody is left to increment it.
    let unawaited = judged(Run::of((50, 0), (50, RETURNS)), &kernels);
    let [it] = unawaited.findings.as_slice() else { panic!("{:?}", unawaited.findings) };
    assert_eq!((it.condition, it.place), (Condition::IncrementNeverSent, ncrisc));
    assert!(it.waiting == 0 && it.sentence.contains("no other kernel moves"), "{}", it.sentence);
    // Its instructions, and where the launch message has arguments and semaphores, say which one.
    assert!(it.sentence.contains("it waits for semaphore 0: until"), "{}", it.sentence);
    // No buffer has as many pages as the consumer wants at once.
    let greedy = Run { at_once: PAGES + 1, ..Run::of((FOREVER, RETURNS), (FOREVER, RETURNS)) };
    let cannot = judged(greedy, &kernels);
    let [it] = cannot.findings.as_slice() else { panic!("{:?}", cannot.findings) };
    assert_eq!((it.condition, it.place), (Condition::CannotWork, brisc));
    let words = "it waits for 5 pages of circular buffer 3, which has only 4";
    assert!(it.sentence.contains(words), "{}", it.sentence);
    // Nobody is there to push.
    let alone = Run { is_fed: false, ..Run::of((0, RETURNS), (20, RETURNS)) };
    let diagnosis = judged(alone, &kernels);
    let first = diagnosis.findings.first().unwrap();
    println!("{}: {} {:?}", first.place, first.sentence, first.evidence);
    assert_eq!((first.condition, first.place), (Condition::IncrementNeverSent, brisc));
    assert!(first.sentence.ends_with("no other processor of its tile was launched"));
}
