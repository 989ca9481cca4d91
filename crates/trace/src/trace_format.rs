//! Formats of traces.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

/// A format in which traces are read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TraceFormat {
    /// Fathom's own.
    Fathom,
    /// fio's log of operations, version 2.
    FioIolog2,
    /// fio's log of operations, version 3.
    FioIolog3,
    /// Binary events of blktrace.
    Blktrace,
    /// Text of blkparse in its default format.
    Blkparse,
    /// CSV of the traces of Microsoft Research Cambridge.
    Msr,
    /// CSV of the traces of the SYSTOR '17 conference, at SNIA.
    Systor,
    /// CSV of the block traces of Alibaba.
    Alibaba,
    /// CSV of the block traces of Tencent.
    Tencent,
    /// CSV of the traces of CloudPhysics, in microseconds.
    CloudPhysics,
    /// CSV of the same traces with SCSI operation codes, in microseconds.
    Vscsi,
    /// Copies of these in whole seconds.
    VscsiSeconds,
}

impl Serialize for TraceFormat {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl JsonSchema for TraceFormat {
    fn schema_name() -> Cow<'static, str> {
        "TraceFormat".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Self::ALL.map(Self::name) })
    }
}

impl TraceFormat {
    /// All formats.
    pub const ALL: [Self; 12] = [
        Self::Fathom,
        Self::FioIolog2,
        Self::FioIolog3,
        Self::Blktrace,
        Self::Blkparse,
        Self::Msr,
        Self::Systor,
        Self::Alibaba,
        Self::Tencent,
        Self::CloudPhysics,
        Self::Vscsi,
        Self::VscsiSeconds,
    ];

    /// Returns its name, as in an option.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fathom => "fathom",
            Self::FioIolog2 => "iolog2",
            Self::FioIolog3 => "iolog3",
            Self::Blktrace => "blktrace",
            Self::Blkparse => "blkparse",
            Self::Msr => "msr",
            Self::Systor => "systor",
            Self::Alibaba => "alibaba",
            Self::Tencent => "tencent",
            Self::CloudPhysics => "cloudphysics",
            Self::Vscsi => "vscsi",
            Self::VscsiSeconds => "vscsi-seconds",
        }
    }

    /// Returns the format with a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Returns the resolution of its times, in nanoseconds. Requests in formats of whole seconds bunch.
    #[must_use]
    pub fn resolution_ns(self) -> u64 {
        match self {
            Self::Blktrace | Self::Blkparse => 1,
            Self::Msr => 100,
            Self::Fathom => u64::from(crate::TraceWriterOptions::default().tick_ns),
            Self::FioIolog3 | Self::Systor | Self::Alibaba | Self::CloudPhysics | Self::Vscsi => 1_000,
            Self::FioIolog2 => 1_000_000,
            Self::Tencent | Self::VscsiSeconds => 1_000_000_000,
        }
    }

    /// Returns whether it has the time from issue to completion.
    #[must_use]
    pub fn has_service_times(self) -> bool {
        matches!(self, Self::Fathom | Self::Blktrace | Self::Blkparse | Self::Msr | Self::Systor)
    }
}
