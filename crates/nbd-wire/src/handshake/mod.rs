//! The server's side of the handshake: protocol document, "Fixed newstyle negotiation", "TLS support" and, for extended
//! headers, the branch `extension-ext-header` of the same document.

mod answer;
mod data;
mod options;
#[cfg(test)]
mod tests;

use super::bytes::ByteReader;
use super::number::{self, opt};
use super::{Export, ReplyStyle, TransmissionFlags};
use answer::{OptionRefusal, acknowledge, refuse};

/// ID of `base:allocation` in [`Agreed::allocation`].
pub const ALLOCATION_CONTEXT: u32 = 1;
/// Longest accepted data of an option, in bytes. Callers of [`Handshake::advance`] must be able to buffer this and a
/// header of 16 bytes.
pub const OPTION_DATA_MOST: usize = 64 << 10;
/// Longest data of an option that is skipped to continue negotiation; more is treated as an attack.
const MAX_SKIPPED: usize = 16 << 20;
/// Maximum options of a client, besides [`OPTIONS_PER_EXPORT`] for each export.
const MAX_OPTIONS: u32 = 256;
/// Additional options per export: `nbdinfo --list` sends up to five for each on one connection.
const OPTIONS_PER_EXPORT: u32 = 16;
/// Output bytes after which [`Handshake::advance`] waits until they are sent. One more reply may be appended.
const MAX_OUTPUT: usize = 16 << 10;

/// Whether connections are encrypted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tls {
    /// Never (`NOTLS`).
    #[default]
    Off,
    /// If the client requests it (`SELECTIVETLS`; no export requires it).
    Offered,
    /// Always (`FORCEDTLS`).
    Required,
}

/// Settings of a server's handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandshakeSettings {
    /// Whether connections are encrypted.
    pub tls: Tls,
    /// Richest style of replies on offer.
    pub style: ReplyStyle,
    /// Whether clients must request the block sizes, and so promise to respect them, to use exports whose sizes are
    /// stricter than the default. The kernel's client does not request them.
    pub insist_on_block_sizes: bool,
}

impl Default for HandshakeSettings {
    fn default() -> Self {
        Self { tls: Tls::Off, style: ReplyStyle::Extended, insist_on_block_sizes: false }
    }
}

/// Result of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreed {
    /// Index of the selected export.
    pub export: usize,
    /// Capabilities announced to the client.
    pub flags: TransmissionFlags,
    /// Whether replies are chunks; always with `extended`.
    pub structured: bool,
    /// Whether headers are extended.
    pub extended: bool,
    /// ID of `base:allocation`, if the client has selected it.
    pub allocation: Option<u32>,
}

impl Agreed {
    #[must_use]
    pub const fn style(&self) -> ReplyStyle {
        match (self.structured, self.extended) {
            (_, true) => ReplyStyle::Extended,
            (true, false) => ReplyStyle::Structured,
            (false, false) => ReplyStyle::Simple,
        }
    }
}

/// The next action of the caller, after it has sent pending output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandshakeStep {
    /// Read more input.
    More,
    /// Send the pending output, then call again with the same input.
    Full,
    /// The unconsumed bytes and all that follow are TLS, inside which the handshake continues.
    StartTls,
    /// The transmission phase starts with the unconsumed bytes.
    Ready(Agreed),
    /// Close the connection.
    Close,
}

/// The server's handshake on one connection.
#[derive(Clone, Debug)]
pub struct Handshake {
    settings: HandshakeSettings,
    phase: HandshakePhase,
    /// Whether the client supports replies to options.
    fixed: bool,
    no_zeroes: bool,
    encrypted: bool,
    options: u32,
    negotiated: Negotiated,
}

