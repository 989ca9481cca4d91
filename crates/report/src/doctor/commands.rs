//! Setting changes as shell commands to copy.

use analyse::doctor::SettingChange;
use record::host::Number;

use super::clean;
use crate::escape;

/// Returns the command that makes a change at once; `None` if only a reboot does.
pub(super) fn now(change: &SettingChange) -> Option<String> {
    Some(match change {
        SettingChange::Queue { disk, attribute, value } => {
            write(value, &format!("/sys/block/{}/queue/{attribute}", disk.replace('/', "!")))
        }
        SettingChange::DeviceDepth { disk, value } => {
            write(&value.to_string(), &format!("/sys/block/{disk}/device/queue_depth"))
        }
        SettingChange::ReadAhead { device, sectors } => format!("sudo blockdev --setra {sectors} {}", dev(device)),
        SettingChange::WriteCache { disk } => format!("sudo hdparm -W 1 {}", dev(disk)),
        SettingChange::Interrupts { pairs } => interrupts(pairs),
        SettingChange::KernelParameter { .. } => return None,
        SettingChange::Remount { at, options } => format!("sudo mount -o remount,{options} {}", quoted(at)),
        SettingChange::Trim { at } => format!("sudo fstrim -v {}", quoted(at)),
        SettingChange::Sysctl { key, value } => format!("sudo sysctl -w {key}={value}"),
        SettingChange::LiftLimit { file, device, keys } => lift(file, *device, keys),
        SettingChange::LoopDirect { device } => format!("sudo losetup --direct-io=on {}", dev(device)),
        SettingChange::MovePartition { disk, partition, sector } => {
            format!("echo '{sector},' | sudo sfdisk --move-data {} -N {partition}", dev(disk))
        }
        SettingChange::BindToNode { node } => {
            format!("numactl --cpunodebind={node} --membind={node} fathom run JOBFILE")
        }
        SettingChange::Governor => write("performance", "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor"),
        SettingChange::SwapOff { path } => format!("sudo swapoff {0} && sudo swapon {0}", quoted(path)),
    })
}

/// Returns the command that makes a change permanent; `None` if the change is permanent or no common command exists.
pub(super) fn always(change: &SettingChange) -> Option<String> {
    Some(match change {
        SettingChange::Queue { disk, attribute, value } => rule(disk, attribute, &format!("queue/{attribute}"), value),
        SettingChange::DeviceDepth { disk, value } => {
            rule(disk, "queue_depth", "device/queue_depth", &value.to_string())
        }
        SettingChange::ReadAhead { device, sectors } => {
            rule(device, "read_ahead", "queue/read_ahead_kb", &(sectors / 2).to_string())
        }
        SettingChange::Interrupts { .. } => "sudo systemctl enable --now irqbalance".to_owned(),
        SettingChange::KernelParameter { parameter } => {
            format!("sudo sed -i 's/^GRUB_CMDLINE_LINUX=\"/&{parameter} /' /etc/default/grub && sudo update-grub")
        }
        // A filesystem initializes its inode tables once, so this option need not persist.
        SettingChange::Remount { options, .. } if options.starts_with("init_itable") => return None,
        SettingChange::Remount { at, options } => {
            format!("sudoedit /etc/fstab   # options of {}: {options}", clean(at))
        }
        SettingChange::Trim { .. } => "sudo systemctl enable --now fstrim.timer".to_owned(),
        SettingChange::Sysctl { key, value } => {
            let name = key.replace(['.', '_'], "-");
            format!("echo '{key} = {value}' | sudo tee /etc/sysctl.d/60-{name}.conf")
        }
        SettingChange::LiftLimit { file, keys, .. } => return unit(file, keys),
        _ => return None,
    })
}

/// Returns a command that writes `value` to a file that only root may write.
fn write(value: &str, path: &str) -> String {
    format!("echo {} | sudo tee {path}", quoted(value))
}

