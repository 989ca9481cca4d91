//! Runs the scripts of the GitHub action with a scratch repository, a release on disk, and a `gh` that records its
//! calls.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use crate::common::{Outcome, Scratch, require, run};
use crate::manual::{files_below, text_of, top};

/// A work directory whose own programs precede those of the system.
struct Workspace {
    scratch: Scratch,
    /// Whether `fathom` is on the PATH.
    installed: bool,
}

impl Workspace {
    fn new(installed: bool) -> Self {
        let scratch = Scratch::new();
        for folder in ["bin", "work", "temp"] {
            std::fs::create_dir(scratch.path(folder)).expect("the scratch directory is writable");
        }
        if installed {
            symlink(env!("CARGO_BIN_EXE_fathom"), scratch.path("bin/fathom")).expect("a link can be made");
        }
        Self { scratch, installed }
    }

    fn program(&self, name: &str, text: &str) {
        let path = self.scratch.write(&format!("bin/{name}"), text);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    }

    fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.current_dir(self.scratch.path("work")).env_clear().env("FATHOM_NO_RECORD", "1");
        command
            .env("PATH", format!("{}:/usr/bin:/bin", self.scratch.text("bin")))
            .env("HOME", self.scratch.text("temp"));
        command.env("RUNNER_TEMP", self.scratch.text("temp")).env("GITHUB_PATH", self.scratch.text("path"));
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GITHUB_SHA", "0123456789");
        command
    }

    /// Runs a script of the action.
    fn script(&self, name: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Outcome {
        let mut command = self.command(top().join("packaging/github").join(name));
        run(command.args(arguments).envs(variables.iter().copied()))
    }

    fn git(&self, words: &str) -> String {
        run(self.command("/usr/bin/git").args(words.split(' '))).expect_code(0).stdout
    }

    fn read(&self, name: &str) -> String {
        self.scratch.read(&format!("work/{name}"))
    }

    /// Measures a modelled volume with this latency; its name is always the same.
    fn measure(&self, latency_us: u32, repeat: &str) -> Outcome {
        assert!(self.installed);
        let law = format!("{{ law = \"constant\", us = {latency_us} }}");
        let volume = format!(
            "[[volume]]\nid = \"disk\"\ntitle = \"A disk\"\n\
             key.size = {{ unit = \"GiB\", default = 100, min = 1, max = 1_000 }}\n\
             limit = [{{ name = \"volume IOPS\", iops = 1_000_000 }}]\n\
             latency.read = {law}\nlatency.write = {law}\n"
        );
        self.scratch.write("work/disk.toml", volume);
        self.scratch.write("work/job.fio", "[reads]\nrw=randread\niodepth=4\nruntime=2\ntime_based\n");
        let arguments = "--seed 1 --bs=8k";
        let variables = [
            ("JOB", "job.fio"),
            ("ON", "./disk.toml"),
            ("REPEAT", repeat),
            ("ARGUMENTS", arguments),
            ("RESULTS", "results"),
        ];
        self.script("measure", &[], &variables).expect_code(0)
    }

    fn gate(&self, expect: &str) -> Outcome {
        self.script("judge", &[], &[("RESULTS", "results"), ("EXPECT", expect), ("EXPECT_FILE", "")])
    }
}

const EXPECTED: &str = "read.iops >= 3k\nread.iops >= 95%";

#[test]
fn scripts_of_the_action_are_valid_shell() {
    let scripts: Vec<String> =
        files_below("packaging/github").into_iter().filter(|name| !name.ends_with(".yml")).collect();
    assert_eq!(scripts.len(), 6, "{scripts:?}");
    for script in &scripts {
        let path = top().join(script);
        assert!(text_of(script).starts_with("#!/usr/bin/env bash\n"), "{script}");
        assert!(path.metadata().expect("it exists").permissions().mode() & 0o111 == 0o111, "{script} cannot be run");
        run(Command::new("/bin/bash").arg("-n").arg(&path)).expect_clean();
    }
    require!(Shellcheck);
    run(Command::new("/usr/bin/shellcheck").args(scripts.iter().map(|script| top().join(script)))).expect_clean();
}

