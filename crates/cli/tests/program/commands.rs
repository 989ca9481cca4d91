//! NVMe commands (`io_uring_cmd`) on a host without NVMe: what is refused, and models in their place. `xtask/guest/cases/commands.sh`
//! has those that need a device.

use crate::common::{Scratch, fathom, flat, run, words};

const JOB: &str = "--name=j --rw=write --bs=4k --size=64k --ioengine=io_uring_cmd --fixedbufs=1";

#[test]
fn other_files_and_devices_take_no_commands() {
    let scratch = Scratch::new();
    let file = scratch.write("file", vec![7; 65536]);
    for path in [file.as_str(), "/dev/null", "/dev/zero"] {
        for face in ["run", "fio"] {
            let outcome = run(fathom(words(&format!("{face} {JOB}"))).arg(format!("--filename={path}")));
            assert!(matches!(outcome.code(), Some(1 | 2)), "{face} {path}: {:?}", outcome.code());
            let text = flat(&outcome.stderr);
            assert!(text.contains(path) && text.contains("not the character device of an NVMe namespace"), "{text}");
            assert!(text.contains("ngXnY"), "{text}");
        }
    }
    assert!(scratch.read("file").bytes().all(|byte| byte == 7), "nothing was written");
}

#[test]
fn a_missing_namespace_is_not_created() {
    let scratch = Scratch::new();
    for path in ["ng0n1", "/dev/ng77n1"] {
        for face in ["run", "fio"] {
            let mut command = fathom(words(&format!("{face} {JOB} --filename={path}")));
            let outcome = run(command.current_dir(&scratch));
            assert!(matches!(outcome.code(), Some(1 | 2)), "{face} {path}: {:?}", outcome.code());
            assert!(flat(&outcome.stderr).contains("No such file"), "{}", outcome.stderr);
        }
    }
    assert_eq!(scratch.names(), [""; 0]);
    let nameless = flat(&run(&mut fathom(words(&format!("run {JOB}")))).expect_code(2).stderr);
    assert!(nameless.contains("filename=/dev/ngXnY"), "{nameless}");
}

/// A model takes the place of the device, as with other engines.
#[test]
fn a_model_answers_instead_of_a_namespace() {
    let line =
        "sim --on aws/gp3 --name=j --rw=randread --bs=4k --iodepth=8 --runtime=2 --ioengine=io_uring_cmd --format=json";
    let operations = |line: &str| {
        let text = run(&mut fathom(words(line))).expect_code(0).stdout;
        let ios = text
            .lines()
            .find_map(|line| line.trim().strip_prefix("\"ios\": ")?.trim_end_matches(',').parse::<u64>().ok());
        ios.expect("the record counts operations")
    };
    let commands = operations(line);
    assert_eq!(commands, operations(&line.replace("io_uring_cmd", "io_uring --direct=1")));
    assert!(commands > 1000, "{commands}");
}
