//! A routing loop, put into the tables on purpose: packets expire by their time to live where the TT-Fabric specification's example
//! says, and status queues and their sender are told.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use layouts::ChipId;
use probe::fabric::random::RandomTraffic;
use probe::fabric::status_queue::{read_status, status_queues};
use probe::fabric::traffic::{Route, SendType, Shipment, Traffic};
use probe::fabric::{
    Direction, Entry, Fabric, FabricNode, FabricPlan, FabricProgress, FabricRequest,
    FabricSettings, FabricTopology, RoutingTables, connection,
};
use probe::images::ImageMap;
use probe::scene::{Scene, Workload};
use probe::target::Target;

const STEP: u64 = 2_000;
/// Sixteen chips of a Galaxy, four in a row: the specification's D1 to D16.
const ROWS: u16 = 4;
/// What the tables of the example say of D16: from D1 to D5, then D6, D7, D11, D10, D9, D5 and so on.
const LOOP: [(usize, Direction); 7] = [
    (1, Direction::South),
    (5, Direction::East),
    (6, Direction::East),
    (7, Direction::South),
    (11, Direction::West),
    (10, Direction::West),
    (9, Direction::North),
];
const LAST: usize = 16;

#[test]
fn packets_in_a_loop_of_the_tables_expire_where_the_specification_says() {
    let (mut images, _) = ImageMap::firmware();
    let scene = Scene { run: Some(Workload::Idle), ..Scene::new("galaxy") };
    let mut target = scene.build(&mut images).unwrap();
    let whole = FabricPlan::new(target.mesh(), &FabricRequest::new(FabricTopology::Mesh)).unwrap();
    let mesh = &whole.meshes[0];
    let corner = |chip: &ChipId| mesh.place(mesh.device(*chip).unwrap()).1 < usize::from(ROWS);
    let chips: Vec<ChipId> = mesh.chips.iter().copied().filter(corner).collect();
    let request =
        FabricRequest { chips, planes: Some(1), ..FabricRequest::new(FabricTopology::Mesh) };
    let plan = FabricPlan::new(target.mesh(), &request).unwrap();
    assert_eq!((plan.meshes[0].rows, plan.meshes[0].columns), (4, 4));

    let mut tables = RoutingTables::of(&plan);
    for (device, direction) in LOOP {
        tables[device - 1].intra_mesh[LAST - 1] = Entry::To(direction);
    }
    let node = |device: usize| FabricNode { mesh: 0, device: device as u16 - 1 };
    let tiles: Vec<_> = RandomTraffic::new(target.mesh(), &plan).unwrap().tiles(false).collect();
    let tile = |device: usize| tiles[device - 1];
    let mut traffic = Traffic::new(true);
    let from = traffic.add_worker(tile(1), node(1));
    let to = traffic.add_worker(tile(LAST), node(LAST));
    let south = plan.router(node(1), Direction::South, 0).unwrap();
    let south = traffic.connect(from, connection(&images, &plan, south).unwrap(), None).unwrap();
    let shipment = Shipment {
        connection: south,
        send: SendType::Fused,
        bytes: 256,
        ttl: 10,
        route: Route::Tables,
        control: false,
        arrives: false,
    };
    traffic.send(from, &[to], shipment).unwrap();
    // One hop less: D7 sees the end of it.
    traffic.send(from, &[to], Shipment { ttl: 9, ..shipment }).unwrap();

    let mut fabric =
        Fabric::new(plan.clone(), FabricSettings::default()).with_tables(tables.clone());
    let up = fabric.finish(&mut target, &mut images, STEP);
    assert_eq!(up, Ok(FabricProgress::Up));
    let routing = tables[0].pack(&images, &plan).unwrap();
    traffic.launch(&mut images, from, 1, &routing).unwrap().finish(&mut target).unwrap();
    target.pass(200_000).unwrap();

    let outcome = traffic.outcome(&mut target, &images, from).unwrap();
    assert_eq!((outcome.sent, outcome.nacks), (2, 2), "the sender was told of both: {outcome:?}");
    let queues = status_queues(&mut target, &images, &plan).unwrap();
    let reports = read_status(&mut target, &images, &queues).unwrap();
    let told: Vec<_> = reports
        .iter()
        .flat_map(|report| report.entries.iter().map(move |entry| (report.queue.router, entry)))
        .filter(|(_, entry)| entry.event == "EVENT_EXPIRED")
        .map(|(router, entry)| (plan.router_at(router).unwrap(), entry.device_id, entry.detail))
        .map(|(router, device, detail)| (device + 1, router.direction, detail[1], detail[2]))
        .collect();
    // D11 has received the packet from D7 in the north, D7 the other one from D6 in the west; both were for D16.
    let d16 = LAST as u32 - 1;
    let mut expected = vec![(11, Direction::North, d16, 0), (7, Direction::West, d16, 1)];
    expected.sort_unstable_by_key(|entry| entry.0);
    let mut told = told;
    told.sort_unstable_by_key(|entry| entry.0);
    assert_eq!(told, expected);
}