#[test]
fn a_baseline_on_a_branch_is_compared_with_the_next_run() {
    require!(Git);
    let space = Workspace::new(true);
    space.git("init --quiet --bare --initial-branch=main ../origin.git");
    space.git("init --quiet --initial-branch=main .");
    space.git("remote add origin ../origin.git");
    let baseline = |what: &str| {
        let names = [("BASELINE", "branch"), ("BRANCH", "fathom-baseline"), ("NAME", "disk"), ("RESULTS", "results")];
        space.script("baseline", &[what], &names).expect_code(0).stdout
    };
    // The first run has no baseline: relative expectations are left out, and the summary says so.
    assert_eq!(baseline("fetch"), "There is no baseline: the branch fathom-baseline does not exist yet.\n");
    space.measure(1_000, "3");
    space.gate(EXPECTED).expect_code(0);
    let summary = space.read("results/summary.md");
    assert!(summary.contains("expectations relative to it were not judged"), "{summary}");
    assert!(summary.contains("read.iops >= 3k") && !summary.contains("95%"), "{summary}");
    assert!(baseline("save").starts_with("The run is the baseline of disk now"));
    assert_eq!(space.git("-C ../origin.git ls-tree -r --name-only fathom-baseline"), "disk/run.json\n");
    assert_eq!(space.git("status --porcelain --untracked-files=no"), "", "the work tree is unchanged");

    // The next run has 25 % more latency: it fails against the baseline, and the summary shows the change.
    assert_eq!(baseline("fetch"), "");
    space.measure(1_250, "3");
    space.gate(EXPECTED).expect_code(1);
    let summary = space.read("results/summary.md");
    assert!(summary.contains("## Against the baseline") && summary.contains("## Expectations"), "{summary}");
    assert!(summary.contains("-20"), "{summary}");
    assert!(space.read("results/gate.xml").contains("failures=\"1\""));

    // Another measurement has its own directory, and a second baseline replaces the first.
    let names = [("BASELINE", "branch"), ("BRANCH", "fathom-baseline"), ("NAME", "model"), ("RESULTS", "results")];
    let none = space.script("baseline", &["fetch"], &names).expect_code(0).stdout;
    assert_eq!(none, "There is no baseline: the branch fathom-baseline has no model/run.json yet.\n");
    space.script("baseline", &["save"], &names).expect_code(0);
    baseline("save");
    assert_eq!(space.git("-C ../origin.git ls-tree -r --name-only fathom-baseline"), "disk/run.json\nmodel/run.json\n");
    let wrong = space.script("baseline", &["fetch"], &[("BASELINE", "twig"), ("NAME", "x"), ("RESULTS", "results")]);
    assert!(wrong.expect_code(2).stderr.contains("none, branch or artifact"));
}

#[test]
fn a_baseline_of_another_workload_is_not_compared() {
    let space = Workspace::new(true);
    space.measure(1_000, "1");
    let record = space.scratch.path("work/results/run.json");
    let text = std::fs::read_to_string(&record).expect("it was written").replace("\"iodepth\": 4", "\"iodepth\": 64");
    space.measure(1_000, "1");
    space.scratch.write("work/results/baseline.json", text);
    space.gate(EXPECTED).expect_code(0);
    let summary = space.read("results/summary.md");
    assert!(
        summary.contains("was not compared:\n\n    error[not-comparable]: the runs are not comparable"),
        "{summary}"
    );
    assert!(summary.contains("iodepth is 64 in the baseline") && summary.contains("were not judged"), "{summary}");
}

