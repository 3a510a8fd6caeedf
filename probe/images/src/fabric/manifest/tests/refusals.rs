//! What is refused, in which words; and that no input panics.

use super::*;

const ROUTER: &str = "meshes/M0/chips/C1/routers/E0";

/// Replaces the value at a path.
fn set(manifest: &mut Value, path: &str, value: Value) {
    *manifest.pointer_mut(&format!("/{path}")).unwrap() = value;
}

/// Returns the error of the manifest with another value at a path.
fn refused(path: &str, value: Value) -> String {
    let mut manifest = manifest();
    set(&mut manifest, path, value);
    parse(&manifest).unwrap_err()
}

/// Checks the error of each change, which begins with the key of the changed value or with another.
fn check(changes: impl IntoIterator<Item = (String, Value, &'static str)>) {
    for (path, value, what) in changes {
        let error = refused(&path, value);
        let whole = match what.split_once("=> ") {
            Some((key, what)) => format!("m.json: `{}` {what}", key.trim_end()),
            None => format!("m.json: `{path}` {what}"),
        };
        assert_eq!(error, whole.replace("ROUTER", ROUTER));
    }
}

fn of_router(key: &str, value: Value, what: &'static str) -> (String, Value, &'static str) {
    (format!("{ROUTER}/{key}"), value, what)
}

#[test]
fn other_formats_are_refused_by_name() {
    let kind = |kind: &str| refused("kind", json!(kind));
    for other in ["fabric_debug_manifest", "fabric_snapshot", "fabric_snapshot_decoded"] {
        let what = format!("is \"{other}\", and only \"fabric_manifest\" is supported");
        assert_eq!(kind(other), format!("m.json: `kind` {what}"));
    }
    let version = "m.json: `manifest_version` is 2, and only version 1 is supported";
    assert_eq!(refused("manifest_version", json!(2)), version);
    let mut earlier = manifest();
    earlier["layouts"] = json!({});
    let error = parse(&earlier).unwrap_err();
    assert_eq!(error, "m.json: `layouts` belongs to an earlier format of version 1");
    let blackhole = "m.json: `run/arch` is \"blackhole\", and only Wormhole is supported";
    assert_eq!(refused("run/arch", json!("blackhole")), blackhole);
    let error = FabricManifest::parse("m.json", b"{").unwrap_err().to_string();
    assert!(error.starts_with("m.json: is no JSON: EOF while parsing"), "{error}");
    assert_eq!(parse(&json!([])).unwrap_err(), "m.json: is no object");
    assert_eq!(parse(&json!({})).unwrap_err(), "m.json: `kind` is missing");
}

#[test]
fn wrong_values_are_refused_with_their_paths() {
    let types = "archs/wormhole_b0/types";
    check([
        ("run/host_rank".into(), json!(-1), "is no natural number"),
        ("run/mpi_rank".into(), json!(1_u64 << 40), "is 1099511627776, which is too large"),
        ("fabric_context/multi_txq".into(), json!("no"), "is neither true nor false"),
        ("meshes".into(), json!({ "M01": {} }), {
            "meshes/M01 => is unknown: a key `M` and a number is expected"
        }),
        ("meshes/M0/chips/C0/asic_id".into(), json!("0x000000000000000b"), {
            "meshes/M0/chips/C1/asic_id => is 0x000000000000000b, which another chip has"
        }),
        ("meshes/M0/chips/C0/asic_id".into(), json!("0x+1"), {
            "is no hexadecimal number such as 0x0000000000000001"
        }),
        (format!("{types}/WorkerXY/size"), json!(3), {
            "archs/wormhole_b0/types/WorkerXY => has a member \"y\" past its end"
        }),
        (format!("{types}/WorkerXY"), json!({ "size": 8, "members": [] }), {
            "archs/wormhole_b0/types/EDMChannelWorkerLocationInfo => has a member \"worker_xy\" \
             that is the struct \"WorkerXY\" of 8 bytes in 4 bytes"
        }),
    ]);
}

#[test]
fn what_a_router_cannot_have_is_refused() {
    let region = |address: u32, size: u32| {
        let mut region = json!({ "address": address, "size": size });
        region["schema"] = json!("bytes");
        region["cleared_by_host"] = json!(true);
        region
    };
    check([
        of_router("identity/eth_chan", json!(16), {
            "is wrong: there is no Ethernet channel 16: a chip has 16, from 0"
        }),
        of_router("identity/eth_chan", json!(0), {
            "meshes/M0/chips/C1/routers/W0 => is on channel 0, as another router"
        }),
        of_router("identity/logical_core", json!([1, 2, 3]), "is no pair of coordinates"),
        of_router("leftover_l1", region(0x3F000, 0x1001), {
            "is 0x3f000 to 0x40001, past the end of L1 at 0x40000"
        }),
        of_router("leftover_l1", region(u32::MAX, u32::MAX), {
            "is 0xffffffff to 0x1fffffffe, past the end of L1 at 0x40000"
        }),
        of_router("link/peer", json!("M0/C1"), "is \"M0/C1\", no path of a router"),
        of_router("shape/senders_per_vc", json!([1]), {
            "ROUTER/channels/senders => contradicts the number of channels in the router's `shape`"
        }),
        of_router("channels/senders/vc0/ch0/status", json!("idle"), {
            "is \"idle\", not one of active, vc_not_serviced, mux, trimmed"
        }),
        of_router("channels/senders/vc0/ch0/ring_buffer/num_elements", json!(7), {
            "ROUTER/channels/senders/vc0/ch0/ring_buffer/size => contradicts the schema or the \
             number of elements"
        }),
        of_router(
            "channels/senders/vc0/ch0/credits/completed",
            json!({ "array": "credit_counters/to_sender_ack", "index": 8 }),
            {
                "ROUTER/channels/senders/vc0/ch0/credits/completed/index => is 8, and the array \
             has 8 counters"
            },
        ),
        of_router("fields/edm_status/schema", json!("enum:Other"), {
            "is the enum \"Other\", which the manifest does not describe"
        }),
        of_router("fields/edm_status/schema", json!("float"), "is \"float\", an unknown schema"),
        of_router("fields/edm_status/kind", json!("text"), {
            "is \"text\", not one of l1, stream, number, flag, enum"
        }),
    ]);
}

#[test]
fn a_struct_that_contains_itself_is_refused() {
    let member = |schema: &str| json!([{ "name": "m", "offset": 0, "size": 4, "schema": schema }]);
    let mut manifest = manifest();
    let types = &mut manifest["archs"]["wormhole_b0"]["types"];
    types["A"] = json!({ "size": 4, "members": member("struct:B") });
    types["B"] = json!({ "size": 4, "members": member("struct:A") });
    let error = parse(&manifest).unwrap_err();
    assert_eq!(error, "m.json: `archs/wormhole_b0/types/A` contains itself");
}

/// A file's text does not make an error longer than a line.
#[test]
fn errors_are_one_short_line() {
    let error = refused("kind", json!("\n".repeat(10_000)));
    assert!(error.len() < 200 && !error.contains('\n'), "{error}");
    let mut manifest = manifest();
    manifest["meshes"] = json!({ "\u{1b}[2J\n".repeat(1000): {} });
    let error = parse(&manifest).unwrap_err();
    assert!(error.len() < 400 && !error.contains(['\n', '\u{1b}']), "{error}");
}

/// Collects the paths of all values.
fn paths(value: &Value, path: &str, found: &mut Vec<String>) {
    found.push(path.to_owned());
    match value {
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(i, of)| paths(of, &format!("{path}/{i}"), found));
        }
        Value::Object(object) => {
            object.iter().for_each(|(key, of)| paths(of, &format!("{path}/{key}"), found));
        }
        _ => {}
    }
}

