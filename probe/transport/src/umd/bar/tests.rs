//! Servers that answer, lie, or are not there.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use super::super::message::{MOST_BYTES, cluster_descriptor};
use super::*;
use machine::window::WindowOrdering;
use std::io::Write;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

/// Starts a server with one chip, which answers each request by `answer`: the bytes to send. It ends
/// in the middle of a message.
fn served(name: &str, answer: impl Fn(Request) -> Vec<u8> + Send + 'static) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("meshscope-umd-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("tt-umd-sim-0.sock");
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(path).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            while let Ok(request) = receive(&mut stream) {
                let bytes = answer(Request::decode(&request).unwrap());
                let len = u32::from_le_bytes(*bytes.first_chunk().unwrap());
                let is_cut = bytes.len() as u64 != 4 + u64::from(len);
                if stream.write_all(&bytes).is_err() || is_cut {
                    break;
                }
            }
        }
    });
    folder
}

fn framed(message: &[u8]) -> Vec<u8> {
    [&(message.len() as u32).to_le_bytes(), message].concat()
}

fn info() -> Vec<u8> {
    framed(&DeviceInfo { arch: WORMHOLE, ..DeviceInfo::default() }.encode())
}

/// Reads 8 bytes of L1 of tile 1-1.
fn word(bar: &mut UmdBar) -> Result<Vec<u8>, AccessError> {
    let order = WindowOrdering::Strict;
    let point = BarOp::Point { device: 0, window: 0, x: 1, y: 1, page: 0, order };
    let read = BarOp::Read { device: 0, bar: 0, offset: 0x400, len: 8, ones: 0 };
    let mut answer = Vec::new();
    bar.submit(&[point, read], &mut answer).map(|()| answer)
}

#[test]
fn messages_survive_encoding() {
    let data = vec![1, 2, 3];
    let write =
        Request { x: 9, y: 6, address: 1 << 35, size: 3, data, ..Request::of(Command::Write) };
    assert_eq!(Request::decode(&write.encode()).unwrap(), write);
    let read = Request { size: 7, ..Request::of(Command::Read) };
    assert_eq!(Request::decode(&read.encode()).unwrap(), read);
    let failed = Response { data: vec![5; 9], ..Response::FAILED };
    assert_eq!(Response::decode(&failed.encode()).unwrap(), failed);
    let info = DeviceInfo { status: 1, arch: WORMHOLE, soc_descriptor: "arch_name".into() };
    assert_eq!(DeviceInfo::decode(&info.encode()).unwrap(), info);
    // Whatever is cut off or changed is an error or a message, and no panic.
    let bytes = info.encode();
    for at in 0..bytes.len() {
        drop(DeviceInfo::decode(&bytes[..at]));
        for bit in 0..8 {
            let mut wrong = bytes.clone();
            wrong[at] ^= 1 << bit;
            drop(DeviceInfo::decode(&wrong));
            drop(Request::decode(&wrong));
            drop(Response::decode(&wrong));
        }
    }
    assert!(DeviceInfo::decode(&[0xFF; 64]).is_err());
}

#[test]
fn a_server_is_asked_for_what_the_layout_lists_only() {
    let folder = served("plain", |request| match request.command {
        Command::DeviceInfo => info(),
        Command::Read => {
            assert_eq!((request.x, request.y, request.address), (1, 1, 0x400));
            framed(&Response { status: 0, data: vec![7; request.size as usize] }.encode())
        }
        other => panic!("{other:?}"),
    });
    let mut bar = UmdBar::connect(Some(&folder)).unwrap();
    assert_eq!(word(&mut bar).unwrap(), [7; 8]);
    let mut ask = |ops: &[BarOp]| bar.submit(ops, &mut Vec::new()).unwrap_err().to_string();
    let write = ask(&[BarOp::Write { device: 0, bar: 0, offset: 0, bytes: vec![0; 4] }]);
    assert!(write.contains("only read"), "{write}");
    let order = WindowOrdering::Strict;
    let point = BarOp::Point { device: 0, window: 0, x: 1, y: 1, page: 0xFF00_0000, order };
    let read = |offset| BarOp::Read { device: 0, bar: 0, offset, len: 4, ones: 0 };
    let unlisted = ask(&[point, read(0x1234)]);
    assert!(unlisted.starts_with("refused: "), "{unlisted}");
    let outside = ask(&[read(0x1FE8_0000)]);
    assert!(outside.contains("is in no window"), "{outside}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_server_that_lies_is_one_sentence() {
    type Answer = fn() -> Vec<u8>;
    let hostile: [(&str, Answer, &str); 6] = [
        (
            "short",
            || framed(&Response { status: 0, data: vec![7; 4] }.encode()),
            "answered 4 bytes for 8",
        ),
        ("failed", || framed(&Response::FAILED.encode()), "did not read 1-1 0x400"),
        ("huge", || u32::MAX.to_le_bytes().to_vec(), "a message has at most"),
        ("cut", || framed(&[0; 100])[..50].to_vec(), "closed the connection"),
        ("noise", || framed(&[0xFF; 64]), "no message of tt-umd"),
        ("other", || framed(&cluster_descriptor("text")), "bytes for 8|no message of tt-umd"),
    ];
    for (name, answer, says) in hostile {
        let folder = served(name, move |request| match request.command {
            Command::DeviceInfo => info(),
            _ => answer(),
        });
        let mut bar = UmdBar::connect(Some(&folder)).unwrap();
        let error = word(&mut bar).unwrap_err().to_string();
        assert!(says.split('|').any(|part| error.contains(part)), "{name}: {error}");
        std::fs::remove_dir_all(folder).unwrap();
    }
    assert!(receive(&mut &(MOST_BYTES + 1).to_le_bytes()[..]).is_err());
    let cut = receive(&mut &framed(&[0; 100])[..50]).unwrap_err();
    assert_eq!(cut.kind(), io::ErrorKind::UnexpectedEof);
}

#[test]
fn a_folder_without_a_server_is_unreachable() {
    let folder = std::env::temp_dir().join(format!("meshscope-umd-none-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    drop(UnixListener::bind(folder.join("tt-umd-sim-0.sock")).unwrap());
    let error = UmdBar::connect(Some(&folder)).err().unwrap().to_string();
    assert!(error.contains("no simulation server answers there"), "{error}");
    std::fs::remove_dir_all(folder).unwrap();
}
