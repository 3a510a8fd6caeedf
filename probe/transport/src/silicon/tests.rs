//! Tests of the driver's interface, of windows, and of the loss of a device, with a double of card
//! and driver.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod double;
pub(super) mod root;

use super::bar::SiliconBar;
use super::error::DeviceError;
use super::identity::Identity;
use super::kmd::Driver;
use super::os::KernelDriver;
use access::bar_target::BarTarget;
use double::{Card, Double, NODE_ID};
use layouts::{ChipId, NocAddr, NocXy};
use machine::bar::{Bar, BarOp, DeviceBatch, Sharing};
use machine::snapshot::{AccessError, Plan, Span};
use machine::target::{Abilities, Target};
use machine::window::WindowOrdering;
use std::os::unix::process::ExitStatusExt;
use std::sync::Arc;

const L1: u64 = 0x100;

fn open(card: &Arc<Card>) -> SiliconBar {
    SiliconBar::all(Arc::new(Double(vec![(0, Arc::clone(card))]))).unwrap()
}

fn refused(card: &Arc<Card>) -> DeviceError {
    SiliconBar::all(Arc::new(Double(vec![(0, Arc::clone(card))]))).err().unwrap()
}

fn point(device: u8, window: u16, x: u8, y: u8, order: WindowOrdering) -> BarOp {
    BarOp::Point { device, window, x, y, page: 0, order }
}

fn load(device: u8, offset: u64, len: u32) -> BarOp {
    BarOp::Read { device, bar: 0, offset, len, ones: 0 }
}

fn submit(bar: &mut SiliconBar, batch: &[BarOp]) -> (Vec<u8>, Result<(), AccessError>) {
    let mut answer = Vec::new();
    let result = bar.submit(batch, &mut answer);
    (answer, result)
}

fn assert_error(result: &Result<(), AccessError>, text: &str) {
    let error = result.as_ref().unwrap_err().to_string();
    assert!(error.contains(text), "{error}");
}

/// Returns a card whose tile (1,1) has this word in its L1.
fn card(word: u32) -> Arc<Card> {
    let card = Card::new();
    card.state.lock().unwrap().words.insert((1, 1, L1), word);
    card
}

#[test]
fn the_driver_is_asked_in_this_order_and_lends_a_modest_pool() {
    let card = card(1);
    let mut bar = open(&card);
    let mut expected = vec![0xFA05, 0xFA00, 0xFA02];
    expected.extend([0xFA0B; 22]);
    assert_eq!(card.requests(), expected);
    let windows: Vec<u16> = (0..16).chain(156..158).chain(166..170).collect();
    assert_eq!(bar.windows(0).unwrap(), windows);
}

#[test]
fn bytes_come_from_where_a_window_points() {
    let card = card(0x4433_2211);
    let mut bar = open(&card);
    let batch =
        [point(0, 3, 1, 1, WindowOrdering::Memory), load(0, 0x30_0100, 4), load(0, 0x30_0101, 2)];
    let (answer, result) = submit(&mut bar, &batch);
    assert_eq!((answer, result), (vec![0x11, 0x22, 0x33, 0x44, 0x22, 0x33], Ok(())));
    let bytes = 0xCAFE_F00D_u32.to_le_bytes().to_vec();
    let write = BarOp::Write { device: 0, bar: 0, offset: 0x30_0104, bytes };
    submit(&mut bar, &[write]).1.unwrap();
    assert_eq!(card.in_window(0x30_0104), 0xCAFE_F00D);
}

#[test]
fn a_window_is_pointed_by_the_drivers_request() {
    let card = card(1);
    let mut bar = open(&card);
    let page = 0xFFB0_0000;
    let strict =
        BarOp::Point { device: 0, window: 5, x: 9, y: 6, page, order: WindowOrdering::Strict };
    submit(&mut bar, &[strict, point(0, 156, 2, 3, WindowOrdering::Memory)]).1.unwrap();
    let calls = card.state.lock().unwrap().calls.split_off(25);
    let mut config = vec![0; 48];
    config[0] = 5;
    config[8..12].copy_from_slice(&0xFFB0_0000_u32.to_le_bytes());
    (config[16], config[18], config[26]) = (9, 6, 1);
    assert_eq!(calls[0], (0xFA0D, config));
    assert_eq!((calls[1].1[0], calls[1].1[16], calls[1].1[18], calls[1].1[26]), (156, 2, 3, 0));
}

