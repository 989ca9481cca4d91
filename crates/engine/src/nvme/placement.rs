//! Where a device places written data: directives of Flexible Data NamespacePlacement and of streams.

use std::io;
use std::os::fd::RawFd;
use std::path::Path;

use units::random::Random;

use super::command::IO_MANAGEMENT_RECEIVE;
use crate::error::{Error, ErrorKind};
use crate::namespace::{self, NvmeCommand};
use crate::opening::PlacementRange;
use target::spec::{PlacementKind, PlacementOptions, PlacementSelect};

/// Management operation: the status of reclaim unit handles.
const RECLAIM_UNIT_HANDLE_STATUS: u32 = 1;
const STATUS_HEADER_BYTES: usize = 16;
const STATUS_ENTRY_BYTES: usize = 32;
/// Most placement identifiers of a namespace.
const MAX_IDENTIFIERS: usize = 128;

const fn directive_type(kind: PlacementKind) -> u8 {
    match kind {
        PlacementKind::None => 0,
        PlacementKind::Streams => 1,
        PlacementKind::Fdp => 2,
    }
}

#[derive(Clone, Debug)]
pub(super) struct NamespacePlacement {
    directive: PlacementKind,
    at_random: bool,
    /// Placements by offset; `None` if they are used in turn or at random.
    scheme: Option<Vec<PlacementRange>>,
    /// Values of the directive that are used.
    used: Vec<u16>,
    /// All values, by index; empty for streams, whose identifiers are values.
    known: Vec<u16>,
    next: usize,
}

impl NamespacePlacement {
    /// Asks the device for its placement identifiers.
    pub(super) fn new(
        options: &PlacementOptions,
        scheme: Option<&[PlacementRange]>,
        fd: RawFd,
        nsid: u32,
        path: &Path,
    ) -> Result<Self, Error> {
        let known = match options.effective() {
            PlacementKind::None | PlacementKind::Streams => Vec::new(),
            PlacementKind::Fdp => identifiers(fd, nsid).map_err(|error| unsupported(path, &error))?,
        };
        Self::of(options, scheme, known).map_err(|index| {
            let reason = format!("no placement identifier with index {index}");
            Error::found(ErrorKind::Engine, "place data on", path.display().to_string(), reason)
                .with_remedy("use the indexes that `nvme fdp status` lists, starting at 0")
        })
    }

    /// Fails with the first index that is unknown.
    fn of(options: &PlacementOptions, scheme: Option<&[PlacementRange]>, known: Vec<u16>) -> Result<Self, u16> {
        let directive = options.effective();
        let value = |id: u16| match directive {
            PlacementKind::Fdp => known.get(usize::from(id)).copied().ok_or(id),
            _ => Ok(id),
        };
        scheme.unwrap_or_default().iter().try_for_each(|range| value(range.id).map(drop))?;
        let used = options.ids.iter().map(|id| value(*id)).collect::<Result<Vec<_>, _>>()?;
        let used = if used.is_empty() { known.clone() } else { used };
        let at_random = options.select == PlacementSelect::Random;
        Ok(Self { directive, at_random, scheme: scheme.map(<[_]>::to_vec), used, known, next: 0 })
    }

    /// Returns type and value of the directive for a write at `offset`.
    #[inline]
    pub(super) fn next(&mut self, offset: u64, random: &mut Random) -> (u8, u16) {
        let count = self.used.len();
        let value = if let Some(scheme) = &self.scheme {
            let range = scheme.iter().find(|range| range.start <= offset && offset < range.end);
            match (range, self.directive) {
                (Some(range), PlacementKind::Fdp) => self.known.get(usize::from(range.id)).copied().unwrap_or(0),
                (Some(range), _) => range.id,
                (None, _) => 0,
            }
        } else if count == 0 {
            0
        } else if self.at_random {
            self.used[random.below(count as u64) as usize]
        } else {
            let value = self.used[self.next];
            self.next = (self.next + 1) % count;
            value
        };
        (directive_type(self.directive), value)
    }
}

fn unsupported(path: &Path, error: &io::Error) -> Error {
    let reason = format!("its device does not report placement identifiers ({error})");
    Error::found(ErrorKind::Engine, "place data on", path.display().to_string(), reason)
        .with_remedy("enable Flexible Data Placement (`nvme fdp feature`), or omit fdp and dataplacement")
}

/// Returns the placement identifiers of a namespace, by index.
fn identifiers(fd: RawFd, nsid: u32) -> io::Result<Vec<u16>> {
    let mut answer = vec![0; STATUS_HEADER_BYTES + MAX_IDENTIFIERS * STATUS_ENTRY_BYTES];
    namespace::receive(fd, status_command(nsid, answer.len()), &mut answer)?;
    parse_status(&answer).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "none reported"))
}

fn status_command(nsid: u32, bytes: usize) -> NvmeCommand {
    NvmeCommand {
        opcode: IO_MANAGEMENT_RECEIVE,
        nsid,
        cdw10: RECLAIM_UNIT_HANDLE_STATUS,
        cdw11: (bytes / 4) as u32 - 1,
        ..NvmeCommand::default()
    }
}

fn parse_status(answer: &[u8]) -> Option<Vec<u16>> {
    let header = answer.first_chunk::<STATUS_HEADER_BYTES>()?;
    let count = usize::from(u16::from_le_bytes([header[14], header[15]]));
    let entries = answer[STATUS_HEADER_BYTES..].chunks_exact(STATUS_ENTRY_BYTES);
    let identifiers: Vec<u16> = entries.take(count).map(|entry| u16::from_le_bytes([entry[0], entry[1]])).collect();
    (!identifiers.is_empty()).then_some(identifiers)
}

