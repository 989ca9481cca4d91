//! Commands of `fathom-fleet` in pages and recipes, checked against the program, and the scripts that contain them.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

const FLEET: &str = env!("CARGO_BIN_EXE_fathom-fleet");

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Returns the files below a directory of the project.
fn files_below(folder: &str) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![top().join(folder)]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found
}

/// Returns the words behind `fathom-fleet` of every command in a text: a page, a script or a manifest.
fn commands(text: &str) -> Vec<Vec<String>> {
    // A script holds options in an array, a manifest has each word on a line.
    let array = text.split("load=(").nth(1).and_then(|rest| rest.split_once(")\n")).map_or("", |(words, _)| words);
    let text = text.replace("\\\n#", " ").replace("\\\n", " ").replace("\"${load[@]}\"", &array.replace('\n', " "));
    let mut found = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let ends = |letter: char| "`|;>".contains(letter);
        let typed = line.split("fathom-fleet ").skip(1).map(|rest| rest.split(ends).next().unwrap_or_default());
        let typed = typed.map(|rest| rest.split(" # ").next().unwrap_or_default());
        found.extend(typed.map(|rest| rest.split_whitespace().map(str::to_owned).collect::<Vec<_>>()));
        if line.trim() == "- fathom-fleet" {
            let words = std::iter::from_fn(|| lines.next_if(|line| line.trim_start().starts_with("- ")));
            found.push(words.map(|word| word.trim_start()[2..].to_owned()).collect());
        }
    }
    found.retain(|words| words.first().is_some_and(|word| word == "run" || word == "sweep"));
    found
}

/// Returns what is unknown in a command, if anything.
fn complaint(words: &[String]) -> Option<String> {
    let help = Command::new(FLEET).args([&words[0], "--help"]).output().unwrap();
    assert!(help.status.success(), "{help:?}");
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    let is_known = |name: &str| {
        let listed = |line: &str| line.trim_start().split([' ', ',']).any(|word| word == format!("--{name}"));
        help.lines().any(listed) || !job::table::find_all(name).is_empty()
    };
    let options = words.iter().filter_map(|word| word.strip_prefix("--"));
    let mut names = options.map(|option| option.split('=').next().unwrap_or_default());
    names.find(|name| !is_known(name)).map(|name| format!("`{}` has no --{name}", words[0]))
}

