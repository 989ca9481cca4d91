//! `--shard`: points of a grid or a sweep divided among tasks, and merged by `fathom report`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::json::Json;
use crate::common::{Outcome, Scratch, fathom, run, run_saved, words};

const GRID: &str =
    "sim --on custom,iops=1000,latency=5ms --name=a --rw=randread --runtime=1 --vary iodepth=1..64 --vary bs=4k,16k";
const SWEEP: &str = "sweep --on custom,iops=1000,latency=5ms --vary bs=4k,16k,64k";

/// Runs a command line.
fn fathom_run(text: &str) -> Outcome {
    run(&mut fathom(words(text)))
}

/// Computes all shards, and returns their files.
fn shards(scratch: &Scratch, command: &str, count: usize) -> Vec<String> {
    let file = |number: usize| {
        let path = scratch.text(&format!("shard-{number}.json"));
        fathom_run(&format!("{command} --shard {number}/{count} -o {path}")).expect_clean();
        path
    };
    (1..=count).map(file).collect()
}

/// Returns a document without what differs between runs: times and command lines.
fn comparable(text: &str) -> Vec<String> {
    let differs = |line: &&str| {
        ["unix_ms\":", "\"--shard\"", "/3\"", "\"-o\"", "/whole.", "/shard-"].iter().any(|word| line.contains(word))
    };
    text.lines().filter(|line| !differs(line)).map(|line| line.trim_end_matches(',').to_owned()).collect()
}

#[test]
fn merged_shards_equal_the_whole_in_every_format() {
    for (command, formats) in [(GRID, &["json", "csv", "md", "txt"][..]), (SWEEP, &["json", "csv", "txt", "svg"])] {
        let scratch = Scratch::new();
        let outputs = |name: &str| -> Vec<String> {
            formats.iter().map(|format| scratch.text(&format!("{name}.{format}"))).collect()
        };
        let (whole, merged) = (outputs("whole"), outputs("merged"));
        let printed = fathom_run(&format!("{command} -o {}", whole.join(" -o "))).expect_clean().stdout;
        let mut files = shards(&scratch, command, 3);
        // Whatever order the shell lists them in.
        files.reverse();
        fathom_run(&format!("report {} -o {}", files.join(" "), merged.join(" -o "))).expect_clean();
        for (whole, merged) in whole.iter().zip(&merged) {
            let [whole, merged] = [whole, merged].map(|path| comparable(&std::fs::read_to_string(path).unwrap()));
            assert!(!whole.is_empty());
            let differs = merged.iter().zip(&whole).find(|(merged, whole)| merged != whole);
            assert!(merged.len() == whole.len() && differs.is_none(), "{command}: {differs:?}");
        }
        assert_eq!(fathom_run(&format!("report {}", files.join(" "))).expect_clean().stdout, printed);
    }
}

#[test]
fn missing_and_foreign_shards_are_named() {
    let scratch = Scratch::new();
    let files = shards(&scratch, GRID, 3);
    let partial = fathom_run(&format!("report {} {}", files[0], files[2])).expect_code(0);
    let missing = "5 of 14 points are missing: shard 2 of 3 is missing";
    assert_eq!(partial.stderr, format!("warning[shard]: {missing}\n"));
    assert!(partial.stdout.ends_with(&format!("\n{missing}\n")), "{}", partial.stdout);
    let twice = fathom_run(&format!("report {0} {0}", files[0])).expect_code(2);
    assert!(twice.stderr.starts_with("error[shard]: duplicate shard 1 of 3"), "{}", twice.stderr);
    let other = scratch.text("other.json");
    for foreign in [
        format!("{GRID},64k --shard 2/3"),
        format!("{GRID} --shard 1/2"),
        format!("{GRID} --shard 2/3 --hosts 4"),
        format!("{GRID} --shard 2/3 --seed 4"),
        format!("{GRID} --shard 2/3 --rwmixread=4"),
        GRID.replace("iops=1000", "iops=2000") + " --shard 2/3",
    ] {
        fathom_run(&format!("{foreign} -o {other}")).expect_code(0);
        let refused = fathom_run(&format!("report {} {other}", files[0])).expect_code(2);
        let told =
            [files[0].as_str(), other.as_str(), "different jobs"].iter().all(|word| refused.stderr.contains(word));
        assert!(told && refused.stdout.is_empty(), "{foreign}: {}", refused.stderr);
    }
}

#[test]
fn merged_shards_stand_where_their_first_one_was_named() {
    let scratch = Scratch::new();
    let (grid, sweep) = (
        shards(&scratch, "sim --on custom,iops=100 --name=a --runtime=1 --vary iodepth=1,2", 2),
        scratch.text("w.json"),
    );
    fathom_run(&format!("sweep --on custom,iops=1000,latency=1ms --vary bs=4k,8k -o {sweep}")).expect_code(0);
    let page = fathom_run(&format!("report {} {sweep} {}", grid[1], grid[0])).expect_code(0).stdout;
    let places = ["iodepth=1\n", "iodepth=2\n", "bs=4k"].map(|text| page.find(text).expect(text));
    assert!(places.is_sorted(), "{page}");
}

