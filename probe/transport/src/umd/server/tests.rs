//! What a client reads, writes and cannot do.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use images::ImageMap;
use workloads::scene::{Scene, Workload};

fn ask(stream: &mut UnixStream, request: &Request) -> Vec<u8> {
    send(stream, &request.encode()).unwrap();
    receive(stream).unwrap()
}

fn access(stream: &mut UnixStream, request: &Request) -> Response {
    Response::decode(&ask(stream, request)).unwrap()
}

#[test]
fn all_chips_are_read_and_written() {
    let scene = Scene { run: Some(Workload::Idle), tiles: Some(1), ..Scene::new("n300") };
    let target = scene.build(&mut ImageMap::firmware().0).unwrap();
    let server = Server::start(Box::new(target), "chips: {}\n".to_owned()).unwrap();
    let folder = server.folder().to_owned();
    let read = Request { x: 3, y: 3, address: 0x2_0000, size: 6, ..Request::of(Command::Read) };
    for chip in 0..2 {
        let mut stream = UnixStream::connect(socket(&folder, chip)).unwrap();
        let data = vec![chip as u8 + 1; 6];
        let write = Request { command: Command::Write, data: data.clone(), ..read.clone() };
        assert_eq!(access(&mut stream, &write), Response::default(), "chip {chip}");
        assert_eq!(access(&mut stream, &read), Response { status: 0, data }, "chip {chip}");
        let DeviceInfo { status, arch, soc_descriptor } =
            DeviceInfo::decode(&ask(&mut stream, &Request::of(Command::DeviceInfo))).unwrap();
        assert_eq!((status, arch), (0, WORMHOLE));
        let workers = soc_descriptor.lines().find(|line| line.starts_with("functional_workers"));
        assert_eq!(workers.unwrap().matches('-').count(), 64, "two rows are fused off");
        assert!(soc_descriptor.contains("eth: [9-0, 1-0, "), "{soc_descriptor}");
        // What cannot be is the error of one access.
        for wrong in [
            Request { x: 300, ..read.clone() },
            Request { y: 12, ..read.clone() },
            Request { address: 1 << 40, ..read.clone() },
            Request { address: 0xFFB0_0000, ..read.clone() },
            Request { size: u32::MAX, ..read.clone() },
            Request { command: Command::Write, size: 7, data: vec![0; 6], ..read.clone() },
        ] {
            assert_eq!(access(&mut stream, &wrong), Response::FAILED, "{wrong:?}");
        }
        let cluster = ask(&mut stream, &Request::of(Command::ClusterDescriptor));
        assert!(cluster.windows(9).any(|text| text == b"chips: {}"));
        // No client ends the server.
        assert_eq!(access(&mut stream, &Request::of(Command::Shutdown)), Response::default());
        assert_eq!(access(&mut stream, &read).status, 0);
        send(&mut stream, &[0xFF; 40]).unwrap();
        assert!(receive(&mut stream).is_err(), "a client that sends nonsense is left");
    }
    drop(server);
    assert!(!folder.exists());
}
