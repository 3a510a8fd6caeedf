//! Collectives end to end on emulated meshes: launched, followed, checked and given back.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use probe::ccl::{Op, Program, Request, Run, RunReport, RunSettings, compile};
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
        let scene = Scene { run: Some(Workload::Idle), at_cycles: None, ..Scene::new(mesh) };
        let bar = probe::emulator_bar::EmulatorBar::new(scene.power_on(&images).unwrap());
        let abilities = probe::target::Abilities {
            allow: probe::target::Allow::ALL,
            stepped_time: true,
            ..probe::target::Abilities::default()
        };
        let patience = probe::Patience::default();
        let target = BarTarget::open(mesh, Box::new(bar), abilities, patience).unwrap();
        let _ = &mut images;
        Self { target, images }
    }

    fn compile(&self, request: &Request) -> Program {
        compile(self.target.mesh(), request).unwrap()
    }

    fn run(&mut self, program: Program) -> RunReport {
        let mut run = Run::new(program, RunSettings::default());
        run.finish(&mut self.target, &mut self.images, STEP_CYCLES).unwrap().unwrap()
    }
}

#[test]
fn an_n300_gathers() {
    let mut bench = Bench::new("n300");
    for bytes in [8 << 10, 100_008, 8] {
        let program = bench.compile(&Request::new(Op::AllGather, bytes));
        let report = bench.run(program);
        println!("{bytes}: {report:?}");
        assert_eq!(report.wrong, Some(0), "{:?}", report.wrong_stretches);
    }
}
