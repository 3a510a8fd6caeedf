//! tt-metal's Inspector: what the host has queued, asked of the process over Cap'n Proto RPC
//! (tt-metal.md 8.3).
//!
//! Of the protocol two requests are sent at once: for the server's object, and a call on what the
//! first will return. Structures are read by the positions of their fields.

use capnp::message::{Builder, HeapAllocator, ReaderOptions};
use capnp::private::layout::{
    PointerBuilder, PointerReader, StructBuilder, StructReader, StructSize,
};
use capnp::traits::{FromPointerBuilder, FromPointerReader, IntoInternalStructReader};
use capnp::{Word, primitive_list, serialize, struct_list};
use layouts::ChipId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// The library reads lists of structures that it has a type of, and checks no member: any will do.
type Any = capnp::schema_capnp::node::Owned;

/// The interface `Inspector`.
const INTERFACE: u64 = 0x880f_ab3d_dc27_f484;
/// Its methods that are called: `getMeshWorkloadRuntimeEntries`, `getSockets` and `getGlobalSemaphores`.
/// The question of each is its place here, counted from 1.
const METHODS: [u16; 3] = [7, 11, 12];
/// The union members of a `Message` that are used.
const ABORT: u16 = 1;
const CALL: u16 = 2;
const RETURN: u16 = 3;
const BOOTSTRAP: u16 = 8;
/// The union members of a `Return`.
const RESULTS: u16 = 0;
const EXCEPTION: u16 = 1;
/// The questions: the server's object, and what its methods return.
const OBJECT: u32 = 0;
const ENTRIES: u32 = 1;
const SOCKETS: u32 = 2;
const SEMAPHORES: u32 = 3;
/// The trace of an operation that belongs to none.
const NO_TRACE: u32 = u32::MAX;
/// For all answers. tt-metal answers within milliseconds.
const PATIENCE: Duration = Duration::from_secs(1);
/// Messages before all answers, at most. The library bounds each at 64 MiB.
const MOST_MESSAGES: usize = 64;
/// Most global semaphores, and ends of sockets. Models have some hundred.
const MOST_OBJECTS: usize = 4096;
/// Most bytes of a name. Those of C++ types have some hundred.
const MOST_NAME_BYTES: usize = 16 << 10;
/// Most bytes of the parameters of an operation. tt-metal writes each tensor in some hundred.
const MOST_PARAMETER_BYTES: usize = 1 << 20;

/// An operation that the host has queued.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Operation {
    /// Its run: the launch messages of its cores have it as `host_assigned_id`.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// Its parameters, as tt-metal writes them.
    pub parameters: String,
    /// The trace that it was queued with, if one was.
    pub trace: Option<u32>,
}

/// A rectangle of compute tiles in tt-metal's logical coordinates, which count columns and rows that
/// work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogicalRange {
    /// The first column and row.
    pub start: [u64; 2],
    /// The last ones.
    pub end: [u64; 2],
}

/// A global semaphore: a word at the same address of L1 on many tiles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GlobalSemaphore {
    /// Its address.
    pub addr: u64,
    /// Its tiles.
    pub cores: Vec<LogicalRange>,
    /// The numbers that tt-metal gives to the chips that have it.
    pub chips: Vec<u32>,
    /// The value that the host wrote last; none if it wrote none.
    pub reset: Option<u32>,
}

/// A core at an end of a socket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SocketEnd {
    /// The number that tt-metal gives to the chip.
    pub chip: u32,
    /// Its tile, in logical coordinates.
    pub core: [u32; 2],
    /// Whether it sends.
    pub sends: bool,
    /// The address of its configuration in L1: `sender_socket_md`, or `receiver_socket_md`.
    pub config: u64,
    /// Bytes of the queue at a receiver.
    pub fifo_bytes: u64,
    /// From the configuration to the bytes that the first receiver has acknowledged, and from each of
    /// these words to the next, in bytes.
    pub acknowledged: [u32; 2],
    /// The tiles at the other end with their chips, in logical coordinates and by fabric.
    pub peers: Vec<[u32; 3]>,
}

