//! The screen of the verdict: keys in, frames out; and the word about health in the header of a mesh
//! that is well, and of one that comes to a standstill.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::snapshot;
use crate::keys::{golden, model, picture, press};
use console::feed::{MeshSnapshot, Traffic};
use diagnosis::{
    Condition, Confidence, Diagnosis, Evidence, Finding, Place, Progress, Severity, Since, Step,
};
use layouts::{ChipId, CoreId, CoreKind, EthId, NocXy};
use machine::fault::Fault;
use machine::target::Allow;
use probe::session::{Session, Watch};
use std::sync::{Arc, OnceLock};
use transport::ttsim::HostCommand;
use tui::message::Message;
use tui::model::{List, Model, Screen};
use tui::update;

fn end(chip: u16, channel: u8) -> EthId {
    EthId { chip: ChipId(chip), channel }
}

fn core(x: u8, y: u8, core: CoreKind) -> CoreId {
    CoreId { chip: ChipId(0), tile: NocXy { x, y }, core }
}

fn finding(condition: Condition, severity: Severity, place: Place, waiting: usize) -> Finding {
    use decode::state::{Party, WaitReason};
    let step = |waiter, reason, on| Step { waiter, reason, on };
    let worker = core(1, 2, CoreKind::Brisc);
    Finding {
        condition,
        severity,
        place,
        sentence: format!("{place}: it is not as it should be"),
        next: format!("look at it: `meshscope cores {}`", place.argument()),
        evidence: vec![Evidence { at: None, name: "0:e8 train_status".into(), value: "0".into() }],
        chain: vec![
            step(Party::Core(worker), WaitReason::Slot, Party::Router(end(0, 8))),
            step(Party::Router(end(0, 8)), WaitReason::Link, Party::Link(end(0, 8))),
        ],
        waiting,
        confidence: Confidence::Likely,
        party: None,
        waypoint: None,
        since_cycles: None,
        signature: String::new(),
    }
}

/// A verdict after this many snapshots in 60 ms: two causes, and a core that stands.
pub(crate) fn verdict(snapshots: usize) -> Diagnosis {
    let link = Place::Link(end(0, 8), end(1, 0));
    let stuck = Place::Core(core(9, 6, CoreKind::Erisc));
    let judged = [
        (core(9, 6, CoreKind::Erisc), Progress::Still),
        (core(1, 2, CoreKind::Brisc), Progress::Progressing),
    ];
    let since = |since_cycles, finding| Finding { since_cycles: Some(since_cycles), ..finding };
    Diagnosis {
        snapshots,
        cycles: 100_000_000,
        over_cycles: 60_000_000,
        progress: judged.into(),
        findings: vec![
            since(20_000_000, finding(Condition::LinkDown, Severity::Hang, link, 2)),
            since(40_000_000, finding(Condition::CoreStuck, Severity::Hang, stuck, 0)),
        ],
        missing: Vec::new(),
        unidentified: 0,
        waits: diagnosis::WaitGraph::default(),
        stops: Vec::new(),
        moved: std::collections::BTreeMap::new(),
        bystanders: vec![ChipId(1)],
        asking: Vec::new(),
        circular_buffers: Vec::new(),
        semaphores: Vec::new(),
        sockets: Vec::new(),
    }
}

fn shown(size: (u16, u16), verdict: Option<Diagnosis>) -> Model {
    let mut model = model(size);
    let verdict = verdict.map(Arc::new);
    let snapshot = MeshSnapshot { verdict, ..(*snapshot(1)).clone() };
    update(&mut model, Message::Snapshot(Arc::new(snapshot)));
    model
}

#[test]
fn the_screen_shows_the_causes_at_every_size() {
    for size in [(40, 10), (80, 24), (160, 48)] {
        let mut model = shown(size, Some(verdict(4)));
        press(&mut model, "w");
        golden(&format!("why_{}x{}", size.0, size.1), &model);
    }
}

