//! A fabric made up for tests of the picture: two routers of which one is back-pressured, a mux that waits, and its client.

use super::{end, eth_xy};
use decode::state::{
    Activity, ClientState, DownstreamState, FabricPort, FabricState, HeadState, LedgerState,
    MuxChannelState, MuxState, PacketState, Party, Reading, ReceiverState, RouterState,
    SenderState, TablesState, Verdict, Wait, WaitReason, Waits,
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
        remote_free_slots: 8 - in_flight,
        in_flight,
        arrived: 0,
        held: in_flight,
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

/// The client waits for the mux, which waits for a router, whose peer waits for a slot that nobody frees.
fn waits() -> Waits {
    let client = Party::Client(core(CLIENT), 0);
    let mux = Party::Mux(core(MUX));
    let sender = Party::Sender(end(0, 9), 0);
    let receiver = Party::Receiver(end(1, 1), 0);
    let wait = |who, on, reason| Wait { who, on, reason, mark: 7 };
    let all = vec![
        wait(client, mux, WaitReason::Slot),
        wait(mux, sender, WaitReason::Slot),
        wait(sender, receiver, WaitReason::Credit),
        wait(receiver, Party::Router(end(1, 0)), WaitReason::Downstream(Direction::South)),
    ];
    Waits { all, ..Waits::default() }
}

/// A row of two devices, and another mesh behind the second.
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
    let packet = PacketState {
        send_type: Ok("NOC_UNICAST_WRITE"),
        payload_bytes: 2048,
        ttl: 9,
        source: FabricNode { mesh: 0, device },
        destination: Some(FabricNode { mesh: 0, device: 1 }),
        number: 41,
        noc_address: (NocXy { x: 4, y: 3 }, 0x2_0000),
        route: "EAST".to_owned(),
    };
    HeadState { addr: 0x2_0000, bytes: 96, packet: Reading::Known(packet) }
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
        queued: Reading::Known(queued),
        in_flight: Reading::Known(in_flight),
        completions: Reading::Known(0),
        remote_free_slots: Reading::Known(8 - in_flight),
        sent: Reading::Known(120),
        completed: Reading::Known(115),
        dropped: Reading::Known(0),
        connection: Reading::Known(u32::from(index == 0)),
        client: (index == 0).then_some(MUX),
        last_client: None,
        head: (queued > 0).then(|| head(chip)),
    };
    let receiver = ReceiverState {
        index: 0,
        virtual_channel: 0,
        slots: 8,
        arrived: Reading::Known(0),
        held: Reading::Known(u64::from(chip) * 5),
        received: Reading::Known(120),
        completed: Reading::Known(115),
        dropped: Reading::Known(0),
        waits_for: Reading::Known(u32::from(chip)),
        pending: if chip == 1 { vec![Direction::South] } else { Vec::new() },
        head: (chip == 1).then(|| head(0)),
    };
    RouterState {
        at: end(chip, channel),
        tile: eth_xy(channel),
        image: "fabric_router_mesh".to_owned(),
        topology: Some("Mesh"),
        node: Reading::Known(FabricNode { mesh: 0, device: chip }),
        direction: Reading::Known(direction),
        activity: Reading::Known(Activity::Running),
        waypoint: Reading::Known("RDSW".to_owned()),
        master: Reading::Known(true),
        dateline: Reading::Known(false),
        status: Reading::Known("READY_FOR_TRAFFIC"),
        postcode: Reading::Known(0xBACA_DAEA),
        termination: Reading::Known(0),
        refusal: Reading::Known(0),
        refusal_name: Reading::Absent,
        local_sync: Reading::Known(1),
        local_routers: Reading::Known(1),
        link: Reading::Known(0),
        epoch: Reading::Known(0),
        fallback: None,
        passes: Reading::Known(1000),
        counts: vec![("expired", Reading::Known(0)), ("timed_out", Reading::Known(2))],
        senders: vec![sender(0, queued, in_flight), sender(1, 0, 0)],
        receivers: vec![receiver],
        downstream: vec![DownstreamState {
            direction: Direction::South,
            virtual_channel: 0,
            tile: Some(NocXy { x: 6, y: 6 }),
            credits: Reading::Known(0),
        }],
    }
}

fn core(tile: NocXy) -> CoreId {
    CoreId { chip: ChipId(0), tile, core: CoreKind::Brisc }
}

fn mux() -> MuxState {
    let channel = |index: u8| MuxChannelState {
        index,
        slots: Reading::Known(8),
        queued: Reading::Known(u64::from(index) * 4),
        connection: Reading::Known(1),
        connected: Reading::Known(true),
        client: Some(NocXy { x: 2 + index, y: 1 }),
        forwarded: Reading::Known(60),
        polls: Reading::Known(70),
        skips: Reading::Known(0),
        longest_wait_cycles: Reading::Known(4100),
        closes: Reading::Known(0),
        head: (index == 1).then(|| head(0)),
    };
    MuxState {
        at: core(MUX),
        image: "fabric_mux_unbounded_brisc".to_owned(),
        policy: Some("unbounded"),
        activity: Reading::Known(Activity::Running),
        waypoint: Reading::Known("FWSW".to_owned()),
        status: Reading::Known("READY_FOR_TRAFFIC"),
        termination: Reading::Known(0),
        passes: Reading::Known(400),
        holder: Reading::Known(1),
        drain_iters: Reading::Known(0),
        abandoned: Reading::Known(0),
        channels: vec![channel(0), channel(1)],
    }
}

fn client() -> ClientState {
    ClientState {
        at: core(CLIENT),
        image: "fabric_traffic".to_owned(),
        name: "clients[0]".to_owned(),
        activity: Reading::Known(Activity::Running),
        waypoint: Reading::Known("FWSW".to_owned()),
        stage: Reading::Known("CLIENT_OPEN"),
        waits: Reading::Known(true),
        to_tile: Some(MUX),
        to: Some(FabricPort::Mux(core(MUX), 0)),
        slots: Reading::Known(8),
        used: Reading::Known(8),
        sent: Reading::Known(60),
        teardown: Reading::Known(0),
        termination: Reading::Absent,
        mux_clients: Reading::Absent,
        told: Reading::Absent,
        ending: Some(1),
    }
}