/// What an Inspector tells.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// What the host has queued.
    pub operations: Vec<Operation>,
    /// The global semaphores that exist.
    pub semaphores: Vec<GlobalSemaphore>,
    /// The ends of sockets that the process owns.
    pub sockets: Vec<SocketEnd>,
}

impl Told {
    /// Returns it as a host sends it.
    pub fn sent(&self) -> Vec<u8> {
        // It has no map whose keys could not be written.
        serde_json::to_vec(self).unwrap_or_else(|_| Vec::new())
    }

    /// Returns what a host sent, with the chips by their numbers here; those without one are dropped.
    ///
    /// # Errors
    /// Bytes that are something else, or too much.
    pub fn received(bytes: &[u8], numbers: &[ChipId]) -> io::Result<Self> {
        let mut told: Self = serde_json::from_slice(bytes)?;
        let here = |chip: u32| numbers.get(chip as usize).map(|chip| u32::from(chip.0));
        told.semaphores.truncate(MOST_OBJECTS);
        told.sockets.truncate(MOST_OBJECTS);
        for semaphore in &mut told.semaphores {
            semaphore.chips = semaphore.chips.iter().filter_map(|chip| here(*chip)).collect();
        }
        told.sockets.retain_mut(|end| here(end.chip).map(|chip| end.chip = chip).is_some());
        Ok(told)
    }
}

/// Asks the Inspector at an address. One of a version that knows of no sockets or global semaphores
/// tells of none.
///
/// # Errors
/// When it does not answer within a second, or with something else.
pub fn ask(at: SocketAddr) -> io::Result<Told> {
    let until = Instant::now() + PATIENCE;
    let mut stream = Bounded { stream: TcpStream::connect_timeout(&at, PATIENCE)?, until };
    let mut requests = serialize::write_message_to_words(&bootstrap());
    for (question, method) in (ENTRIES..).zip(METHODS) {
        requests.extend(serialize::write_message_to_words(&call(question, method)));
    }
    stream.stream.set_write_timeout(Some(PATIENCE))?;
    stream.stream.write_all(&requests)?;
    let mut told = Told::default();
    let mut open = vec![ENTRIES, SOCKETS, SEMAPHORES];
    for _ in 0..MOST_MESSAGES {
        let message = serialize::read_message(&mut stream, ReaderOptions::new());
        let message = message.map_err(|error| stream.error(error))?;
        let of =
            message.get_root().and_then(|it| answer(it, &mut told)).map_err(io::Error::other)?;
        open.retain(|question| of != Some(*question));
        if open.is_empty() {
            return Ok(told);
        }
    }
    Err(io::Error::other("it sends other messages than the answer"))
}

/// A stream that is read until a moment.
struct Bounded {
    stream: TcpStream,
    until: Instant,
}

impl Bounded {
    /// The library drops the kind of an error.
    fn error(&self, error: capnp::Error) -> io::Error {
        if Instant::now() < self.until {
            return io::Error::other(error);
        }
        io::Error::new(io::ErrorKind::TimedOut, "it does not answer within a second")
    }
}

impl Read for Bounded {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let rest = self.until.saturating_duration_since(Instant::now());
        if rest.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(rest))?;
        self.stream.read(bytes)
    }
}

/// Takes a message, and returns which question it answers, if any.
fn answer(message: Fields<'_>, told: &mut Told) -> capnp::Result<Option<u32>> {
    match message.short(0) {
        RETURN => {}
        ABORT => return Err(message.fields(0)?.reason()),
        _ => return Ok(None),
    }
    let answer = message.fields(0)?;
    let question = answer.0.get_data_field::<u32>(0);
    match answer.short(3) {
        EXCEPTION if question > ENTRIES => {}
        EXCEPTION => return Err(answer.fields(0)?.reason()),
        RESULTS if question > OBJECT => {
            let results = answer.fields(0)?.fields(0)?;
            match question {
                ENTRIES => told.operations = results.list(0, operation)?,
                SOCKETS => {
                    told.sockets = results.list(0, socket)?.concat();
                    told.sockets.truncate(MOST_OBJECTS);
                }
                SEMAPHORES => {
                    told.semaphores = results.list(0, semaphore)?;
                    told.semaphores.truncate(MOST_OBJECTS);
                }
                _ => {}
            }
        }
        _ => return Ok(None),
    }
    Ok(Some(question))
}

