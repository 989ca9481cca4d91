//! Values of the options of commands to NVMe namespaces.

use super::{Findings, lists};
use units::ProblemCode;

use crate::model::{NvmeWrite, ProtectionFields};

const WRITES: [(&str, NvmeWrite); 4] = [
    ("write", NvmeWrite::Write),
    ("uncor", NvmeWrite::Uncorrectable),
    ("zeroes", NvmeWrite::Zeroes),
    ("verify", NvmeWrite::Verify),
];

/// Parses `write_mode`: `mode[/percent]:…`. Commands without a percentage share what the others leave.
pub(crate) fn write_modes(text: &str, findings: &mut Findings) -> Option<Vec<(NvmeWrite, u32)>> {
    let mut modes = Vec::new();
    for (start, entry) in lists::split(text, ':') {
        let (name, percent) = entry.split_once('/').unwrap_or((entry, ""));
        let at = start..start + entry.len();
        let Some((_, write)) = WRITES.iter().find(|(known, _)| *known == name) else {
            if name == "zone_append" {
                findings
                    .fault(at, ProblemCode::NotSupported, "write_mode=zone_append is not supported")
                    .help("write ioengine=io_uring with zonemode=zbd and the block device (/dev/nvmeXnY)");
            } else {
                findings
                    .fault(at, ProblemCode::UnknownValue, format!("unknown write command `{name}`"))
                    .help("one of write, uncor, zeroes, verify");
            }
            return None;
        };
        let percent = match percent {
            "" => None,
            percent => match percent.parse::<u32>() {
                Ok(percent) if percent <= 100 => Some(percent),
                _ => {
                    findings
                        .fault(at, ProblemCode::OutOfRange, format!("`{percent}` is not a percentage"))
                        .help("write a number from 0 to 100");
                    return None;
                }
            },
        };
        modes.push((*write, percent));
    }
    shared(text, &modes, findings)
}

/// Divides what is left of 100 % among the commands without a percentage.
fn shared(text: &str, modes: &[(NvmeWrite, Option<u32>)], findings: &mut Findings) -> Option<Vec<(NvmeWrite, u32)>> {
    let given: u32 = modes.iter().filter_map(|(_, percent)| *percent).sum();
    let mut open = modes.iter().filter(|(_, percent)| percent.is_none()).count() as u32;
    if given > 100 || (given < 100 && open == 0) {
        findings
            .fault(0..text.len(), ProblemCode::Percent, format!("the percentages of `write_mode` add up to {given}"))
            .help("make them add up to 100, or leave one out");
        return None;
    }
    let mut left = 100 - given;
    let share = |percent: Option<u32>| {
        percent.unwrap_or_else(|| {
            let share = left / open.max(1);
            (left, open) = (left - share, open.saturating_sub(1));
            share
        })
    };
    let mut share = share;
    Some(modes.iter().map(|(write, percent)| (*write, share(*percent))).collect())
}

/// Parses `plids`: numbers and ranges `low-high`, separated by commas.
pub(crate) fn placement_ids(text: &str, findings: &mut Findings) -> Option<Vec<u16>> {
    let mut ids = Vec::new();
    for (start, entry) in lists::split(text, ',') {
        let (low, high) = entry.split_once('-').unwrap_or((entry, entry));
        match (low.trim().parse::<u16>(), high.trim().parse::<u16>()) {
            (Ok(low), Ok(high)) if low <= high => ids.extend(low..=high),
            _ => {
                findings
                    .fault(start..start + entry.len(), ProblemCode::Placement, format!("`{entry}` names no placements"))
                    .help("write numbers up to 65535 and ranges, as in `0,2-4`");
                return None;
            }
        }
    }
    Some(ids)
}

/// Parses `pi_chk`: a list of fields.
pub(crate) fn protection_fields(text: &str, findings: &mut Findings) -> Option<ProtectionFields> {
    let mut fields = ProtectionFields::default();
    for (start, name) in lists::split(text, ',') {
        match name.trim() {
            "GUARD" => fields.guard = true,
            "REFTAG" => fields.reftag = true,
            "APPTAG" => fields.apptag = true,
            _ => {
                findings
                    .fault(
                        start..start + name.len(),
                        ProblemCode::UnknownValue,
                        format!("unknown protection information field `{name}`"),
                    )
                    .help("write one or more of GUARD, REFTAG and APPTAG, separated by commas");
                return None;
            }
        }
    }
    Some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_commands_have_percentages() {
        use NvmeWrite::{Uncorrectable, Verify, Write, Zeroes};
        let read = |text| write_modes(text, &mut Findings::default());
        assert_eq!(read("zeroes"), Some(vec![(Zeroes, 100)]));
        let mix = vec![(Write, 60), (Zeroes, 30), (Uncorrectable, 10)];
        assert_eq!(read("write/60:zeroes/30:uncor/10"), Some(mix));
        assert_eq!(read("write/50:zeroes/:uncor/"), Some(vec![(Write, 50), (Zeroes, 25), (Uncorrectable, 25)]));
        assert_eq!(read("write:zeroes:verify"), Some(vec![(Write, 33), (Zeroes, 33), (Verify, 34)]));
        assert_eq!(read("write/100:zeroes"), Some(vec![(Write, 100), (Zeroes, 0)]));
    }

    #[test]
    fn impossible_write_commands_are_refused_with_a_remedy() {
        for text in ["", "zone_append", "writes", "write/60:zeroes/30", "write/90:zeroes/20", "write/x", "write/-1"] {
            let mut findings = Findings::default();
            assert_eq!(write_modes(text, &mut findings), None, "{text}");
            assert!(findings.items.iter().all(|item| !item.help.is_empty()) && findings.items.len() == 1, "{text}");
        }
    }

    #[test]
    fn placements_are_numbers_and_ranges() {
        let read = |text| placement_ids(text, &mut Findings::default());
        assert_eq!(read("1,2-4,5,6-8"), Some(vec![1, 2, 3, 4, 5, 6, 7, 8]));
        assert_eq!(read("0-65535").map(|ids| ids.len()), Some(65_536));
        for text in ["", "1,", "4-2", "x", "65536", "1-2-3", "-1"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn fields_of_protection_information() {
        let read = |text| protection_fields(text, &mut Findings::default());
        let all = ProtectionFields { guard: true, reftag: true, apptag: true };
        assert_eq!(read("GUARD,REFTAG,APPTAG"), Some(all));
        assert_eq!(read("APPTAG"), Some(ProtectionFields { guard: false, reftag: false, ..all }));
        assert_eq!((read("guard"), read("GUARD,,"), read("")), (None, None, None));
    }
}
