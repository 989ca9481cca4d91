//! Tests that the option table is consistent.

use std::collections::BTreeMap;

use job::table::{Category, OPTIONS, OptionKind, OptionSpec, Status, find, find_all, suggest};
use job::{Dialect, Plan, docs, parse_command_line};

use crate::support::{World, lines, parse};

#[test]
fn names_are_unique_for_each_engine() {
    let mut owners: BTreeMap<&str, Vec<&OptionSpec>> = BTreeMap::new();
    for spec in OPTIONS.iter() {
        spec.names().for_each(|name| owners.entry(name).or_default().push(spec));
    }
    for (name, specs) in owners {
        let clash = specs.iter().enumerate().any(|(i, a)| specs[..i].iter().any(|b| overlap(a, b)));
        assert!(!clash, "{name}");
    }
}

fn overlap(a: &OptionSpec, b: &OptionSpec) -> bool {
    a.engines.is_empty() || b.engines.is_empty() || a.engines.iter().any(|engine| b.engines.contains(engine))
}

#[test]
fn categories_are_contiguous() {
    let mut categories: Vec<Category> = OPTIONS.iter().map(|spec| spec.category).collect();
    categories.dedup();
    let mut sorted = categories.clone();
    sorted.sort_unstable();
    assert_eq!(categories, sorted);
    assert!(OPTIONS.iter().all(|spec| spec.engines.is_empty() != (spec.category == Category::Private)));
}

#[test]
fn every_description_is_one_sentence() {
    for spec in OPTIONS.iter() {
        let first = spec.doc.chars().next().expect("a doc");
        assert!(first.is_uppercase() || first == '0', "{}: {}", spec.name, spec.doc);
        assert!(spec.doc.ends_with('.'), "{}: {}", spec.name, spec.doc);
        assert!(spec.doc.len() <= 110, "{}: {}", spec.name, spec.doc);
        assert!(!spec.doc.contains('|') && !spec.doc.contains('\n'), "{}", spec.name);
    }
}

/// An option set to its default changes nothing but the options that results repeat.
#[test]
fn documented_defaults_have_no_effect() {
    let plain = settings("ioengine=io_uring");
    let here = |spec: &&OptionSpec| spec.engines.is_empty() || spec.engines.contains(&"io_uring");
    // An explicit seed, engine, window, priority or hint differs from its default.
    let given = |spec: &&OptionSpec| {
        let changes = ["randseed", "ioengine", "bwavgtime", "iopsavgtime", "nice", "write_hint"].contains(&spec.name)
            || spec.status == Status::OfFathom;
        !spec.default.is_empty() && !changes
    };
    for spec in OPTIONS.iter().filter(here).filter(given) {
        assert_eq!(settings(&format!("ioengine=io_uring\n{}={}", spec.name, spec.default)), plain, "{}", spec.name);
    }
}

fn settings(options: &str) -> Plan {
    let parsed = parse(&format!("[a]\n{options}"), Dialect::Fio);
    assert_eq!(lines(&parsed.diagnostics), [""; 0], "{options}");
    without_echo(parsed.value)
}

fn without_echo(mut plan: Plan) -> Plan {
    plan.jobs.iter_mut().for_each(|job| job.echo.clear());
    plan.globals.clear();
    plan
}