/// Returns a command that creates a udev rule, which sets an attribute whenever the device appears.
fn rule(device: &str, name: &str, attribute: &str, value: &str) -> String {
    let (kernel, file) = (clean(device).replace('/', "!"), clean(device).replace('/', "-"));
    let text = format!("ACTION==\"add|change\", KERNEL==\"{kernel}\", ATTR{{{attribute}}}=\"{value}\"");
    format!("echo {} | sudo tee {}", quoted(&text), quoted(&format!("/etc/udev/rules.d/60-{file}-{name}.rules")))
}

/// Returns one command that pins all interrupts of `pairs` (interrupt, CPU).
fn interrupts(pairs: &[(u32, u32)]) -> String {
    let list =
        |pick: fn(&(u32, u32)) -> u32| pairs.iter().map(|pair| pick(pair).to_string()).collect::<Vec<_>>().join(" ");
    format!(
        "set -- {}; for irq in {}; do echo $1 | sudo tee /proc/irq/$irq/smp_affinity_list; shift; done",
        list(|pair| pair.1),
        list(|pair| pair.0)
    )
}

fn lift(file: &str, device: Option<Number>, keys: &[String]) -> String {
    let device = device.map_or_else(|| "default".to_owned(), |(major, minor)| format!("{major}:{minor}"));
    let value = match keys {
        [] => "0".to_owned(),
        [key] if key == "weight" => "100".to_owned(),
        keys => keys.iter().map(|key| format!("{key}=max")).collect::<Vec<_>>().join(" "),
    };
    format!("echo '{device} {value}' | sudo tee {}", quoted(file))
}

/// Returns a command that lifts the limits as systemd properties, if the cgroup is a unit.
fn unit(file: &str, keys: &[String]) -> Option<String> {
    let group = file.rsplit('/').nth(1)?;
    let is_unit = [".service", ".slice", ".scope"].iter().any(|ending| group.ends_with(ending));
    let property = |key: &String| match key.as_str() {
        "riops" => Some("IOReadIOPSMax="),
        "wiops" => Some("IOWriteIOPSMax="),
        "rbps" => Some("IOReadBandwidthMax="),
        "wbps" => Some("IOWriteBandwidthMax="),
        "weight" => Some("IOWeight=100"),
        _ => None,
    };
    let properties: Vec<&str> = keys.iter().filter_map(property).collect();
    (is_unit && !properties.is_empty())
        .then(|| format!("sudo systemctl set-property {} {}", quoted(group), properties.join(" ")))
}

fn dev(name: &str) -> String {
    quoted(&format!("/dev/{name}"))
}

/// Quotes text as one word for a shell.
fn quoted(text: &str) -> String {
    escape::shell(&clean(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_quoted_as_one_shell_word() {
        assert_eq!(quoted("/srv/data"), "/srv/data");
        assert_eq!(quoted("/srv/my data"), "'/srv/my data'");
        assert_eq!(quoted("a'; rm -rf /"), "'a'\\''; rm -rf /'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn limits_are_lifted_in_the_syntax_of_their_cgroup_version() {
        let change = |file: &str, keys: &[&str]| SettingChange::LiftLimit {
            file: file.to_owned(),
            device: Some((8, 0)),
            keys: keys.iter().map(|key| (*key).to_owned()).collect(),
        };
        let new = change("/sys/fs/cgroup/db.slice/io.max", &["riops", "wbps"]);
        assert_eq!(now(&new).unwrap(), "echo '8:0 riops=max wbps=max' | sudo tee /sys/fs/cgroup/db.slice/io.max");
        assert_eq!(always(&new).unwrap(), "sudo systemctl set-property db.slice IOReadIOPSMax= IOWriteBandwidthMax=");
        let old = change("/sys/fs/cgroup/blkio/a/blkio.throttle.read_iops_device", &[]);
        let file = "/sys/fs/cgroup/blkio/a/blkio.throttle.read_iops_device";
        assert_eq!(now(&old).unwrap(), format!("echo '8:0 0' | sudo tee {file}"));
        assert_eq!(always(&old), None);
    }
}
