//! Collectives over the fabric, end to end on emulated meshes: the fabric comes up, workers send each other their data, and everything
//! is given back.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use probe::ccl::{
    FabricWish, Op, Request, Run, RunError, RunReport, RunSettings, TopologyKind, Transport,
    compile,
};
use probe::images::ImageMap;
use probe::machine::BarTarget;
use probe::scene::{Scene, Workload};
use probe::target::Target;

/// Time between two polls, in cycles.
const STEP_CYCLES: u64 = 2_000;

struct Bench {
    target: BarTarget,
    images: ImageMap,
}

impl Bench {
    fn new(mesh: &str) -> Self {
        let (mut images, problems) = ImageMap::firmware();
        assert_eq!(problems, Vec::<String>::new());
        let scene = Scene { run: Some(Workload::Idle), ..Scene::new(mesh) };
        let target = scene.build(&mut images).unwrap();
        Self { target, images }
    }

    fn run(&mut self, request: &Request) -> Result<Option<RunReport>, RunError> {
        let program = compile(self.target.mesh(), request).unwrap();
        let mut run = Run::new(program, RunSettings::default());
        run.finish(&mut self.target, &mut self.images, STEP_CYCLES)
    }

    fn is_right(&mut self, request: &Request) -> RunReport {
        let report = match self.run(request) {
            Ok(Some(report)) => report,
            other => panic!("{request:?}: {other:?}"),
        };
        assert_eq!((report.wrong, &report.wrong_stretches), (Some(0), &vec![]), "{request:?}");
        report
    }
}

fn over_fabric(op: Op, ranks: u64, elements: u64) -> Request {
    let transport = Transport::Fabric(FabricWish::default());
    Request { transport, ..Request::new(op, 4 * ranks * elements) }
}

#[test]
fn two_chips_of_a_line_gather() {
    let mut bench = Bench::new("n300");
    let request = over_fabric(Op::AllGather, 2, 5000);
    println!("{:?}", bench.is_right(&request));
}

#[test]
fn a_ring_of_eight_chips_gathers() {
    let mut bench = Bench::new("t3000");
    let ring = Some(TopologyKind::Ring);
    let request = Request { topology: ring, ..over_fabric(Op::AllGather, 8, 3001) };
    println!("{:?}", bench.is_right(&request));
}
