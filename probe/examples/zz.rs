use probe::target::Target;
fn main() {
    let run = std::env::args().nth(1).unwrap();
    let mut scene = probe::scene::Scene::new("n300");
    scene.run = if run == "idle" { probe::scene::Workload::Idle } else { probe::scene::Workload::RingPing };
    let mut images = probe::images::ImageMap::firmware().0;
    let t = std::time::Instant::now();
    let mut target = scene.build(&mut images).unwrap_or_else(|e| panic!("{e}"));
    println!("built in {:?} at cycle {}", t.elapsed(), target.now().unwrap());
    for n in [1_000_000u64, 10_000_000, 10_000_000] {
        let t = std::time::Instant::now();
        target.pass(n).unwrap();
        println!("{n} cycles in {:?}", t.elapsed());
    }
}
