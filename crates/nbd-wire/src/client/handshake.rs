//! The client's side of the handshake: protocol document, "Newstyle negotiation" and "Client-side requirements".
//!
//! The client negotiates one option at a time: TLS, structured replies, `base:allocation`, and the export by
//! `NBD_OPT_GO` or, with old servers, `NBD_OPT_EXPORT_NAME`.

use super::refusal::{ClientError, ServerRefusal};
use crate::bytes::{ByteReader, append_message, string};
use crate::number::{self, ALLOCATION, err, info, opt, rep};
use crate::{ExportBlockSizes, TransmissionFlags};

/// Longest reply to an option, in bytes: two strings of maximum length and their headers.
const MAX_REPLY: usize = 2 * number::MAX_STRING + 64;
/// Maximum total size of listed names and descriptions, in bytes.
const MAX_LIST: usize = 16 << 20;
const MAX_REPLIES: usize = 1 << 16;

/// The client's handshake on one connection.
#[derive(Clone, Debug)]
pub struct ClientHandshake {
    wishes: ClientOptions,
    lists: bool,
    phase: ClientPhase,
    no_zeroes: bool,
    structured: bool,
    allocation: Option<u32>,
    replies: usize,
    list: Vec<ListedExport>,
    list_bytes: usize,
    size_and_flags: Option<(u64, TransmissionFlags)>,
    block: Option<ExportBlockSizes>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClientPhase {
    Greeting,
    /// TLS has started; nothing has been sent through it.
    Encrypted,
    /// Waits for replies to this option.
    Option(u32),
    /// Waits for the reply to `NBD_OPT_EXPORT_NAME`.
    ExportName,
    Ended,
}

struct OptionReplyHeader<'a> {
    kind: u32,
    data: &'a [u8],
}

type ClientResult<T> = Result<T, ClientError>;

impl ClientHandshake {
    /// Starts the handshake of a connection for I/O.
    #[must_use]
    pub fn new(wishes: ClientOptions) -> Self {
        Self {
            wishes,
            lists: false,
            phase: ClientPhase::Greeting,
            no_zeroes: false,
            structured: false,
            allocation: None,
            replies: 0,
            list: Vec::new(),
            list_bytes: 0,
            size_and_flags: None,
            block: None,
        }
    }

    /// Starts the handshake of a connection that only lists the exports.
    #[must_use]
    pub fn list(tls: bool) -> Self {
        Self { lists: true, ..Self::new(ClientOptions { tls, ..ClientOptions::default() }) }
    }

    /// Processes the server's bytes and appends the response. Returns the number of bytes consumed; the caller presents
    /// the rest again with the bytes that follow.
    ///
    /// # Errors
    /// When the server refuses a required option or breaks the protocol. The caller sends the response before it closes
    /// the connection.
    pub fn advance(&mut self, input: &[u8], out: &mut Vec<u8>) -> ClientResult<(usize, ClientStep)> {
        let mut consumed = 0;
        loop {
            let (bytes, step) = match self.process(&input[consumed..], out) {
                Ok(Some(processed)) => processed,
                Ok(None) => return Ok((consumed, ClientStep::More)),
                Err(error) => {
                    self.abort(&error, out);
                    return Err(error);
                }
            };
            consumed += bytes;
            if step != ClientStep::More {
                return Ok((consumed, step));
            }
        }
    }

    /// Processes one message; `None` if it is incomplete.
    fn process(&mut self, input: &[u8], out: &mut Vec<u8>) -> ClientResult<Option<(usize, ClientStep)>> {
        match self.phase {
            ClientPhase::Greeting => self.greeting(input, out),
            ClientPhase::Encrypted => {
                self.send_first_option(out);
                Ok(Some((0, ClientStep::More)))
            }
            ClientPhase::Option(option) => self.reply(option, input, out),
            ClientPhase::ExportName => self.export_name(input),
            ClientPhase::Ended => Err(ClientError::Broken("it continued after the end of the handshake")),
        }
    }

