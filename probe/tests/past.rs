//! The past of an emulated mesh, through the target: who wrote, and reading as at a moment.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use decode::state::RING_PING;
use layouts::{ChipId, CoreId, CoreKind, NocAddr, NocXy};
use machine::past::{Keeps, PastError, PastWriter, RecordedRun, WriteSearch};
use machine::progress::Listener;
use machine::snapshot::{AccessError, Plan, Snapshot, Span};
use machine::target::{Past, Target};
use probe::session::{OpenError, OpenOptions, Rerun, Session, StageMove, Watch};
use transport::ttsim::HostCommand;

/// A count of base firmware on an Ethernet tile: its heartbeat.
const HEARTBEAT: u64 = 0x1C;

fn span(chip: u16, tile: NocXy, offset: u64) -> Span {
    Span { addr: NocAddr { chip: ChipId(chip), tile, offset }, len: 4 }
}

fn word(snapshot: &Snapshot, span: Span) -> u32 {
    u32::from_le_bytes(snapshot.bytes(span.addr, 4).unwrap().try_into().unwrap())
}

fn read(target: &mut dyn Target, span: Span) -> u32 {
    word(&target.read(&Plan { spans: vec![span] }), span)
}

fn at(past: &dyn Past, cycles: u64) -> Box<dyn Target> {
    past.at(cycles, &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns an emulated mesh that keeps its past.
fn opened() -> Session {
    keeping(Keeps::Past)
}

fn keeping(keeps: Keeps) -> Session {
    let (host, quiet) = (HostCommand::default(), Listener::default());
    let options = OpenOptions { keeps, ..OpenOptions::default() };
    Session::open_with("emulator:n300", &host, &options, &quiet).unwrap()
}

/// Whether a core sleeps, and since when, depends on who has read its tile. Recorded at any cycle,
/// the run ends alike when it is executed again.
#[test]
fn a_run_without_checkpoints_is_executed_again() {
    let mut session = keeping(Keeps::Run);
    let beat = span(1, NocXy { x: 9, y: 0 }, HEARTBEAT);
    for cycles in [1, 4_111, 1_336_605] {
        session.target().pass(cycles).unwrap();
        read(session.target(), beat);
        let run = session.target().run().unwrap().recorded().unwrap().unwrap();
        let past = Rerun::new(run.clone(), None).past(&mut |_| true).unwrap();
        assert_eq!(past.cycles(), (0, run.end_cycles));
        // A copy has itself a past: one goes on from there.
        let mut copy = at(past.as_ref(), run.end_cycles / 2);
        let before = copy.past().unwrap();
        assert_eq!(before.cycles(), (0, run.end_cycles / 2));
        assert_eq!(at(before.as_ref(), 1).now().unwrap(), 1);
        let other = RecordedRun { checksum: run.checksum ^ 1, ..run.clone() };
        let refused = Rerun::new(other, None).past(&mut |_| true).err();
        assert_eq!(refused.unwrap().to_string(), PastError::Differs.to_string());
    }
}

/// Words of a recording open nothing but an emulated mesh of built-in parts, for a short time. A
/// person may name another mesh.
#[test]
fn the_words_of_a_recording_open_no_file() {
    let descriptor = std::env::temp_dir().join(format!("rerun-{}.yaml", std::process::id()));
    std::fs::write(&descriptor, "chips: 7\n").unwrap();
    let descriptor = format!("emulator:{}", descriptor.display());
    let rerun = |target: &str, end_cycles: u64, on: Option<&str>| {
        let target = target.to_owned();
        let run = RecordedRun {
            target,
            end_cycles,
            checksum: 0,
            journal: Vec::new(),
            host_answers: Vec::new(),
        };
        let past = Rerun::new(run, on.map(str::to_owned)).past(&mut |_| true);
        past.err().map_or_else(String::new, |error| error.to_string())
    };
    let no_run = OpenError::NoRun.to_string();
    for (target, end, says) in [
        ("socket:/tmp/mesh", 1, no_run.as_str()),
        ("ttsim:./x.so", 1, &no_run),
        ("silicon", 1, &no_run),
        ("/dev/tenstorrent/0", 1, &no_run),
        ("other.mcap,rerun=1ms", 1, &no_run),
        ("emulator:n300,study=mux:1", 1, &no_run),
        (&descriptor, 1, "which needs files of this host: --rerun-on names the mesh"),
        ("emulator:n300,firmware=/etc", 1, "which needs files of this host"),
        ("emulator:n300,run=tt-fabric,kernels=/etc", 1, "which needs files of this host"),
        ("emulator:n300", 1_000_000_000_000, "which runs for more than 10 s of its own time"),
        ("emulator:n300,at=99s", 1, "which runs for more than 10 s of its own time"),
        ("emulator:tgg", 1, "which has more than 36 chips"),
    ] {
        let refused = rerun(target, end, None);
        assert!(refused.contains(says), "{target}: {refused}");
    }
    let asked = rerun("silicon", 1, Some(&descriptor));
    assert!(asked.starts_with(&descriptor) && !asked.contains("--rerun-on"), "{asked}");
    assert_eq!(rerun("emulator:n300", 1, Some("silicon")), no_run);
    std::fs::remove_file(descriptor.trim_start_matches("emulator:")).unwrap();
}

#[test]
fn the_past_is_read_like_the_present_and_left_alone() {
    let mut session = opened();
    // A near chip through windows, a far one through queues.
    let beats =
        [span(0, NocXy { x: 9, y: 6 }, HEARTBEAT), span(1, NocXy { x: 9, y: 0 }, HEARTBEAT)];
    let target = session.target();
    target.pass(3_000_000).unwrap();
    let before = target.now().unwrap();
    let counts = beats.map(|beat| read(target, beat));
    target.pass(5_000_000).unwrap();
    let past = target.past().unwrap();
    assert!(past.cycles().0 == 0 && past.cycles().1 >= before + 5_000_000);
    for _ in 0..2 {
        let mut then = at(past.as_ref(), before);
        assert_eq!(then.now().unwrap(), before);
        // The far read comes a little later than the live one did: a new client of the queue first
        // reads where the queue stands.
        let [near, far] = beats.map(|beat| read(then.as_mut(), beat));
        assert_eq!(near, counts[0]);
        assert!(far - counts[1] <= 2, "{far} after {}", counts[1]);
        assert!(matches!(then.write(beats[0].addr, &[0; 4]), Err(AccessError::Refused(_))));
    }
    let search = |before_cycles| WriteSearch { before_cycles, unchanged: false };
    let last = past.last_write(beats[1], search(before), &mut |_| true).unwrap().unwrap();
    assert!(matches!(last.by, PastWriter::Core(CoreKind::Erisc, _)), "{last:?}");
    assert!(last.at_cycles < before && before - last.at_cycles < 1_000_000, "{last:?}");
    // The image of the application is the host's work.
    let code = span(0, NocXy { x: 9, y: 6 }, 0x9040);
    let code = past.last_write(code, search(past.cycles().1 + 1), &mut |_| true).unwrap().unwrap();
    assert_eq!(code.by, PastWriter::Host(0));
    let cancelled = past.last_write(beats[0], search(before), &mut |_| false);
    assert_eq!(cancelled, Err(PastError::Cancelled));
    let nowhere = span(0, NocXy { x: 0, y: 10 }, 0);
    let nowhere = past.last_write(nowhere, search(before), &mut |_| true);
    assert_eq!(nowhere, Err(PastError::NoMemory));
}

/// Reading a near and a far tile lasts that long.
const READ_CYCLES: u64 = 300_000;

/// Steps back from stage to stage: each change leads to the stage that the next one leaves, and a copy
/// of the mesh in between shows it.
#[test]
fn stages_are_walked_back_to_the_cycle() {
    let mut session = opened();
    session.target().pass(20_000_000).unwrap();
    let place = |tile: (u8, u8), chip| CoreId {
        chip: ChipId(chip),
        tile: NocXy { x: tile.0, y: tile.1 },
        core: CoreKind::Erisc,
    };
    let cores = [place((9, 6), 0), place((9, 0), 1)];
    let past = session.target().past().unwrap();
    let (mut before, mut later) = (past.cycles().1, Vec::new());
    let mut shown = 0;
    for _ in 0..6 {
        let images = session.images().clone();
        let found = Session::stage_before(past.as_ref(), images, &cores, before, &mut |_| true);
        let found = found.unwrap().unwrap();
        assert!(found.at_cycles < before);
        for it in &found.moves {
            let next = later.iter().rev().find(|next: &&StageMove| next.party == it.party);
            assert!(next.is_none_or(|next| next.from == it.to), "{it:?} before {next:?}");
            let regular = it.from.zip(it.to).is_none_or(|(from, to)| from.leads_to(RING_PING, to));
            assert!(regular, "{it:?}");
        }
        if before - found.at_cycles > READ_CYCLES {
            let mut watch = Watch::new(0);
            let copy = at(past.as_ref(), found.at_cycles);
            Session::with_target(copy, session.images().clone()).look_at(&mut watch, &cores);
            let state = &watch.newest().unwrap().state;
            let stages = state.party_stages(session.target().mesh());
            for it in &found.moves {
                let now = stages.iter().find(|stage| stage.party == it.party);
                assert_eq!(now.map(|now| now.stage), it.to);
                shown += 1;
            }
        }
        later.extend(found.moves);
        before = found.at_cycles;
    }
    assert!(shown > 0);
}
