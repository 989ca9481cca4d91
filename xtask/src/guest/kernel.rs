//! The guest's kernel, downloaded once from Debian, and the modules that the guest loads.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::initramfs::Archive;

/// Modules that tests load, and modules that the kernel then requests.
const MODULES: &str = "\
    nvme sd_mod sg scsi_debug null_blk brd loop nbd ublk_drv virtio_blk virtio_pci configfs dm_mod \
    dm_crypt dm_delay dm_flakey dm_snapshot dm_bufio dm_zero dm_thin_pool dm_mirror dm_multipath \
    dm_service_time md_mod raid0 raid1 ext4 crc32c_generic crc32c_intel crct10dif_pclmul libcrc32c \
    crc64_rocksoft_generic aesni_intel aes_generic xts ecb cbc essiv sha256_generic sha256_ssse3 \
    algif_skcipher algif_hash af_alg cryptd vsock vsock_loopback";

/// An unpacked kernel package in the cache.
pub(super) struct Kernel {
    /// The compressed kernel.
    pub(super) image: PathBuf,
    /// Its release, such as `6.12.117+deb12-amd64`.
    pub(super) release: String,
    modules: PathBuf,
}

impl Kernel {
    /// Returns the cached kernel, after downloading it with apt if necessary.
    pub(super) fn cached(cache: &Path) -> Result<Self> {
        let root = cache.join("kernel");
        if !root.exists() {
            download(cache, &root)?;
        }
        Self::at(&root).with_context(|| format!("{} is damaged: remove it", root.display()))
    }

    fn at(root: &Path) -> Result<Self> {
        let modules = ["lib/modules", "usr/lib/modules"].map(|at| root.join(at)).into_iter().find(|at| at.exists());
        let modules = only_entry(&modules.context("it has no modules")?)?;
        let release = modules.file_name().context("modules have a release")?.to_string_lossy().into_owned();
        let image = root.join(format!("boot/vmlinuz-{release}"));
        ensure!(image.exists(), "{} is missing", image.display());
        Ok(Self { image, release, modules })
    }

    /// Adds the modules, their dependencies, and the tables of modprobe.
    pub(super) fn add_modules(&self, archive: &mut Archive) -> Result<()> {
        let read =
            |name: &str| std::fs::read_to_string(self.modules.join(name)).with_context(|| format!("reading {name}"));
        let table = read("modules.dep")?;
        let needs: BTreeMap<String, (&str, Vec<&str>)> = table.lines().filter_map(row).collect();
        let wanted: BTreeSet<&str> = MODULES
            .split(' ')
            .filter_map(|name| needs.get(name))
            .flat_map(|(path, needs)| std::iter::once(*path).chain(needs.iter().copied()))
            .collect();
        let names: BTreeSet<String> = wanted.iter().map(|path| module_name(path)).collect();
        let to = format!("lib/modules/{}", self.release);
        for path in &wanted {
            archive.copy(&format!("{to}/{path}"), &self.modules.join(path))?;
        }
        let rows = table.lines().filter(|line| row(line).is_some_and(|(name, _)| names.contains(&name)));
        archive.file(&format!("{to}/modules.dep"), 0o644, lines(rows).as_bytes());
        let aliases = read("modules.alias")?;
        let rows = aliases.lines().filter(|line| line.rsplit(' ').next().is_some_and(|name| names.contains(name)));
        archive.file(&format!("{to}/modules.alias"), 0o644, lines(rows).as_bytes());
        archive.file(&format!("{to}/modules.builtin"), 0o644, read("modules.builtin")?.as_bytes());
        archive.file(&format!("{to}/modules.symbols"), 0o644, b"");
        Ok(())
    }
}

/// Parses a row of `modules.dep`: name and path of a module, and the paths of its dependencies.
fn row(line: &str) -> Option<(String, (&str, Vec<&str>))> {
    let (path, needs) = line.split_once(':')?;
    Some((module_name(path), (path, needs.split_whitespace().collect())))
}

fn module_name(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.split(".ko").next().unwrap_or(file).replace('-', "_")
}

fn lines<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines.fold(String::new(), |text, line| text + line + "\n")
}

fn only_entry(folder: &Path) -> Result<PathBuf> {
    let mut entries = std::fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    Ok(entries.next().context("it is empty")??.path())
}

fn download(cache: &Path, to: &Path) -> Result<()> {
    let part = cache.join(format!("part-{}", std::process::id()));
    std::fs::create_dir_all(&part).with_context(|| format!("making {}", part.display()))?;
    let fetched = fetch(&part).or_else(|_| {
        // The package lists may be missing or outdated.
        run(Command::new("apt-get").args(["update", "-qq"]))?;
        fetch(&part)
    });
    let placed = fetched.and_then(|root| match std::fs::rename(root, to) {
        // Another process has downloaded it meanwhile.
        Err(_) if to.exists() => Ok(()),
        outcome => Ok(outcome?),
    });
    std::fs::remove_dir_all(&part)?;
    placed
}

fn fetch(part: &Path) -> Result<PathBuf> {
    let package = newest_package()?;
    println!("guest: downloading {package}");
    unpack(&package, part)
}

/// Downloads the package and unpacks it next to it.
fn unpack(package: &str, part: &Path) -> Result<PathBuf> {
    run(Command::new("apt-get").args(["download", "-qq", package]).current_dir(part))?;
    let archive = only_entry(part)?;
    let root = part.join("kernel");
    run(Command::new("dpkg-deb").arg("--extract").arg(archive).arg(&root))?;
    let release = package.trim_start_matches("linux-image-");
    let base = if root.join("usr/lib/modules").exists() { root.join("usr") } else { root.clone() };
    run(Command::new("depmod").arg("--basedir").arg(base).arg(release))?;
    Ok(root)
}

/// Returns the newest standard kernel package of apt: not unsigned, not real-time, and not for clouds, which lacks
/// drivers.
fn newest_package() -> Result<String> {
    let output = Command::new("apt-cache")
        .args(["search", "--names-only", r"^linux-image-[0-9.]+(-[0-9]+|\+deb[0-9]+(\.[0-9]+)?)-amd64$"])
        .output()
        .context("running apt-cache")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let names = text.lines().filter_map(|line| line.split_whitespace().next());
    let newest = names.max_by_key(|name| version(name)).map(str::to_owned);
    newest.context("apt offers no kernel package: run apt-get update")
}

/// Returns the numbers in a name, by which kernels are ordered.
fn version(name: &str) -> Vec<u64> {
    name.split(|of: char| !of.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.output().with_context(|| format!("running {:?}", command.get_program()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{:?} failed: {}", command.get_program(), said.trim());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_ordered_by_their_numbers() {
        let newer = version("linux-image-6.12.117+deb12-amd64");
        assert!(newer > version("linux-image-6.12.20+deb12-amd64") && newer > version("linux-image-6.1.0-40-amd64"));
    }

    #[test]
    fn module_names_have_underscores() {
        let (name, (path, needs)) = row("kernel/a/dm-mod.ko.xz: kernel/b/dax.ko.xz kernel/c.ko").expect("a row");
        assert_eq!((name.as_str(), path, needs.len()), ("dm_mod", "kernel/a/dm-mod.ko.xz", 2));
        assert_eq!(module_name("kernel/drivers/null_blk.ko"), "null_blk");
    }
}