/// Returns a value other than the default.
fn other_value(spec: &OptionSpec) -> String {
    let named = match spec.name {
        "buffered" => "0",
        "bssplit" => "8k/50:64k/50",
        "prioclass" => "1",
        "ignore_error" => "EIO",
        "merge_blktrace_scalars" | "merge_blktrace_iters" => "2\nmerge_blktrace_file=m",
        "sprandom" => "1\nrw=randwrite",
        "spr_num_regions" | "spr_cs" => "7\nsprandom=1\nrw=randwrite",
        "spr_op" => "0.5\nsprandom=1\nrw=randwrite",
        "steadystate" => "iops:5%",
        "zonemode" => "strided\nzonesize=4k",
        "zonesize" => "8k\nzonemode=strided",
        "zonerange" => "8k\nzonemode=strided\nzonesize=4k",
        "zoneskip" => "8k\nzonemode=strided\nzonesize=4k",
        "zone_reset_threshold" | "zone_reset_frequency" => "0.5",
        "numa_cpu_nodes" => "0",
        "numa_mem_policy" => "local",
        "cpus_allowed" | "log_compression_cpus" => "0-2",
        "log_hist_coarseness" => "3",
        "ioengine" => "null",
        "verify_pattern" | "buffer_pattern" => "0xff",
        "rwmixread" | "rwmixwrite" | "percentage_random" => "30",
        "filesize" => "1m-2m",
        "verify_interval" | "verify_offset" | "replay_align" => "4096",
        "replay_skip" => "read,sync",
        "nonvectored" => "0",
        "cmdprio_class" => "2",
        "cmdprio_bssplit" => "4k/50",
        "inplace" => "1",
        "hostname" => "239.1.1.1",
        "protocol" => "tcpv6",
        "http_mode" => "swift\nhttp_swift_auth_token=token",
        "random_distribution" => "zipf:1.2",
        "random_sequence_stride" => "1\nrandom_distribution=sequence:1,0",
        "sync_file_range" => "write,wait_after:8",
        "cgroup_weight" => "500",
        "write_mode" => "write/60:zeroes/30:uncor/10",
        "verify_mode" => "compare\nverify=pattern\nverify_pattern=0xff",
        "pi_chk" => "GUARD,APPTAG",
        "dataplacement" => "fdp",
        "num_range" => "8\nrw=randtrim",
        "plids" => "0,2-4",
        "plid_select" => "random",
        _ => "",
    };
    if !named.is_empty() {
        return named.to_owned();
    }
    match spec.kind {
        OptionKind::Bool | OptionKind::Flag => if spec.default == "1" { "0" } else { "1" }.to_owned(),
        OptionKind::Word(words) => words.iter().rev().find(|word| **word != spec.default).unwrap_or(&"").to_string(),
        OptionKind::Ranges => "8k-64k".to_owned(),
        OptionKind::Floats(..) => "50:99".to_owned(),
        OptionKind::Text => "other".to_owned(),
        _ => "7".to_owned(),
    }
}

/// Options of `zonemode=zbd`.
const OF_ZONES: [&str; 9] = [
    "zonecapacity",
    "read_beyond_wp",
    "max_open_zones",
    "job_max_open_zones",
    "ignore_zone_limits",
    "zone_reset_threshold",
    "zone_reset_frequency",
    "recover_zbd_write_error",
    "write_zone_remainder",
];

/// Options of commands that are not of `io_uring_cmd` alone.
const OF_COMMANDS: [&str; 8] =
    ["readfua", "writefua", "fdp", "dataplacement", "plid_select", "plids", "dp_scheme", "num_range"];

