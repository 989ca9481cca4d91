//! Control groups of jobs (`cgroup*`): version 1, the only one that controls the block I/O of single threads.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Error, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use engine::cleanup::{self, CleanUp};
use job::ControlGroupOptions;
use runner::WorkerError;
use units::{Problem, ProblemCode};

/// Files with the weight of a group: of the block layer until Linux 5, of the BFQ scheduler since then.
const WEIGHT_FILES: [&str; 2] = ["blkio.weight", "blkio.bfq.weight"];

/// The control groups that the jobs of a run have created.
#[derive(Debug, Default)]
pub(crate) struct ControlGroups(Mutex<BTreeMap<PathBuf, CleanUp>>);

/// Keeps the thread that joined a group in it.
#[derive(Debug)]
pub(crate) struct GroupMembership<'a> {
    groups: &'a ControlGroups,
    mount: PathBuf,
    group: PathBuf,
}

/// Checks that a job's control group is possible on this host.
pub(crate) fn check(options: &ControlGroupOptions) -> Result<(), Problem> {
    if options.name.is_empty() {
        return Ok(());
    }
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    if !Path::new(&options.name).components().all(is_plain) {
        let reason = format!("`{}` is not a cgroup name relative to the mount point", options.name);
        return Err(Problem::error(ProblemCode::Unfit, reason).help("use a name such as cgroup=test"));
    }
    mount_point().map(drop)
}

impl ControlGroups {
    /// Moves the calling thread into the group of a job, which is created if it is missing. `None` if the job has no
    /// group.
    ///
    /// # Errors
    /// Fails if the system refuses, and if the group has no weight although the job sets one.
    pub(crate) fn join(&self, options: &ControlGroupOptions) -> Result<Option<GroupMembership<'_>>, WorkerError> {
        if options.name.is_empty() {
            return Ok(None);
        }
        let mount = mount_point()?;
        let group = mount.join(&options.name);
        // No other worker removes the group between its creation and the move.
        let mut created = self.created();
        create(&group, options.is_kept, &mut created)?;
        if let Some(weight) = options.weight {
            set_weight(&group, weight)?;
        }
        enter(&group).map_err(|error| denied("join", &group, &error))?;
        drop(created);
        Ok(Some(GroupMembership { groups: self, mount, group }))
    }

    fn created(&self) -> MutexGuard<'_, BTreeMap<PathBuf, CleanUp>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for GroupMembership<'_> {
    /// Moves the thread back and removes the group after its last member. A thread that may not leave, because it runs as
    /// another user, leaves when it ends; the group is removed after the run.
    fn drop(&mut self) {
        let mut created = self.groups.created();
        let has_left = enter(&self.mount).is_ok();
        if has_left && created.contains_key(&self.group) && fs::remove_dir(&self.group).is_ok() {
            created.remove(&self.group);
        }
    }
}

fn create(group: &Path, is_kept: bool, created: &mut BTreeMap<PathBuf, CleanUp>) -> Result<(), WorkerError> {
    match fs::create_dir(group) {
        Ok(()) if is_kept => Ok(()),
        Ok(()) => {
            let path = group.to_owned();
            // A group that still has members stays: workers may hang.
            let removal = cleanup::on_exit(move || drop(fs::remove_dir(path)));
            created.insert(group.to_owned(), removal);
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(denied("create", group, &error)),
    }
}

/// Moves the calling thread.
fn enter(group: &Path) -> Result<(), Error> {
    fs::write(group.join("tasks"), "0")
}

fn set_weight(group: &Path, weight: u32) -> Result<(), WorkerError> {
    let Some(file) = WEIGHT_FILES.iter().map(|name| group.join(name)).find(|file| file.exists()) else {
        let reason = format!(
            "cgroup_weight={weight}: {} has no I/O weight: on this kernel only the BFQ scheduler supports weights",
            group.display()
        );
        return Err(Problem::error(ProblemCode::Host, reason)
            .help("omit cgroup_weight, or switch the device to BFQ (ioscheduler=bfq)")
            .into());
    };
    fs::write(&file, weight.to_string()).map_err(|error| denied("set the weight of", group, &error))
}

fn denied(what: &str, group: &Path, error: &Error) -> WorkerError {
    let subject = format_args!("cannot {what} cgroup {}", group.display());
    let problem = engine::io_problem(ProblemCode::Host, subject, error).also_help("run as root, or omit cgroup");
    WorkerError::new(problem, error.raw_os_error())
}

/// Returns where the controller of block I/O is mounted.
fn mount_point() -> Result<PathBuf, Problem> {
    let mounts = fs::read_to_string("/proc/self/mounts").map_err(|error| {
        engine::io_problem(ProblemCode::Host, "cannot read /proc/self/mounts", &error).also_help("omit cgroup")
    })?;
    mount_of("cgroup", Some("blkio"), &mounts).ok_or_else(|| {
        let reason = "per-thread cgroups need the version 1 controller `blkio`, which is not mounted";
        let version_2 = "run `systemd-run --scope -p IOWeight=500 fathom ...` instead";
        Problem::error(ProblemCode::Host, reason).help(format!("omit cgroup, and {version_2}"))
    })
}

/// Finds the hierarchy of a kind (`cgroup`, `cgroup2`) with this controller in the text of `/proc/self/mounts`.
pub(crate) fn mount_of(kind: &str, controller: Option<&str>, mounts: &str) -> Option<PathBuf> {
    let has_controller =
        |options: &str| controller.is_none_or(|wanted| options.split(',').any(|option| option == wanted));
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ');
        let (path, found, options) = (fields.nth(1)?, fields.next()?, fields.next()?);
        (found == kind && has_controller(options)).then(|| PathBuf::from(path))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_controller_is_found_among_the_mounts() {
        let version_2 = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n";
        assert_eq!(mount_of("cgroup", Some("blkio"), version_2), None);
        let both = format!(
            "{version_2}cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\ncgroup /sys/fs/cgroup/io cgroup rw,relatime,blkio 0 0\n"
        );
        assert_eq!(mount_of("cgroup", Some("blkio"), &both), Some(PathBuf::from("/sys/fs/cgroup/io")));
    }

    #[test]
    fn names_outside_of_the_hierarchy_are_refused() {
        for name in ["/", "../up", "/abs", "a/../../b"] {
            let options = ControlGroupOptions { name: name.to_owned(), ..ControlGroupOptions::default() };
            assert!(check(&options).is_err_and(|error| error.what.contains("is not a cgroup name")), "{name}");
        }
    }
}