#[test]
fn a_mesh_is_found_and_read_through_the_driver() {
    let card = card(0x1234_5678);
    let bar = open(&card);
    let mut target =
        BarTarget::open("silicon", Box::new(bar), Abilities::default(), super::PATIENCE).unwrap();
    assert_eq!(target.mesh().chips.len(), 1);
    let addr = NocAddr { chip: ChipId(0), tile: NocXy { x: 1, y: 1 }, offset: L1 };
    let snapshot = target.read(&Plan { spans: vec![Span { addr, len: 4 }] });
    assert_eq!(snapshot.word(addr), Ok(0x1234_5678));
    card.take_away();
    let snapshot = target.read(&Plan { spans: vec![Span { addr, len: 4 }] });
    assert!(matches!(snapshot.gaps[0].reason, AccessError::DeviceGone(_)), "{:?}", snapshot.gaps);
    assert!(matches!(target.now(), Err(AccessError::DeviceGone(_))));
}

/// What a card is known by after so many heartbeats.
fn identity(heartbeat: i64) -> Identity {
    let text = |text: &str| Some(text.to_owned());
    let (pci, serial, asic_id) = (text("0000:41:00.0"), text("01000146118320AE"), None);
    Identity { pci, serial, asic_id, heartbeat }
}

#[test]
fn a_device_is_given_back_between_looks() {
    let card = card(0x1234_5678);
    let bar = Box::new(open(&card));
    let mut target =
        BarTarget::open("silicon", bar, Abilities::default(), super::PATIENCE).unwrap();
    let addr = NocAddr { chip: ChipId(0), tile: NocXy { x: 1, y: 1 }, offset: L1 };
    let plan = Plan { spans: vec![Span { addr, len: 4 }] };
    let look = |target: &mut BarTarget| target.read(&plan).word(addr);
    assert_eq!(target.bus().unwrap().cards(), [(ChipId(0), 0)]);
    let set = |beats| card.state.lock().unwrap().identity = Some(identity(beats));
    let opened = || card.state.lock().unwrap().open;
    assert_eq!(look(&mut target), Ok(0x1234_5678));
    // A card that could not be known again stays open.
    target.bus().unwrap().give_back();
    assert_eq!(opened(), 1);
    set(100);
    target.bus().unwrap().give_back();
    target.bus().unwrap().give_back();
    assert_eq!(opened(), 0);
    assert!(target.now().is_ok() && target.pass(1000).is_ok());
    assert_eq!(opened(), 0, "time passes without the device");
    // Another client has taken windows since.
    card.state.lock().unwrap().taken.extend(0..40);
    set(150);
    assert_eq!(look(&mut target), Ok(0x1234_5678));
    assert_eq!(opened(), 1);
    target.bus().unwrap().give_back();
    // Nobody else has left a window: that may change.
    let taken = std::mem::replace(&mut card.state.lock().unwrap().taken, (0..186).collect());
    let error = look(&mut target).unwrap_err();
    assert!(error.to_string().contains("has no free TLB window"), "{error}");
    card.state.lock().unwrap().taken = taken;
    assert_eq!(look(&mut target), Ok(0x1234_5678));
    target.bus().unwrap().give_back();
    set(149);
    let gone = look(&mut target).unwrap_err();
    assert!(gone.to_string().contains("was reset or exchanged while it was given back"), "{gone}");
    set(200);
    assert_eq!(look(&mut target), Err(gone), "what was known of it does not hold");
    assert!(matches!(target.now(), Err(AccessError::DeviceGone(_))));
}

#[test]
fn several_cards_are_read_in_parallel() {
    let cards = [card(1), card(2)];
    let both = (0..).zip(cards.iter().map(Arc::clone)).collect();
    let mut bar = SiliconBar::all(Arc::new(Double(both))).unwrap();
    let batch = |device| {
        let point = point(device, 3, 1, 1, WindowOrdering::Memory);
        DeviceBatch::new(device, vec![point, load(device, 0x30_0100, 4)])
    };
    let mut batches = [batch(1), batch(0), batch(2)];
    bar.submit_parallel(&mut batches);
    let answers = batches.each_ref().map(|it| it.answer.clone());
    assert_eq!(answers, [vec![2, 0, 0, 0], vec![1, 0, 0, 0], vec![]]);
    assert_error(&batches[2].result, "no device 2");
}