/// `GlobalSemaphoreRecord`.
fn semaphore(record: Fields<'_>) -> capnp::Result<GlobalSemaphore> {
    let chips = record.0.get_pointer_field(1);
    let chips = primitive_list::Reader::<u32>::get_from_pointer(&chips, None)?;
    Ok(GlobalSemaphore {
        addr: record.0.get_data_field(0),
        cores: record.list(0, |range| {
            let corner = |pointer| {
                let corner = range.fields(pointer)?.0;
                Ok::<_, capnp::Error>([corner.get_data_field(0), corner.get_data_field(1)])
            };
            Ok(LogicalRange { start: corner(0)?, end: corner(1)? })
        })?,
        chips: chips.iter().collect(),
        reset: record.0.get_data_field::<i64>(1).try_into().ok(),
    })
}

/// `MeshSocketRecord`: an end for each core.
fn socket(record: Fields<'_>) -> capnp::Result<Vec<SocketEnd>> {
    let core = |core: Fields<'_>| {
        let word = |at| core.0.get_data_field::<u32>(at);
        Ok([word(0), word(1), word(2)])
    };
    record.list(0, |local| {
        let [_, x, y] = core(local.fields(0)?)?;
        Ok(SocketEnd {
            chip: local.0.get_data_field(0),
            core: [x, y],
            sends: record.0.get_bool_field(0),
            config: record.0.get_data_field(1),
            fifo_bytes: record.0.get_data_field(3),
            acknowledged: [record.0.get_data_field(1), record.0.get_data_field(8)],
            peers: local.list(1, core)?,
        })
    })
}

/// `MeshWorkloadRuntimeEntry`.
fn operation(entry: Fields<'_>) -> capnp::Result<Operation> {
    let trace = entry.0.get_data_field_mask::<u32>(4, NO_TRACE);
    Ok(Operation {
        id: entry.0.get_data_field(1),
        name: entry.text_within(0, MOST_NAME_BYTES)?,
        parameters: entry.text_within(1, MOST_PARAMETER_BYTES)?,
        trace: (trace != NO_TRACE).then_some(trace),
    })
}

/// Asks for the server's object.
fn bootstrap() -> Builder<HeapAllocator> {
    let mut builder = Builder::new_default();
    let message = builder.init_root::<Parts<'_, 1, 1>>();
    message.0.set_data_field::<u16>(0, BOOTSTRAP);
    let question = message.part::<1, 1>(0);
    question.0.set_data_field::<u32>(0, OBJECT);
    builder
}

/// Calls a method of what `bootstrap` will return.
fn call(question: u32, method: u16) -> Builder<HeapAllocator> {
    let mut builder = Builder::new_default();
    let message = builder.init_root::<Parts<'_, 1, 1>>();
    message.0.set_data_field::<u16>(0, CALL);
    let mut call: Parts<'_, 3, 3> = message.part(0);
    call.0.set_data_field::<u32>(0, question);
    call.0.set_data_field::<u16>(2, method);
    call.0.set_data_field::<u64>(1, INTERFACE);
    // `MessageTarget`: the answer to a question.
    let target = call.reborrow().part::<1, 1>(0);
    target.0.set_data_field::<u16>(2, 1);
    let answer = target.part::<1, 1>(0);
    answer.0.set_data_field::<u32>(0, OBJECT);
    // `Payload`: no parameters.
    call.part::<0, 2>(1).part::<0, 0>(0);
    builder
}

/// A structure that is read.
#[derive(Clone, Copy)]
struct Fields<'a>(StructReader<'a>);

