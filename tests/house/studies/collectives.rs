//! Some runs of the matrix of collectives; `.ci/deep matrix` has all.

use collectives::{Op, TensorLayout};
use machine::fabric::MuxCore;
use tests::study::collectives::{MatrixRow, MatrixRun, matrix, study};

#[test]
fn the_matrix_has_every_operation_transport_mux_layout_and_number_of_ranks() {
    let all = matrix(8);
    assert_eq!(all.len(), Op::ALL.len() * 6 * 2 * 4);
    assert!(matrix(2).iter().all(|run| run.ranks == 2) && matrix(1).is_empty());
}

/// A socket over relays, whose workers are clients of each other's muxes; others with and without.
#[test]
fn some_runs_of_the_matrix_are_right() {
    let (layout, core) = (TensorLayout::Interleaved, Some(MuxCore::Tensix));
    let of = |op, ranks, core| MatrixRun { op, ranks, workers: 1, core, layout };
    let some = [
        of(Op::SendReceive, 4, core),
        of(Op::AllToAll, 3, core),
        of(Op::Scatter, 8, core),
        of(Op::AllReduce, 3, None),
    ];
    let wanted = |_, run| some.contains(&run);
    let rows = study("t3000", 1, &wanted, &mut |row| println!("{row:?}")).unwrap();
    assert_eq!(rows.len(), some.len());
    assert!(rows.iter().all(MatrixRow::is_right), "{rows:?}");
    assert!(rows.iter().any(|row| row.muxes > 0), "{rows:?}");
}
