//! Requested exports.

use std::path::PathBuf;

use volume::Attachment;

/// Minimum memory limit, in bytes: a few connections, each with requests of 256 KiB.
pub(crate) const MEMORY_LEAST_BYTES: u64 = 16 << 20;

/// One export.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// What clients ask for.
    pub(crate) name: String,
    /// Its model: as which volume it goes and on which machine.
    pub(crate) model: Option<Attachment>,
    /// The words of its volume, with its size.
    pub(crate) volume: Option<String>,
    pub(crate) store: StoreWords,
    /// How large it is, where that is said: by its volume or by `--size`.
    pub(crate) size: Option<u64>,
}

/// Backing of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StoreWords {
    Memory,
    Zero,
    Pattern,
    Random,
    File(PathBuf),
    /// Changes in memory over an image.
    Copy(PathBuf),
}

impl StoreWords {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let path = |path: &str| (!path.is_empty()).then(|| PathBuf::from(path));
        match text.split_once(':') {
            Some(("file", file)) => path(file).map(Self::File),
            Some(("copy", file)) => path(file).map(Self::Copy),
            Some(_) => None,
            None => match text {
                "memory" => Some(Self::Memory),
                "zero" => Some(Self::Zero),
                "pattern" => Some(Self::Pattern),
                "random" => Some(Self::Random),
                _ => None,
            },
        }
    }

    /// The file behind it.
    pub(crate) fn path(&self) -> Option<&PathBuf> {
        match self {
            Self::File(path) | Self::Copy(path) => Some(path),
            _ => None,
        }
    }

    /// In the words of the command line.
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
