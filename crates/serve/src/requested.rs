//! Requested exports.

use std::path::PathBuf;

use volume::Attachment;

/// Minimum memory limit, in bytes: a few connections, each with requests of 256 KiB.
pub(crate) const MIN_MEMORY_BYTES: u64 = 16 << 20;

#[derive(Clone, Debug)]
pub(crate) struct RequestedExport {
    pub(crate) name: String,
    /// Volume and machine of its model.
    pub(crate) model: Option<Attachment>,
    /// Text of its volume, including its size.
    pub(crate) volume: Option<String>,
    pub(crate) store: BackingSpec,
    /// Size given by its volume or `--size`, in bytes.
    pub(crate) size: Option<u64>,
}

/// Backing of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BackingSpec {
    Memory,
    Zero,
    Pattern,
    Random,
    File(PathBuf),
    /// An image with changes in memory.
    Copy(PathBuf),
}

impl BackingSpec {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Some(match (text, text.split_once(':')) {
            ("memory", _) => Self::Memory,
            ("zero", _) => Self::Zero,
            ("pattern", _) => Self::Pattern,
            ("random", _) => Self::Random,
            (_, Some(("file", path))) if !path.is_empty() => Self::File(path.into()),
            (_, Some(("copy", path))) if !path.is_empty() => Self::Copy(path.into()),
            _ => return None,
        })
    }

    pub(crate) fn path(&self) -> Option<&PathBuf> {
        match self {
            Self::File(path) | Self::Copy(path) => Some(path),
            _ => None,
        }
    }

    /// Returns the text of the command-line option.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Memory => "memory".to_owned(),
            Self::Zero => "zero".to_owned(),
            Self::Pattern => "pattern".to_owned(),
            Self::Random => "random".to_owned(),
            Self::File(path) => format!("file:{}", path.display()),
            Self::Copy(path) => format!("copy:{}", path.display()),
        }
    }
}
