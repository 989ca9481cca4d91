//! A provider's file as a stream of bytes: unpacked, without its byte order mark, and within limits.
//!
//! `serde_json` and `csv` collect a string or a field in memory however long it is, and look for the end of blanks and of
//! nested lists forever. The limits are therefore checked here, before they see the bytes.

use std::cell::Cell;
use std::io::{self, BufReader, Cursor, ErrorKind, Read};
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;
use units::{Place, Problem, ProblemCode};

/// Number of bytes by whose content a file is recognized.
const BEGINNING: usize = 64 << 10;
/// Bytes of one read.
const READ: usize = 64 << 10;
/// Bytes that are kept to show where a problem is.
const CONTEXT: usize = 240;
/// A string of JSON. A product of `get-products` is a string of some kilobytes.
const STRING_MOST: usize = 1 << 20;
/// A number or word of JSON.
const WORD_MOST: usize = 200;
/// Blanks in a row.
const BLANKS_MOST: usize = 1 << 16;
/// A row of a CSV table.
const ROW_MOST: usize = 1 << 18;
/// Nesting of JSON. The deepest provider's file has 8.
const DEPTH_MOST: usize = 60;
/// The largest price list has less than a tenth of it.
const FILE_MOST: u64 = 8 << 30;

/// What the limits count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Syntax {
    Json,
    Csv,
}

pub(crate) struct OfferInput<'a> {
    source: &'a str,
    bytes: Box<dyn Read + 'a>,
    /// Consumed bytes for context, then from `begin` to `end` those that are not yet consumed.
    buffer: Vec<u8>,
    begin: usize,
    end: usize,
    syntax: Syntax,
    /// Lines completed.
    lines: usize,
    /// Bytes consumed of the current line.
    column: usize,
    total: u64,
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// Length of the current string, word, run of blanks, or row.
    length: usize,
    was_blank: bool,
    problem: Option<Problem>,
    is_halted: Rc<Cell<bool>>,
}

impl<'a> OfferInput<'a> {
    pub(crate) fn open(source: &'a str, mut file: impl Read + 'a) -> Result<Self, Problem> {
        let mut magic = Vec::new();
        let unreadable = |error: &io::Error| {
            Problem::error(ProblemCode::File, format!("cannot read {source}: {error}")).help("check the file")
        };
        file.by_ref().take(2).read_to_end(&mut magic).map_err(|error| unreadable(&error))?;
        let is_packed = magic == [0x1f, 0x8b];
        let whole = Cursor::new(magic).chain(file);
        let bytes: Box<dyn Read + 'a> =
            if is_packed { Box::new(MultiGzDecoder::new(BufReader::new(whole))) } else { Box::new(whole) };
        let mut input = Self {
            source,
            bytes,
            buffer: vec![0; BEGINNING + READ],
            begin: 0,
            end: 0,
            syntax: Syntax::Json,
            lines: 0,
            column: 0,
            total: 0,
            depth: 0,
            in_string: false,
            is_escaped: false,
            length: 0,
            was_blank: false,
            problem: None,
            is_halted: Rc::default(),
        };
        while input.end < BEGINNING {
            match input.more() {
                Ok(0) => break,
                Ok(_) => {}
                // What was unpacked before shows what the file is.
                Err(_) if input.end > 0 => break,
                Err(error) => return Err(input.read_problem(&error)),
            }
        }
        if input.beginning().starts_with(b"\xef\xbb\xbf") {
            input.begin = 3;
        }
        Ok(input)
    }

    /// Returns the bytes by which the file is recognized.
    pub(crate) fn beginning(&self) -> &[u8] {
        &self.buffer[self.begin..self.end]
    }

    /// Says that the file is a CSV table.
    pub(crate) fn expect_table(&mut self) {
        self.syntax = Syntax::Csv;
    }

