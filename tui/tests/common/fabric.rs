//! A made-up fabric for tests of frames: two routers, one of them back-pressured, a mux that waits,
//! and its client.

use super::{end, eth_xy};
use decode::state::{
    Activity, ClientState, DownstreamState, FabricPort, FabricState, HeadState, LedgerState,
    MuxChannelState, MuxState, PacketState, Party, ReceiverState, RouterState, SenderState,
    TablesState, Verdict, Wait, WaitReason, Waits,
};
use images::Reading;
use images::fabric::{
    ClientFacts, Code, EdgeFacts, Enumeration, Enumerator, MuxChannelFacts, MuxFacts, NocTarget,
    PacketFacts, ReceiverFacts, RouterCounts, RouterFacts, SenderFacts,
};
use layouts::{ChipId, CoreId, CoreKind, NocXy};
use machine::fabric::{Direction, Entry, FabricNode, RoutingTables};

const MUX: NocXy = NocXy { x: 1, y: 1 };
const CLIENT: NocXy = NocXy { x: 2, y: 1 };

pub(crate) fn fabric() -> FabricState {
    let routers =
        vec![router((0, 9), Direction::East, (3, 5)), router((1, 1), Direction::West, (0, 0))];
    let ledger = |from, to, queued, in_flight, verdict| LedgerState {
        from,
        to,
        virtual_channel: 0,
        slots: 8,
        queued,
        remote_free_slots: Some(8 - in_flight),
        in_flight: Some(in_flight),
        arrived: 0,
        held: Some(in_flight),
        mark: 0,
        rerouted_by: None,
        verdict,
    };
    FabricState {
        routers,
        ledgers: vec![
            ledger(end(0, 9), end(1, 1), 3, 5, Verdict::BackPressured),
            ledger(end(1, 1), end(0, 9), 0, 0, Verdict::Empty),
        ],
        muxes: vec![mux()],
        clients: vec![client()],
        waits: waits(),
        tables: vec![
            tables((0, 9), [Entry::Here, Entry::To(Direction::East)]),
            tables((1, 1), [Entry::To(Direction::West), Entry::Here]),
        ],
        ..FabricState::default()
    }
}

/// The client waits for the mux, the mux for a router, whose peer waits for a slot that is never
/// freed.
fn waits() -> Waits {
    let client = Party::Client(core(CLIENT), 0);
    let mux = Party::Mux(core(MUX));
    let sender = Party::Sender(end(0, 9), 0);
    let receiver = Party::Receiver(end(1, 1), 0);
    let wait = |who, on, reason| Wait { waiter: who, on, reason, mark: 7 };
    let all = vec![
        wait(client, mux, WaitReason::Slot),
        wait(mux, sender, WaitReason::Slot),
        wait(sender, receiver, WaitReason::Credit),
        wait(receiver, Party::Router(end(1, 0)), WaitReason::Downstream(Direction::South)),
    ];
    Waits { all, ..Waits::default() }
}

/// A row of two devices, and another mesh after the second.
fn tables((chip, channel): (u16, u8), intra_mesh: [Entry; 2]) -> TablesState {
    let inter_mesh = vec![Entry::Here, intra_mesh[1]];
    TablesState {
        at: end(chip, channel),
        place: (0, chip.into()),
        shape: (1, 2),
        tables: RoutingTables {
            node: FabricNode { mesh: 0, device: chip },
            intra_mesh: intra_mesh.to_vec(),
            inter_mesh,
            exit_nodes: vec![None, Some(1)],
        },
    }
}

fn head(device: u16) -> HeadState {
    let facts = PacketFacts {
        send_type: enumerator("NOC_UNICAST_WRITE", 0),
        payload_bytes: Reading::Known(2048),
        ttl: Reading::Known(9),
        source: Reading::Known(FabricNode { mesh: 0, device }),
        destination: Reading::Known(FabricNode { mesh: 0, device: 1 }),
        number: Reading::Known(41),
        to: Reading::Known(NocTarget { tile: NocXy { x: 4, y: 3 }, addr: 0x2_0000 }),
        ..PacketFacts::default()
    };
    let packet = PacketState { facts, route: "EAST".to_owned() };
    HeadState { addr: 0x2_0000, bytes: 96, packet: Reading::Known(packet) }
}

/// An enumerator by its name.
fn enumerator(name: &str, value: u64) -> Reading<Enumerator> {
    Reading::Known(Enumeration::new(&[(value, name)]).of_value(value))
}

/// One of the first enumerators, by its number.
fn code(names: &[&str], value: u64) -> Reading<Code> {
    let all: Vec<_> = (0..).zip(names.iter().copied()).collect();
    Reading::Known(Code(Enumeration::new(&all).of_value(value)))
}

