//! Jobs of fio's profiles.

use job::{Dialect, EmptySource, Invocation, OutputFormat, parse_command_line};

fn parsed(line: &str) -> Invocation {
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    let parsed = parse_command_line(&words, Dialect::Fio, &EmptySource);
    assert!(!parsed.has_errors(), "{line}: {:?}", parsed.diagnostics);
    parsed.value
}

#[test]
fn prep_is_a_flag() {
    for prep in ["--prep", "--prep=1"] {
        let found = parsed(&format!("--profile=act --device-names=a {prep} --output-format=json"));
        assert_eq!(found.host.output_formats, [OutputFormat::Json]);
        let names: Vec<_> = found.plan.jobs.iter().map(|job| job.name.as_str()).collect();
        assert_eq!(names, ["act-prep-zeroes-a", "act-prep-salt-a"]);
    }
    assert_eq!(parsed("--profile=act --device-names=a --prep=0").plan.jobs[0].name, "act-read-a");
}

#[test]
fn names_of_devices_stay_whole() {
    let found = parsed("--profile=act --device-names=/dev/disk/by-path/pci-0:1,[b] --load=3");
    let files: Vec<_> = found.plan.jobs.iter().flat_map(|job| job.files.filenames.clone()).collect();
    assert_eq!(files, ["/dev/disk/by-path/pci-0:1", "/dev/disk/by-path/pci-0:1", "[b]", "[b]"]);
}

/// The size of the files of `tiobench` by default: a page for each MiB of memory.
#[test]
fn tiobench_has_the_size_of_fio() {
    let found = parsed("--profile=tiobench");
    let size = |job: &job::Job| format!("{:?}", job.extent.size);
    assert!(found.plan.jobs.len() == 4 && found.plan.jobs.iter().all(|job| size(job).contains("4194304")), "{found:?}");
}