#[test]
fn semaphores_and_buffers_are_those_of_the_verdict_and_what_is_awaited_comes_first() {
    let tile = machine::place::Place { chip: ChipId(0), tile: NocXy { x: 1, y: 2 } };
    let buffer = |number, waiting| diagnosis::CircularBuffer {
        tile,
        number,
        received: 2,
        acknowledged: 0,
        held: 2,
        pages: 8,
        waiting,
    };
    let (core, awaited) = (core(1, 2, CoreKind::Ncrisc), Some(4));
    let wait = diagnosis::BufferWait { core, for_room: false, certain: true, awaited };
    let semaphore = diagnosis::SemaphoreWait { core, certain: false, awaited: Some(1) };
    let (waiting, reset) = (vec![semaphore], None);
    let (addr, value, global) = (0x4f0, 0, false);
    let semaphore = diagnosis::Semaphore { tile, addr, value, global, reset, waiting };
    let mut buffers: Vec<_> = (0..4).map(|number| buffer(number, Vec::new())).collect();
    buffers.push(buffer(16, vec![wait]));
    let found = Diagnosis { circular_buffers: buffers, semaphores: vec![semaphore], ..verdict(4) };
    let mut model = shown((80, 24), Some(found));
    press(&mut model, "0");
    let picture = picture(&model);
    let rows: Vec<_> = picture.lines().filter(|line| line.contains("0:1-2 ")).collect();
    assert!(rows[0].contains("semaphore 0x4f0    0            ncrisc for 1?"), "{picture}");
    assert!(rows[1].contains("buffer 16          2 of 8       ncrisc for 4 pages"), "{picture}");
    assert!(picture.contains("4 rows for which nobody waits"), "{picture}");
    press(&mut model, "<enter>");
    assert_eq!((model.screen, model.core), (Screen::Core, CoreKind::Ncrisc));
}

#[test]
fn a_cause_leads_to_its_root_and_back() {
    let mut model = shown((80, 24), Some(verdict(4)));
    press(&mut model, ":why<enter>");
    assert_eq!(model.screen, Screen::Why);
    press(&mut model, "<enter>");
    assert_eq!((model.screen, model.lists[List::Links].at), (Screen::Mesh, 0), "the list of links");
    press(&mut model, "<esc>");
    assert_eq!(model.screen, Screen::Why);
    press(&mut model, "j");
    assert!(picture(&model).contains("core-stuck: core 0:9-6:erisc"), "{}", picture(&model));
    press(&mut model, "<enter>");
    assert_eq!((model.screen, model.tile), (Screen::Core, NocXy { x: 9, y: 6 }));
    assert!(picture(&model).contains("⊗ still"), "{}", picture(&model));
    press(&mut model, "<esc>");
    assert_eq!(model.screen, Screen::Why);
}

#[test]
fn long_details_scroll() {
    let mut model = shown((80, 10), Some(verdict(4)));
    press(&mut model, "w");
    let before = picture(&model);
    assert!(before.contains("stood for at least 80.000 ms"), "{before}");
    press(&mut model, "<pgdn><pgdn><pgdn><pgdn><pgdn>");
    let after = picture(&model);
    assert!(!after.contains("stood for") && after.contains("healthy: chip 1"), "{after}");
    press(&mut model, "j");
    let next = picture(&model);
    assert!(next.contains("stood for at least 60.000 ms"), "another cause begins above:\n{next}");
}

#[test]
fn the_last_line_of_the_details_is_reached_and_left_at_once() {
    let mut model = shown((80, 10), Some(verdict(4)));
    press(&mut model, "w");
    let first = picture(&model);
    for keys in ["G", "<end>"] {
        press(&mut model, keys);
        let last = picture(&model);
        assert!(!last.contains("stood for") && last.contains("healthy: chip 1"), "{last}");
        press(&mut model, "gg");
        assert_eq!(picture(&model), first);
    }
    press(&mut model, "G");
    let last = picture(&model);
    press(&mut model, "<pgup>");
    assert_ne!(picture(&model), last);
    // `/` filters causes as it does all rows.
    press(&mut model, "gg/cause=core-stuck still>10ms<enter>");
    let found = picture(&model);
    assert!(found.contains("1 cause matches") && !found.contains("link-down ("), "{found}");
}

#[test]
fn a_line_on_every_screen_says_what_stands() {
    for keys in ["", "2", "3", "4", "5", "6", "?"] {
        for size in [(40, 10), (80, 24)] {
            let mut model = shown(size, Some(verdict(4)));
            press(&mut model, keys);
            let picture = picture(&model);
            let line = picture.lines().nth(2).unwrap();
            assert!(line.contains("hang") && line.contains("80.000 ms"), "{picture}");
            assert!(line.contains("link 0:e8-1:e0") && line.contains("(w"), "{picture}");
        }
    }
}

#[test]
fn without_a_verdict_nothing_is_claimed() {
    let mut early = verdict(1);
    early.missing.push("one snapshot proves no hang".to_owned());
    for verdict in [None, Some(early)] {
        let mut model = shown((80, 24), verdict.clone().map(unfounded));
        press(&mut model, "w");
        let frame = picture(&model);
        let header = frame.lines().next().unwrap();
        assert!(header.contains("unknown") && !header.contains("healthy"), "{frame}");
        assert!(frame.contains("unknown: "), "{frame}");
        press(&mut model, "3");
        let core = picture(&model);
        assert!(core.contains("launched") && !core.contains("progressing"), "{core}");
    }
}