#[test]
fn damaged_shards_are_refused_with_their_place() {
    let scratch = Scratch::new();
    let file = shards(&scratch, "sim --on custom,iops=1000,latency=1ms --name=a --runtime=1 --vary iodepth=1,2", 1);
    let text = std::fs::read_to_string(&file[0]).unwrap();
    for (name, damaged) in [
        ("cut.json", text[..text.len() / 2].to_owned()),
        ("later.json", text.replacen("\"fathom_grid\": 1", "\"fathom_grid\": 7", 1)),
    ] {
        assert_ne!(damaged, text, "{name}");
        let refused = run(&mut fathom(["report", &scratch.write(name, damaged)])).expect_code(2);
        assert!(refused.stdout.is_empty() && refused.stderr.starts_with("error["), "{name}: {}", refused.stderr);
    }
}

#[test]
fn a_saved_grid_is_reported_as_a_grid() {
    let scratch = Scratch::new();
    let with_home = |text: &str| {
        let mut command = fathom(words(text));
        command.env_remove("FATHOM_NO_RECORD").env("FATHOM_HOME", scratch.text("home"));
        run_saved(&mut command)
    };
    let printed = with_home(GRID).expect_code(0).stdout;
    assert_eq!(with_home("report last").expect_clean().stdout, printed);
}

#[test]
fn mistakes_in_shards_are_refused_and_an_empty_one_is_mentioned() {
    for (arguments, message) in [
        ("--shard 4/3", "--shard 4/3: not a shard"),
        ("--shard 0/3", "--shard 0/3: not a shard"),
        ("--shard x", "--shard x: not a shard"),
        ("--shard auto", "--shard auto: neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set"),
    ] {
        let mut command = fathom(words(&format!("{GRID} {arguments}")));
        command.env_remove("SLURM_ARRAY_TASK_ID").env_remove("JOB_COMPLETION_INDEX");
        let refused = run(&mut command).expect_code(2);
        assert!(refused.stderr.contains(message) && refused.stderr.contains("help: "), "{}", refused.stderr);
    }
    let alone = fathom_run("sim --on gcp/pd-ssd --name=a --shard 1/2").expect_code(2);
    assert!(alone.stderr.contains("--vary"), "{}", alone.stderr);
    // All tasks of an array refuse what only one of them would compute.
    for number in 1..=2 {
        let wrong = format!("sim --on gcp/pd-ssd --name=a --vary iodepth=1,x --shard {number}/2");
        assert!(fathom_run(&wrong).expect_code(2).stderr.contains("`x` is not a number"));
    }
    let empty = fathom_run("sim --on gcp/pd-ssd --name=a --runtime=1 --vary iodepth=1,2 --shard 5/6").expect_code(0);
    assert_eq!(empty.stderr, "fathom: shard 5 of 6 is empty: only 2 points\n");
}

/// Runs the recipe for arrays of Slurm as one of its tasks.
fn task(results: &Path, number: usize, tasks: usize, arguments: &str) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/slurm/shards.sbatch");
    let programs = Path::new(env!("CARGO_BIN_EXE_fathom")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    command.arg(script).args(words(arguments)).env("PATH", path).env("SLURM_SUBMIT_DIR", results);
    command.env("SLURM_ARRAY_JOB_ID", "7").env("SLURM_ARRAY_TASK_ID", number.to_string());
    command.env("SLURM_ARRAY_TASK_MIN", "1").env("SLURM_ARRAY_TASK_COUNT", tasks.to_string());
    run(&mut command).expect_code(0);
}

#[test]
fn the_recipe_for_job_arrays_writes_shards_that_merge() {
    let scratch = Scratch::new();
    let grid = "sim --on custom,iops=1000,latency=5ms --name=a --runtime=1 --vary iodepth=1..16";
    (1..=3).for_each(|number| task(&scratch.path(""), number, 3, grid));
    let files: Vec<PathBuf> = (1..=3).map(|number| scratch.path(&format!("fathom-7/shard-{number}.json"))).collect();
    let merged = run(fathom(["report"]).args(&files)).expect_clean();
    assert_eq!(merged.stdout, fathom_run(grid).expect_clean().stdout);
    // What the script simulates by itself is valid.
    task(&scratch.path(""), 60, 60, "");
    let own = Json::read(&scratch.read("fathom-7/shard-60.json"));
    assert_eq!(own.items("sweep").len(), 0);
    assert_eq!((own.whole("shard/count"), own.whole("shard/items")), (60, 55));
}
