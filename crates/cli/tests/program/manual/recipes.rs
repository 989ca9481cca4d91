//! Recipes for containers, Kubernetes and GitHub.

use std::process::Command;

use crate::common::json::Json;
use crate::common::{Scratch, fathom, require, run, run_saved, run_with_input};
use crate::manual::spoken::Known;
use crate::manual::{files_below, text_of, top};

/// Returns the documents of a YAML file as JSON, with keys in order and `on` as a string.
fn documents(name: &str) -> Vec<Json> {
    let script = "import json, sys, yaml\n\
                  class Words(yaml.SafeLoader): pass\n\
                  Words.yaml_implicit_resolvers = {k: [(t, r) for t, r in v if not t.endswith('bool') or k in 'tTfF']\n\
                  \x20   for k, v in yaml.SafeLoader.yaml_implicit_resolvers.items()}\n\
                  print('\\n'.join(json.dumps(one) for one in yaml.load_all(sys.stdin, Words)))";
    let mut python = Command::new("/usr/bin/python3");
    let read = run_with_input(python.args(["-c", script]), &text_of(name)).expect_clean();
    Json::read_all(&read.stdout)
}

/// Returns the texts of an array; empty if there is no such array.
fn texts(value: &Json, path: &str) -> Vec<String> {
    let Some(Json::Array(items)) = value.find(path) else { return Vec::new() };
    items.iter().map(|item| if let Json::Text(text) = item { text.clone() } else { format!("{item:?}") }).collect()
}

fn items<'a>(value: &'a Json, path: &str) -> &'a [Json] {
    if value.find(path).is_some() { value.items(path) } else { &[] }
}

#[test]
fn files_named_in_recipes_exist() {
    let tops: Vec<String> = std::fs::read_dir(top())
        .expect("the project is there")
        .map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned())
        .collect();
    let (mut seen, mut missing) = (0, Vec::new());
    for recipe in files_below("packaging") {
        for word in text_of(&recipe).split(|letter: char| letter.is_whitespace() || "\"'=:,;()#".contains(letter)) {
            let word = word.trim_start_matches("./").trim_end_matches(['.', '/']);
            let is_path = word.contains('/') || word.starts_with("LICENSE") || word.ends_with(".md");
            let Some(first) = word.split('/').next().filter(|_| is_path) else { continue };
            if !tops.iter().any(|top| top == first) || first == "target" {
                continue;
            }
            seen += 1;
            let whole = word.split('*').next().unwrap_or(word);
            if !top().join(whole).exists() {
                missing.push(format!("{recipe}: {word}"));
            }
        }
    }
    assert!(seen > 15, "{seen} names");
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn manifests_mount_declared_volumes_and_use_valid_commands() {
    require!(PythonYaml);
    let mut known = Known::default();
    for manifest in files_below("packaging/kubernetes") {
        let documents = documents(&manifest);
        let of_kind = |kind: &'static str| documents.iter().filter(move |document| document.text("kind") == kind);
        let claims: Vec<&str> = of_kind("PersistentVolumeClaim").map(|claim| claim.text("metadata/name")).collect();
        // Replicas of an MPI job have the policy beside their template.
        let replicas = ["Launcher", "Worker"].map(|kind| format!("spec/mpiReplicaSpecs/{kind}"));
        let replicas: Vec<&Json> = of_kind("MPIJob").flat_map(|job| replicas.iter().map(|path| job.at(path))).collect();
        let pods: Vec<(&Json, &Json)> = of_kind("Job")
            .map(|job| job.at("spec/template/spec"))
            .chain(of_kind("Pod").map(|pod| pod.at("spec")))
            .map(|pod| (pod, pod))
            .chain(replicas.iter().map(|replica| (*replica, replica.at("template/spec"))))
            .collect();
        assert_eq!(pods.len(), if replicas.is_empty() { 1 } else { 2 }, "{manifest}");
        // A pod without a job uses the claim that a job of another manifest declares.
        let claims = if of_kind("Pod").count() > 0 { vec!["fathom-results"] } else { claims };
        for (policy, pod) in pods {
            assert_eq!(policy.text("restartPolicy"), "Never", "{manifest}");
            let volumes: Vec<&str> = items(pod, "volumes").iter().map(|volume| volume.text("name")).collect();
            for volume in items(pod, "volumes") {
                let claim = volume.find("persistentVolumeClaim").map(|claim| claim.text("claimName"));
                assert!(claim.is_none_or(|claim| claims.contains(&claim)), "{manifest}: {claim:?} is not declared");
            }
            for container in pod.items("containers") {
                let mounts = items(container, "volumeMounts").iter().chain(items(container, "volumeDevices"));
                for mount in mounts {
                    assert!(volumes.contains(&mount.text("name")), "{manifest}: {mount:?} is not declared");
                }
                let security = container.at("securityContext");
                assert_eq!(security.at("allowPrivilegeEscalation"), &Json::Bool(false), "{manifest}");
                assert_eq!(texts(security, "capabilities/drop"), ["ALL"], "{manifest}");
                assert_eq!(container.at("resources/requests"), container.at("resources/limits"), "{manifest}");
                // The tests of `fathom-fleet` check what the launcher of an MPI job runs.
                if replicas.is_empty() {
                    let words: Vec<String> =
                        std::iter::once("fathom".to_owned()).chain(texts(container, "args")).collect();
                    assert_eq!(known.complaint(&words), None, "{manifest}");
                }
            }
        }
    }
}

