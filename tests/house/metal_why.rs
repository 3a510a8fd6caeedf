//! `why` on tt-metal's own routers, muxes and workers: the cause that is named first, and its place.
//!
//! Runs where `tt_fabric` runs: the kernels are built out of the wheel's sources.

use crate::tt_fabric::{build, request};
use decode::state::Party;
use diagnosis::{Diagnosis, Health, Place, Progress};
use images::{Catalog, ImageMap};
use layouts::{CoreKind, EthId};
use machine::fabric::FabricTopology;
use machine::target::{Mesh, Target};
use probe::session::Session;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use tests::study::why::{MetalKind, Staged, Truth};
use tests::tt_fabric::{Request, Route, Settings};

/// Time over which a run is watched, in device cycles.
const WATCHED_CYCLES: u64 = 1_000_000;

/// A run, and what a person finds who attaches to it.
struct Judged {
    words: String,
    mesh: Mesh,
    truth: Option<Truth>,
    diagnosis: Diagnosis,
}

/// Judges a run with the images of its folder.
fn judged(kind: MetalKind, seed: u64, folder: &Path) -> Judged {
    judged_by(kind, seed, folder, &[vec![folder.to_path_buf()]]).remove(0)
}

/// Judges the same run by the images of some folders, and again by those of others.
fn judged_by(kind: MetalKind, seed: u64, folder: &Path, all: &[Vec<PathBuf>]) -> Vec<Judged> {
    let Staged { target, about, truth, .. } = kind.stage(seed, folder).unwrap();
    let mesh = target.mesh().clone();
    let mut target: Option<Box<dyn Target>> = Some(Box::new(target));
    let mut judge = |folders: &Vec<PathBuf>| {
        let (images, _) = ImageMap::firmware();
        let mut session = Session::with_target(target.take().unwrap(), images);
        session.add_catalog(Catalog::read(folders).unwrap());
        let diagnosis = session.diagnose(WATCHED_CYCLES).unwrap().diagnosis;
        target = Some(session.into_target());
        let words = words(kind, seed, &about, truth.as_ref(), &diagnosis);
        println!("{words}");
        Judged { words, mesh: mesh.clone(), truth: truth.clone(), diagnosis }
    };
    all.iter().map(&mut judge).collect()
}

fn words(
    kind: MetalKind,
    seed: u64,
    about: &str,
    truth: Option<&Truth>,
    diagnosis: &Diagnosis,
) -> String {
    let mut text = format!("{} {seed}: {about}", kind.name());
    if let Some(truth) = truth {
        let root: Vec<String> = truth.root.iter().map(ToString::to_string).collect();
        let _ = write!(text, "\n  truth: {} at {}", truth.condition.name(), root.join(" or "));
    }
    for finding in &diagnosis.findings {
        let name = finding.condition.name();
        let _ = write!(text, "\n  {name} at {}: {}", finding.place, finding.sentence);
        for step in &finding.chain {
            let _ = write!(text, "\n    {} waits for {}: {}", step.waiter, step.reason, step.on);
        }
    }
    for missing in &diagnosis.missing {
        let _ = write!(text, "\n  missing: {missing}");
    }
    text
}

impl Judged {
    /// The cause that is named first is the true one, at its place; of a healthy run there is none.
    fn is_right(&self) {
        let first = self.diagnosis.findings.first();
        let named = first.map(|first| first.condition);
        assert_eq!(named, self.truth.as_ref().map(|truth| truth.condition), "{}", self.words);
        if let (Some(first), Some(truth)) = (first, &self.truth) {
            assert!(truth.root.contains(&first.place), "{}", self.words);
        }
    }

    /// The chain of the first cause names both ends of the link at the true place.
    fn names_both_ends(&self) {
        let mut root = self.truth.iter().flat_map(|truth| &truth.root);
        let at = root.find_map(|place| match place {
            Place::Router(at) => Some(*at),
            _ => None,
        });
        let at = at.unwrap();
        let link = self.mesh.links.iter().find(|link| link.a == at || link.b == at).unwrap();
        let first = self.diagnosis.findings.first().unwrap();
        let parties = || first.chain.iter().flat_map(|step| [step.waiter, step.on]);
        for end in [link.a, link.b] {
            assert!(parties().any(|party| is_at(party, end)), "{end}: {}", self.words);
        }
    }
}

