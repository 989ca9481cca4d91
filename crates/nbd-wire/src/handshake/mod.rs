//! The handshake as a server leads it: protocol document, "Fixed newstyle negotiation", "TLS support" and, for extended
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

/// The number under which `base:allocation` goes in [`Agreed::allocation`].
pub const ALLOCATION_CONTEXT: u32 = 1;
/// The longest data of an option that is looked at, in bytes; with its header of 16, as many bytes as a caller must be
/// able to hold for [`Handshake::advance`].
pub const OPTION_DATA_MOST: usize = 64 << 10;
/// The longest data that is read over so that haggling can go on. A client that sends more is taken for an attacker.
const SKIPPED_MOST: usize = 16 << 20;
/// Options that one client may send, besides [`OPTIONS_PER_EXPORT`] for each export.
const OPTIONS_MOST: u32 = 256;
/// `nbdinfo --list` sends up to five options for each export on one connection.
const OPTIONS_PER_EXPORT: u32 = 16;
/// Output bytes after which [`Handshake::advance`] waits until they are sent. One reply more may be appended.
const OUTPUT_MOST: usize = 16 << 10;

/// Whether connections are encrypted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tls {
    /// Never (`NOTLS`).
    #[default]
    Off,
    /// Where the client asks for it (`SELECTIVETLS`, with no export that insists).
    Offered,
    /// Always (`FORCEDTLS`).
    Required,
}

/// Settings of a server's handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandshakeSettings {
    /// Whether connections are encrypted.
    pub tls: Tls,
    /// The most elaborate style of replies on offer.
    pub style: ReplyStyle,
    /// Whether exports that are stricter than the default are kept from clients that have not asked for the block sizes
    /// and so promised to abide by them. The kernel's client does not ask.
    pub insist_on_block_sizes: bool,
}

impl Default for HandshakeSettings {
    fn default() -> Self {
        Self { tls: Tls::Off, style: ReplyStyle::Extended, insist_on_block_sizes: false }
    }
}

/// Result of the negotiation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreed {
    /// Which of the exports.
    pub export: usize,
    /// What the client was told that it can do.
    pub flags: TransmissionFlags,
    /// Whether replies are chunks; always with `extended`.
    pub structured: bool,
    /// Whether headers are extended.
    pub extended: bool,
    /// Under which number the client asks for `base:allocation`, where it may.
    pub allocation: Option<u32>,
}

impl Agreed {
    /// What replies look like.
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
    /// Read more.
    More,
    /// Send what was written, then present the same input again.
    Full,
    /// What has not been consumed, and all that follows, is TLS; the handshake goes on inside of it.
    StartTls,
    /// The transmission phase begins with what has not been consumed.
    Ready(Agreed),
    /// Close the connection.
    Close,
}

/// The handshake of one connection.
#[derive(Clone, Debug)]
pub struct Handshake {
    settings: HandshakeSettings,
    phase: HandshakePhase,
    /// Whether the client takes replies to options.
    fixed: bool,
    no_zeroes: bool,
    encrypted: bool,
    options: u32,
    negotiated: Negotiated,
}

/// Options so far; TLS starts over.
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
    /// `NBD_OPT_LIST` is being answered; the next entry is this export's.
    List(usize),
    Skip(Skip),
    Ended,
}

/// An option whose data are ignored, and how it is answered when all of it has passed.
#[derive(Clone, Copy, Debug)]
struct Skip {
    remaining: usize,
    option: u32,
    answer: OptionAnswer,
}

#[derive(Clone, Copy, Debug)]
enum OptionAnswer {
    Refuse(OptionRefusal),
    Leave,
}

/// Result of parsing the input once.
enum Turn {
    /// That many bytes are done with; look again.
    Consumed(usize),
    /// Not enough there.
    Starved,
    /// That many bytes are done with, and the caller has something to do.
    Stop(usize, HandshakeStep),
}

/// The header of an option.
#[derive(Clone, Copy, Debug)]
struct OptionHeader {
    option: u32,
    length: usize,
}

impl Handshake {
    /// The handshake of a new connection.
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

    /// Appends what the server says first.
    pub fn greet(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(&number::GREETING.to_be_bytes());
        out.extend_from_slice(&number::OPTION.to_be_bytes());
        out.extend_from_slice(&(number::FIXED_NEWSTYLE | number::NO_ZEROES).to_be_bytes());
    }

    /// Looks at what the client has sent and appends what it is answered. Returns how many bytes of `input` are done with;
    /// the others are presented again together with what follows them.
    ///
    /// One call appends at most 16 KiB and one reply, then returns [`HandshakeStep::Full`]: a client that reads no replies cannot
    /// make the output grow.
    ///
    /// `exports` are the same at every call; the first of them is the default.
    pub fn advance(&mut self, input: &[u8], exports: &[Export], out: &mut Vec<u8>) -> (usize, HandshakeStep) {
        let (mut consumed, before) = (0, out.len());
        loop {
            if out.len() - before >= OUTPUT_MOST {
                return (consumed, HandshakeStep::Full);
            }
            match self.turn(&input[consumed..], exports, out) {
                Turn::Consumed(bytes) => consumed += bytes,
                Turn::Starved => return (consumed, HandshakeStep::More),
                Turn::Stop(bytes, step) => {
                    if step != HandshakeStep::StartTls {
                        self.phase = HandshakePhase::Ended;
                    }
                    return (consumed + bytes, step);
                }
            }
        }
    }