impl Fields<'_> {
    /// Returns 16 bits by their position among such.
    fn short(&self, position: usize) -> u16 {
        self.0.get_data_field(position)
    }

    fn fields(&self, pointer: usize) -> capnp::Result<Self> {
        self.0.get_pointer_field(pointer).get_struct(None).map(Fields)
    }

    /// Returns what the members of a list are.
    fn list<T>(
        &self,
        pointer: usize,
        of: impl Fn(Fields<'_>) -> capnp::Result<T>,
    ) -> capnp::Result<Vec<T>> {
        let list = self.0.get_pointer_field(pointer);
        let list = struct_list::Reader::<Any>::get_from_pointer(&list, None)?;
        list.iter().map(|it| of(Fields(it.into_internal_struct_reader()))).collect()
    }

    fn text_within(&self, pointer: usize, most_bytes: usize) -> capnp::Result<String> {
        let text = self.0.get_pointer_field(pointer).get_text(None)?;
        if text.len() > most_bytes {
            let bytes = text.len();
            return Err(capnp::Error::failed(format!("a text has {bytes} bytes")));
        }
        Ok(String::from_utf8_lossy(text.as_bytes()).into_owned())
    }

    /// Returns the error that an `Exception` is.
    fn reason(&self) -> capnp::Error {
        self.text_within(0, MOST_NAME_BYTES).map_or_else(|error| error, capnp::Error::failed)
    }
}

impl<'a> FromPointerReader<'a> for Fields<'a> {
    fn get_from_pointer(
        reader: &PointerReader<'a>,
        default: Option<&'a [Word]>,
    ) -> capnp::Result<Self> {
        reader.get_struct(default).map(Fields)
    }
}

/// A structure of so many words of data and pointers that is built.
struct Parts<'a, const DATA: u16, const POINTERS: u16>(StructBuilder<'a>);

impl<'a, const DATA: u16, const POINTERS: u16> Parts<'a, DATA, POINTERS> {
    fn reborrow(&mut self) -> Parts<'_, DATA, POINTERS> {
        Parts(self.0.reborrow())
    }

    fn part<const D: u16, const P: u16>(self, pointer: usize) -> Parts<'a, D, P> {
        Parts::init_pointer(self.0.get_pointer_field(pointer), 0)
    }
}