/// Every supported option has an effect: another value yields another job.
#[test]
fn every_supported_option_changes_the_job() {
    for spec in OPTIONS.iter().filter(|spec| spec.status == Status::Supported) {
        let engine = match spec.name {
            "ioengine" => "psync",
            _ if OF_COMMANDS.contains(&spec.name) || spec.engines == ["io_uring_cmd"] => "io_uring_cmd",
            _ if spec.engines == ["model"] => "model",
            _ if spec.name == "hostname" => "net\nport=1\nprotocol=udp",
            _ if spec.engines.contains(&"net") => "net\nhostname=239.1.1.1\nport=1",
            _ if spec.engines == ["cpuio"] => "cpuio\ncpuload=50",
            _ if spec.engines == ["http"] => "http\nfilename=/bucket/object",
            _ if spec.name == "donorname" => "e4defrag\ndonorname=d",
            _ if spec.engines == ["e4defrag"] => "e4defrag\ndonorname=d",
            _ if spec.name == "program" => "exec\nprogram=true",
            _ if spec.engines == ["exec"] => "exec\nprogram=true",
            _ if spec.engines == ["nbd"] => "nbd\nuri=nbd://localhost/",
            _ if spec.engines.is_empty() || spec.engines.contains(&"io_uring") => "io_uring",
            _ => spec.engines[0],
        };
        // It names a job before its own; and other values of these are of SCSI commands.
        if matches!(spec.name, "wait_for" | "cmd_type" | "read_mode") {
            continue;
        }
        let duration = if spec.name.starts_with("steadystate") { "\nsteadystate_duration=9" } else { "" };
        let trace =
            if ["replay_", "merge_"].iter().any(|start| spec.name.starts_with(start)) { "\nread_iolog=t" } else { "" };
        let logs = if spec.name == "log_issue_time" { "\nwrite_lat_log=l\nlog_offset=1" } else { "" };
        let zones = if OF_ZONES.contains(&spec.name) { "\nzonemode=zbd\nzonesize=8k" } else { "" };
        let files = if spec.name == "block_error_percentiles" { 1 } else { 2 };
        let base = format!(
            "ioengine={engine}\niodepth=64\nnrfiles={files}\ndirect=0\nruntime=60{trace}{logs}{duration}{zones}"
        );
        let changed = settings(&format!("{base}\n{}={}", spec.name, other_value(spec)));
        assert_ne!(changed, settings(&base), "{}", spec.name);
    }
}

/// fio 3.33 prints `BW=9482Mibit/s` for its engines of networks.
#[test]
fn rates_of_connections_are_in_bits() {
    let unit = |options: &str| {
        let net = "ioengine=net\nport=1\nhostname=localhost\nrw=write";
        settings(&format!("{net}\n{options}")).jobs[0].stats.unit_base
    };
    assert_eq!([unit(""), unit("unit_base=0"), unit("unit_base=8")], [1, 1, 8]);
}

/// An unsupported option is refused whatever its value.
#[test]
fn every_unsupported_option_is_an_error_at_its_place() {
    for spec in OPTIONS.iter().filter(|spec| spec.status == Status::NotYet && spec.engines.is_empty()) {
        let text = format!("[a]\n{}={}", spec.name, other_value(spec));
        for dialect in [Dialect::Fio, Dialect::Strict] {
            let found = parse(&text, dialect).diagnostics;
            assert_eq!(found.len(), 1, "{text}: {:?}", lines(&found));
            let place = found[0].place.as_ref().expect("a place");
            assert_eq!((found[0].code.name(), place.line, place.column), ("not-supported", 2, 1), "{text}");
        }
    }
}

#[test]
fn the_reference_lists_every_option() {
    let text = docs::options_markdown();
    for spec in OPTIONS.iter() {
        assert!(spec.names().all(|name| text.contains(&format!("`{name}`"))), "{}", spec.name);
    }
    for line in text.lines().filter(|line| line.starts_with("| ")) {
        assert_eq!(line.replace("\\|", "").matches('|').count(), 6, "{line}");
    }
}

#[test]
fn help_is_found_by_name_alias_and_engine() {
    assert!(docs::option_help("blocksize").is_some_and(|text| text.starts_with("bs: ")));
    assert!(docs::option_help("all").is_some_and(|text| text.lines().count() > 240));
    assert_eq!(docs::option_help("nosuch"), None);
    assert!(docs::engine_help("").is_some_and(|text| text.contains("io_uring")));
    assert!(docs::engine_help("libaio").is_some_and(|text| text.contains("userspace_reap")));
    assert!(docs::engine_help("io_uring,hipri").is_some());
    assert_eq!(docs::engine_help("nosuch"), None);
    assert_eq!(docs::engine_help("libaio,fixedbufs"), None);
    assert!(docs::host_help().contains("  --output=FILE"));
}

