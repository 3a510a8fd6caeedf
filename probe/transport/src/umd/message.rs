//! The messages of the simulation server, as its schema has them: a length of four bytes, and one
//! table as a FlatBuffer. What was received is verified before it is read.

use flatbuffers::{
    FlatBufferBuilder, Follow, ForwardsUOffset, InvalidFlatbuffer, Table, TableVerifier, Vector,
    Verifiable, Verifier, root,
};
use std::io::{self, Read, Write};
use std::marker::PhantomData;

/// A longer message is invalid, in bytes.
pub(super) const MOST_BYTES: u32 = 64 << 20;
/// Bytes of a message beside those of memory, at most.
pub(super) const BESIDE_BYTES: u32 = 1 << 10;

/// What a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Read,
    Write,
    DeviceInfo,
    ClusterDescriptor,
    Shutdown,
}

impl Command {
    const ALL: [Self; 5] =
        [Self::Read, Self::Write, Self::DeviceInfo, Self::ClusterDescriptor, Self::Shutdown];
}

/// A request of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) command: Command,
    pub(super) x: u32,
    pub(super) y: u32,
    pub(super) address: u64,
    pub(super) size: u32,
    pub(super) data: Vec<u8>,
}

/// The answer to an access. Other than 0, the status is that of an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Response {
    pub(super) status: i32,
    pub(super) data: Vec<u8>,
}

/// What a server says of a device; it has no translated coordinates, and leaves out what is fused off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DeviceInfo {
    pub(super) status: i32,
    /// UMD's number of the architecture.
    pub(super) arch: i32,
    pub(super) soc_descriptor: String,
}

/// UMD's number of Wormhole.
pub(super) const WORMHOLE: i32 = 2;

/// A field of a table: its place in the vtable.
const fn field(number: u16) -> u16 {
    4 + 2 * number
}

type Visit<'v, 'o, 'b> = Result<TableVerifier<'v, 'o, 'b>, InvalidFlatbuffer>;

/// A table of the schema.
trait Schema {
    /// Verifies the types of its fields.
    fn visit<'v, 'o, 'b>(table: TableVerifier<'v, 'o, 'b>) -> Visit<'v, 'o, 'b>;
}

/// A table that was verified.
struct Verified<'a, S>(Table<'a>, PhantomData<S>);

impl<'a, S: 'a> Follow<'a> for Verified<'a, S> {
    type Inner = Self;

    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self {
        // SAFETY: the caller has verified that a table is there.
        Self(unsafe { Table::new(buf, loc) }, PhantomData)
    }
}

impl<S: Schema> Verifiable for Verified<'_, S> {
    fn run_verifier(v: &mut Verifier<'_, '_>, pos: usize) -> Result<(), InvalidFlatbuffer> {
        S::visit(v.visit_table(pos)?)?.finish();
        Ok(())
    }
}

type Bytes<'a> = ForwardsUOffset<Vector<'a, u8>>;
type Text<'a> = ForwardsUOffset<&'a str>;

struct RequestTable;

impl Schema for RequestTable {
    fn visit<'v, 'o, 'b>(table: TableVerifier<'v, 'o, 'b>) -> Visit<'v, 'o, 'b> {
        table
            .visit_field::<i8>("command", field(0), false)?
            .visit_field::<u32>("x", field(1), false)?
            .visit_field::<u32>("y", field(2), false)?
            .visit_field::<u64>("address", field(3), false)?
            .visit_field::<u32>("size", field(4), false)?
            .visit_field::<Bytes<'_>>("data", field(5), false)
    }
}

struct ResponseTable;

impl Schema for ResponseTable {
    fn visit<'v, 'o, 'b>(table: TableVerifier<'v, 'o, 'b>) -> Visit<'v, 'o, 'b> {
        let table = table.visit_field::<i32>("status", field(0), false)?;
        table.visit_field::<Bytes<'_>>("data", field(1), false)
    }
}

struct DeviceTable;

impl Schema for DeviceTable {
    fn visit<'v, 'o, 'b>(table: TableVerifier<'v, 'o, 'b>) -> Visit<'v, 'o, 'b> {
        table
            .visit_field::<i32>("status", field(0), false)?
            .visit_field::<i32>("arch", field(1), false)?
            .visit_field::<Text<'_>>("soc_descriptor_yaml", field(3), false)
    }
}

/// Verifies the types of a table's fields.
fn verified<'a, S: Schema + 'a>(bytes: &'a [u8]) -> io::Result<Table<'a>> {
    let invalid = "it sent what is no message of tt-umd";
    let table = root::<Verified<'_, S>>(bytes);
    table.map(|table| table.0).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, invalid))
}

impl Request {
    /// Returns a request for something else than memory.
    pub(super) fn of(command: Command) -> Self {
        Self { command, x: 0, y: 0, address: 0, size: 0, data: Vec::new() }
    }