    fn turn(&mut self, input: &[u8], exports: &[Export], out: &mut Vec<u8>) -> Turn {
        match self.phase {
            HandshakePhase::ClientFlags => self.client_flags(input),
            HandshakePhase::Options => self.option(input, exports, out),
            HandshakePhase::List(next) => self.list(next, exports, out),
            HandshakePhase::Skip(skip) => self.skip(skip, input, out),
            HandshakePhase::Ended => Turn::Stop(0, HandshakeStep::Close),
        }
    }

    /// "Client flags": a server closes on any that it has not offered.
    fn client_flags(&mut self, input: &[u8]) -> Turn {
        let Some(flags) = ByteReader(input).u32() else { return Turn::Starved };
        if flags & !u32::from(number::FIXED_NEWSTYLE | number::NO_ZEROES) != 0 {
            return Turn::Stop(4, HandshakeStep::Close);
        }
        self.fixed = flags & u32::from(number::FIXED_NEWSTYLE) != 0;
        self.no_zeroes = flags & u32::from(number::NO_ZEROES) != 0;
        self.phase = HandshakePhase::Options;
        Turn::Consumed(4)
    }

    fn option(&mut self, input: &[u8], exports: &[Export], out: &mut Vec<u8>) -> Turn {
        if ByteReader(input).u64().is_some_and(|magic| magic != number::OPTION) {
            return Turn::Stop(8, HandshakeStep::Close);
        }
        let Some(head) = OptionHeader::read(input) else { return Turn::Starved };
        if self.options >= options_most(exports) || head.length > SKIPPED_MOST || self.must_close_on(head) {
            return Turn::Stop(number::OPTION_HEADER, HandshakeStep::Close);
        }
        if let Some(answer) = self.answer_unseen(head) {
            self.options += 1;
            self.phase = HandshakePhase::Skip(Skip { remaining: head.length, option: head.option, answer });
            return Turn::Consumed(number::OPTION_HEADER);
        }
        let end = number::OPTION_HEADER + head.length;
        let Some(data) = input.get(number::OPTION_HEADER..end) else { return Turn::Starved };
        self.options += 1;
        match self.obey(head.option, data, exports, out) {
            HandshakeStep::More => Turn::Consumed(end),
            step => Turn::Stop(end, step),
        }
    }

    fn skip(&mut self, skip: Skip, input: &[u8], out: &mut Vec<u8>) -> Turn {
        if input.len() < skip.remaining {
            self.phase = HandshakePhase::Skip(Skip { remaining: skip.remaining - input.len(), ..skip });
            return if input.is_empty() { Turn::Starved } else { Turn::Consumed(input.len()) };
        }
        self.phase = HandshakePhase::Options;
        match skip.answer {
            OptionAnswer::Refuse(refusal) => {
                refuse(out, skip.option, refusal);
                Turn::Consumed(skip.remaining)
            }
            OptionAnswer::Leave => {
                acknowledge(out, skip.option);
                Turn::Stop(skip.remaining, HandshakeStep::Close)
            }
        }
    }

    /// Whether an option can be neither granted nor refused. `NBD_OPT_EXPORT_NAME` has no reply that says no, and a client
    /// without fixed newstyle understands no reply at all.
    fn must_close_on(&self, head: OptionHeader) -> bool {
        if head.option != opt::EXPORT_NAME {
            return !self.fixed;
        }
        head.length > number::STRING_MOST || self.awaits_tls() || self.negotiated.extended
    }

    /// Whether nothing but TLS is talked about.
    fn awaits_tls(&self) -> bool {
        self.settings.tls == Tls::Required && !self.encrypted
    }

    /// How an option is answered for which its header is enough to say so.
    fn answer_unseen(&self, head: OptionHeader) -> Option<OptionAnswer> {
        let bare = matches!(head.option, opt::LIST | opt::STARTTLS | opt::STRUCTURED_REPLY | opt::EXTENDED_HEADERS);
        let loaded = matches!(
            head.option,
            opt::EXPORT_NAME | opt::INFO | opt::GO | opt::LIST_META_CONTEXT | opt::SET_META_CONTEXT
        );
        let refusal = match head.option {
            opt::ABORT => return Some(OptionAnswer::Leave),
            option if self.awaits_tls() && option != opt::STARTTLS => OptionRefusal::TLS_REQUIRED,
            _ if !bare && !loaded => OptionRefusal::UNKNOWN_OPTION,
            _ if bare && head.length > 0 => OptionRefusal::NO_DATA_EXPECTED,
            _ if head.length > OPTION_DATA_MOST => OptionRefusal::TOO_BIG,
            _ => return None,
        };
        Some(OptionAnswer::Refuse(refusal))
    }
}

/// Options that one client may send.
fn options_most(exports: &[Export]) -> u32 {
    let exports = u32::try_from(exports.len()).unwrap_or(u32::MAX);
    exports.saturating_mul(OPTIONS_PER_EXPORT).saturating_add(OPTIONS_MOST)
}

impl OptionHeader {
    fn read(input: &[u8]) -> Option<Self> {
        let mut head = ByteReader(input);
        head.u64()?;
        Some(Self { option: head.u32()?, length: head.u32()? as usize })
    }
}