    pub(crate) const fn source(&self) -> &'a str {
        self.source
    }

    /// Returns a switch that ends the input: after an error, `serde_json` looks for the end of the lists around it, and the
    /// position would move on.
    pub(crate) fn halt(&self) -> Rc<Cell<bool>> {
        Rc::clone(&self.is_halted)
    }

    /// Returns the reason for which reading stopped, if it is not one of the parser.
    pub(crate) fn take_problem(&mut self) -> Option<Problem> {
        self.problem.take()
    }

    /// Reports whether the file ended within quotes.
    pub(crate) const fn ended_in_quotes(&self) -> bool {
        self.in_string
    }

    /// Reports whether the bytes before the current position are text.
    pub(crate) fn is_text_here(&self) -> bool {
        let recent = self.recent();
        // The kept bytes may begin within a character.
        let begin = recent.iter().position(|byte| byte & 0xc0 != 0x80).unwrap_or(recent.len());
        match std::str::from_utf8(&recent[begin.min(3)..]) {
            Ok(_) => true,
            Err(error) => error.error_len().is_none() && error.valid_up_to() + 4 > recent.len(),
        }
    }

    /// Adds the current position to a problem that has none: its line and, if it is long, what precedes it.
    pub(crate) fn locate(&self, problem: Problem) -> Problem {
        if problem.place.is_some() {
            return problem;
        }
        let recent = self.recent();
        let line = recent.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
        let text = String::from_utf8_lossy(line).into_owned();
        if self.column <= line.len() {
            let column = text.chars().count().max(1);
            let place =
                Place { source: self.source.into(), line: self.lines + 1, column, length: 1, text: text.into() };
            return problem.at(place);
        }
        let (line, column) = (self.lines + 1, self.column);
        let place = Place { source: self.source.into(), line, column, length: 0, text: "".into() };
        let shown: String = text.chars().skip(text.chars().count().saturating_sub(80)).collect();
        problem.at(place).note(format!("line {line}, column {column}, after `{shown}`"))
    }

    /// Returns consumed bytes before the current position.
    fn recent(&self) -> &[u8] {
        &self.buffer[self.begin.saturating_sub(CONTEXT)..self.begin]
    }

    /// Reads more bytes behind those in the buffer, and returns their number.
    fn more(&mut self) -> io::Result<usize> {
        if self.end == self.buffer.len() {
            let kept = self.begin.saturating_sub(CONTEXT);
            self.buffer.copy_within(kept..self.end, 0);
            self.begin -= kept;
            self.end -= kept;
        }
        let read = loop {
            match self.bytes.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.end += read.as_ref().copied().unwrap_or(0);
        read
    }

    fn read_problem(&self, error: &io::Error) -> Problem {
        let problem = match error.kind() {
            ErrorKind::UnexpectedEof => Problem::error(ProblemCode::CutOff, "the gzip file ends early")
                .help("download it again: it is incomplete"),
            ErrorKind::InvalidInput | ErrorKind::InvalidData => {
                Problem::error(ProblemCode::UnreadableInput, format!("the gzip file is damaged: {error}"))
                    .help("download it again")
            }
            _ => Problem::error(ProblemCode::File, format!("cannot read {}: {error}", self.source))
                .help("check the file"),
        };
        self.locate(problem)
    }

    fn refuse(&mut self, what: String, help: &str) -> io::Error {
        let problem = Problem::error(ProblemCode::TooMuchText, what).help(help);
        self.problem = Some(self.locate(problem));
        io::Error::other("refused")
    }

    #[inline]
    fn step(&mut self, byte: u8) -> io::Result<()> {
        self.begin += 1;
        self.column += 1;
        match self.syntax {
            Syntax::Json => self.step_json(byte)?,
            Syntax::Csv => self.step_csv(byte)?,
        }
        if byte == b'\n' {
            self.lines += 1;
            self.column = 0;
        }
        Ok(())
    }

    #[inline]
    fn step_json(&mut self, byte: u8) -> io::Result<()> {
        self.length += 1;
        if self.in_string {
            if self.is_escaped {
                self.is_escaped = false;
            } else if byte == b'\\' {
                self.is_escaped = true;
            } else if byte == b'"' {
                self.in_string = false;
                self.length = 0;
            }
            if self.length > STRING_MOST {
                return Err(self.refuse(format!("a string is longer than {STRING_MOST} bytes"), DAMAGED));
            }
            return Ok(());
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.length = 0;
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.length = 0;
                if self.depth > DEPTH_MOST {
                    return Err(self.refuse(format!("lists are nested deeper than {DEPTH_MOST} levels"), DAMAGED));
                }
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.length = 0;
            }
            b',' | b':' => self.length = 0,
            b' ' | b'\t' | b'\r' | b'\n' => {
                if !self.was_blank {
                    self.length = 1;
                }
                if self.length > BLANKS_MOST {
                    return Err(self.refuse(format!("more than {BLANKS_MOST} blanks in a row"), DAMAGED));
                }
            }
            _ => {
                if self.was_blank {
                    self.length = 1;
                }
                if self.length > WORD_MOST {
                    return Err(self.refuse(format!("a number or word is longer than {WORD_MOST} characters"), DAMAGED));
                }
            }
        }
        self.was_blank = byte.is_ascii_whitespace();
        Ok(())
    }

    #[inline]
    fn step_csv(&mut self, byte: u8) -> io::Result<()> {
        self.length += 1;
        match byte {
            // A doubled quote within quotes changes twice.
            b'"' => self.in_string = !self.in_string,
            b'\n' if !self.in_string => self.length = 0,
            0 => {
                let problem = Problem::error(ProblemCode::UnreadableInput, "the table has a zero byte").help(DAMAGED);
                self.problem = Some(self.locate(problem));
                return Err(io::Error::other("refused"));
            }
            _ => {}
        }
        if self.length > ROW_MOST {
            return Err(self.refuse(format!("a row is longer than {ROW_MOST} bytes"), DAMAGED));
        }
        Ok(())
    }
}

/// What to do about a file that no provider wrote.
const DAMAGED: &str = "download the file again: it is damaged or of another program";

impl Read for OfferInput<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.is_halted.get() {
            return Err(io::Error::other("halted"));
        }
        if self.begin == self.end {
            match self.more() {
                Ok(0) => return Ok(0),
                Ok(_) => {}
                Err(error) => {
                    self.problem = Some(self.read_problem(&error));
                    return Err(error);
                }
            }
        }
        let length = out.len().min(self.end - self.begin);
        for place in &mut out[..length] {
            let byte = self.buffer[self.begin];
            *place = byte;
            self.step(byte)?;
        }
        self.total += length as u64;
        if self.total > FILE_MOST {
            return Err(
                self.refuse(format!("the file has more than {} GiB", FILE_MOST >> 30), "give the file of one region")
            );
        }
        Ok(length)
    }
}