/// Returns the arguments of a manifest's container, with its directories below `folder`, and its job file if it has
/// one.
fn job_of(manifest: &str, folder: &str) -> (Vec<String>, Option<String>) {
    let documents = documents(manifest);
    let of_kind = |kind: &'static str| documents.iter().find(move |document| document.text("kind") == kind);
    let container = &of_kind("Job").expect("there is one").items("spec/template/spec/containers")[0];
    let moved = |text: &str| {
        let folders = ["results", "jobs", "measured"];
        folders
            .into_iter()
            .fold(text.to_owned(), |text, name| text.replace(&format!("/{name}"), &format!("{folder}/{name}")))
    };
    // A second instead of minutes, and through the page cache, because scratch directories may be in memory.
    let shorter = |text: String| {
        let long =
            [("32g", "8m"), ("runtime=120", "runtime=1"), ("ramp_time=10", "ramp_time=0"), ("direct=1", "direct=0")];
        long.into_iter().fold(text, |text, (long, short)| text.replace(long, short))
    };
    let words = texts(container, "args").iter().map(|word| shorter(moved(word))).collect();
    (words, of_kind("ConfigMap").map(|map| shorter(moved(map.text("data/job.fio")))))
}

#[test]
fn results_of_the_manifest_with_a_volume_are_readable() {
    require!(PythonYaml);
    let scratch = Scratch::new();
    for folder in ["results", "jobs", "measured"] {
        std::fs::create_dir(scratch.path(folder)).expect("the scratch directory is writable");
    }
    let top = scratch.path("").display().to_string();
    let (words, job) = job_of("packaging/kubernetes/job.yaml", top.trim_end_matches('/'));
    // What matters here is what is written, not how fast.
    scratch.write("jobs/job.fio", job.expect("it has a job file").replace("time_based", "time_based\nrate_iops=1000"));
    let home = scratch.text("results");
    run_saved(fathom(&words).env_remove("FATHOM_NO_RECORD").env("FATHOM_HOME", &home)).expect_one_of(&[0, 4]);
    let record = scratch.text("results/run.json");
    let gated = run(&mut fathom(["gate", &record, "--assert", "job(reads).read.iops>=1", "--assert", "write.iops>=1"]));
    assert!(gated.expect_one_of(&[0, 4]).stdout.contains("all 2 assertions hold"));
    for name in ["results/run.md", "results/run.html"] {
        let text = scratch.read(name);
        assert!(text.contains("writes") && text.contains("reads"), "{name}");
    }
}

/// `kubectl logs` prints both output streams of the container, in the order of their arrival.
#[test]
fn the_log_of_the_manifest_without_a_volume_is_the_record() {
    require!(PythonYaml);
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("measured")).expect("the scratch directory is writable");
    let top = scratch.path("").display().to_string();
    let (words, job) = job_of("packaging/kubernetes/job-logs.yaml", top.trim_end_matches('/'));
    assert_eq!(job, None);
    let logged = run(&mut fathom(&words)).expect_one_of(&[0, 4]);
    let page = scratch.text("run.html");
    for (name, log) in
        [("before", format!("{}{}", logged.stderr, logged.stdout)), ("behind", logged.stdout + &logged.stderr)]
    {
        let file = scratch.write(&format!("{name}.json"), log);
        run(&mut fathom(["report", &file, "-o", &page])).expect_clean();
        run(&mut fathom(["explain", &file])).expect_clean();
        run(&mut fathom(["gate", &file, "--assert", "all.iops>=1"])).expect_one_of(&[0, 4]);
    }
}