/// Parses a file of `dp_scheme`: lines of start offset, end offset and placement, separated by commas.
///
/// # Errors
/// Returns the number of the first line that is none.
pub fn parse_placement_scheme(text: &str) -> Result<Vec<PlacementRange>, usize> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(number, line)| parse_range(line).ok_or(number)).collect()
}

fn parse_range(line: &str) -> Option<PlacementRange> {
    let mut fields = line.split(',').map(str::trim);
    let (start, end, id) = (fields.next()?, fields.next()?, fields.next()?);
    let range = PlacementRange { start: start.parse().ok()?, end: end.parse().ok()?, id: id.parse().ok()? };
    (fields.next().is_none() && range.start < range.end).then_some(range)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(kind: PlacementKind, select: PlacementSelect, ids: &[u16]) -> PlacementOptions {
        PlacementOptions { kind, select, ids: ids.to_vec(), ..PlacementOptions::default() }
    }

    fn values(options: &PlacementOptions, known: &[u16], offsets: &[u64]) -> Vec<(u8, u16)> {
        values_by(options, None, known, offsets)
    }

    fn values_by(
        options: &PlacementOptions,
        scheme: Option<&[PlacementRange]>,
        known: &[u16],
        offsets: &[u64],
    ) -> Vec<(u8, u16)> {
        let mut placement = NamespacePlacement::of(options, scheme, known.to_vec()).unwrap();
        let mut random = Random::new(1, 1);
        offsets.iter().map(|offset| placement.next(*offset, &mut random)).collect()
    }

    #[test]
    fn indexes_of_identifiers_are_used_in_turn() {
        let known = [0, 0x100, 0x200, 0x8001];
        let all = options(PlacementKind::Fdp, PlacementSelect::RoundRobin, &[]);
        let expected = [(2, 0), (2, 0x100), (2, 0x200), (2, 0x8001), (2, 0)];
        assert_eq!(values(&all, &known, &[0; 5]), expected);
        let some = options(PlacementKind::Fdp, PlacementSelect::RoundRobin, &[3, 1]);
        assert_eq!(values(&some, &known, &[0; 3]), [(2, 0x8001), (2, 0x100), (2, 0x8001)]);
        let streams = options(PlacementKind::Streams, PlacementSelect::RoundRobin, &[7, 9]);
        assert_eq!(values(&streams, &[], &[0; 3]), [(1, 7), (1, 9), (1, 7)]);
    }

    #[test]
    fn random_placements_are_of_those_that_are_used() {
        let some = options(PlacementKind::Fdp, PlacementSelect::Random, &[0, 2]);
        let drawn = values(&some, &[5, 6, 7], &[0; 200]);
        let of = |value| drawn.iter().filter(|one| **one == (2, value)).count();
        assert!(of(5) + of(7) == 200 && of(5) > 60 && of(7) > 60, "{drawn:?}");
    }

    #[test]
    fn a_scheme_places_by_offset() {
        let scheme = parse_placement_scheme("0, 4096, 1\n\n4096,8192,0\n0, 8192, 2\n").unwrap();
        let by_offset = options(PlacementKind::Fdp, PlacementSelect::Scheme, &[0]);
        let placed = values_by(&by_offset, Some(&scheme), &[10, 11, 12], &[0, 4095, 4096, 8191, 8192]);
        assert_eq!(placed, [(2, 11), (2, 11), (2, 10), (2, 10), (2, 0)], "the first range holds; beyond them, 0");
        let streams = options(PlacementKind::Streams, PlacementSelect::Scheme, &[]);
        assert_eq!(values_by(&streams, Some(&scheme), &[], &[0, 4096]), [(1, 1), (1, 0)]);
    }

    #[test]
    fn unknown_indexes_are_refused() {
        let beyond = options(PlacementKind::Fdp, PlacementSelect::RoundRobin, &[0, 4]);
        assert_eq!(NamespacePlacement::of(&beyond, None, vec![1, 2, 3, 4]).err(), Some(4));
        let range = PlacementRange { start: 0, end: 1, id: 9 };
        let scheme = options(PlacementKind::Fdp, PlacementSelect::Scheme, &[]);
        assert_eq!(NamespacePlacement::of(&scheme, Some(&[range]), vec![1]).err(), Some(9));
    }

    #[test]
    fn lines_of_a_scheme_that_are_none_are_named() {
        for (text, line) in
            [("0,1", 1), ("0,1,2\n\n5,5,1", 3), ("0,1,2,3", 1), ("0,x,1", 1), ("-1,2,1", 1), ("0,1,65536", 1)]
        {
            assert_eq!(parse_placement_scheme(text), Err(line), "{text}");
        }
        assert_eq!(parse_placement_scheme(""), Ok(Vec::new()));
    }

    #[test]
    fn the_status_of_handles_lists_identifiers() {
        let mut answer = vec![0; 16 + 3 * 32];
        answer[14] = 2;
        answer[16] = 1;
        answer[48..50].copy_from_slice(&0x8002_u16.to_le_bytes());
        assert_eq!(parse_status(&answer), Some(vec![1, 0x8002]));
        answer[14] = 200;
        assert_eq!(parse_status(&answer).map(|ids| ids.len()), Some(3), "no more than the answer holds");
        assert_eq!((parse_status(&[0; 16]), parse_status(&[0; 3])), (None, None));
        let command = status_command(3, 4112);
        assert_eq!((command.opcode, command.nsid, command.cdw10, command.cdw11), (0x12, 3, 1, 1027));
    }
}
