//! Records and enumerations compared with gdb's, member by member.

use serde_json::Value as Json;
use symbols::{Kind, Symbols, Type};

use super::{as_gdb, equal};

/// One member: name, offset, size, type, first bit and bits. The members of an unnamed record
/// follow it.
type Row = (String, Option<u64>, u64, Option<String>, Option<u64>, Option<u64>);

pub(crate) fn layout(symbols: &Symbols, query: &str, want: &Json) -> Result<(), String> {
    let ty = find(symbols, query).ok_or("no such type")?;
    equal("size", &ty.size(), &want["size"].as_u64())?;
    let (mut got_rows, mut want_rows) = (Vec::new(), Vec::new());
    collect_rows(&ty, &mut got_rows);
    collect_expected(&want["members"], &mut want_rows);
    got_rows.iter().zip(&want_rows).try_for_each(|(got, want)| equal("member", got, want))?;
    equal("members", &got_rows.len(), &want_rows.len())
}

/// Finds a type by gdb's name: gdb spells template arguments differently from the compiler.
fn find(symbols: &Symbols, query: &str) -> Option<Type> {
    symbols.type_named(query).or_else(|| {
        let names = symbols.type_names();
        symbols.type_named(names.iter().find(|name| as_gdb(name) == query)?)
    })
}

fn collect_rows(ty: &Type, rows: &mut Vec<Row>) {
    let Some(record) = ty.plain().record() else { return };
    // gdb lists virtual bases among the others; the cases have only one kind per record.
    for base in &record.virtual_bases {
        let name = Some(as_gdb(base.ty.name()));
        rows.push(("<base>".into(), None, base.ty.size().unwrap_or(0), name, None, None));
    }
    for member in &record.members {
        let name = member.name.as_deref().unwrap_or(if member.base { "<base>" } else { "" });
        // gdb does not show compiler-generated members.
        if name.starts_with("_vptr.") {
            continue;
        }
        let size = member.ty.size().unwrap_or(0);
        let nameless = matches!(member.ty.kind(), Kind::Record(record) if record.anonymous);
        let (first, bits) = member.bits.map(|bits| (bits.offset, bits.size)).unzip();
        let spelled = (!nameless).then(|| as_gdb(member.ty.name()));
        rows.push((name.into(), Some(member.offset), size, spelled, first, bits));
        if nameless {
            collect_rows(&member.ty, rows);
        }
    }
}

fn collect_expected(members: &Json, rows: &mut Vec<Row>) {
    for member in members.as_array().unwrap() {
        let name = member[0].as_str().unwrap().to_owned();
        let spelled = member[3].as_str().map(str::to_owned);
        let (first, bits) = (member[4].as_u64(), member[5].as_u64());
        let size = member[2].as_u64().unwrap();
        rows.push((name, member[1].as_u64(), size, spelled, first, bits));
        if member[6].is_array() {
            collect_expected(&member[6], rows);
        }
    }
}

pub(crate) fn enumeration(symbols: &Symbols, query: &str, want: &Json) -> Result<(), String> {
    let ty = symbols.type_named(query).ok_or("no such type")?;
    equal("size", &ty.size(), &want["size"].as_u64())?;
    let enumeration = ty.plain().enumeration().ok_or("no enumeration")?;
    let got: Vec<(&str, i128)> =
        enumeration.enumerators.iter().map(|e| (e.name.as_ref(), e.value)).collect();
    let want: Vec<(&str, i128)> = want["values"]
        .as_array()
        .unwrap()
        .iter()
        .map(|value| (value[0].as_str().unwrap(), value[1].as_i64().unwrap().into()))
        .collect();
    equal("enumerators", &got, &want)
}
