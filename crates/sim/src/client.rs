//! Workers of a world, and their use of page caches.

use volume::pagecache::AccessAdvice;

/// Place of a worker's file on a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientPlace {
    /// Which attachment of the system it is reached by.
    pub route: usize,
    /// Where it begins on the volume, in bytes.
    pub base: u64,
    /// How long it is, in bytes.
    pub bytes: u64,
}

/// A worker, as the world knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelClient {
    /// How many operations it can have in flight.
    pub depth: u32,
    /// Its files, in its order.
    pub files: Vec<ClientPlace>,
    /// How it goes through its machine's page cache; `None` where it goes past it.
    pub buffered: Option<Buffered>,
}

/// Use of the page cache by a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buffered {
    /// Whether its operations are carried out one after the other.
    pub blocking: bool,
    /// Whether its writes end only when they are durable (`O_SYNC`, `O_DSYNC`).
    pub durable: bool,
    /// What it has told the kernel of the order of its reads.
    pub advice: AccessAdvice,
}
