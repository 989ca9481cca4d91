//! Options of commands to NVMe devices.

use super::spec::OptionKind::{Bool, Int, Text, Word};
use super::spec::{ANY, OptionSpec, accepted, int, later, special, switch, text, word};
use units::ProblemCode;

use crate::draft::JobDraft;
use crate::model::{PlacementKind, PlacementSelect};
use crate::read::{Findings, nvme};

const COMMANDS: &[&str] = &["io_uring_cmd"];
/// Engines of fio with the same options, which Fathom has without them.
const OTHERS: &[&str] = &["io_uring", "xnvme"];
/// The engine that takes options of commands and sends none.
const RING: &[&str] = &["io_uring"];
const ONLY_COMMANDS: &str = "it applies to commands, which `io_uring_cmd` sends";
const ONLY_SCSI: &str = "it applies to SCSI commands (`cmd_type=bsg`)";

pub(super) static OPTIONS: &[OptionSpec] = &[
    word("cmd_type", &["nvme", "bsg"], "Kind of passthrough command.", |_, w, _, findings| {
        if w == "bsg" {
            findings
                .fault(0..w.len(), ProblemCode::NotSupported, "cmd_type=bsg is not supported: it sends SCSI commands")
                .help("write ioengine=io_uring and the block device (/dev/sdX) as filename");
        }
    })
    .default("nvme")
    .engines(COMMANDS),
    accepted("cmd_type", Word(&["nvme", "bsg"]), "Kind of passthrough command.", ONLY_COMMANDS)
        .default("nvme")
        .engines(RING),
    special(
        "write_mode",
        Text,
        write_mode,
        "Commands for writes (write, uncor, zeroes, verify), optionally with percentages: `write/60:zeroes/40`.",
    )
    .default("write")
    .engines(COMMANDS),
    accepted("write_mode", Text, "Commands for writes.", ONLY_COMMANDS).default("write").engines(RING),
    word("read_mode", &["read", "prefetch"], "Command for reads.", |_, w, _, findings| {
        if w == "prefetch" {
            findings
                .fault(0..w.len(), ProblemCode::NotSupported, "read_mode=prefetch is a SCSI command")
                .note("fio supports it only with cmd_type=bsg")
                .help("omit it: NVMe commands read with read_mode=read");
        }
    })
    .default("read")
    .engines(COMMANDS),
    accepted("read_mode", Word(&["read", "prefetch"]), "Command for reads.", ONLY_COMMANDS)
        .default("read")
        .engines(RING),
    word(
        "verify_mode",
        &["read", "compare"],
        "Command for verification: Read, or Compare with `verify=pattern`.",
        |d, w, _, _| {
            d.job.engine.nvme.compares = w == "compare";
        },
    )
    .default("read")
    .engines(COMMANDS),
    accepted("verify_mode", Word(&["read", "compare"]), "Command for verification.", ONLY_COMMANDS)
        .default("read")
        .engines(RING),
    accepted("cdb_len", Word(&["0", "10", "16", "32"]), "SCSI command length in bytes.", ONLY_SCSI)
        .default("0")
        .engines(&["io_uring", "io_uring_cmd"]),
    accepted("verify_bytchk", Word(&["0", "1", "3"]), "BYTCHK field of SCSI VERIFY.", ONLY_SCSI)
        .default("0")
        .engines(&["io_uring", "io_uring_cmd"]),
    switch("deac", "0", "Permit Write Zeroes to deallocate (DEAC).", |d, on| d.job.engine.nvme.deac = on)
        .engines(COMMANDS),
    accepted("deac", Bool, "Permit Write Zeroes to deallocate (DEAC).", ONLY_COMMANDS).default("0").engines(RING),
    int("md_per_io_size", (0, 1 << 30), "Size of the separate metadata buffer per operation, in bytes.", |d, n| {
        d.job.engine.nvme.metadata_bytes = n as u32;
    })
    .default("0")
    .engines(COMMANDS),
    later("md_per_io_size", Int(0, ANY), "Size of the separate metadata buffer per operation, in bytes.")
        .default("0")
        .engines(OTHERS),
    switch("pi_act", "1", "Let the device insert and strip protection information (PRACT).", |d, on| {
        d.job.engine.nvme.pi_act = on;
    })
    .engines(COMMANDS),
    later("pi_act", Bool, "Let the device insert and strip protection information (PRACT).")
        .default("1")
        .engines(OTHERS),
    special("pi_chk", Text, pi_chk, "Protection information fields to check: one or more of GUARD, REFTAG and APPTAG.")
        .engines(COMMANDS),
    later("pi_chk", Text, "Protection information fields to check.").engines(OTHERS),
    int("apptag", (0, 0xffff), "Application tag of protection information.", |d, n| {
        d.job.engine.nvme.apptag = n as u16;
    })
    .default("0x1234")
    .engines(COMMANDS),
    later("apptag", Int(0, ANY), "Application tag of protection information.").default("0x1234").engines(OTHERS),
    int("apptag_mask", (0, 0xffff), "Bits of the application tag to check.", |d, n| {
        d.job.engine.nvme.apptag_mask = n as u16;
    })
    .default("0xffff")
    .engines(COMMANDS),
    later("apptag_mask", Int(0, ANY), "Bits of the application tag to check.").default("0xffff").engines(OTHERS),
];

pub(super) static PLACEMENT: &[OptionSpec] = &[
    switch("fdp", "0", "Direct writes to placements by Flexible Data Placement (io_uring_cmd).", |d, on| {
        d.job.engine.nvme.placement.fdp = on;
    }),
    word(
        "dataplacement",
        &["none", "fdp", "streams"],
        "Data placement method: Flexible Data Placement or streams.",
        |d, w, _, _| {
            d.job.engine.nvme.placement.kind = match w {
                "fdp" => PlacementKind::Fdp,
                "streams" => PlacementKind::Streams,
                _ => PlacementKind::None,
            };
        },
    )
    .alias(&["data_placement"])
    .default("none"),
    word("plid_select", &["random", "roundrobin", "scheme"], "Order in which to use placements.", |d, w, _, _| {
        d.job.engine.nvme.placement.select = match w {
            "random" => PlacementSelect::Random,
            "scheme" => PlacementSelect::Scheme,
            _ => PlacementSelect::RoundRobin,
        };
    })
    .alias(&["fdp_pli_select"])
    .default("roundrobin"),
    special(
        "plids",
        Text,
        plids,
        "Placements to use: placement identifier indexes (fdp) or stream identifiers, such as `0,2-4`.",
    )
    .alias(&["fdp_pli"]),
    text("dp_scheme", "File that maps offsets to placements, in lines of start, end and index.", |d, text| {
        d.job.engine.nvme.placement.scheme = (!text.is_empty()).then(|| text.to_owned());
    }),
];

fn write_mode(draft: &mut JobDraft, text: &str, findings: &mut Findings) {
    if let Some(modes) = nvme::write_modes(text, findings) {
        draft.job.engine.nvme.writes = modes;
    }
}

fn plids(draft: &mut JobDraft, text: &str, findings: &mut Findings) {
    if let Some(ids) = nvme::placement_ids(text, findings) {
        draft.job.engine.nvme.placement.ids = ids;
    }
}

fn pi_chk(draft: &mut JobDraft, text: &str, findings: &mut Findings) {
    if let Some(fields) = nvme::protection_fields(text, findings) {
        draft.job.engine.nvme.pi_chk = fields;
    }
}