/// Options negotiated so far; TLS resets them.
#[derive(Clone, Copy, Debug, Default)]
struct Negotiated {
    structured: bool,
    extended: bool,
    /// The export whose `base:allocation` the client has selected.
    allocation: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
enum HandshakePhase {
    ClientFlags,
    Options,
    /// Replies to `NBD_OPT_LIST`, next with the entry of this export.
    List(usize),
    Skip(Skip),
    Ended,
}

/// An option whose data is skipped, and its answer after that.
#[derive(Clone, Copy, Debug)]
struct Skip {
    remaining: usize,
    option: u32,
    answer: OptionAnswer,
}

#[derive(Clone, Copy, Debug)]
enum OptionAnswer {
    Refuse(OptionRefusal),
    Abort,
}

/// Result of processing the input once.
enum ProcessResult {
    /// Bytes consumed; there may be more to process.
    Consumed(usize),
    /// The input is incomplete.
    Incomplete,
    /// Bytes consumed, and a step for the caller.
    Stop(usize, HandshakeStep),
}

#[derive(Clone, Copy, Debug)]
struct OptionHeader {
    option: u32,
    length: usize,
}

impl Handshake {
    /// Starts the handshake of a new connection.
    #[must_use]
    pub fn new(settings: HandshakeSettings) -> Self {
        Self {
            settings,
            phase: HandshakePhase::ClientFlags,
            fixed: false,
            no_zeroes: false,
            encrypted: false,
            options: 0,
            negotiated: Negotiated::default(),
        }
    }

    /// Appends the server's greeting.
    pub fn greet(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(&number::GREETING.to_be_bytes());
        out.extend_from_slice(&number::OPTION.to_be_bytes());
        out.extend_from_slice(&(number::FIXED_NEWSTYLE | number::NO_ZEROES).to_be_bytes());
    }

    /// Processes the client's bytes and appends the response. Returns the number of bytes consumed; the caller presents
    /// the rest again with the bytes that follow.
    ///
    /// After 16 KiB and one more reply it returns [`HandshakeStep::Full`], so that a client that reads no replies
    /// cannot make the output grow.
    ///
    /// `exports` must be the same in every call; the first is the default.
    pub fn advance(&mut self, input: &[u8], exports: &[Export], out: &mut Vec<u8>) -> (usize, HandshakeStep) {
        let (mut consumed, before) = (0, out.len());
        loop {
            if out.len() - before >= MAX_OUTPUT {
                return (consumed, HandshakeStep::Full);
            }
            match self.process(&input[consumed..], exports, out) {
                ProcessResult::Consumed(bytes) => consumed += bytes,
                ProcessResult::Incomplete => return (consumed, HandshakeStep::More),
                ProcessResult::Stop(bytes, step) => {
                    if step != HandshakeStep::StartTls {
                        self.phase = HandshakePhase::Ended;
                    }
                    return (consumed + bytes, step);
                }
            }
        }
    }

    fn process(&mut self, input: &[u8], exports: &[Export], out: &mut Vec<u8>) -> ProcessResult {
        match self.phase {
            HandshakePhase::ClientFlags => self.client_flags(input),
            HandshakePhase::Options => self.option(input, exports, out),
            HandshakePhase::List(next) => self.list(next, exports, out),
            HandshakePhase::Skip(skip) => self.skip(skip, input, out),
            HandshakePhase::Ended => ProcessResult::Stop(0, HandshakeStep::Close),
        }
    }

    /// Processes "Client flags": a server closes on any that it has not offered.
    fn client_flags(&mut self, input: &[u8]) -> ProcessResult {
        let Some(flags) = ByteReader(input).u32() else { return ProcessResult::Incomplete };
        if flags & !u32::from(number::FIXED_NEWSTYLE | number::NO_ZEROES) != 0 {
            return ProcessResult::Stop(4, HandshakeStep::Close);
        }
        self.fixed = flags & u32::from(number::FIXED_NEWSTYLE) != 0;
        self.no_zeroes = flags & u32::from(number::NO_ZEROES) != 0;
        self.phase = HandshakePhase::Options;
        ProcessResult::Consumed(4)
    }

