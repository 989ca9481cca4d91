//! Parser of the lines that announce jobs.

use super::figures::{NormalLine, rounded, size};
use crate::{DataKind, Declared, DeclaredSizes, Measured, fio};
use units::{PerKind, Problem};

/// A job as announced.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NormalHeader {
    pub(super) name: String,
    pub(super) group: u32,
    /// Whether it has several clones.
    pub(super) clones: bool,
    pub(super) declared: Declared,
}

pub(super) fn read(line: NormalLine<'_>) -> Result<NormalHeader, Problem> {
    let (name, rest) = line.text.split_once(": (g=").unwrap_or((line.text, ""));
    let (group, rest) = rest.split_once("): ").unwrap_or((rest, ""));
    let group = line.read(group, |text| text.parse().ok())?;
    let line = NormalLine { text: rest, ..line };
    let rw = line.figure("rw", |text| Some(text.to_owned()))?;
    let engine = line.figure("ioengine", |text| Some(text.to_owned()))?;
    let iodepth: u32 = line.figure("iodepth", |text| text.parse().ok())?;
    let queues = fio::is_async(&engine);
    let block_sizes = block_sizes(line)?;
    let decimal = line.text.contains("kB") || line.text.contains("MB");
    let declared = Declared {
        device: engine != "null",
        queues,
        iodepth,
        iodepth_effective: if queues { iodepth } else { 1 },
        numjobs: 1,
        rw: if rw == "readwrite" { "rw".to_owned() } else { rw },
        block_sizes,
        engine,
        kb_base: if decimal { 1000 } else { 1024 },
        significant_figures: None,
        header_only: true,
        ..Declared::default()
    };
    Ok(NormalHeader { name: name.to_owned(), group, clones: false, declared })
}

/// Parses `bs=(R) 4096B-4096B, (W) 16.0KiB-16.0KiB, (T) …`, or of version 2 `bs=4K-4K/4K-4K/4K-4K`.
fn block_sizes(line: NormalLine<'_>) -> Result<PerKind<DeclaredSizes>, Problem> {
    let mut sizes = [DeclaredSizes::default(); 3];
    if line.text.contains("bs=(") {
        for (sizes, mark) in sizes.iter_mut().zip(["(R)", "(W)", "(T)"]) {
            let behind = line.text.split_once(mark).map(|(_, behind)| behind.split(',').next().unwrap_or(behind));
            *sizes = range(line, behind.unwrap_or_default().trim(), false)?;
        }
    } else {
        let list = line.figure("bs", |text| Some(text.to_owned()))?;
        let mut parts = list.split('/');
        for sizes in &mut sizes {
            *sizes = match parts.next() {
                Some(part) => range(line, part, true)?,
                None => *sizes,
            };
        }
    }
    let [read, write, trim] = sizes;
    Ok(PerKind { read, write, trim })
}

fn range(line: NormalLine<'_>, part: &str, version_2: bool) -> Result<DeclaredSizes, Problem> {
    let bytes = |text: &str| u32::try_from(rounded(size(text, version_2)?.value)).ok();
    line.read(part, |text| {
        let (min, max) = text.split_once('-')?;
        Some(DeclaredSizes { min: bytes(min)?, max: bytes(max)? })
    })
}

impl NormalHeader {
    /// Reports whether a result may be of these jobs together: in notes, results of another run may follow the
    /// announcement.
    pub(super) fn all_fit(headers: &[&Self], result: &Measured) -> bool {
        /// Tolerance for short operations and those in flight at the end.
        const APART: f64 = 2.0;
        result.kinds().filter(|(_, result)| result.ios > 0 && result.bytes > 0).all(|(kind, result)| {
            let sizes = || headers.iter().map(|header| *header.declared.block_sizes.get(kind));
            let (min, max) = (sizes().map(|of| of.min).min().unwrap_or(0), sizes().map(|of| of.max).max().unwrap_or(0));
            let mean = result.bytes as f64 / result.ios as f64;
            max == 0 || (f64::from(min) / APART..=f64::from(max) * APART).contains(&mean)
        })
    }

    /// Reports whether the job issues a kind of operation by itself, not just to read back.
    pub(super) fn issues(&self, kind: DataKind) -> bool {
        let rw = self.declared.rw.as_str();
        match kind {
            DataKind::Read => matches!(rw, "read" | "randread" | "rw" | "randrw"),
            DataKind::Write => rw.contains("write") || matches!(rw, "rw" | "randrw"),
            DataKind::Trim => rw.contains("trim"),
        }
    }
}