    fn greeting(&mut self, input: &[u8], out: &mut Vec<u8>) -> ClientResult<Option<(usize, ClientStep)>> {
        let mut reader = ByteReader(input);
        let Some(magic) = reader.u64() else { return Ok(None) };
        if magic != number::GREETING {
            return Err(ClientError::NotAServer(magic));
        }
        let Some(style) = reader.u64() else { return Ok(None) };
        match style {
            number::OPTION => {}
            number::OLDSTYLE => return Err(ClientError::Oldstyle),
            _ => {
                return Err(ClientError::Broken(
                    "NBDMAGIC is followed by neither IHAVEOPT nor the oldstyle magic number",
                ));
            }
        }
        let Some(flags) = reader.u16() else { return Ok(None) };
        self.send_client_flags(flags, out)?;
        Ok(Some((18, ClientStep::More)))
    }

    /// Answers the handshake flags and sends the first option.
    fn send_client_flags(&mut self, flags: u16, out: &mut Vec<u8>) -> ClientResult<()> {
        self.no_zeroes = flags & number::NO_ZEROES != 0;
        let fixed = flags & number::FIXED_NEWSTYLE != 0;
        if !fixed && (self.wishes.tls || self.lists) {
            return Err(ClientError::NotFixed);
        }
        let flags = flags & (number::FIXED_NEWSTYLE | number::NO_ZEROES);
        out.extend_from_slice(&u32::from(flags).to_be_bytes());
        match fixed {
            false => self.send_export_name(out),
            true if self.wishes.tls => self.send_option(opt::STARTTLS, out),
            true => self.send_first_option(out),
        }
        Ok(())
    }

    fn send_first_option(&mut self, out: &mut Vec<u8>) {
        let option = if self.lists {
            opt::LIST
        } else if self.wishes.structured {
            opt::STRUCTURED_REPLY
        } else {
            opt::GO
        };
        self.send_option(option, out);
    }

    fn send_option(&mut self, option: u32, out: &mut Vec<u8>) {
        self.phase = ClientPhase::Option(option);
        self.replies = 0;
        match option {
            opt::GO => send_go(out, &self.wishes),
            opt::SET_META_CONTEXT => send_allocation(out, &self.wishes),
            _ => send_option(out, option, &[]),
        }
    }

    fn send_export_name(&mut self, out: &mut Vec<u8>) {
        self.phase = ClientPhase::ExportName;
        send_option(out, opt::EXPORT_NAME, &[self.wishes.export.as_bytes()]);
    }

    /// Processes the reply to `NBD_OPT_EXPORT_NAME`; a server that refuses closes the connection.
    fn export_name(&mut self, input: &[u8]) -> ClientResult<Option<(usize, ClientStep)>> {
        let length = 10 + if self.no_zeroes { 0 } else { number::ZEROES };
        if input.len() < length {
            return Ok(None);
        }
        let mut reader = ByteReader(input);
        self.size_and_flags = reader.u64().zip(reader.u16().map(TransmissionFlags::from_bits));
        self.block = None;
        Ok(Some((length, self.ready()?)))
    }

    /// Processes one reply to the last option.
    fn reply(&mut self, option: u32, input: &[u8], out: &mut Vec<u8>) -> ClientResult<Option<(usize, ClientStep)>> {
        let Some((length, answer)) = OptionReplyHeader::read(option, input)? else { return Ok(None) };
        self.replies += 1;
        if self.replies > MAX_REPLIES {
            return Err(ClientError::Broken("too many replies to one option"));
        }
        let step = match answer.kind {
            rep::ACK if !answer.data.is_empty() => return Err(ClientError::Broken("NBD_REP_ACK with data")),
            rep::ACK => self.granted(option, out)?,
            kind if kind & rep::ERROR != 0 => self.refused(option, &answer, out)?,
            kind => {
                self.intermediate(option, kind, answer.data)?;
                ClientStep::More
            }
        };
        Ok(Some((length, step)))
    }

    /// Processes an intermediate reply to an option.
    fn intermediate(&mut self, option: u32, kind: u32, data: &[u8]) -> ClientResult<()> {
        match (option, kind) {
            (opt::LIST, rep::SERVER) => self.list_entry(data),
            (opt::GO, rep::INFO) => self.information(data),
            (opt::SET_META_CONTEXT, rep::META_CONTEXT) => self.metadata_context(data),
            _ => Err(ClientError::Broken("unexpected reply type for the option")),
        }
    }

