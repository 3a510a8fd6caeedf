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
use capnp::{Word, serialize, struct_list};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// The library reads lists of structures that it has a type of, and checks no member: any will do.
type Any = capnp::schema_capnp::node::Owned;

/// The interface `Inspector`, and its method `getMeshWorkloadRuntimeEntries`.
const INTERFACE: u64 = 0x880f_ab3d_dc27_f484;
const RUNTIME_ENTRIES: u16 = 7;
/// The union members of a `Message` that are used.
const ABORT: u16 = 1;
const CALL: u16 = 2;
const RETURN: u16 = 3;
const BOOTSTRAP: u16 = 8;
/// The union members of a `Return`.
const RESULTS: u16 = 0;
const EXCEPTION: u16 = 1;
/// The questions.
const OBJECT: u32 = 0;
const ENTRIES: u32 = 1;
/// The trace of an operation that belongs to none.
const NO_TRACE: u32 = u32::MAX;
/// For both answers. tt-metal answers within milliseconds.
const PATIENCE: Duration = Duration::from_secs(1);
/// Messages before both answers, at most. The library bounds each at 64 MiB.
const MOST_MESSAGES: usize = 64;
/// Most bytes of a name. Those of C++ types have some hundred.
const MOST_NAME_BYTES: usize = 16 << 10;
/// Most bytes of the parameters of an operation. tt-metal writes each tensor in some hundred.
const MOST_PARAMETER_BYTES: usize = 1 << 20;

/// An operation that the host has queued.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
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

/// Returns the operations that the Inspector at an address tells.
///
/// # Errors
/// When it does not answer within a second, or with something else.
pub fn operations(at: SocketAddr) -> io::Result<Vec<Operation>> {
    let until = Instant::now() + PATIENCE;
    let mut stream = Bounded { stream: TcpStream::connect_timeout(&at, PATIENCE)?, until };
    let mut requests = serialize::write_message_to_words(&bootstrap());
    requests.extend(serialize::write_message_to_words(&call()));
    stream.stream.set_write_timeout(Some(PATIENCE))?;
    stream.stream.write_all(&requests)?;
    for _ in 0..MOST_MESSAGES {
        let message = serialize::read_message(&mut stream, ReaderOptions::new());
        let message = message.map_err(|error| stream.error(error))?;
        let answer = message.get_root().and_then(answer).map_err(io::Error::other)?;
        if let Some(operations) = answer {
            return Ok(operations);
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

/// Takes a message; none if it is not the answer to the call.
fn answer(message: Fields<'_>) -> capnp::Result<Option<Vec<Operation>>> {
    match message.short(0) {
        RETURN => {}
        ABORT => return Err(message.fields(0)?.reason()),
        _ => return Ok(None),
    }
    let answer = message.fields(0)?;
    match answer.short(3) {
        EXCEPTION => Err(answer.fields(0)?.reason()),
        RESULTS if answer.0.get_data_field::<u32>(0) == ENTRIES => {
            let results = answer.fields(0)?.fields(0)?;
            let list = results.0.get_pointer_field(0);
            let entries = struct_list::Reader::<Any>::get_from_pointer(&list, None)?;
            let entries = entries.iter().map(|entry| Fields(entry.into_internal_struct_reader()));
            entries.map(operation).collect::<capnp::Result<_>>().map(Some)
        }
        _ => Ok(None),
    }
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

/// Calls the method of what `bootstrap` will return.
fn call() -> Builder<HeapAllocator> {
    let mut builder = Builder::new_default();
    let message = builder.init_root::<Parts<'_, 1, 1>>();
    message.0.set_data_field::<u16>(0, CALL);
    let mut call: Parts<'_, 3, 3> = message.part(0);
    call.0.set_data_field::<u32>(0, ENTRIES);
    call.0.set_data_field::<u16>(2, RUNTIME_ENTRIES);
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

    /// What is made of a server's bytes; it keeps the connection until the client leaves.
    fn asked(answer: Vec<u8>) -> io::Result<Vec<Operation>> {
        asked_of(move |client| client.write_all(&answer).unwrap())
    }

    fn asked_of(serve: impl FnOnce(&mut TcpStream) + Send + 'static) -> io::Result<Vec<Operation>> {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = server.local_addr().unwrap();
        let serving = std::thread::spawn(move || {
            let (mut client, _) = server.accept().unwrap();
            serve(&mut client);
            let mut requests = Vec::new();
            client.read_to_end(&mut requests).unwrap_or(0);
            requests
        });
        let operations = operations(at);
        let requests = serving.join().unwrap();
        let sizes: Vec<u32> = requests.chunks(4).skip(1).step_by(2).take(1).map(number).collect();
        assert_eq!(sizes, [5], "the words of the first request");
        operations
    }

    fn number(bytes: &[u8]) -> u32 {
        u32::from_le_bytes(bytes.try_into().unwrap())
    }

    #[test]
    fn the_answer_to_the_call_has_the_operations() {
        let operation = Operation {
            id: 246_957,
            name: "Sum".to_owned(),
            parameters: "x7".to_owned(),
            trace: None,
        };
        let object = message(&[structure(0, 1, 1), RETURN.into(), structure(0, 2, 1), 0, 0, 0]);
        assert_eq!(asked([object, entries(1, 1)].concat()).unwrap(), [operation]);
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
            message.get_root().and_then(answer)
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
            message.get_root().and_then(answer).map(|told| told.unwrap().len())
        };
        assert_eq!(told(16).unwrap(), 1);
        let error = told(MOST_NAME_BYTES as u64 + 8).unwrap_err().to_string();
        assert!(error.contains("a text has 16391 bytes"), "{error}");
    }
}
