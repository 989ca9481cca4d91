//! Reads responses in pieces of any size.

/// Maximum bytes of the heads of one response, including interim ones and trailers.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// Maximum bytes of one line of a head.
const LINE_BYTES_MAX: usize = 16 << 10;

/// What the head of a response says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResponseHead {
    /// Status code, from 200 to 599.
    pub status: u16,
    /// Length of the body in bytes, if it is known.
    pub length: Option<u64>,
    /// Whether the connection can be used again after the body.
    pub keeps_connection: bool,
    /// Whether the server demands another scheme of authentication than `Basic`.
    pub demands_other_scheme: bool,
}

/// What follows in a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseStep {
    /// More bytes of the connection are needed.
    More,
    /// The head is complete.
    Head(ResponseHead),
    /// This many bytes of the body precede the consumed ones' end: the last of them.
    Body(usize),
    /// The response is complete.
    End,
}

/// Why a response cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResponseError {
    /// The bytes are not those of HTTP/1.
    #[error("the response is not HTTP/1.1")]
    NotHttp,
    /// A line of the head is malformed.
    #[error("the response has a malformed header")]
    Header,
    /// The head is longer than any sensible one.
    #[error("the response header is longer than 64 KiB")]
    TooLong,
    /// The length of the body is malformed or contradictory.
    #[error("the response has no valid length")]
    Length,
    /// A chunk is malformed.
    #[error("the response has a malformed chunk")]
    Chunk,
    /// The connection ended within the response.
    #[error("the connection ended within the response")]
    Truncated,
    /// The server demands another protocol.
    #[error("the server switches protocols")]
    Switched,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReaderState {
    Status,
    Headers,
    /// A body of known length, with the bytes left.
    Counted(u64),
    /// The line before a chunk.
    ChunkSize,
    /// A chunk, with the bytes left.
    Chunk(u64),
    /// The line end after a chunk.
    ChunkEnd,
    Trailers,
    /// A body until the end of the connection.
    UntilClosed,
    Ended,
}

/// Reads one response after another.
#[derive(Debug)]
pub struct ResponseReader {
    state: ReaderState,
    line: Vec<u8>,
    /// Bytes of heads so far.
    head_bytes: usize,
    head: ResponseHead,
    is_chunked: bool,
    has_body: bool,
}

impl Default for ResponseReader {
    fn default() -> Self {
        Self::new()
    }
}