#[test]
fn a_baseline_is_downloaded_from_artifacts() {
    let space = Workspace::new(true);
    space.program(
        "gh",
        "#!/bin/sh\necho \"gh $*\" >>\"$HOME/asked\"\ncase \"$1 $2\" in\n'run list') cat \"$HOME/runs\" ;;\n\
         'run download') mkdir -p \"$7\" && echo '{}' >\"$7/run.json\" ;;\nesac\n",
    );
    let names =
        [("BASELINE", "artifact"), ("NAME", "disk"), ("RESULTS", "results"), ("WORKFLOW", "storage"), ("MAIN", "main")];
    space.scratch.write("temp/runs", "");
    let none = space.script("baseline", &["fetch"], &names).expect_code(0).stdout;
    assert_eq!(none, "There is no baseline: no run of storage on main has succeeded yet.\n");
    space.scratch.write("temp/runs", "4711\n");
    space.script("baseline", &["fetch"], &names).expect_code(0);
    assert_eq!(space.read("results/baseline.json"), "{}\n");
    let calls = space.scratch.read("temp/asked");
    assert!(calls.ends_with("gh run download 4711 --name disk --dir results/of-baseline\n"), "{calls}");
}

#[test]
fn the_previous_comment_is_replaced() {
    let space = Workspace::new(false);
    space.scratch.write("work/summary.md", "fine");
    space.program("gh", "#!/bin/sh\necho \"$*\" >>\"$HOME/asked\"\ncase \"$*\" in *--edit-last*) exit 1 ;; esac\n");
    space.script("comment", &[], &[("PULL_REQUEST", "12"), ("RESULTS", ".")]).expect_code(0);
    let calls = space.scratch.read("temp/asked");
    assert_eq!(calls, "pr comment 12 --edit-last --body-file ./summary.md\npr comment 12 --body-file ./summary.md\n");
    space.program("gh", "#!/bin/sh\nexit 1\n");
    let warned = space.script("comment", &[], &[("PULL_REQUEST", "12"), ("RESULTS", ".")]).expect_code(0).stdout;
    assert!(warned.starts_with("::warning::"), "{warned}");
}

#[test]
fn a_release_is_installed_if_its_checksum_matches() {
    let space = Workspace::new(false);
    let machine = run(Command::new("/usr/bin/uname").arg("-m")).stdout;
    let release = "work/owner/fathom/releases/download/v1.2.3";
    std::fs::create_dir_all(space.scratch.path(release)).expect("the scratch directory is writable");
    // A small program stands in for Fathom.
    let program = space.scratch.write("temp/program", "#!/bin/sh\necho fathom 1.2.3\n");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    let target = format!("{}-unknown-linux-musl", machine.trim());
    let mut pack = space.command(top().join("packaging/github/pack"));
    run(pack.current_dir(space.scratch.path(release)).args([&program, &target])).expect_code(0);
    let server = format!("file://{}", space.scratch.text("work"));
    let variables = [("VERSION", "v1.2.3"), ("REPOSITORY", "owner/fathom"), ("SERVER", server.as_str())];
    let printed = space.script("install", &[], &variables).expect_code(0).stdout;
    assert!(printed.ends_with("fathom 1.2.3\n"), "{printed}");
    assert_eq!(space.scratch.read("path"), format!("{}\n", space.scratch.text("temp/fathom")));
    // An additional byte is refused.
    let archive = space.scratch.path(&format!("{release}/fathom-{target}.tar.gz"));
    let mut bytes = std::fs::read(&archive).expect("it was packed");
    bytes.push(0);
    std::fs::write(&archive, bytes).expect("it is ours");
    std::fs::remove_file(space.scratch.path("path")).expect("it is ours");
    let refused = space.script("install", &[], &variables);
    assert_ne!(refused.code(), Some(0), "{refused:?}");
    assert!(!space.scratch.path("path").exists());
    // An installed program is used unchanged.
    let installed = Workspace::new(true);
    installed.script("install", &[], &[]).expect_code(0);
    assert!(!installed.scratch.path("path").exists());
}
