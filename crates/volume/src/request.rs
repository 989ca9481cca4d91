//! Requests to volumes.

/// Kinds of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestKind {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Gives a range up.
    Trim,
    /// Makes what was written durable.
    Flush,
}

impl RequestKind {
    /// All kinds, in the order of [`PerRequestKind`].
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Trim, Self::Flush];

    /// Its place in tables.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// One value for each [`RequestKind`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerRequestKind<T> {
    /// For reads.
    pub read: T,
    /// For writes.
    pub write: T,
    /// For trims.
    pub trim: T,
    /// For flushes.
    pub flush: T,
}

impl<T> PerRequestKind<T> {
    /// The value for one kind.
    #[inline]
    #[must_use]
    pub const fn get(&self, kind: RequestKind) -> &T {
        match kind {
            RequestKind::Read => &self.read,
            RequestKind::Write => &self.write,
            RequestKind::Trim => &self.trim,
            RequestKind::Flush => &self.flush,
        }
    }

    /// The values in the order of [`RequestKind::ALL`].
    pub fn each(&self) -> [&T; 4] {
        [&self.read, &self.write, &self.trim, &self.flush]
    }

    /// Another value for each kind.
    #[must_use]
    pub fn map<U>(&self, make: impl Fn(&T) -> U) -> PerRequestKind<U> {
        PerRequestKind {
            read: make(&self.read),
            write: make(&self.write),
            trim: make(&self.trim),
            flush: make(&self.flush),
        }
    }
}

/// One request to a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Who asked: handed back when it is done. Below [`crate::System::IDS_MAX`], and free again only then.
    pub id: u32,
    /// What it does.
    pub kind: RequestKind,
    /// Where it begins, in bytes from the start of the volume.
    pub offset: u64,
    /// How many bytes; zero for flushes.
    pub length: u32,
}

/// Whose a request is where several users are to have equal shares of every limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Which user: a small number.
    pub user: u32,
    /// How many users want something now.
    pub among: u32,
}