    /// Decodes a request.
    ///
    /// # Errors
    /// `InvalidData` for anything else.
    pub(super) fn decode(bytes: &[u8]) -> io::Result<Self> {
        let table = verified::<RequestTable>(bytes)?;
        // SAFETY: the types of these fields were verified.
        let (command, [x, y, size], address, data) = unsafe {
            (
                table.get::<i8>(field(0), Some(0)),
                [1, 2, 4].map(|number| table.get::<u32>(field(number), Some(0)).unwrap_or(0)),
                table.get::<u64>(field(3), Some(0)),
                table.get::<Bytes<'_>>(field(5), None),
            )
        };
        let command = usize::try_from(command.unwrap_or(0)).ok();
        let command = command.and_then(|number| Command::ALL.get(number));
        let unknown = || io::Error::new(io::ErrorKind::InvalidData, "unknown command");
        Ok(Self {
            command: *command.ok_or_else(unknown)?,
            x,
            y,
            address: address.unwrap_or(0),
            size,
            data: data.map_or_else(Vec::new, |data| data.bytes().to_vec()),
        })
    }

    /// Returns it as a FlatBuffer.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = FlatBufferBuilder::new();
        let data = (!self.data.is_empty()).then(|| out.create_vector(&self.data));
        let table = out.start_table();
        out.push_slot::<u64>(field(3), self.address, 0);
        out.push_slot::<u32>(field(1), self.x, 0);
        out.push_slot::<u32>(field(2), self.y, 0);
        out.push_slot::<u32>(field(4), self.size, 0);
        if let Some(data) = data {
            out.push_slot_always(field(5), data);
        }
        out.push_slot::<i8>(field(0), self.command as i8, 0);
        let table = out.end_table(table);
        out.finish_minimal(table);
        out.finished_data().to_vec()
    }
}

impl Response {
    /// The answer to what cannot be done.
    pub(super) const FAILED: Self = Self { status: -1, data: Vec::new() };

    /// Decodes an answer.
    ///
    /// # Errors
    /// `InvalidData` for anything else.
    pub(super) fn decode(bytes: &[u8]) -> io::Result<Self> {
        let table = verified::<ResponseTable>(bytes)?;
        // SAFETY: the types of these fields were verified.
        let (status, data) = unsafe {
            (table.get::<i32>(field(0), Some(0)), table.get::<Bytes<'_>>(field(1), None))
        };
        let data = data.map_or_else(Vec::new, |data| data.bytes().to_vec());
        Ok(Self { status: status.unwrap_or(0), data })
    }

    /// Returns it as a FlatBuffer.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = FlatBufferBuilder::new();
        let data = out.create_vector(&self.data);
        let table = out.start_table();
        out.push_slot_always(field(1), data);
        out.push_slot::<i32>(field(0), self.status, 0);
        let table = out.end_table(table);
        out.finish_minimal(table);
        out.finished_data().to_vec()
    }
}

impl DeviceInfo {
    /// Decodes what a server says of a device.
    ///
    /// # Errors
    /// `InvalidData` for anything else.
    pub(super) fn decode(bytes: &[u8]) -> io::Result<Self> {
        let table = verified::<DeviceTable>(bytes)?;
        // SAFETY: the types of these fields were verified.
        let (status, arch, text) = unsafe {
            (
                table.get::<i32>(field(0), Some(0)),
                table.get::<i32>(field(1), Some(0)),
                table.get::<Text<'_>>(field(3), None),
            )
        };
        let soc_descriptor = text.map_or_else(String::new, str::to_owned);
        Ok(Self { status: status.unwrap_or(0), arch: arch.unwrap_or(0), soc_descriptor })
    }

    /// Returns it as a FlatBuffer.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = FlatBufferBuilder::new();
        let text = out.create_string(&self.soc_descriptor);
        let table = out.start_table();
        out.push_slot::<i32>(field(0), self.status, 0);
        out.push_slot::<i32>(field(1), self.arch, 0);
        out.push_slot_always(field(3), text);
        let table = out.end_table(table);
        out.finish_minimal(table);
        out.finished_data().to_vec()
    }
}

/// Returns the cluster descriptor that a server tells, as a FlatBuffer.
pub(super) fn cluster_descriptor(yaml: &str) -> Vec<u8> {
    let mut out = FlatBufferBuilder::new();
    let text = out.create_string(yaml);
    let table = out.start_table();
    out.push_slot::<i32>(field(0), 0, 0);
    out.push_slot_always(field(1), text);
    let table = out.end_table(table);
    out.finish_minimal(table);
    out.finished_data().to_vec()
}

/// Sends a message.
///
/// # Errors
/// The stream's error.
pub(super) fn send(stream: &mut impl Write, message: &[u8]) -> io::Result<()> {
    let len = u32::try_from(message.len()).ok().filter(|len| *len <= MOST_BYTES);
    let len = len.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "message too long"))?;
    stream.write_all(&len.to_le_bytes())?;
    stream.write_all(message)
}

/// Receives a message.
///
/// # Errors
/// The stream's error; `UnexpectedEof` if it ends; `InvalidData` for a message that is too long.
pub(super) fn receive(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut len = [0; 4];
    stream.read_exact(&mut len)?;
    let len = u32::from_le_bytes(len);
    if len > MOST_BYTES {
        let why = format!("a message has at most {MOST_BYTES} bytes, this one {len}");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    // The memory grows with what arrives.
    let mut message = Vec::new();
    match stream.take(len.into()).read_to_end(&mut message)? {
        read if read as u64 == u64::from(len) => Ok(message),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}