#[test]
fn lookup_is_exact_and_suggestions_are_close() {
    assert_eq!(find("blocksize", "psync").map(|spec| spec.name), Some("bs"));
    assert!(find("hipri", "psync").is_none() && find("hipri", "io_uring").is_some());
    assert_eq!(find_all("nosuch").len(), 0);
    assert_eq!(suggest("iodeph"), Some("iodepth"));
    let found = parse_command_line(&["--name=a".into(), "--runtme=5".into()], Dialect::Strict, &World::default());
    assert_eq!(found.diagnostics[0].help.as_deref(), Some("write `--runtime`"));
}

#[test]
fn commands_need_their_engine_and_what_they_depend_on() {
    let refused = |options: &str| {
        let found = parse(&format!("[a]\nsize=1m\nrw=write\n{options}"), Dialect::Fio);
        assert!(found.has_errors(), "{options}");
        lines(&found.diagnostics).join("\n")
    };
    for (options, reason) in [
        ("ioengine=io_uring_cmd\ncmd_type=bsg", "it sends SCSI commands"),
        ("ioengine=io_uring_cmd\nread_mode=prefetch", "is a SCSI command"),
        ("ioengine=io_uring_cmd\nwrite_mode=zone_append", "zone_append is not supported"),
        ("ioengine=io_uring_cmd\nwrite_mode=write/50", "add up to 50"),
        ("ioengine=io_uring_cmd\nwrite_mode=zeroes\nverify=crc32c", "only `write_mode=write` stores data"),
        ("ioengine=io_uring_cmd\nverify_mode=compare\nverify=crc32c", "needs a pattern"),
        ("ioengine=io_uring_cmd\napptag=65536", "apptag"),
        ("ioengine=io_uring_cmd\nfdp=1\nplid_select=scheme", "needs a scheme file"),
        ("ioengine=io_uring_cmd\ndataplacement=streams", "streams need stream identifiers"),
        ("ioengine=io_uring\nfdp=1", "does not support data placement"),
        ("ioengine=libaio\ndata_placement=streams\nplids=1", "does not support data placement"),
        ("ioengine=io_uring\nmd_per_io_size=64", "md_per_io_size"),
        ("ioengine=io_uring_cmd\nnum_range=8", "only trim"),
        ("ioengine=io_uring_cmd\nzonemode=zbd\nzonesize=1m\nwrite_mode=zeroes", "do not advance write pointers"),
        ("ioengine=io_uring_cmd\nzonemode=zbd\nzonesize=1m\nrw=trim\nnum_range=2", "a reset applies to one zone"),
        ("zonemode=zbd\nzonesize=1m\nverify=crc32c\ntrim_percentage=50\ntrim_backlog=4", "resets a whole zone"),
        ("ioengine=io_uring_cmd\nnum_range=257", "num_range"),
        ("ioengine=io_uring_cmd\nrw=trim\nnum_range=256\nbs=8m", "a trim can have at most"),
        ("ioengine=libaio\nrw=trim\nnum_range=8", "one range at a time"),
    ] {
        let text = refused(options);
        assert!(text.contains(reason), "{options}: {text}");
    }
}

/// fio's engine `io_uring` takes these and sends no commands.
#[test]
fn options_of_commands_have_no_effect_on_a_ring() {
    let base = settings("ioengine=io_uring");
    for option in ["write_mode=zeroes", "verify_mode=compare", "readfua=1", "writefua=1", "deac=1", "cmd_type=bsg"] {
        let text = format!("ioengine=io_uring\n{option}");
        assert_eq!(settings(&text), base, "{option}");
    }
    let commands = settings("ioengine=io_uring_cmd");
    for option in
        ["cdb_len=16", "verify_bytchk=1", "cmd_type=nvme", "read_mode=read", "fdp=0", "plid_select=roundrobin"]
    {
        assert_eq!(settings(&format!("ioengine=io_uring_cmd\n{option}")), commands, "{option}");
    }
}
