//! Tests of both races, each with careless and with proper kernels.
#![allow(clippy::unwrap_used, reason = "tests")]
use super::*;

fn played(kind: Kind) -> [RaceRound; 2] {
    let setup = RaceStudy { mesh: "n300", seed: 2, seeds: 1, kinds: vec![kind] };
    let mut reports = 0;
    let rounds = study(&setup, &mut |_| reports += 1).unwrap();
    assert_eq!(reports, 2);
    let [careless, proper] = rounds.try_into().unwrap();
    assert!(!careless.proper && proper.proper);
    assert!(!proper.is_harmed(), "{proper:?}");
    [careless, proper]
}

#[test]
fn without_a_handshake_the_second_op_overwrites_what_the_first_one_reads() {
    let [careless, _] = played(Kind::Start);
    let mismatch = careless.mismatches[0];
    assert_eq!((mismatch.end, mismatch.op, mismatch.written_by()), (careless.ends.1, 1, 2));
    assert_eq!((careless.misreads.len(), careless.stuck.len()), (0, 0), "no kernel notices it");
    let sentence = &careless.sentences()[0];
    assert!(sentence.ends_with("where 0x01001000 was sent: op 2 wrote it"), "{sentence}");
}

#[test]
fn without_a_teardown_a_stale_credit_is_taken_for_the_answer_to_a_handshake() {
    let [careless, _] = played(Kind::Completion);
    let (sender, receiver) = careless.ends;
    let stale = careless.misreads.iter().find(|misread| misread.end == sender).unwrap();
    assert_eq!((stale.op, stale.addr, stale.bytes_sent), (2, 0x3DC40, 0));
    assert_eq!((stale.took, stale.of), (Took::Handshake, (1, u64::from(careless.draw.rounds))));
    let stuck: Vec<_> = careless.stuck.iter().map(|stuck| (stuck.end, stuck.waits_for)).collect();
    assert_eq!(stuck, [(receiver, Some(Took::Handshake)), (sender, Some(Took::Credit))]);
    let sentence = &careless.sentences()[0];
    assert!(
        sentence.contains("for the answer to its handshake; it is that of message"),
        "{sentence}"
    );
}