#[test]
fn no_value_panics_anywhere() {
    let values = [
        Value::Null,
        json!(true),
        json!(-1),
        json!(0.5),
        json!(0),
        json!(255),
        json!(u32::MAX),
        json!(u64::MAX),
        json!(""),
        json!("enum:EDMStatus"),
        json!("struct:WorkerXY"),
        json!("M65536/C0/E0"),
        json!("é"),
        json!([]),
        json!([[]]),
        json!({}),
        json!({ "vc0": { "ch0": {} }, "vc1": { "ch300": {} } }),
    ];
    let mut manifest = manifest();
    let mut found = Vec::new();
    paths(&manifest, "", &mut found);
    let mut refused = 0;
    for path in &found {
        for value in &values {
            let place = manifest.pointer_mut(path).unwrap();
            let before = std::mem::replace(place, value.clone());
            refused += usize::from(FabricManifest::take(&Cursor::root(&manifest)).is_err());
            *manifest.pointer_mut(path).unwrap() = before;
        }
    }
    assert!(found.len() > 500 && refused > 5000, "{refused} of {}", found.len() * values.len());
}

#[test]
fn no_damaged_bytes_panic() {
    let whole = serde_json::to_vec(&manifest()).unwrap();
    let mut random: u32 = 1;
    for _ in 0..2000 {
        let mut bytes = whole.clone();
        for _ in 0..3 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let at = random as usize % bytes.len();
            bytes[at] = (random >> 13) as u8;
        }
        bytes.truncate(whole.len() - (random >> 8) as usize % 4 * 997);
        let _ = FabricManifest::parse("m.json", &bytes);
    }
}

/// A value takes many times its text.
#[test]
fn a_manifest_of_too_many_values_is_refused_before_it_is_read() {
    let many = format!("[{}0]", "0,".repeat(2 << 20));
    let error = FabricManifest::parse("m.json", many.as_bytes()).unwrap_err().to_string();
    assert!(error.ends_with("has more than 1048576 values"), "{error}");
}
