//! The program that starts ranks. Options and variables of Open MPI 4, Open MPI 5 and MPICH differ.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::fleet::await_that;

/// A launcher, by the options it understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Launcher {
    OpenMpi4,
    OpenMpi5,
    /// The launcher of MPICH.
    Hydra,
}

/// Addresses of hosts, and how to reach them.
pub(crate) struct HostList<'a> {
    pub(crate) addresses: &'a [String],
    /// Number of ranks on each.
    pub(crate) each: u32,
    /// The program that takes the place of `ssh`.
    pub(crate) agent: &'a str,
    /// The interface and address that all hosts reach.
    pub(crate) bridge: (&'a str, &'a str),
}

impl Launcher {
    /// Identifies the launcher in the variable `FATHOM_MPIRUN`, which is `mpirun` by default.
    #[track_caller]
    pub(crate) fn new() -> Self {
        let output = root(&mut Command::new(program())).arg("--version").output();
        let output = output.unwrap_or_else(|error| panic!("{}: {error}: ./test installs it", program()));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let known = [("(Open MPI) 4.", Self::OpenMpi4), ("(Open MPI) 5.", Self::OpenMpi5), ("HYDRA", Self::Hydra)];
        let found = known.into_iter().find(|(words, _)| text.contains(words));
        found.unwrap_or_else(|| panic!("unknown launcher {}: {text}", program())).1
    }

    /// Returns its command with options for tests: as root, and with more ranks than processors.
    pub(crate) fn command(self, home: &Path) -> Command {
        let mut command = Command::new(program());
        // Open MPI 4 fails now and then when another of its launchers removes the directory of both.
        root(&mut command).envs([("FATHOM_HOME", home), ("TMPDIR", home)]).args(["--bind-to", "none"]);
        if self != Self::Hydra {
            command.arg("--oversubscribe");
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Options with which the others continue when one rank dies. `None` if nothing keeps them: MPICH's launcher kills
    /// those of the same host at once, and its library aborts those of other hosts when they send to the dead.
    pub(crate) fn keep_others(self) -> Option<&'static [&'static str]> {
        match self {
            Self::OpenMpi4 => Some(&["--enable-recovery"]),
            Self::OpenMpi5 => Some(&["--runtime-options", "recoverable"]),
            Self::Hydra => None,
        }
    }

    /// Reports whether these tests can start it on several hosts.
    pub(crate) fn starts_on_hosts(self) -> bool {
        self != Self::OpenMpi5
    }

    /// Adds options that start ranks on several hosts.
    pub(crate) fn across(self, command: &mut Command, list: &HostList<'_>) {
        let hosts: Vec<String> = list.addresses.iter().map(|host| format!("{host}:{}", list.each)).collect();
        let (hosts, (bridge, address)) = (hosts.join(","), list.bridge);
        let interfaces = format!("{bridge},eth0");
        match self {
            Self::OpenMpi4 => {
                let agent = ["--mca", "plm_rsh_agent", list.agent, "--mca", "orte_keep_fqdn_hostnames", "1"];
                command.args(agent).args(["--mca", "oob_tcp_if_include", &interfaces, "--host", &hosts]);
                command.args(["--mca", "btl_tcp_if_include", "10.99.0.0/24", "--mca", "btl", "tcp,vader,self"]);
                command.args(["-x", "FATHOM_HOME"]);
            }
            Self::OpenMpi5 => panic!("{self:?} is not tested on several hosts"),
            Self::Hydra => {
                command.args(["-launcher", "ssh", "-launcher-exec", list.agent, "-hosts", &hosts]);
                command.args(["-localhost", address]).envs([("UCX_TLS", "tcp,self"), ("UCX_NET_DEVICES", "eth0")]);
            }
        }
    }

    /// Reports whether the other ranks have time to write their records when the launcher kills them.
    pub(crate) fn warns_before_killing(self) -> bool {
        self != Self::Hydra
    }

    /// Returns options that give the other ranks these seconds to write their records. Open MPI 4 gives them one.
    pub(crate) fn seconds_before_killing(self, seconds: u64) -> Vec<String> {
        match self {
            Self::OpenMpi4 => ["--mca", "odls_base_sigkill_timeout", &seconds.to_string()].map(str::to_owned).to_vec(),
            Self::OpenMpi5 | Self::Hydra => Vec::new(),
        }
    }

    /// Reports whether it returns the exit code of rank 0 although another was killed.
    pub(crate) fn keeps_exit_code(self) -> bool {
        self == Self::OpenMpi5
    }

    /// Returns the process of one rank, once it runs. `home` is that of its run.
    pub(crate) fn process_of_rank(self, home: &Path, rank: u32) -> u32 {
        let variable = if self == Self::Hydra { "PMI_RANK" } else { "OMPI_COMM_WORLD_RANK" };
        let wanted = [format!("{variable}={rank}"), format!("FATHOM_HOME={}", home.display())];
        let is_rank = |pid: &u32| {
            let variables = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            wanted.iter().all(|one| variables.split(|byte| *byte == 0).any(|variable| variable == one.as_bytes()))
        };
        await_that(&format!("rank {rank} starts"), || {
            let names = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.file_name());
            names.filter_map(|name| name.to_str()?.parse().ok()).find(is_rank)
        })
    }
}

fn program() -> String {
    std::env::var("FATHOM_MPIRUN").unwrap_or_else(|_| "mpirun".to_owned())
}

/// Permits Open MPI to run as root.
fn root(command: &mut Command) -> &mut Command {
    command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")])
}