    fn option(&mut self, input: &[u8], exports: &[Export], out: &mut Vec<u8>) -> ProcessResult {
        if ByteReader(input).u64().is_some_and(|magic| magic != number::OPTION) {
            return ProcessResult::Stop(8, HandshakeStep::Close);
        }
        let Some(head) = OptionHeader::read(input) else { return ProcessResult::Incomplete };
        if self.options >= options_most(exports) || head.length > MAX_SKIPPED || self.must_close_on(head) {
            return ProcessResult::Stop(number::OPTION_HEADER, HandshakeStep::Close);
        }
        if let Some(answer) = self.answer_by_header(head) {
            self.options += 1;
            self.phase = HandshakePhase::Skip(Skip { remaining: head.length, option: head.option, answer });
            return ProcessResult::Consumed(number::OPTION_HEADER);
        }
        let end = number::OPTION_HEADER + head.length;
        let Some(data) = input.get(number::OPTION_HEADER..end) else { return ProcessResult::Incomplete };
        self.options += 1;
        match self.execute(head.option, data, exports, out) {
            HandshakeStep::More => ProcessResult::Consumed(end),
            step => ProcessResult::Stop(end, step),
        }
    }

    fn skip(&mut self, skip: Skip, input: &[u8], out: &mut Vec<u8>) -> ProcessResult {
        if input.len() < skip.remaining {
            self.phase = HandshakePhase::Skip(Skip { remaining: skip.remaining - input.len(), ..skip });
            return if input.is_empty() { ProcessResult::Incomplete } else { ProcessResult::Consumed(input.len()) };
        }
        self.phase = HandshakePhase::Options;
        match skip.answer {
            OptionAnswer::Refuse(refusal) => {
                refuse(out, skip.option, refusal);
                ProcessResult::Consumed(skip.remaining)
            }
            OptionAnswer::Abort => {
                acknowledge(out, skip.option);
                ProcessResult::Stop(skip.remaining, HandshakeStep::Close)
            }
        }
    }

    /// Reports whether an option can be neither granted nor refused: `NBD_OPT_EXPORT_NAME` has no negative reply, and a
    /// client without fixed newstyle understands no reply at all.
    fn must_close_on(&self, head: OptionHeader) -> bool {
        if head.option != opt::EXPORT_NAME {
            return !self.fixed;
        }
        head.length > number::MAX_STRING || self.awaits_tls() || self.negotiated.extended
    }

    /// Reports whether only TLS can be negotiated now.
    fn awaits_tls(&self) -> bool {
        self.settings.tls == Tls::Required && !self.encrypted
    }

    /// Returns the answer to an option if its header determines it.
    fn answer_by_header(&self, head: OptionHeader) -> Option<OptionAnswer> {
        let without_data =
            matches!(head.option, opt::LIST | opt::STARTTLS | opt::STRUCTURED_REPLY | opt::EXTENDED_HEADERS);
        let with_data = matches!(
            head.option,
            opt::EXPORT_NAME | opt::INFO | opt::GO | opt::LIST_META_CONTEXT | opt::SET_META_CONTEXT
        );
        let refusal = match head.option {
            opt::ABORT => return Some(OptionAnswer::Abort),
            option if self.awaits_tls() && option != opt::STARTTLS => OptionRefusal::TLS_REQUIRED,
            _ if !without_data && !with_data => OptionRefusal::UNKNOWN_OPTION,
            _ if without_data && head.length > 0 => OptionRefusal::NO_DATA_EXPECTED,
            _ if head.length > OPTION_DATA_MOST => OptionRefusal::TOO_BIG,
            _ => return None,
        };
        Some(OptionAnswer::Refuse(refusal))
    }
}

/// Returns the maximum number of options of a client.
fn options_most(exports: &[Export]) -> u32 {
    let exports = u32::try_from(exports.len()).unwrap_or(u32::MAX);
    exports.saturating_mul(OPTIONS_PER_EXPORT).saturating_add(MAX_OPTIONS)
}

impl OptionHeader {
    fn read(input: &[u8]) -> Option<Self> {
        let mut head = ByteReader(input);
        head.u64()?;
        Some(Self { option: head.u32()?, length: head.u32()? as usize })
    }
}
