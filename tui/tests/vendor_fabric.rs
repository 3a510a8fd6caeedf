//! `meshscope fabric` on the vendor's simulator, if `MESHSCOPE_TTSIM_DIR` names its libraries: its
//! two chips are served on a socket, one client after the other brings routers up, sends packets
//! and takes them down, and the command reads the fabric each time.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::stderr;
use crate::schemas::conforms;
use fabric::traffic::{PacketSpec, Route, SendType, Traffic};
use fabric::{
    Fabric, FabricOutcome, FabricPlan, FabricRequest, FabricSettings, Termination, connection,
};
use launch::{Firmware, boot_tensix};
use layouts::NocXy;
use machine::fabric::{FabricNode, FabricTopology};
use machine::place::Place;
use machine::target::{Allow, Target};
use probe::session::Session;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use transport::serve::{bind, serve};
use transport::ttsim::{self, HostCommand};
use transport::wire::Welcome;

/// The socket, removed with the test.
struct Socket(PathBuf);

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Socket {
    /// Serves a machine for the rest of this process.
    fn serve(library: &Path) -> Self {
        let program = Some(env!("CARGO_BIN_EXE_meshscope").into());
        let host = HostCommand { program, ..HostCommand::default() };
        let bar = ttsim::open(library, &host).unwrap();
        let welcome = Welcome { machine: "ttsim:wh_x2".into(), ..bar.welcome().clone() };
        let id = std::process::id();
        let path = std::env::temp_dir().join(format!("meshscope-vendor-fabric-{id}"));
        let listener = bind(&path).unwrap();
        std::thread::spawn(move || serve(Box::new(bar), listener, welcome));
        Self(path)
    }

    fn words(&self) -> String {
        format!("socket:{}", self.0.display())
    }

    /// A client with all permissions.
    fn client(&self) -> Session {
        let opened = Session::open(&self.words(), &HostCommand::default(), Allow::ALL);
        opened.map_err(|error| error.to_string()).unwrap()
    }

    /// The output of the command.
    fn ask(&self, words: &[&str]) -> Value {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
        command.args(["--target", &self.words(), "--json", "fabric"]).args(words);
        let output = command.output().unwrap();
        let stderr = stderr(&output);
        let answer = serde_json::from_slice(&output.stdout).expect(&stderr);
        conforms(&[&["fabric"], words].concat(), &answer);
        answer
    }

    fn statuses(&self) -> Vec<Value> {
        let report = self.ask(&[]);
        report["routers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|router| router["status"].clone())
            .collect()
    }
}

fn first_tile(target: &dyn Target, plan: &FabricPlan, node: FabricNode) -> Place {
    let chip = target.mesh().chip(plan.chip(node).unwrap()).unwrap();
    let mut rows = (1..12u8).filter(|y| *y != 6 && chip.is_fused_off(*y) == Some(false));
    Place { chip: chip.id, tile: NocXy { x: 1, y: rows.next().unwrap() } }
}

#[test]
fn the_command_sees_a_fabric_on_wh_x2() {
    let Some(folder) = std::env::var_os("MESHSCOPE_TTSIM_DIR") else {
        eprintln!("skipped: MESHSCOPE_TTSIM_DIR is not set");
        return;
    };
    let socket = Socket::serve(&PathBuf::from(folder).join("libttsim_wh_x2.so"));
    assert_eq!(socket.statuses(), Vec::<Value>::new());

    let mut session = socket.client();
    let (target, images) = session.parts();
    let request = FabricRequest::new(FabricTopology::Line);
    let plan = FabricPlan::new(target.mesh(), &request).unwrap();
    let mut fabric = Fabric::new(plan.clone(), FabricSettings::default());
    assert_eq!(fabric.finish(target, images, 500), Ok(FabricOutcome::Up));
    drop(session);
    assert_eq!(socket.statuses(), vec![Value::from("READY_FOR_TRAFFIC"); plan.routers.len()]);
    let path = socket.ask(&["path", "0", "1"]);
    assert_eq!(path["routes"][0]["end"], "arrived", "{path}");
    assert_eq!(path["routes"][0]["hops"].as_array().unwrap().len(), 1);
    assert_eq!(socket.ask(&["waits"])["waits"], Value::Array(vec![]));

    // Enough packets that the command runs in the midst of them.
    let mut session = socket.client();
    let (target, images) = session.parts();
    let near = FabricNode { mesh: 0, device: 0 };
    let router = *plan.routers.iter().find(|router| router.node == near).unwrap();
    let mut traffic = Traffic::new(plan.layout(), false);
    let sender = traffic.add_worker(first_tile(target, &plan, near), near);
    let far = router.neighbor;
    let receiver = traffic.add_worker(first_tile(target, &plan, far), far);
    traffic.connect(sender, connection(images, &plan, &router).unwrap(), None).unwrap();
    traffic.behave(sender, 8_000, false).unwrap();
    let (send, route) = (SendType::Write, Route::Hops(1, 1));
    let shipment = PacketSpec {
        connection: 0,
        send,
        bytes: 1024,
        ttl: 8,
        route,
        control: false,
        arrives: true,
    };
    for _ in 0..300 {
        traffic.send(sender, &[receiver], shipment).unwrap();
    }
    let place = traffic.place(sender).unwrap();
    boot_tensix(images, Firmware::BUILT_IN, place).unwrap().finish(target).unwrap();
    traffic.launch(images, sender, 1, &[]).unwrap().finish(target).unwrap();
    target.pass(20_000).unwrap();
    drop(session);
    let report = socket.ask(&[]);
    let client = &report["clients"][0];
    assert_eq!((&client["stage"], &client["ending_step"]), (&"CLIENT_OPEN".into(), &1.into()));
    assert_eq!(client["to"]["router"]["channel"], router.eth.channel, "{client}");
    let sent = |report: &Value| {
        let routers = report["routers"].as_array().unwrap();
        let at = routers.iter().find(|r| r["chip"] == router.eth.chip.0).unwrap();
        at["senders"][0]["sent"].as_u64().unwrap()
    };
    let before = sent(&report);
    eprintln!("{before} packets");
    assert!(before > 0 && before < 300, "{before}");

    let mut session = socket.client();
    let (target, images) = session.parts();
    target.pass(3_000_000).unwrap();
    fabric.terminate(Termination::Gracefully);
    assert_eq!(fabric.finish(target, images, 500), Ok(FabricOutcome::Down));
    drop(session);
    let report = socket.ask(&[]);
    assert_eq!(sent(&report), 300);
    assert_eq!(report["clients"][0]["ending_step"], Value::Null, "{report}");
    assert_eq!(socket.statuses(), vec![Value::from("TERMINATED"); plan.routers.len()]);
}
