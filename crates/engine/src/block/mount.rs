//! FUSE mounts over a file, made directly or by `fusermount3` without privileges.

use std::ffi::CString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags};
use rustix::net;
use rustix::process::{getegid, geteuid};

use crate::error::{Error, ErrorKind, remedy};

/// Filesystem type of Fathom's mounts in `/proc/self/mountinfo`.
pub const FILESYSTEM: &str = "fuse.fathom";
const HELPER: &str = "fusermount3";

/// Settings of a mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountSetup {
    /// Source name in the mount table. Characters other than letters and digits become dashes, because commas separate
    /// options.
    pub source: String,
    /// Whether the mount rejects writes.
    pub read_only: bool,
    /// Whether other users may access the mount. Users other than root need `user_allow_other` in `/etc/fuse.conf`.
    pub others: bool,
    /// Maximum size of a read that the server accepts, in bytes.
    pub most_bytes: u32,
}

/// Mounts a FUSE filesystem, whose root is a regular file, over the file `at`. Returns its `/dev/fuse` descriptor, from
/// which the server reads. Does not wait for the server.
///
/// # Errors
/// Fails if the host has no FUSE, or neither this user nor `fusermount3` may mount.
pub fn mount_file(at: &Path, setup: &MountSetup) -> Result<OwnedFd, Error> {
    match mount_directly(at, setup) {
        Err(Errno::PERM | Errno::ACCESS) => mount_by_helper(at, setup),
        result => result.map_err(|errno| refused("mount a file over", at, &errno.into())),
    }
}

/// Unmounts the filesystem at `at`. With `lazily`, detaches it even while it is in use; it is then invisible to later
/// users.
///
/// # Errors
/// Fails if nothing is mounted there, it is in use, or this user has no permission.
pub fn unmount(at: &Path, lazily: bool) -> Result<(), Error> {
    let detach = if lazily { UnmountFlags::DETACH } else { UnmountFlags::empty() };
    match rustix::mount::unmount(at, detach | UnmountFlags::NOFOLLOW) {
        Err(Errno::PERM) => {
            let mut helper = Command::new(HELPER);
            helper.arg(if lazily { "-uz" } else { "-u" }).arg("--").arg(at);
            check_helper("unmount", at, helper.stdin(Stdio::null()).output()).map(drop)
        }
        result => result.map_err(|errno| refused("unmount", at, &errno.into())),
    }
}

fn mount_directly(at: &Path, setup: &MountSetup) -> Result<OwnedFd, Errno> {
    let fuse = open("/dev/fuse", OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty())?;
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let mut data = format!("fd={},rootmode=100000,user_id={user},group_id={group}", fuse.as_raw_fd());
    data.push_str(&shared_options(setup));
    let data = CString::new(data).map_err(|_| Errno::INVAL)?;
    let read_only = if setup.read_only { MountFlags::RDONLY } else { MountFlags::empty() };
    let flags = MountFlags::NOSUID | MountFlags::NODEV | read_only;
    rustix::mount::mount(source(setup), at, FILESYSTEM, flags, data.as_c_str())?;
    Ok(fuse)
}

/// Mounts by `fusermount3`, which has the privilege and passes the `/dev/fuse` descriptor back over its standard input,
/// a socket.
fn mount_by_helper(at: &Path, setup: &MountSetup) -> Result<OwnedFd, Error> {
    let refused = |errno: Errno| refused("mount a file over", at, &errno.into());
    let flags = net::SocketFlags::CLOEXEC;
    let (ours, theirs) =
        net::socketpair(net::AddressFamily::UNIX, net::SocketType::STREAM, flags, None).map_err(refused)?;
    let mode = if setup.read_only { "ro" } else { "rw" };
    let source = source(setup);
    let options = format!("{mode},nosuid,nodev,fsname={source},subtype=fathom{}", shared_options(setup));
    let mut helper = Command::new(HELPER);
    helper.args(["-o", &options, "--"]).arg(at).env("_FUSE_COMMFD", "0").stdin(theirs);
    check_helper("mount a file over", at, helper.output())?;
    drop(helper);
    receive_descriptor(&ours).map_err(refused)
}

fn source(setup: &MountSetup) -> String {
    setup.source.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-")
}

fn shared_options(setup: &MountSetup) -> String {
    let others = if setup.others { ",allow_other" } else { "" };
    format!(",max_read={}{others}", setup.most_bytes)
}

/// Receives the descriptor that comes with the next message.
fn receive_descriptor(socket: &OwnedFd) -> Result<OwnedFd, Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = net::RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let mut bytes = [io::IoSliceMut::new(&mut byte)];
    net::recvmsg(socket, &mut bytes, &mut control, net::RecvFlags::CMSG_CLOEXEC)?;
    for part in control.drain() {
        if let net::RecvAncillaryMessage::ScmRights(files) = part {
            return files.into_iter().next().ok_or(Errno::BADMSG);
        }
    }
    Err(Errno::BADMSG)
}

/// Turns the result of `fusermount3` into an error with its message.
fn check_helper(operation: &'static str, at: &Path, output: io::Result<Output>) -> Result<(), Error> {
    let place = at.display().to_string();
    let output = output.map_err(|error| {
        let reason = format!("permission denied, and {HELPER} could not run: {error}");
        Error::found(ErrorKind::Host, operation, &place, reason)
            .with_remedy("run as root, or install {HELPER} (package fuse3)")
    })?;
    if output.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    let reason = if message.is_empty() { format!("{HELPER} exited with {}", output.status) } else { message };
    Err(Error::found(ErrorKind::Host, operation, place, reason)
        .with_remedy("run as root, or allow users to mount (see ls -l /dev/fuse, man fusermount3, /etc/fuse.conf)"))
}

fn refused(operation: &'static str, at: &Path, error: &io::Error) -> Error {
    let failed = Error::system(ErrorKind::Host, operation, at.display().to_string(), error);
    match error.raw_os_error() {
        _ if !Path::new("/dev/fuse").exists() => failed.with_remedy(
            "/dev/fuse is missing: load the driver (modprobe fuse), or pass it to the container (--device /dev/fuse \
             --cap-add SYS_ADMIN)",
        ),
        Some(libc::EINVAL) if operation == "unmount" => failed.with_remedy("nothing is mounted there (see findmnt)"),
        Some(libc::EPERM | libc::EACCES) => {
            failed.with_remedy("run as root, or run the container with --cap-add SYS_ADMIN")
        }
        _ => Error { problem: Box::new(failed.problem.maybe_help(remedy(error).map(str::to_owned))), ..failed },
    }
}
