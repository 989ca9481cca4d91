//! Requests of the transmission phase.

/// Commands of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NbdCommand {
    /// Reads a range.
    Read,
    /// Writes the payload that follows.
    Write,
    /// Ends the connection without a reply.
    Disconnect,
    /// Makes completed writes durable.
    Flush,
    /// Discards a range.
    Trim,
    /// Announces that a range will be read soon.
    Cache,
    /// Zeroes a range.
    WriteZeroes,
    /// Returns the allocation of a range.
    BlockStatus,
    /// Not in the protocol document.
    Unknown(u16),
}

impl NbdCommand {
    const ALL: [Self; 8] = [
        Self::Read,
        Self::Write,
        Self::Disconnect,
        Self::Flush,
        Self::Trim,
        Self::Cache,
        Self::WriteZeroes,
        Self::BlockStatus,
    ];

    fn from_number(number: u16) -> Self {
        Self::ALL.get(usize::from(number)).copied().unwrap_or(Self::Unknown(number))
    }

    /// Returns the command's number on the wire.
    #[must_use]
    pub const fn number(self) -> u16 {
        match self {
            Self::Read => 0,
            Self::Write => 1,
            Self::Disconnect => 2,
            Self::Flush => 3,
            Self::Trim => 4,
            Self::Cache => 5,
            Self::WriteZeroes => 6,
            Self::BlockStatus => 7,
            Self::Unknown(number) => number,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommandFlags(pub u16);

impl CommandFlags {
    /// Reply only when the effect is durable.
    pub const FUA: Self = Self(1);
    /// Keep a zeroed range allocated.
    pub const NO_HOLE: Self = Self(1 << 1);
    /// Reply to a read in one chunk.
    pub const DF: Self = Self(1 << 2);
    /// Return one extent only.
    pub const REQ_ONE: Self = Self(1 << 3);
    /// Fail if zeroing is no faster than writing.
    pub const FAST_ZERO: Self = Self(1 << 4);
    /// The length is the payload's (extended headers).
    pub const PAYLOAD_LEN: Self = Self(1 << 5);

    /// Reports whether all of `flags` are set.
    #[inline]
    #[must_use]
    pub const fn has(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Reports whether a flag outside `allowed` is set.
    #[inline]
    #[must_use]
    pub const fn beyond(self, allowed: Self) -> bool {
        self.0 & !allowed.0 != 0
    }

    /// Returns the union.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A request as sent on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NbdRequest {
    /// Client's identifier of the request, which its reply repeats.
    pub cookie: u64,
    pub command: NbdCommand,
    pub flags: CommandFlags,
    /// First byte.
    pub offset: u64,
    /// Length of the range or, for [`NbdRequest::payload`], of the payload that follows, in bytes.
    pub length: u64,
}

/// Invalid start of a request. Nothing after it can be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a request must start with {expected:#010x}, not {found:#010x}")]
pub struct NotARequest {
    /// Magic number of this connection's requests.
    pub expected: u32,
    /// Number that was received.
    pub found: u32,
}

const SIMPLE: u32 = 0x2560_9513;
const EXTENDED: u32 = 0x21e4_1c71;

impl NbdRequest {
    /// Returns the length of a header.
    #[inline]
    #[must_use]
    pub const fn header_bytes(extended: bool) -> usize {
        if extended { 32 } else { 28 }
    }

    /// Parses the header at the start of `input`; `None` while it is incomplete.
    ///
    /// # Errors
    /// When the magic number is wrong.
    #[inline]
    pub fn decode(input: &[u8], extended: bool) -> Result<Option<Self>, NotARequest> {
        let expected = if extended { EXTENDED } else { SIMPLE };
        if let Some(found) = input.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
            && found != expected
        {
            return Err(NotARequest { expected, found });
        }
        let Some(header) = input.first_chunk::<28>() else { return Ok(None) };
        let length = if extended {
            let Some(length) = input.get(24..32) else { return Ok(None) };
            u64::from_be_bytes(array(length))
        } else {
            u64::from(u32::from_be_bytes(array(&header[24..28])))
        };
        Ok(Some(Self {
            flags: CommandFlags(u16::from_be_bytes(array(&header[4..6]))),
            command: NbdCommand::from_number(u16::from_be_bytes(array(&header[6..8]))),
            cookie: u64::from_be_bytes(array(&header[8..16])),
            offset: u64::from_be_bytes(array(&header[16..24])),
            length,
        }))
    }

    /// Returns the number of bytes after the header. A write has a payload even if the client omitted the flag of
    /// extended headers.
    #[inline]
    #[must_use]
    pub const fn payload(&self, extended: bool) -> u64 {
        match self.command {
            NbdCommand::Write => self.length,
            _ if extended && self.flags.has(CommandFlags::PAYLOAD_LEN) => self.length,
            _ => 0,
        }
    }

    /// Appends the header.
    pub fn encode(&self, extended: bool, out: &mut Vec<u8>) {
        out.extend_from_slice(&(if extended { EXTENDED } else { SIMPLE }).to_be_bytes());
        out.extend_from_slice(&self.flags.0.to_be_bytes());
        out.extend_from_slice(&self.command.number().to_be_bytes());
        out.extend_from_slice(&self.cookie.to_be_bytes());
        out.extend_from_slice(&self.offset.to_be_bytes());
        if extended {
            out.extend_from_slice(&self.length.to_be_bytes());
        } else {
            out.extend_from_slice(&(self.length as u32).to_be_bytes());
        }
    }
}

#[inline]
fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("the caller took as many")
}