    fn list_entry(&mut self, data: &[u8]) -> ClientResult<()> {
        let mut reader = ByteReader(data);
        let name = reader.counted().and_then(string).ok_or(ClientError::Broken("invalid export name"))?;
        self.list_bytes += data.len();
        if self.list_bytes > MAX_LIST {
            return Err(ClientError::Broken("the list of exports is longer than 16 MiB"));
        }
        self.list.push(ListedExport { name: name.to_owned(), description: message(reader.0) });
        Ok(())
    }

    fn information(&mut self, data: &[u8]) -> ClientResult<()> {
        let mut reader = ByteReader(data);
        match reader.u16().ok_or(ClientError::Broken("NBD_REP_INFO without an information type"))? {
            info::EXPORT if data.len() == 12 => {
                self.size_and_flags = reader.u64().zip(reader.u16().map(TransmissionFlags::from_bits));
            }
            info::BLOCK_SIZE if data.len() == 14 => self.block = Some(block_sizes(&mut reader)?),
            info::EXPORT | info::BLOCK_SIZE => return Err(ClientError::Broken("NBD_REP_INFO with a wrong length")),
            _ => {}
        }
        Ok(())
    }

    fn metadata_context(&mut self, data: &[u8]) -> ClientResult<()> {
        let mut reader = ByteReader(data);
        let id = reader.u32().ok_or(ClientError::Broken("a metadata context has no ID"))?;
        if reader.0 == ALLOCATION.as_bytes() {
            self.allocation = Some(id);
        }
        Ok(())
    }

    /// Continues after the server has granted an option.
    fn granted(&mut self, option: u32, out: &mut Vec<u8>) -> ClientResult<ClientStep> {
        match option {
            opt::STARTTLS => {
                self.phase = ClientPhase::Encrypted;
                return Ok(ClientStep::StartTls);
            }
            opt::STRUCTURED_REPLY => {
                self.structured = true;
                self.send_option(if self.wishes.allocation { opt::SET_META_CONTEXT } else { opt::GO }, out);
            }
            opt::SET_META_CONTEXT => self.send_option(opt::GO, out),
            opt::LIST => {
                send_option(out, opt::ABORT, &[]);
                self.phase = ClientPhase::Ended;
                return Ok(ClientStep::Listed(std::mem::take(&mut self.list)));
            }
            _ => return self.ready(),
        }
        Ok(ClientStep::More)
    }

    /// Continues without a refused option if it is not required.
    fn refused(&mut self, option: u32, answer: &OptionReplyHeader<'_>, out: &mut Vec<u8>) -> ClientResult<ClientStep> {
        let vital = matches!(answer.kind, err::SHUTDOWN | err::TLS_REQD);
        match option {
            opt::STRUCTURED_REPLY if !vital => self.send_option(opt::GO, out),
            opt::SET_META_CONTEXT if !vital => {
                self.allocation = None;
                self.send_option(opt::GO, out);
            }
            opt::GO if answer.kind == err::UNSUP => self.send_export_name(out),
            _ => {
                let why = ServerRefusal::from_number(answer.kind);
                return Err(ClientError::Refused { option, why, words: message(answer.data) });
            }
        }
        Ok(ClientStep::More)
    }

    fn ready(&mut self) -> ClientResult<ClientStep> {
        let (size, flags) = self.size_and_flags.ok_or(ClientError::Broken("it granted an export without its size"))?;
        if i64::try_from(size).is_err() {
            return Err(ClientError::Broken("the export is larger than 2^63 - 1 bytes"));
        }
        self.phase = ClientPhase::Ended;
        Ok(ClientStep::Ready(Served {
            size,
            flags,
            block: self.block.unwrap_or(ExportBlockSizes::INTEROPERABLE),
            structured: self.structured,
            allocation: self.allocation,
        }))
    }

    /// Terminates the session with `NBD_OPT_ABORT` if the server supports it ("Termination of the session").
    fn abort(&mut self, error: &ClientError, out: &mut Vec<u8>) {
        if matches!(error, ClientError::Refused { .. }) {
            send_option(out, opt::ABORT, &[]);
        }
        self.phase = ClientPhase::Ended;
    }
}