fn is_at(party: Party, end: EthId) -> bool {
    let at = match party {
        Party::Router(at) | Party::Sender(at, _) | Party::Receiver(at, _) => Some(at),
        _ => None,
    };
    at == Some(end)
}

/// Returns the kernels of a line of two chips. Every link yields to base firmware, so that the far
/// chip is read while one of them stands.
pub(crate) fn kernels(route: Route) -> Option<Request> {
    let request = request("n300", FabricTopology::Line, route)?;
    let mut folder = request.folder.into_os_string();
    folder.push("-yields");
    let settings = Settings { every_link_yields: true, ..request.settings };
    let request = Request { folder: folder.into(), settings, ..request };
    build(&request);
    Some(request)
}

/// Judges one run of each kind. A router that stands leaves its peer without free slots: the cause is
/// the router, and the chain from the worker to it names both ends of the link.
fn are_right(route: Route) {
    let Some(request) = kernels(route) else { return };
    let seen = judged(MetalKind::RouterStuck, 3, &request.folder);
    seen.is_right();
    seen.names_both_ends();
    judged(MetalKind::LinkDown, 2, &request.folder).is_right();
    judged(MetalKind::RouterPaused, 1, &request.folder).is_right();
    judged(MetalKind::WorkerHalted, 1, &request.folder).is_right();
    judged(MetalKind::Traffic, 3, &request.folder).is_right();
    // Each snapshot of this one shows a worker at a full channel.
    judged(MetalKind::Traffic, 4, &request.folder).is_right();
}

#[test]
fn a_paused_router_is_named_and_traffic_is_healthy() {
    let Some(request) = kernels(Route::Direct) else { return };
    let mut bare = request.folder.clone().into_os_string();
    bare.push("-bare");
    let bare = PathBuf::from(bare);
    without_debug_information(&request.folder, &bare);
    let all = [vec![request.folder.clone()], vec![bare, request.folder.join("firmware")]];
    let paused = judged_by(MetalKind::RouterPaused, 1, &request.folder, &all);
    let traffic = judged_by(MetalKind::Traffic, 3, &request.folder, &all);
    paused[0].is_right();
    traffic[0].is_right();
    are_seen_without_debug_information(&paused[1], &traffic[1]);
}

/// Copies the kernels of a folder without debug information, as tt-metal builds them when nobody asks
/// for it.
fn without_debug_information(folder: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    for elf in files(&folder.join("kernels")) {
        let copy = to.join(elf.strip_prefix(folder).unwrap());
        std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
        let mut strip = Command::new("riscv64-unknown-elf-strip");
        let strip = strip.arg("--strip-debug").arg("-o").arg(&copy).arg(&elf);
        assert!(strip.status().unwrap().success(), "{}", elf.display());
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    all.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Routers whose ELFs have no debug information show what stands at fixed addresses: that they are
/// paused, and that their loops turn.
fn are_seen_without_debug_information(paused: &Judged, traffic: &Judged) {
    let of_routers = |judged: &Judged, is: Progress| {
        let routers = judged.diagnosis.progress.iter();
        let routers = routers.filter(|(core, _)| core.core == CoreKind::Erisc);
        routers.filter(|(_, progress)| **progress == is).count()
    };
    assert_eq!(of_routers(paused, Progress::Paused), 1, "{}", paused.words);
    assert_eq!(Health::of(&paused.diagnosis), Health::Paused, "{}", paused.words);
    assert_eq!(traffic.diagnosis.findings, [], "{}", traffic.words);
    assert_eq!(of_routers(traffic, Progress::Unknown), 0, "{}", traffic.words);
    assert_eq!(of_routers(traffic, Progress::Progressing), 4, "{}", traffic.words);
}

#[test]
#[ignore = "long: .ci/deep routers"]
fn causes_on_tt_metals_routers_are_named_with_their_places() {
    are_right(Route::Direct);
}

#[test]
#[ignore = "long: .ci/deep routers"]
fn causes_behind_tt_metals_mux_are_named_with_their_places() {
    are_right(Route::MuxV2);
}
