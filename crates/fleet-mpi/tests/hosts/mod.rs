//! Hosts that are network namespaces with names and clocks of their own.

use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use crate::launcher::{HostList, Launcher};

/// Several hosts at a bridge, removed when dropped.
pub(crate) struct Hosts {
    count: u32,
    scratch: TempDir,
}

const BRIDGE: &str = "fathom-br";

impl Hosts {
    /// Difference between the monotonic clocks of two consecutive hosts in nanoseconds.
    pub(crate) const CLOCK_STEP_NS: i64 = 1_000_000_000_000;

    /// Creates hosts `node1`, `node2` and so on. Without the rights to do so, prints that the test is skipped, or fails
    /// under `FATHOM_NO_SKIP`.
    pub(crate) fn new(count: u32) -> Option<Self> {
        let hosts = Self { count, scratch: TempDir::new().unwrap() };
        hosts.remove();
        if let Err(problem) = hosts.create() {
            assert!(std::env::var_os("FATHOM_NO_SKIP").is_none(), "no network namespaces: {problem}");
            eprintln!("skipped: no network namespaces: {problem}");
            return None;
        }
        Some(hosts)
    }

    /// Returns the address of the host that all reach.
    pub(crate) fn bridge(&self) -> &'static str {
        "10.99.0.254"
    }

    /// Makes a launcher start its ranks on these hosts, `each` on every one.
    pub(crate) fn launch(&self, launcher: Launcher, command: &mut Command, each: u32) {
        let addresses: Vec<String> = (1..=self.count).map(|host| format!("10.99.0.{host}")).collect();
        let (agent, bridge) = (self.agent().display().to_string(), (BRIDGE, self.bridge()));
        launcher.across(command, &HostList { addresses: &addresses, each, agent: &agent, bridge });
    }

    /// The program that `mpirun` takes for `ssh`.
    fn agent(&self) -> PathBuf {
        self.scratch.path().join("agent")
    }

    fn create(&self) -> Result<(), String> {
        let step_s = Self::CLOCK_STEP_NS / 1_000_000_000;
        let agent = format!(
            "#!/bin/sh\nwhile [ \"${{1#-}}\" != \"$1\" ]; do shift; done\nhost=${{1##*.}}; shift\nexec ip netns exec \
             fathom-$host unshare --uts --time --monotonic=$((host * {step_s})) --fork sh -c \"hostname node$host; $*\"\n"
        );
        std::fs::write(self.agent(), agent).map_err(|error| error.to_string())?;
        run(&format!("chmod +x {}", self.agent().display()))?;
        run(&format!("ip link add {BRIDGE} type bridge"))?;
        run(&format!("ip addr add {}/24 dev {BRIDGE}", self.bridge()))?;
        run(&format!("ip link set {BRIDGE} up"))?;
        for host in 1..=self.count {
            let space = format!("fathom-{host}");
            run(&format!("ip netns add {space}"))?;
            run(&format!("ip link add fathom-ve{host} type veth peer name eth0 netns {space}"))?;
            run(&format!("ip link set fathom-ve{host} master {BRIDGE} up"))?;
            run(&format!("ip -n {space} addr add 10.99.0.{host}/24 dev eth0"))?;
            run(&format!("ip -n {space} link set eth0 up"))?;
            run(&format!("ip -n {space} link set lo up"))?;
        }
        Ok(())
    }

    /// Removes everything, also what an earlier run left.
    fn remove(&self) {
        for host in 1..=self.count {
            let _ = run(&format!("ip netns del fathom-{host}"));
            let _ = run(&format!("ip link del fathom-ve{host}"));
        }
        let _ = run(&format!("ip link del {BRIDGE}"));
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        self.remove();
    }
}

fn run(words: &str) -> Result<(), String> {
    let mut words = words.split_whitespace();
    let output = Command::new(words.next().unwrap_or_default()).args(words).output();
    let output = output.map_err(|error| error.to_string())?;
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(message) }
}