#[test]
fn what_was_read_before_the_end_is_kept() {
    let card = card(0x1234_5678);
    let bar = Box::new(open(&card));
    let mut target =
        BarTarget::open("silicon", bar, Abilities::default(), super::PATIENCE).unwrap();
    let span = |x| {
        let addr = NocAddr { chip: ChipId(0), tile: NocXy { x, y: 1 }, offset: L1 };
        Span { addr, len: 4 }
    };
    // The card is reset before the second window is pointed.
    card.state.lock().unwrap().points_left = 1;
    let snapshot = target.read(&Plan { spans: vec![span(1), span(2)] });
    assert_eq!(snapshot.word(span(1).addr), Ok(0x1234_5678));
    assert!(matches!(snapshot.word(span(2).addr), Err(AccessError::DeviceGone(_))));
    assert_eq!((snapshot.pieces.len(), snapshot.gaps.len()), (1, 1));
}

#[test]
fn fewer_windows_do_and_none_is_an_error() {
    let card = card(7);
    card.state.lock().unwrap().taken.extend((0..166).chain(167..186));
    let mut bar = open(&card);
    assert_eq!(bar.windows(0).unwrap(), [166]);
    let (answer, _) =
        submit(&mut bar, &[point(0, 166, 1, 1, WindowOrdering::Strict), load(0, 0x0B00_0100, 4)]);
    assert_eq!(answer, [7, 0, 0, 0]);
    let error = refused(&card).to_string();
    assert!(error.contains("has no free TLB window"), "{error}");
}

#[test]
fn what_is_too_old_or_no_wormhole_is_refused_by_name() {
    let old = Card::new();
    old.state.lock().unwrap().version = [1, 34, 0];
    old.state.lock().unwrap().api = 1;
    let error = refused(&old).to_string();
    assert!(error.contains("driver 1.34.0 with interface 1 is too old"), "{error}");
    let blackhole = Card::new();
    blackhole.state.lock().unwrap().ids = (0x1E52, 0xB140);
    let error = refused(&blackhole);
    assert!(error.to_string().contains("is a Blackhole"), "{error}");
    assert!(error.is_unusable_input());
    // Next to a Wormhole it is only a remark.
    let cards = Double(vec![(0, blackhole), (4, card(1))]);
    let mut bar = SiliconBar::all(Arc::new(cards)).unwrap();
    assert_eq!(bar.remarks(), ["/dev/tenstorrent/0 is a Blackhole, not a Wormhole"]);
    let config = |device| BarOp::ConfigRead { device, offset: 0 };
    let (answer, _) = submit(&mut bar, &[config(0), config(1)]);
    assert_eq!(answer, [0x52, 0x1E, 0x1E, 0x40, 0xFF, 0xFF, 0xFF, 0xFF]);
}

#[test]
fn a_reset_by_another_client_ends_one_device_and_no_process() {
    let (lost, kept) = (card(1), card(2));
    let cards = Double(vec![(0, Arc::clone(&lost)), (1, Arc::clone(&kept))]);
    let mut bar = SiliconBar::all(Arc::new(cards)).unwrap();
    let read_both = |offset| {
        let read =
            |device| [point(device, 0, 1, 1, WindowOrdering::Strict), load(device, offset, 4)];
        [read(1), read(0)].concat()
    };
    assert_eq!(submit(&mut bar, &read_both(L1)).0, [2, 0, 0, 0, 1, 0, 0, 0]);
    lost.take_away();
    // SIGBUS is handled: bytes read before stay, and time continues for the other device.
    let (answer, result) = submit(&mut bar, &read_both(L1));
    assert_eq!(answer, [2, 0, 0, 0]);
    assert_error(&result, "device gone: /dev/tenstorrent/0 was reset or removed while open");
    let requests = lost.requests().len();
    assert_error(&submit(&mut bar, &read_both(L1)).1, "device gone");
    assert_eq!(lost.requests().len(), requests, "a device that is gone is not touched again");
    submit(&mut bar, &[BarOp::Now]).1.unwrap();
    // The driver reports ENODEV.
    kept.state.lock().unwrap().gone = true;
    assert_error(
        &submit(&mut bar, &[point(1, 0, 1, 1, WindowOrdering::Strict)]).1,
        "/dev/tenstorrent/1 was reset",
    );
    assert_error(&submit(&mut bar, &[BarOp::Now]).1, "device gone");
}

#[test]
fn a_write_meets_a_reset_too() {
    let card = card(1);
    let mut bar = open(&card);
    card.take_away();
    let write = BarOp::Write { device: 0, bar: 0, offset: 0x40, bytes: vec![0; 8] };
    assert_error(&submit(&mut bar, &[write]).1, "was reset or removed");
}