impl ResponseReader {
    /// Creates a reader before the first response.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            state: ReaderState::Status,
            line: Vec::new(),
            head_bytes: 0,
            head: ResponseHead { status: 0, length: None, keeps_connection: false, demands_other_scheme: false },
            is_chunked: false,
            has_body: true,
        }
    }

    /// Prepares for the next response.
    pub fn begin(&mut self) {
        self.state = ReaderState::Status;
        self.line.clear();
        self.head_bytes = 0;
    }

    /// Reports whether no byte of the current response has come.
    #[must_use]
    pub const fn is_untouched(&self) -> bool {
        matches!(self.state, ReaderState::Status) && self.head_bytes == 0
    }

    /// Takes bytes from the start of `input`. Returns how many, and what they complete. Call it again with the rest.
    ///
    /// # Errors
    /// Fails if the response is malformed; the connection cannot be used any more.
    pub fn advance(&mut self, input: &[u8]) -> Result<(usize, ResponseStep), ResponseError> {
        let mut consumed = 0;
        loop {
            let rest = &input[consumed..];
            match self.state {
                ReaderState::Ended => return Ok((consumed, ResponseStep::End)),
                ReaderState::Counted(0) => self.state = ReaderState::Ended,
                ReaderState::Chunk(0) => self.state = ReaderState::ChunkEnd,
                _ if rest.is_empty() => return Ok((consumed, ResponseStep::More)),
                ReaderState::Counted(left) => {
                    let taken = taken(left, rest);
                    self.state = ReaderState::Counted(left - taken as u64);
                    return Ok((consumed + taken, ResponseStep::Body(taken)));
                }
                ReaderState::Chunk(left) => {
                    let taken = taken(left, rest);
                    self.state = ReaderState::Chunk(left - taken as u64);
                    return Ok((consumed + taken, ResponseStep::Body(taken)));
                }
                ReaderState::UntilClosed => return Ok((input.len(), ResponseStep::Body(rest.len()))),
                ReaderState::Status
                | ReaderState::Headers
                | ReaderState::ChunkSize
                | ReaderState::ChunkEnd
                | ReaderState::Trailers => {
                    let (taken, is_complete) = self.take_line(rest)?;
                    consumed += taken;
                    if is_complete && let Some(head) = self.line_is_complete()? {
                        return Ok((consumed, ResponseStep::Head(head)));
                    }
                }
            }
        }
    }

    /// Ends the response because the connection has ended.
    ///
    /// # Errors
    /// Fails if the response is incomplete.
    pub const fn close(&mut self) -> Result<(), ResponseError> {
        match self.state {
            ReaderState::UntilClosed | ReaderState::Ended | ReaderState::Counted(0) => {
                self.state = ReaderState::Ended;
                Ok(())
            }
            _ => Err(ResponseError::Truncated),
        }
    }

    /// Adds bytes to the current line. Returns how many, and whether the line is complete.
    fn take_line(&mut self, rest: &[u8]) -> Result<(usize, bool), ResponseError> {
        let end = rest.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(rest.len(), |end| end + 1);
        self.head_bytes = self.head_bytes.saturating_add(taken);
        // The lines of chunks are part of the body.
        let is_of_head = matches!(self.state, ReaderState::Status | ReaderState::Headers | ReaderState::Trailers);
        if is_of_head && self.head_bytes > HEAD_BYTES_MAX || self.line.len() + taken > LINE_BYTES_MAX {
            return Err(ResponseError::TooLong);
        }
        if self.state == ReaderState::Status && !is_begin_of_status(&self.line, &rest[..taken]) {
            return Err(ResponseError::NotHttp);
        }
        self.line.extend_from_slice(&rest[..taken]);
        if end.is_some() {
            self.line.pop();
            self.line.pop_if(|byte| *byte == b'\r');
        }
        Ok((taken, end.is_some()))
    }

    /// Interprets a line. Returns the head if the line ends it.
    fn line_is_complete(&mut self) -> Result<Option<ResponseHead>, ResponseError> {
        let line = std::mem::take(&mut self.line);
        let result = self.interpret(&line);
        // Keeps its memory.
        self.line = line;
        self.line.clear();
        result
    }

    fn interpret(&mut self, line: &[u8]) -> Result<Option<ResponseHead>, ResponseError> {
        match self.state {
            ReaderState::Status => {
                self.status(line)?;
                self.state = ReaderState::Headers;
            }
            ReaderState::Headers if line.is_empty() => return self.end_head(),
            ReaderState::Headers => self.header(line)?,
            ReaderState::ChunkSize => {
                self.head_bytes = 0;
                self.state = match chunk_size(line)? {
                    0 => ReaderState::Trailers,
                    size => ReaderState::Chunk(size),
                };
            }
            ReaderState::ChunkEnd if line.is_empty() => self.state = ReaderState::ChunkSize,
            ReaderState::ChunkEnd => return Err(ResponseError::Chunk),
            ReaderState::Trailers if line.is_empty() => self.state = ReaderState::Ended,
            _ => {}
        }
        Ok(None)
    }

    fn status(&mut self, line: &[u8]) -> Result<(), ResponseError> {
        let text = std::str::from_utf8(line.get(..12).ok_or(ResponseError::NotHttp)?);
        let text = text.map_err(|_| ResponseError::NotHttp)?;
        let (version, code) = text.split_once(' ').ok_or(ResponseError::NotHttp)?;
        let is_separated = line.get(12).is_none_or(|byte| *byte == b' ');
        let is_number = code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_digit());
        let status = code.parse().ok().filter(|status| is_number && is_separated && (100..600).contains(status));
        let status: u16 = status.ok_or(ResponseError::NotHttp)?;
        let keeps_connection = match version {
            "HTTP/1.1" => true,
            "HTTP/1.0" => false,
            _ => return Err(ResponseError::NotHttp),
        };
        (self.is_chunked, self.has_body) = (false, !matches!(status, 204 | 304));
        self.head = ResponseHead { status, keeps_connection, ..ResponseHead::default() };
        Ok(())
    }

    fn header(&mut self, line: &[u8]) -> Result<(), ResponseError> {
        let colon = line.iter().position(|byte| *byte == b':').ok_or(ResponseError::Header)?;
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        // Blanks in a name, or before it, are a way to smuggle a header past another reader.
        if name.is_empty() || name.iter().any(|byte| !(b'!'..=b'~').contains(byte)) {
            return Err(ResponseError::Header);
        }
        if name.eq_ignore_ascii_case(b"content-length") {
            let length = number(value, 10).ok_or(ResponseError::Length)?;
            if self.head.length.is_some_and(|known| known != length) {
                return Err(ResponseError::Length);
            }
            self.head.length = Some(length);
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            if self.is_chunked || !value.eq_ignore_ascii_case(b"chunked") {
                return Err(ResponseError::Length);
            }
            self.is_chunked = true;
        } else if name.eq_ignore_ascii_case(b"connection") {
            let has = |word: &[u8]| value.split(|byte| *byte == b',').any(|part| is_word(part, word));
            self.head.keeps_connection = !has(b"close") && (self.head.keeps_connection || has(b"keep-alive"));
        } else if name.eq_ignore_ascii_case(b"www-authenticate") {
            let is_basic = value.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"basic"));
            self.head.demands_other_scheme = !is_basic;
        }
        Ok(())
    }

    fn end_head(&mut self) -> Result<Option<ResponseHead>, ResponseError> {
        match self.head.status {
            101 => return Err(ResponseError::Switched),
            // Such as `100 Continue`: the final response follows.
            ..200 => {
                self.state = ReaderState::Status;
                return Ok(None);
            }
            _ => {}
        }
        if self.is_chunked && self.head.length.is_some() {
            return Err(ResponseError::Length);
        }
        self.state = match self.head.length {
            _ if !self.has_body => ReaderState::Ended,
            _ if self.is_chunked => ReaderState::ChunkSize,
            Some(length) => ReaderState::Counted(length),
            None => ReaderState::UntilClosed,
        };
        self.head.keeps_connection &= self.state != ReaderState::UntilClosed;
        Ok(Some(self.head))
    }
}

/// Returns how many of `left` bytes are in `rest`.
fn taken(left: u64, rest: &[u8]) -> usize {
    usize::try_from(left).unwrap_or(usize::MAX).min(rest.len())
}

/// Reports whether bytes, the first of them in `line`, can be the begin of a status line.
fn is_begin_of_status(line: &[u8], more: &[u8]) -> bool {
    const BEGIN: &[u8] = b"HTTP/1.";
    line.iter().chain(more).zip(BEGIN).all(|(byte, expected)| byte == expected)
}

fn is_word(part: &[u8], word: &[u8]) -> bool {
    part.trim_ascii().eq_ignore_ascii_case(word)
}

/// Returns the size of a chunk; extensions are ignored.
fn chunk_size(line: &[u8]) -> Result<u64, ResponseError> {
    let digits = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    number(digits, 16).ok_or(ResponseError::Chunk)
}

/// Parses digits without a sign.
fn number(digits: &[u8], radix: u32) -> Option<u64> {
    let text = std::str::from_utf8(digits).ok()?;
    let is_number = !text.is_empty() && text.chars().all(|digit| digit.is_digit(radix));
    u64::from_str_radix(text, radix).ok().filter(|_| is_number)
}