/// The verdict without its findings, which nobody makes where something is missing.
fn unfounded(mut verdict: Diagnosis) -> Diagnosis {
    verdict.findings.clear();
    verdict
}

/// Takes a snapshot for the verdict and one for the screen, and shows it.
fn turn(session: &mut Session, watch: &mut Watch, model: &mut Model, number: u64) -> String {
    session.look(watch);
    let verdict = session.judge(watch);
    let inspected = session.inspect(&model.read_set());
    let snapshot = MeshSnapshot {
        target: "emulator:n300".to_owned(),
        read_only: false,
        traffic: Traffic::default(),
        quarantined: Vec::new(),
        state: inspected.state,
        memory: inspected.snapshot,
        taken_micros: number,
        number,
        board: Arc::default(),
        stages: Arc::default(),
        verdict: Some(Arc::new(verdict)),
        seen: Arc::default(),
        seen_micros: Arc::default(),
        past: None,
        timeline: None,
        reading: None,
        waits: OnceLock::new(),
    };
    update(model, Message::Snapshot(Arc::new(snapshot)));
    picture(model)
}

#[test]
fn a_mesh_is_healthy_as_long_as_it_runs_and_hangs_when_a_link_goes_down() {
    let open = Session::open("emulator:n300", &HostCommand::default(), Allow::default());
    let (mut session, mut watch) = (open.unwrap(), Watch::new(50_000_000));
    let mut model = model((80, 24));
    let health = |frame: &str| {
        let words = ["unknown", "healthy", "slow", "fault", "hang"];
        let header = frame.lines().next().unwrap();
        *words.iter().find(|word| header.contains(**word)).unwrap()
    };
    for number in 1..=16 {
        let frame = turn(&mut session, &mut watch, &mut model, number);
        // The sixth snapshot is the first one 50 ms after the first.
        assert_eq!(health(&frame), if number < 6 { "unknown" } else { "healthy" }, "{frame}");
        session.pass(10_000_000).unwrap();
    }
    // The cores of the ring moved between the last two snapshots.
    let healthy = session.judge(&mut watch);
    let end = core(9, 6, CoreKind::Erisc);
    assert_eq!(healthy.moved[&end], Since { cycles: healthy.cycles, seen: true });
    session.target().disrupt(&"link:0.8:down".parse::<Fault>().unwrap()).unwrap();
    let mut seen = Vec::new();
    for number in 17..=28 {
        session.pass(10_000_000).unwrap();
        let frame = turn(&mut session, &mut watch, &mut model, number);
        seen.push((health(&frame), frame));
    }
    let words: Vec<_> = seen.iter().map(|(word, _)| *word).collect();
    assert!(words.is_sorted(), "first a fault, then a hang: {words:?}");
    let (last, frame) = seen.last().unwrap();
    assert_eq!(*last, "hang", "{words:?}");
    let line = frame.lines().nth(2).unwrap();
    assert!(line.contains("hang: link-down at link 0:e8-1:e0 for at least"), "{line}");
    // Nothing new is known where no time passes: what stands has stood as long as before.
    let frozen = session.judge(&mut watch);
    let since = frozen.moved[&end];
    assert!(since.seen && since.cycles >= healthy.cycles, "{since:?}");
    assert!(frozen.cycles - since.cycles >= 50_000_000, "{since:?}");
    let first = &frozen.findings[0];
    assert_eq!(frozen.stood_cycles(first), session.judge(&mut watch).stood_cycles(first));
}

#[test]
fn snapshots_of_one_moment_prove_nothing() {
    let open = Session::open(
        "emulator:n300,fault=link:0.8:down",
        &HostCommand::default(),
        Allow::default(),
    );
    let (mut session, mut watch) = (open.unwrap(), Watch::new(50_000_000));
    session.look(&mut watch);
    let newest = watch.newest().unwrap().clone();
    for _ in 0..20 {
        watch.add(newest.clone());
    }
    let verdict = session.judge(&mut watch);
    assert_eq!(verdict.over_cycles, 0);
    assert!(!verdict.missing.is_empty());
    assert!(verdict.findings.iter().all(|it| it.severity == Severity::Fault));
}

#[test]
fn the_cause_is_beside_the_map_where_there_is_room_and_its_link_is_held() {
    for (size, beside) in [((80, 24), false), ((120, 40), true), ((200, 60), true)] {
        let picture = picture(&shown(size, Some(verdict(4))));
        assert_eq!(picture.contains("why 1 of 2 (w opens it)"), beside, "{picture}");
        assert_eq!(picture.contains("it has stood for at least 80.000 ms"), beside, "{picture}");
        assert!(picture.contains("H held     0:e8"), "{picture}");
        assert!(picture.contains("U up       0:e9"), "{picture}");
    }
}
