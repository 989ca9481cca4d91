//! Requests to volumes.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestKind {
    Read,
    Write,
    /// A discard of a range.
    Trim,
    /// A request to make completed writes durable.
    Flush,
}

impl RequestKind {
    /// All kinds, in the order of [`PerRequestKind`].
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Trim, Self::Flush];

    /// Returns the index in tables.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// One value for each [`RequestKind`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerRequestKind<T> {
    pub read: T,
    pub write: T,
    pub trim: T,
    pub flush: T,
}

impl<T> PerRequestKind<T> {
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

    /// Returns the values in the order of [`RequestKind::ALL`].
    pub fn each(&self) -> [&T; 4] {
        [&self.read, &self.write, &self.trim, &self.flush]
    }

    /// Converts each value.
    #[must_use]
    pub fn map<U>(&self, make: impl Fn(&T) -> U) -> PerRequestKind<U> {
        PerRequestKind::from_fn(|kind| make(self.get(kind)))
    }

    pub fn from_fn(make: impl Fn(RequestKind) -> T) -> Self {
        let [read, write, trim, flush] = RequestKind::ALL.map(make);
        Self { read, write, trim, flush }
    }
}

/// One request to a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// ID returned with the completion. Below [`crate::System::IDS_MAX`], and reusable only then.
    pub id: u32,
    pub kind: RequestKind,
    /// Offset from the start of the volume, in bytes.
    pub offset: u64,
    /// Length in bytes; zero for flushes.
    pub length: u32,
}

/// User of a request, where several users share every limit equally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Index of the user: a small number.
    pub user: u32,
    /// Users with requests at the moment.
    pub among: u32,
}