fn connection(value: u64) -> Reading<Code> {
    code(&["UNUSED_CONNECTION", "OPEN_CONNECTION", "CLOSE_CONNECTION_REQUEST"], value)
}

fn router(
    (chip, channel): (u16, u8),
    direction: Direction,
    (queued, in_flight): (u64, u64),
) -> RouterState {
    let sender = |index: u8, queued: u64, in_flight: u64| SenderState {
        index,
        virtual_channel: 0,
        slots: 8,
        facts: SenderFacts {
            queued: Reading::Known(queued),
            in_flight: Reading::Known(in_flight),
            remote_free_slots: Reading::Known(8 - in_flight),
            sent: Reading::Known(120),
            completed: Reading::Known(115),
            connection: connection(u64::from(index == 0)),
            last_client: Reading::Known(MUX),
            ..SenderFacts::default()
        },
        in_flight_at_most: None,
        head: (queued > 0).then(|| head(chip)),
        candidates: Vec::new(),
    };
    let receiver = ReceiverState {
        index: 0,
        virtual_channel: 0,
        slots: 8,
        facts: ReceiverFacts {
            arrived: Reading::Known(0),
            held: Reading::Known(u64::from(chip) * 5),
            received: Reading::Known(120),
            completed: Reading::Known(115),
            waits_for: code(&["WAITS_FOR_NOTHING", "WAITS_FOR_DOWNSTREAM"], chip.into()),
            pending: Reading::Known(if chip == 1 { vec![Direction::South] } else { Vec::new() }),
            ..ReceiverFacts::default()
        },
        head: (chip == 1).then(|| head(0)),
        candidates: Vec::new(),
    };
    RouterState {
        at: end(chip, channel),
        tile: eth_xy(channel),
        plane: None,
        image: "fabric_router_mesh".to_owned(),
        activity: Reading::Known(Activity::Running),
        waypoint: Reading::Known("RDSW".to_owned()),
        facts: RouterFacts {
            node: Reading::Known(FabricNode { mesh: 0, device: chip }),
            direction: Reading::Known(direction),
            status: enumerator("READY_FOR_TRAFFIC", 0xA3B3_C3D3),
            link: code(&["LINK_DIRECT", "LINK_LOST"], 0),
            ..RouterFacts::default()
        },
        counts: RouterCounts::default(),
        senders: vec![sender(0, queued, in_flight), sender(1, 0, 0)],
        receivers: vec![receiver],
        downstream: vec![DownstreamState {
            direction: Direction::South,
            virtual_channel: 0,
            facts: EdgeFacts {
                tile: Reading::Known(NocXy { x: 6, y: 6 }),
                credits: Reading::Known(0),
                ..EdgeFacts::default()
            },
        }],
        status_entries: Vec::new(),
    }
}

fn core(tile: NocXy) -> CoreId {
    CoreId { chip: ChipId(0), tile, core: CoreKind::Brisc }
}

fn mux() -> MuxState {
    let channel = |index: u8| MuxChannelState {
        index,
        facts: MuxChannelFacts {
            slots: Reading::Known(8),
            queued: Reading::Known(u64::from(index) * 4),
            connection: connection(1),
            connected: Reading::Known(true),
            client: Reading::Known(NocXy { x: 2 + index, y: 1 }),
            forwarded: Reading::Known(60),
            polls: Reading::Known(70),
            ..MuxChannelFacts::default()
        },
        head: (index == 1).then(|| head(0)),
        candidates: Vec::new(),
    };
    MuxState {
        at: core(MUX),
        image: "fabric_mux_unbounded_brisc".to_owned(),
        activity: Reading::Known(Activity::Running),
        waypoint: Reading::Known("FWSW".to_owned()),
        facts: MuxFacts {
            policy: enumerator("unbounded", 0),
            status: enumerator("READY_FOR_TRAFFIC", 0xA3B3_C3D3),
            holder: Reading::Known(1),
            ..MuxFacts::default()
        },
        channels: vec![channel(0), channel(1)],
    }
}

fn client() -> ClientState {
    let stages = [(0, "CLIENT_CLOSED"), (2, "CLIENT_OPEN")];
    ClientState {
        at: core(CLIENT),
        image: "fabric_traffic".to_owned(),
        name: "clients[0]".to_owned(),
        activity: Reading::Known(Activity::Running),
        waypoint: Reading::Known("FWSW".to_owned()),
        facts: ClientFacts {
            stage: Reading::Known(Enumeration::new(&stages).of_value(2)),
            waits: Reading::Known(true),
            to_tile: Reading::Known(MUX),
            slots: Reading::Known(8),
            used: Reading::Known(8),
            sent: Reading::Known(60),
            ..ClientFacts::default()
        },
        to: Some(FabricPort::Mux { mux: core(MUX), channel: 0 }),
        entry: None,
        stage: decode::state::CONNECTION.iter().find(|stage| stage.rank == 1),
    }
}
