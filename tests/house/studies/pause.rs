//! Collectives that are paused, counted, and resumed; `.ci/deep pauses` has more seeds.

use crate::children::simulator;
use machine::target::Allow;
use probe::session::Session;
use tests::study::pause::{PauseRound, PauseStudy, rounds, study};
use workloads::scene::Scene;

fn setup(mesh: &str, over_fabric: bool, seeds: u64) -> PauseStudy {
    PauseStudy { scene: Scene::new(mesh), over_fabric, bytes: 1 << 20, seed: 7, seeds }
}

fn check(rounds: &[PauseRound], seeds: usize) {
    assert_eq!(rounds.len(), seeds);
    for round in rounds {
        assert!(round.is_right(), "{round:?}");
        assert!(round.parked > 0 && round.balance.counts() > 0, "{round:?}");
    }
}

#[test]
fn an_all_gather_over_edms_is_paused_counted_and_resumed() {
    check(&study(&setup("n300", false, 2), &mut |_| ()).unwrap(), 2);
}

#[test]
fn an_all_gather_over_the_fabric_is_paused_counted_and_resumed() {
    check(&study(&setup("n300", true, 2), &mut |_| ()).unwrap(), 2);
}

#[test]
fn all_gathers_are_paused_on_the_vendors_simulator() {
    for over_fabric in [false, true] {
        let Some((library, host)) = simulator("wh_x2") else { return };
        let words = format!("ttsim:{}", library.display());
        let mut session = Session::open(&words, &host, Allow::ALL).unwrap();
        let setup = setup("n300", over_fabric, 2);
        check(&rounds(&mut session, &setup, &mut |round| println!("{round:?}")).unwrap(), 2);
    }
}