impl<'a> OptionReplyHeader<'a> {
    /// Parses the reply at the start of `input` and returns its length; `None` while it is incomplete.
    fn read(option: u32, input: &'a [u8]) -> ClientResult<Option<(usize, Self)>> {
        let mut reader = ByteReader(input);
        let Some(magic) = reader.u64() else { return Ok(None) };
        if magic != number::OPTION_REPLY {
            return Err(ClientError::Broken("wrong magic number of an option reply"));
        }
        let Some(((to, kind), length)) = reader.u32().zip(reader.u32()).zip(reader.u32()) else { return Ok(None) };
        if to != option {
            return Err(ClientError::Broken("it replied to an option that was not requested"));
        }
        if length as usize > MAX_REPLY {
            return Err(ClientError::Broken("an option reply is too long"));
        }
        let data = reader.take(length as usize);
        Ok(data.map(|data| (number::OPTION_REPLY_HEADER + data.len(), Self { kind, data })))
    }
}

fn block_sizes(reader: &mut ByteReader<'_>) -> ClientResult<ExportBlockSizes> {
    let sizes = reader.u32().zip(reader.u32()).zip(reader.u32());
    let block = sizes.map(|((minimum, preferred), maximum)| ExportBlockSizes { minimum, preferred, maximum });
    block.filter(|block| block.is_valid()).ok_or(ClientError::Broken("its block sizes are inconsistent"))
}

/// Decodes a server's message, without control characters.
fn message(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().filter(|letter| !letter.is_control()).collect()
}

fn send_option(out: &mut Vec<u8>, option: u32, parts: &[&[u8]]) {
    append_message(out, number::OPTION, &[option], parts);
}

/// Appends `NBD_OPT_GO`, promising to respect the block sizes.
fn send_go(out: &mut Vec<u8>, wishes: &ClientOptions) {
    let requests = [1u16.to_be_bytes(), info::BLOCK_SIZE.to_be_bytes()];
    send_option(out, opt::GO, &[&count(&wishes.export), wishes.export.as_bytes(), requests.as_flattened()]);
}

/// Appends `NBD_OPT_SET_META_CONTEXT` for `base:allocation`.
fn send_allocation(out: &mut Vec<u8>, wishes: &ClientOptions) {
    let export = wishes.export.as_bytes();
    let queries = 1u32.to_be_bytes();
    send_option(
        out,
        opt::SET_META_CONTEXT,
        &[&count(&wishes.export), export, &queries, &count(ALLOCATION), ALLOCATION.as_bytes()],
    );
}

fn count(text: &str) -> [u8; 4] {
    (text.len() as u32).to_be_bytes()
}

/// Options that a client requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientOptions {
    /// Name of the export; empty for the server's default.
    pub export: String,
    /// Whether TLS is required.
    pub tls: bool,
    /// Whether to request structured replies.
    pub structured: bool,
    /// Whether to request `base:allocation`; requires structured replies.
    pub allocation: bool,
}

/// Negotiated properties of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// Size in bytes.
    pub size: u64,
    /// Capabilities.
    pub flags: TransmissionFlags,
    /// Constraints on lengths and offsets; [`ExportBlockSizes::INTEROPERABLE`] if the server announces none.
    pub block: ExportBlockSizes,
    /// Whether replies are structured.
    pub structured: bool,
    /// ID of `base:allocation`, if negotiated.
    pub allocation: Option<u32>,
}

/// An entry of a list of exports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedExport {
    pub name: String,
    /// Description, often empty.
    pub description: String,
}

/// The next action of the caller, after it has sent pending output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientStep {
    /// Read more input.
    More,
    /// The unconsumed bytes and all that follow are TLS. The handshake continues inside it with a call of
    /// [`advance`](ClientHandshake::advance) without input.
    StartTls,
    /// The transmission phase starts with the unconsumed bytes.
    Ready(Served),
    /// The exports; the pending output ends the session.
    Listed(Vec<ListedExport>),
}
