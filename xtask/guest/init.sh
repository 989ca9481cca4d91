#!/bin/sh
# The guest's first process: loads drivers, runs /guest/script and powers off. Results go to the second serial line.
export PATH=/bin HOME=/root NO_COLOR=1 COLUMNS=100 FATHOM_NO_RECORD=1 XDG_RUNTIME_DIR=/run DM_DISABLE_UDEV=1
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
for folder in /tmp /run /mnt /var; do mount -t tmpfs tmpfs $folder; done
mkdir -p /var/tmp /run/lock/lvm /etc/lvm /run/mdadm
ln -s /run /var/run
ln -s /proc/self/mounts /etc/mtab
stty -F /dev/ttyS1 raw -echo
exec </dev/null >/dev/ttyS1 2>&1

for module in nvme sd_mod "null_blk nr_devices=0" loop nbd dm_mod ext4 fuse configfs; do
    modprobe $module || echo "@warning no module $module"
done
mount -t configfs configfs /sys/kernel/config
ip link set lo up
cat > /etc/lvm/lvm.conf <<'END'
devices { types = [ "nullb", 16 ] use_devicesfile = 0 dir = "/dev" scan = [ "/dev" ] obtain_device_list_from_udev = 0 external_device_info_source = "none" }
activation { udev_sync = 0 udev_rules = 0 monitoring = 0 }
global { event_activation = 0 }
backup { backup = 0 archive = 0 }
END

while read -r kind rest; do
    started=$(cut -d. -f1 /proc/uptime)
    case $kind in
    test)
        set -- $rest
        echo "@begin $1"
        # A separate shell, so that no variable or directory is left for the next test.
        timeout -s KILL 400 sh -c '. /guest/lib.sh; . "/guest/cases/$1.sh"; "$2"' sh "$2" "$3"
        code=$?
        # What it was waiting for in the kernel would fail all later tests too.
        if [ $code = 137 ]; then
            printf '\n@killed %s\n' "$1"
            poweroff -f
        fi
        name=$1 ;;
    command)
        sh -c "$rest"
        code=$?
        name=command ;;
    esac
    # The output of a test may not end with a newline.
    printf '\n@end %s %s %s\n' "$name" "$code" "$(($(cut -d. -f1 /proc/uptime) - started))"
done < /guest/script
echo "@done"
sync
poweroff -f