/// The suite of the manifest for block devices, on a file instead of a device.
#[test]
fn the_suite_of_the_manifest_can_be_run() {
    require!(PythonYaml);
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("results")).expect("the scratch directory is writable");
    let top = scratch.path("").display().to_string();
    let (words, _) = job_of("packaging/kubernetes/job-block.yaml", top.trim_end_matches('/'));
    let small = |word: &String| match word.split('=').next() {
        Some("--target") => format!("--target={}", scratch.text("device")),
        Some("--size") => "--size=64m".to_owned(),
        Some("--scale") => "--scale=0.001".to_owned(),
        _ => word.clone(),
    };
    run(&mut fathom(words.iter().map(small))).expect_one_of(&[0, 4]);
    assert!(["html", "json"].iter().all(|ending| scratch.path(&format!("results/result.{ending}")).exists()));
    let page = scratch.text("again.md");
    run(&mut fathom(["report", &scratch.text("results/result.json"), "-o", &page])).expect_clean();
}

#[test]
fn the_job_of_the_manifest_is_valid() {
    require!(PythonYaml);
    let documents = documents("packaging/kubernetes/job.yaml");
    let map = documents.iter().find(|document| document.text("kind") == "ConfigMap").expect("there is one");
    let scratch = Scratch::new();
    let file = scratch.write("job.fio", map.text("data/job.fio"));
    let printed = run(&mut fathom(["run", "--show-jobs", &file])).expect_clean().stdout;
    assert!(printed.contains("random reads") && printed.contains("/measured/fathom.tmp"), "{printed}");
}

#[test]
fn the_workflow_uses_only_inputs_of_the_action() {
    require!(PythonYaml);
    let action = &documents("packaging/github/action.yml")[0];
    let Json::Object(inputs) = action.at("inputs") else { panic!("inputs are no table") };
    let names: Vec<&str> = inputs.iter().map(|(name, _)| name.as_str()).collect();
    let workflow = &documents("packaging/github/storage.yml")[0];
    assert!(workflow.find("on/push").is_some(), "{workflow:?}");
    let Json::Object(jobs) = workflow.at("jobs") else { panic!("jobs are no table") };
    let mut uses = 0;
    for (name, job) in jobs {
        for step in job.items("steps").iter().filter(|step| step.find("with").is_some()) {
            let Json::Object(given) = step.at("with") else { panic!("{name}: `with` is no table") };
            uses += 1;
            for (input, _) in given {
                assert!(names.contains(&input.as_str()), "{name}: the action has no input `{input}`");
            }
            assert!(top().join(step.at("with").text("job")).exists(), "{name}: {:?}", step.at("with"));
        }
    }
    assert_eq!(uses, 2);
    // Every input is used.
    let text = text_of("packaging/github/action.yml");
    for name in names {
        assert!(text.contains(&format!("inputs.{name}")), "{name} is never used");
    }
}

/// A build without `--target` ends with the last stage, which must be the one without a shell.
#[test]
fn the_image_has_a_variant_without_a_shell_and_one_with_it() {
    let recipe = text_of("packaging/container/Containerfile");
    let stages: Vec<Vec<&str>> =
        recipe.lines().filter_map(|line| line.strip_prefix("FROM ")).map(|line| line.split(' ').collect()).collect();
    let named = |stage: &[&str]| (stage[0].to_owned(), stage.get(2).copied().unwrap_or_default().to_owned());
    let stages: Vec<(String, String)> = stages.iter().map(|stage| named(stage)).collect();
    assert_eq!(stages.last(), Some(&("scratch".to_owned(), "plain".to_owned())), "{stages:?}");
    assert!(stages.iter().any(|(base, name)| name == "debug" && base.contains("busybox")), "{stages:?}");
    for name in ["debug", "plain"] {
        let stage = recipe.split(&format!(" AS {name}\n")).nth(1).expect("it is a stage");
        let stage = stage.split("\nFROM ").next().unwrap_or_default();
        assert!(stage.contains("COPY --from=build /image/ /") && stage.contains("USER 65532:65532"), "{name}: {stage}");
    }
    // Jobs need no shell; the pod that serves results needs a shell and tar. Ranks need an image with MPI.
    for manifest in files_below("packaging/kubernetes") {
        let image = match manifest.rsplit('/').next() {
            Some("results.yaml") => "fathom:debug",
            Some("mpijob.yaml") => "fathom-fleet:latest",
            _ => "fathom:latest",
        };
        assert!(text_of(&manifest).contains(&format!("image: localhost/{image}\n")), "{manifest}");
    }
}