impl<'a, const DATA: u16, const POINTERS: u16> FromPointerBuilder<'a>
    for Parts<'a, DATA, POINTERS>
{
    fn init_pointer(builder: PointerBuilder<'a>, _: u32) -> Self {
        Self(builder.init_struct(StructSize { data: DATA, pointers: POINTERS }))
    }

    fn get_from_pointer(
        builder: PointerBuilder<'a>,
        default: Option<&'a [Word]>,
    ) -> capnp::Result<Self> {
        builder.get_struct(StructSize { data: DATA, pointers: POINTERS }, default).map(Self)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::net::TcpListener;

    /// A pointer to a structure that begins so many words behind it.
    fn structure(words: u64, data: u64, pointers: u64) -> u64 {
        words << 2 | data << 32 | pointers << 48
    }

    /// A message of one segment.
    fn message(words: &[u64]) -> Vec<u8> {
        let head = (words.len() as u64) << 32;
        [&[head], words].concat().iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// An answer to a question with a list of `count` entries, of which one is there.
    fn entries(question: u64, count: u64) -> Vec<u8> {
        let text = |behind: u64, length: u64| behind << 2 | 1 | 2 << 32 | length << 35;
        message(&[
            structure(0, 1, 1),
            RETURN.into(),
            structure(0, 2, 1),
            question,
            0,
            structure(0, 0, 2),
            structure(1, 0, 1),
            0,
            // A list of structures, its words, and their form.
            1 | 7 << 32 | (5 * count) << 35,
            count << 2 | 3 << 32 | 2 << 48,
            9,
            246_957,
            0,
            text(1, 4),
            text(1, 3),
            u64::from_le_bytes(*b"Sum\0\0\0\0\0"),
            u64::from_le_bytes(*b"x7\0\0\0\0\0\0"),
        ])
    }

    /// An answer of one who does not know the method.
    fn unknown(question: u64) -> Vec<u8> {
        let exception = question | u64::from(EXCEPTION) << 48;
        message(&[structure(0, 1, 1), RETURN.into(), structure(0, 2, 1), exception, 0, 0])
    }

    /// An answer with a list of one structure, whose words follow.
    fn list_of_one(question: u32, data: u64, pointers: u64, words: &[u64]) -> Vec<u8> {
        let head = [
            structure(0, 1, 1),
            RETURN.into(),
            structure(0, 2, 1),
            question.into(),
            0,
            structure(0, 0, 2),
            structure(1, 0, 1),
            0,
            1 | 7 << 32 | (data + pointers) << 35,
            1 << 2 | data << 32 | pointers << 48,
        ];
        message(&[&head, words].concat())
    }

    /// What is made of a server's bytes; it keeps the connection until the client leaves.
    fn asked(answer: Vec<u8>) -> io::Result<Told> {
        asked_of(move |client| client.write_all(&answer).unwrap())
    }

    fn asked_of(serve: impl FnOnce(&mut TcpStream) + Send + 'static) -> io::Result<Told> {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = server.local_addr().unwrap();
        let serving = std::thread::spawn(move || {
            let (mut client, _) = server.accept().unwrap();
            serve(&mut client);
            let mut requests = Vec::new();
            client.read_to_end(&mut requests).unwrap_or(0);
            requests
        });
        let told = ask(at);
        let requests = serving.join().unwrap();
        let sizes: Vec<u32> = requests.chunks(4).skip(1).step_by(2).take(1).map(number).collect();
        assert_eq!(sizes, [5], "the words of the first request");
        told
    }

    fn number(bytes: &[u8]) -> u32 {
        u32::from_le_bytes(bytes.try_into().unwrap())
    }

    #[test]
    fn the_answers_to_the_calls_have_operations_semaphores_and_sockets() {
        let operation = Operation {
            id: 246_957,
            name: "Sum".to_owned(),
            parameters: "x7".to_owned(),
            trace: None,
        };
        let object = message(&[structure(0, 1, 1), RETURN.into(), structure(0, 2, 1), 0, 0, 0]);
        let told = Told { operations: vec![operation], ..Told::default() };
        let old = [object.clone(), entries(1, 1), unknown(2), unknown(3)].concat();
        assert_eq!(asked(old).unwrap(), told);

        let ranges = [1 << 2 | 2 << 48, structure(1, 2, 0), structure(2, 2, 0), 1, 2, 7, 3];
        let chips = [1 << 32];
        let record = [0x1_2340, 7, 1 << 2 | 1 | 7 << 32 | 2 << 35, 7 << 2 | 1 | 4 << 32 | 2 << 35];
        let semaphores = list_of_one(SEMAPHORES, 2, 2, &[&record[..], &ranges, &chips].concat());
        let record = [1 | 64 << 32, 0x2_0000, 0x3_0000, 4096, 16, 0, 1 | 7 << 32 | 3 << 35];
        let local =
            [1 << 2 | 1 << 32 | 2 << 48, 1, structure(1, 2, 0), 2 << 2 | 1 | 7 << 32 | 2 << 35];
        let cores = [5 | 3 << 32, 4, 1 << 2 | 2 << 32, 6 | 1 << 32, 2];
        let sockets = list_of_one(SOCKETS, 6, 1, &[&record[..], &local, &cores].concat());
        let told = Told {
            semaphores: vec![GlobalSemaphore {
                addr: 0x1_2340,
                cores: vec![LogicalRange { start: [1, 2], end: [7, 3] }],
                chips: vec![0, 1],
                reset: Some(7),
            }],
            sockets: vec![SocketEnd {
                chip: 1,
                core: [3, 4],
                sends: true,
                config: 0x2_0000,
                fifo_bytes: 4096,
                acknowledged: [64, 16],
                peers: vec![[6, 1, 2]],
            }],
            ..told
        };
        assert_eq!(asked([object, entries(1, 1), sockets, semaphores].concat()).unwrap(), told);
        // From a host whose chips 0 and 1 are 7 and 5 here.
        let mut here = Told::received(&told.sent(), &[ChipId(7), ChipId(5)]).unwrap();
        assert_eq!((here.semaphores[0].chips.clone(), here.sockets[0].chip), (vec![7, 5], 5));
        here.semaphores[0].chips = vec![0, 1];
        here.sockets[0].chip = 1;
        assert_eq!(here, told);
        assert_eq!(Told::received(&told.sent(), &[ChipId(7)]).unwrap().sockets, []);
        for wrong in [&b""[..], b"{}", b"\xff\x00", b"[1,2]"] {
            assert!(Told::received(wrong, &[]).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn lies_silence_and_noise_are_errors() {
        let refused = |answer: Vec<u8>| asked(answer).unwrap_err().to_string();
        assert_eq!(refused(Vec::new()), "it does not answer within a second");
        assert_eq!(refused(entries(0, 1)), "it does not answer within a second");
        // More entries than bytes, and a message of 32 GiB.
        assert!(refused(entries(1, 1 << 24)).contains("out-of-bounds"));
        // Each byte comes in time, and the last one never.
        let slow = asked_of(|client| {
            for byte in entries(1, 1).into_iter().take(60) {
                let sent = client.write_all(&[byte]);
                std::thread::sleep(PATIENCE / 20);
                if sent.is_err() {
                    break;
                }
            }
        });
        assert_eq!(slow.unwrap_err().to_string(), "it does not answer within a second");
        let huge = [0, u32::MAX].iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
        assert!(refused(huge).contains("too large"));
        assert!(!refused(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()).is_empty());
        let abort = message(&[structure(0, 1, 1), ABORT.into(), structure(0, 1, 1), 0, 0]);
        assert!(!refused(abort).contains("within a second"));
        let other = message(&[structure(0, 1, 1), 5, 0]);
        assert!(refused(other.repeat(MOST_MESSAGES)).contains("other messages"));
    }

    /// Whatever a bit of an answer says, it is an answer, none, or an error.
    #[test]
    fn each_bit_of_an_answer_may_lie() {
        let told = |bytes: &[u8]| {
            let message = serialize::read_message(bytes, ReaderOptions::new())?;
            let mut told = Told::default();
            let question = message.get_root().and_then(|it| answer(it, &mut told))?;
            Ok::<_, capnp::Error>((question, told))
        };
        let right = entries(1, 1);
        let operations = told(&right).unwrap();
        let mut wrong = 0;
        for bit in 0..8 * right.len() {
            let mut lie = right.clone();
            lie[bit / 8] ^= 1 << (bit % 8);
            wrong += usize::from(told(&lie).is_ok_and(|told| told == operations));
        }
        // Those that nobody reads: padding, and parts that other fields do not need.
        let all = 8 * right.len();
        assert!(wrong < all / 2, "{wrong} of {all} bits do not matter");
    }

    #[test]
    fn a_text_without_measure_is_refused() {
        let told = |bytes: u64| {
            let mut message_words = vec![
                structure(0, 1, 1),
                RETURN.into(),
                structure(0, 2, 1),
                1,
                0,
                structure(0, 0, 2),
                structure(1, 0, 1),
                0,
                1 | 7 << 32 | 5 << 35,
                1 << 2 | 3 << 32 | 2 << 48,
                9,
                1,
                0,
                1 << 2 | 1 | 2 << 32 | bytes << 35,
                0,
            ];
            let text = vec![u64::from_le_bytes(*b"aaaaaaa\0"); (bytes / 8) as usize];
            message_words.extend(text);
            let bytes = message(&message_words);
            let message = serialize::read_message(&bytes[..], ReaderOptions::new()).unwrap();
            let mut told = Told::default();
            let answered = message.get_root().and_then(|it| answer(it, &mut told));
            answered.map(|_| told.operations.len())
        };
        assert_eq!(told(16).unwrap(), 1);
        let error = told(MOST_NAME_BYTES as u64 + 8).unwrap_err().to_string();
        assert!(error.contains("a text has 16391 bytes"), "{error}");
    }
}
