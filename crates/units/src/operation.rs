//! Kinds of operations.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A kind of operation that transfers data, as an index into tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DataKind {
    Read = 0,
    Write = 1,
    Trim = 2,
}

impl DataKind {
    /// All kinds, in fio's order.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Trim];

    /// Returns the lower-case name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
        }
    }
}

/// Kinds of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
// Two bytes would make each decision of an issuer 48 bytes long instead of 40, which costs 5 % of a null job.
#[repr(u8)]
pub enum OpKind {
    Read,
    Write,
    /// A discard of a range that is no longer needed.
    Trim,
    /// `fsync`.
    Sync,
    /// `fdatasync`.
    DataSync,
    /// `sync_file_range`.
    SyncRange,
    /// `syncfs`.
    SyncFilesystem,
}

impl OpKind {
    /// Returns the kind under which it is counted: syncs under writes, besides their own statistics.
    #[inline]
    #[must_use]
    pub const fn data_kind(self) -> DataKind {
        match self {
            Self::Read => DataKind::Read,
            Self::Write | Self::Sync | Self::DataSync | Self::SyncRange | Self::SyncFilesystem => DataKind::Write,
            Self::Trim => DataKind::Trim,
        }
    }

    /// Returns the index in tables of three: read, write, trim. Syncs count as writes.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.data_kind() as usize
    }

    /// Reports whether it transfers or trims bytes, unlike a sync.
    #[inline]
    #[must_use]
    pub const fn moves_data(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::Trim)
    }
}

/// Kinds of system calls that may block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallKind {
    /// Not known, because the thread does not respond.
    #[default]
    Unknown,
    /// Opening a file.
    Open,
    /// Waiting for a peer, which may take as long as the peer takes.
    Await,
    /// Closing files.
    Close,
    /// A transfer, trim or sync.
    Operation(OpKind),
}

impl CallKind {
    /// All kinds, in the order of [`CallKind::code`].
    pub const ALL: [Self; 11] = [
        Self::Unknown,
        Self::Open,
        Self::Close,
        Self::Operation(OpKind::Read),
        Self::Operation(OpKind::Write),
        Self::Operation(OpKind::Trim),
        Self::Operation(OpKind::Sync),
        Self::Operation(OpKind::DataSync),
        Self::Operation(OpKind::SyncRange),
        Self::Operation(OpKind::SyncFilesystem),
        Self::Await,
    ];

    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Unknown => 0,
            Self::Open => 1,
            Self::Close => 2,
            Self::Operation(kind) => 3 + kind as u8,
            Self::Await => 10,
        }
    }

    /// Returns the name of the call. Waiting for a peer is part of opening the connection to it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Open | Self::Await => "open",
            Self::Close => "close",
            Self::Operation(OpKind::Read) => "read",
            Self::Operation(OpKind::Write) => "write",
            Self::Operation(OpKind::Trim) => "trim",
            Self::Operation(OpKind::Sync) => "fsync",
            Self::Operation(OpKind::DataSync) => "fdatasync",
            Self::Operation(OpKind::SyncRange) => "sync_file_range",
            Self::Operation(OpKind::SyncFilesystem) => "syncfs",
        }
    }
}

impl Serialize for CallKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl JsonSchema for CallKind {
    fn schema_name() -> Cow<'static, str> {
        "CallKind".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Self::ALL.map(Self::name) })
    }
}

impl<'de> Deserialize<'de> for CallKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| D::Error::custom(format_args!("`{name}` is not a kind of operation")))
    }
}

/// Three values, for reads, writes and trims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PerKindOf_{T}")]
pub struct PerKind<T> {
    pub read: T,
    pub write: T,
    pub trim: T,
}

impl<T> PerKind<T> {
    #[must_use]
    pub const fn get(&self, kind: DataKind) -> &T {
        match kind {
            DataKind::Read => &self.read,
            DataKind::Write => &self.write,
            DataKind::Trim => &self.trim,
        }
    }

    /// Converts each value.
    #[must_use]
    pub fn map<U>(&self, convert: impl Fn(&T) -> U) -> PerKind<U> {
        PerKind { read: convert(&self.read), write: convert(&self.write), trim: convert(&self.trim) }
    }

    /// Returns the value for reads (0), writes (1) or trims (2).
    pub fn slot(&mut self, slot: usize) -> &mut T {
        match slot {
            0 => &mut self.read,
            1 => &mut self.write,
            _ => &mut self.trim,
        }
    }

    /// Creates the same value for all kinds.
    pub fn same(value: T) -> Self
    where
        T: Clone,
    {
        Self { read: value.clone(), write: value.clone(), trim: value }
    }

    /// Creates values from a function of the index (0, 1 and 2).
    pub fn from_slots(mut make: impl FnMut(usize) -> T) -> Self {
        Self { read: make(0), write: make(1), trim: make(2) }
    }
}

impl PerKind<Option<u64>> {
    /// Returns the sum over kinds; `None` if none is set.
    #[must_use]
    pub fn sum(&self) -> Option<u64> {
        let set = [self.read, self.write, self.trim];
        set.iter().any(Option::is_some).then(|| set.iter().flatten().sum())
    }
}
