//! Fathom's own format of traces.
//!
//! A trace is a sequence of blocks. A block is a header of [`TRACE_HEADER_BYTES`] bytes, see [`TraceBlockHeader`], and
//! a content; both have a CRC-32C. All numbers of the header are little-endian:
//!
//! | bytes | content |
//! |---|---|
//! | 0–7 | [`TRACE_MARK`] |
//! | 8–9 | version, [`TRACE_VERSION`] |
//! | 10–11 | kind: 1 facts, 2 requests, 3 end; zero |
//! | 12–15 | length of the content |
//! | 16–19 | number of requests |
//! | 20–23 | nanoseconds of a tick |
//! | 24–31, 32–39 | instants of the first and last request, in ticks |
//! | 40–47 | number of requests in all blocks before |
//! | 48–51, 52–55 | checksums of the content and of the header before it |
//!
//! Blocks are only appended, and each can be read on its own: everything up to the last complete block is readable
//! whenever the writer is killed, and a damaged block costs no other. Facts (names of processes and devices, the number
//! of lost requests) come in blocks before the requests that need them.
//!
//! Requests are stored by columns. What a request does, for which process, on which device and with which length is one
//! symbol, its class. An offset continues the stream of its class, is near it, repeats an earlier one, or counts from
//! the lowest of the class. Instants are counted in ticks; see `block.rs` for what that loses. Symbols are
//! entropy-coded with the frequencies of the block.

mod bits;
mod block;
mod classes;
mod column;
mod facts;
mod frame;
mod offsets;
mod rans;
mod reader;
mod writer;

pub use frame::{TRACE_HEADER_BYTES, TRACE_MARK, TRACE_VERSION, TraceBlockHeader, TraceBlockKind};
pub use reader::{TraceDamage, TraceEnd, TraceReader, TraceStep};
pub use writer::{TraceWriter, TraceWriterOptions};