#[test]
fn every_command_in_pages_and_recipes_is_valid() {
    let mut pages = files_below("docs");
    pages.extend(["README.md", "CHANGELOG.md", "ARCHITECTURE.md"].map(|name| top().join(name)));
    pages.extend(files_below("packaging"));
    let (mut seen, mut wrong) = (Vec::new(), Vec::new());
    for page in pages {
        let Ok(text) = std::fs::read_to_string(&page) else { continue };
        for words in commands(&text) {
            wrong.extend(complaint(&words).map(|why| format!("{}: {why}: {words:?}", page.display())));
            seen.push((page.file_name().unwrap().to_string_lossy().into_owned(), words));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Those of the recipes are found, with all their options.
    for (recipe, options) in
        [("mpijob.yaml", 16), ("fathom-fleet.sbatch", 16), ("fleet.md", 2), ("Containerfile.mpi", 6)]
    {
        let of_recipe = seen.iter().filter(|(page, _)| page == recipe);
        let most = of_recipe.map(|(_, words)| words.iter().filter(|word| word.starts_with("--")).count()).max();
        assert!(most >= Some(options), "{recipe}: {most:?} options");
    }
}

#[test]
fn invalid_commands_are_reported() {
    for (text, why) in [
        ("`fathom-fleet run job.fio --rank-timeouts 3s`", "rank-timeouts"),
        ("srun -N 2 fathom-fleet run --iodepht=3 >out", "iodepht"),
        ("  - fathom-fleet\n  - sweep\n  - --enable-recovery\nother:\n  - --no", "enable-recovery"),
        (
            "load=(--rw=read\n    --frobnicate)\nsrun --mpi=pmix \\\n  fathom-fleet run \"${load[@]}\" \\\n -o a",
            "frobnicate",
        ),
    ] {
        let found = commands(text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(complaint(&found[0]).is_some_and(|complaint| complaint.ends_with(&format!("--{why}"))), "{text}");
    }
}

#[test]
fn scripts_are_valid_shell() {
    let scripts: Vec<PathBuf> =
        files_below("packaging/slurm").into_iter().chain([top().join("packaging/mpi/test-mpich")]).collect();
    assert!(scripts.len() >= 2, "{scripts:?}");
    for script in &scripts {
        assert!(std::fs::read_to_string(script).unwrap().starts_with("#!/usr/bin/env bash\n"), "{script:?}");
        assert_eq!(script.metadata().unwrap().permissions().mode() & 0o111, 0o111, "{script:?} cannot be run");
        assert!(Command::new("bash").arg("-n").arg(script).status().unwrap().success(), "{script:?}");
    }
    match Command::new("shellcheck").args(&scripts).output() {
        Ok(checked) => assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout)),
        Err(error) => assert!(std::env::var_os("FATHOM_NO_SKIP").is_none(), "shellcheck: {error}"),
    }
}

/// Runs the script for Slurm with `mpirun` instead of `srun`, and then `after` in its place.
fn submit(work: &Path, after: &str) -> Output {
    let programs = Path::new(FLEET).parent().unwrap();
    let srun = format!(
        "#!/bin/sh\nwhile [ \"$1\" != fathom-fleet ]; do shift; done\n\
         mpirun --oversubscribe --bind-to none -n 3 \"$@\"\ncode=$?\n{after}\nexit $code\n"
    );
    let stub = work.join("srun");
    std::fs::write(&stub, srun).unwrap();
    std::fs::set_permissions(&stub, PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}:{}", work.display(), programs.display(), std::env::var("PATH").unwrap());
    Command::new(top().join("packaging/slurm/fathom-fleet.sbatch"))
        .args(["--name=a", "--ioengine=null", "--rw=randread", "--size=64m", "--rate_iops=500", "--runtime=1"])
        .arg("--time_based")
        .envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"), ("SLURM_JOB_ID", "7")])
        .env("PATH", path)
        .env("FATHOM_HOME", work)
        .env("SLURM_SUBMIT_DIR", work)
        .current_dir(work)
        .output()
        .unwrap()
}

#[test]
fn the_script_for_slurm_reports_a_run() {
    let work = TempDir::new().unwrap();
    let ended = submit(work.path(), "");
    let text = format!("{}{}", String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    // A busy host makes the result one that is not to be trusted.
    assert!(matches!(ended.status.code(), Some(0 | 4)), "{text}");
    assert!(text.contains("3 of 3 on 1 host") && !text.contains("merged:"), "{text}");
    for name in ["result.json", "result.html"] {
        assert!(work.path().join("fathom-7").join(name).exists(), "{name}: {text}");
    }
    let folders: Vec<_> = std::fs::read_dir(work.path().join("fathom-7/ranks")).unwrap().collect();
    assert_eq!(folders.len(), 1, "a run has one directory of records: {folders:?}");
}

#[test]
fn the_script_for_slurm_merges_records_if_rank_0_was_lost() {
    let work = TempDir::new().unwrap();
    let ended = submit(work.path(), "rm fathom-7/result.* fathom-7/ranks/*/rank-0000.json; code=137");
    let text = format!("{}{}", String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert_eq!(ended.status.code(), Some(137), "{text}");
    assert!(text.contains("2 of 3 on 1 host") && text.contains("rank 0: it left no result"), "{text}");
    assert!(work.path().join("fathom-7/result.html").exists(), "{text}");
    let work = TempDir::new().unwrap();
    let ended = submit(work.path(), "rm -r fathom-7/*; code=137");
    assert_eq!(ended.status.code(), Some(137));
    assert!(String::from_utf8_lossy(&ended.stdout).contains("no rank has written a record"), "{ended:?}");
}
