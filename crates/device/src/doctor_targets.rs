//! Resolves the files and devices that a doctor examines.

use std::collections::BTreeSet;
use std::path::Path;

use probe::{DeviceStack, UnknownNameError};
use units::{Place, Problem, ProblemCode};

/// Checks that sys or proc can be read below `root`.
///
/// # Errors
///
/// Returns why they cannot be read, with a remedy.
pub fn check_root(root: &Path) -> Result<(), Problem> {
    let shown = root.display();
    if let Err(error) = std::fs::metadata(root).and_then(|_| std::fs::read_dir(root)) {
        return Err(engine::io_problem(ProblemCode::Host, format_args!("--root {shown}"), &error));
    }
    if ["sys", "proc"].iter().all(|name| std::fs::read_dir(root.join(name)).is_err()) {
        return Err(Problem::error(ProblemCode::Host, format!("{shown}: cannot read sys or proc"))
            .help("mount both, or copy them to the directory given with --root"));
    }
    Ok(())
}

/// Returns one mount point of each mounted block device.
///
/// # Errors
///
/// Fails if there is none.
pub fn mounted(root: &Path) -> Result<Vec<String>, Problem> {
    // Images of programs and of installation media hold no data of users.
    const IMAGES: [&str; 4] = ["squashfs", "iso9660", "erofs", "udf"];
    let mut mounts = probe::mounts(root);
    mounts.retain(|mount| mount.source.starts_with("/dev/") && !IMAGES.contains(&mount.filesystem.as_str()));
    mounts.sort_by_key(|mount| mount.at.as_os_str().len());
    let mut known = BTreeSet::new();
    mounts.retain(|mount| known.insert(mount.source.clone()));
    let places: Vec<String> = mounts.into_iter().filter_map(|mount| mount.at.to_str().map(str::to_owned)).collect();
    // Mount points of another root, or that a container has from its host, may not exist.
    let resolved: Vec<String> = places.into_iter().filter(|place| probe::stack(root, place).is_ok()).collect();
    if resolved.is_empty() {
        let examples = examples(&probe::device_names(root));
        let such_as = if examples.is_empty() { examples } else { format!(", such as {examples}") };
        return Err(Problem::error(ProblemCode::Host, "no filesystem on a local disk is mounted")
            .help(format!("specify a file, a directory or a block device{such_as}")));
    }
    Ok(resolved)
}

/// Returns the names of a few devices, without loop and memory devices: hosts have dozens of unused ones.
fn examples(names: &[String]) -> String {
    const EXAMPLES_MAX: usize = 8;
    let is_usual = |name: &&str| !name.starts_with("loop") && !name.starts_with("ram") && !name.contains('/');
    names.iter().map(String::as_str).filter(is_usual).take(EXAMPLES_MAX).collect::<Vec<_>>().join(", ")
}

/// Resolves the storage stack under each name.
///
/// # Errors
///
/// Returns all unknown names, each with its place on the command line and similar names.
pub fn stacks(root: &Path, names: &[String]) -> Result<Vec<DeviceStack>, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut stacks = Vec::new();
    for (index, name) in names.iter().enumerate() {
        match probe::stack(root, name) {
            Ok(stack) => stacks.push(stack),
            Err(problem) => problems.push(diagnostic(names, index, &problem)),
        }
    }
    if problems.is_empty() { Ok(stacks) } else { Err(problems) }
}

fn diagnostic(names: &[String], index: usize, problem: &UnknownNameError) -> Problem {
    let name = &names[index];
    let shown: Vec<String> =
        names.iter().map(|name| name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()).collect();
    let before: usize = shown[..index].iter().map(|name| name.chars().count() + 1).sum();
    let command = "fathom doctor ";
    let text = format!("{command}{}", shown.join(" "));
    let place = Place::on_command_line(text, command.len() + before + 1, shown[index].chars().count());
    let is_nbd_uri = name.split_once("://").is_some_and(|(scheme, _)| scheme.starts_with("nbd"));
    if is_nbd_uri {
        return Problem::error(ProblemCode::NoSuchDevice, "an NBD export cannot be examined from this host")
            .at(place)
            .help("run `fathom doctor` on the NBD server's host, with the file or device it serves");
    }
    let diagnostic =
        Problem::error(ProblemCode::NoSuchDevice, format!("`{}`: {}", shown[index], problem.reason)).at(place);
    let bare = name.strip_prefix("/dev/").unwrap_or(name);
    let closest = |name: &str| units::closest(name, problem.known.iter().map(String::as_str));
    // A known name that was given is a device that cannot be examined: not a suggestion.
    let similar = closest(bare).or_else(|| closest(name)).filter(|similar| *similar != bare);
    let examples = examples(&problem.known);
    match similar {
        Some(similar) => diagnostic.help(format!("did you mean `{similar}`?")),
        None if examples.is_empty() => diagnostic.help("specify an existing file, directory or block device"),
        None => diagnostic.help(format!("specify a file, a directory or a block device: {examples}")),
    }
}