#[test]
fn all_ones_are_a_value_unless_the_arc_reads_ones_too() {
    let card = card(u32::MAX);
    let mut bar = open(&card);
    let batch = [
        point(0, 0, 1, 1, WindowOrdering::Strict),
        BarOp::Read { device: 0, bar: 0, offset: L1, len: 4, ones: 4 },
        load(0, L1, 4),
    ];
    assert_eq!(submit(&mut bar, &batch), (vec![0xFF; 4], Ok(())));
    card.set_bar0(NODE_ID, u32::MAX);
    assert_error(&submit(&mut bar, &batch).1, "answers all ones: it is off the bus");
}

#[test]
fn only_windows_of_ours_and_harmless_words_are_touched() {
    let card = card(1);
    let mut bar = open(&card);
    assert_eq!(submit(&mut bar, &[load(0, NODE_ID, 4)]).0, 0x1060_A280_u32.to_le_bytes());
    let write = |offset, len| BarOp::Write { device: 0, bar: 0, offset, bytes: vec![0; len] };
    for op in [
        // Another client's window, past the end of the allocated windows, the driver's, entries,
        // SPI.
        load(0, 0x0200_0000, 4),
        load(0, 0x00FF_FFFC, 8),
        load(0, 0x1E00_0000, 4),
        load(0, 0x1FC0_0000, 4),
        load(0, 0x1FF7_0000, 4),
        write(NODE_ID, 4),
        write(0x102, 4),
        write(0x100, 2),
        BarOp::Read { device: 0, bar: 2, offset: 0, len: 4, ones: 0 },
        BarOp::ConfigRead { device: 0, offset: 4 },
    ] {
        let result = submit(&mut bar, std::slice::from_ref(&op)).1;
        assert!(matches!(result, Err(AccessError::Refused(_))), "{op:?}: {result:?}");
    }
}

#[test]
fn the_queue_lock_is_taken_given_back_and_waited_for() {
    let card = card(1);
    let mut bar = open(&card);
    assert_eq!(bar.lock_queues(0), Ok(Sharing::Shared));
    assert_eq!(card.state.lock().unwrap().ours_locked, [18]);
    bar.unlock_queues(0).unwrap();
    assert_eq!(card.state.lock().unwrap().ours_locked, [] as [u8; 0]);
    card.state.lock().unwrap().locked.push(18);
    assert_error(&bar.lock_queues(0).map(drop), "are locked by another client");
}

#[test]
fn files_that_are_no_devices_are_not_opened() {
    let folder = std::env::temp_dir().join(format!("no-devices-{}", std::process::id()));
    let driver = Arc::new(KernelDriver { folder: folder.clone() });
    assert!(matches!(driver.devices(), Err(DeviceError::NoDevice { .. })));
    std::fs::create_dir_all(folder.join("1")).unwrap();
    std::fs::create_dir_all(folder.join("by-id")).unwrap();
    std::fs::write(folder.join("0"), "plain").unwrap();
    std::os::unix::fs::symlink("/dev/null", folder.join("3")).unwrap();
    assert_eq!(driver.devices().unwrap(), [0, 1, 3]);
    let shared = Arc::clone(&driver);
    let other = SiliconBar::over(shared, &[3]).err().unwrap();
    assert!(other.to_string().contains("is a device of another driver"), "{other}");
    let error = |number| driver.open(number).err().unwrap();
    assert!(
        error(0).to_string().ends_with("0 is a plain file, not a device of the tenstorrent driver")
    );
    assert!(error(1).to_string().contains("is a folder"));
    assert!(error(0).is_unusable_input());
    assert!(matches!(error(2), DeviceError::NoDevice { .. }));
    std::fs::remove_dir_all(folder).unwrap();
}

/// Not a test by itself: the next test starts this binary again to fault outside of all
/// watched mappings.
#[test]
fn faults_elsewhere_if_requested() {
    if std::env::var_os("MESHSCOPE_TEST_SIGBUS").is_some() {
        let mut bar = open(&card(1));
        let other = card(1);
        let elsewhere = other.unwatched();
        other.take_away();
        // The fault is at this read; the bar keeps the handler installed.
        panic!("read {:?} beside {:?}", elsewhere.first(), bar.windows(0));
    }
}

#[test]
fn a_fault_elsewhere_ends_the_process_as_it_would_have() {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "silicon::tests::faults_elsewhere_if_requested"]);
    let status = command.env("MESHSCOPE_TEST_SIGBUS", "1").output().unwrap().status;
    assert_eq!(status.signal(), Some(libc::SIGBUS), "{status}");
}
