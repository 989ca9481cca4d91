//! Recipes for containers, for Kubernetes and for GitHub: what they name has to be there.

use std::process::Command;

use crate::common::json::Json;
use crate::common::{Scratch, fathom, require, run, run_with_input};
use crate::spoken::Known;
use crate::{files_below, text_of, top};

/// The documents of a YAML file, as JSON: with keys in their order, and `on` as the word that it is.
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

/// The texts of an array, or none where there is no such array.
fn texts(value: &Json, path: &str) -> Vec<String> {
    let Some(Json::Array(items)) = value.find(path) else { return Vec::new() };
    items.iter().map(|item| if let Json::Text(text) = item { text.clone() } else { format!("{item:?}") }).collect()
}

fn items<'a>(value: &'a Json, path: &str) -> &'a [Json] {
    if value.find(path).is_some() { value.items(path) } else { &[] }
}

#[test]
fn files_of_the_project_that_recipes_name_are_there() {
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
fn manifests_mount_what_they_declare_and_speak_words_of_the_program() {
    require!(PythonYaml);
    let mut known = Known::default();
    for manifest in files_below("packaging/kubernetes") {
        let documents = documents(&manifest);
        let of_kind = |kind: &'static str| documents.iter().filter(move |document| document.text("kind") == kind);
        let claims: Vec<&str> = of_kind("PersistentVolumeClaim").map(|claim| claim.text("metadata/name")).collect();
        assert_eq!(of_kind("Job").count(), 1, "{manifest}");
        for job in of_kind("Job") {
            let pod = job.at("spec/template/spec");
            assert_eq!(pod.text("restartPolicy"), "Never", "{manifest}");
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
                let words: Vec<String> = std::iter::once("fathom".to_owned()).chain(texts(container, "args")).collect();
                assert_eq!(known.complaint(&words), None, "{manifest}");
            }
        }
    }
}

#[test]
fn the_job_of_the_manifest_is_one_that_can_be_read() {
    require!(PythonYaml);
    let documents = documents("packaging/kubernetes/job.yaml");
    let map = documents.iter().find(|document| document.text("kind") == "ConfigMap").expect("there is one");
    let scratch = Scratch::new();
    let file = scratch.write("job.fio", map.text("data/job.fio"));
    let told = run(&mut fathom(["run", "--explain", &file])).expect_clean().stdout;
    assert!(told.contains("random reads") && told.contains("/measured/fathom.tmp"), "{told}");
}

#[test]
fn the_workflow_gives_the_action_inputs_that_it_has() {
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
    // Every input is used, by the name that it has.
    let text = text_of("packaging/github/action.yml");
    for name in names {
        assert!(text.contains(&format!("inputs.{name}")), "{name} is never used");
    }
}
