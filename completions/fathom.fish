# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_fathom_global_optspecs
    string join \n h/help V/version
end

function __fish_fathom_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_fathom_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_fathom_using_subcommand
    set -l cmd (__fish_fathom_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c fathom -n "__fish_fathom_needs_command" -s h -l help -d 'Print help'
complete -c fathom -n "__fish_fathom_needs_command" -s V -l version -d 'Print version'
complete -c fathom -n "__fish_fathom_needs_command" -f -a "run" -d 'Measure real devices and files'
complete -c fathom -n "__fish_fathom_needs_command" -f -a "sim" -d 'Run the same jobs on a modelled volume, in virtual time'
complete -c fathom -n "__fish_fathom_needs_command" -f -a "sweep" -d 'Measure latency and IOPS against queue depth, and find the knee'
complete -c fathom -n "__fish_fathom_needs_command" -f -a "fio" -d 'Accept fio\'s own command line, with fio\'s output and exit codes'
complete -c fathom -n "__fish_fathom_needs_command" -f -a "compare" -d 'Compare two runs, with confidence intervals'
complete -c fathom -n "__fish_fathom_needs_command" -f -a "gate" -d 'Check a run against expectations, for CI'
complete -c fathom -n "__fish_fathom_needs_command" -f -a "doctor" -d 'Find host settings that limit a device'
complete -c fathom -n "__fish_fathom_needs_command" -f -a "capture" -d 'Record the requests of a live device, touching nothing'
complete -c fathom -n "__fish_fathom_needs_command" -f -a "explain" -d 'Explain what limited a result from any source, and what to change'
complete -c fathom -n "__fish_fathom_needs_command" -f -a "trace" -d 'Describe the load that a trace shows, and convert traces'
complete -c fathom -n "__fish_fathom_needs_command" -f -a "plan" -d 'Find the volume, size and machine for a load, by price'
complete -c fathom -n "__fish_fathom_needs_command" -f -a "catalog" -d 'List modelled volumes: limits, prices, sources, dates'
complete -c fathom -n "__fish_fathom_needs_command" -f -a "suite" -d 'Run published benchmark procedures'
complete -c fathom -n "__fish_fathom_needs_command" -f -a "runs" -d 'List, show, import and remove saved runs'
complete -c fathom -n "__fish_fathom_needs_command" -f -a "serve" -d 'Serve a modelled volume as a disk, over NBD'
complete -c fathom -n "__fish_fathom_needs_command" -f -a "report" -d 'Write saved runs as a page with charts, or as tables and text'
complete -c fathom -n "__fish_fathom_needs_command" -f -a "options" -d 'Describe all job options, or one'
complete -c fathom -n "__fish_fathom_needs_command" -f -a "completions" -d 'Print completions for a shell'
complete -c fathom -n "__fish_fathom_needs_command" -f -a "man" -d 'Show the manual: program, commands, job options'
complete -c fathom -n "__fish_fathom_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c fathom -n "__fish_fathom_using_subcommand run" -l format -d 'Format of standard output' -r -f -a "text\t'Text, with a verdict at the end'
json\t'Fathom\'s JSON'
fio\t'fio\'s text'
fio-json\t'fio\'s JSON'
fio-json+\t'fio\'s JSON with histograms'
fio-terse\t'fio\'s terse format'"
complete -c fathom -n "__fish_fathom_using_subcommand run" -s o -l output -d 'Write additional output to FILE: .json .html .csv .md .txt .prom .fio.json (repeatable)' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand run" -l events -d 'Write progress to FILE as JSON lines' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand run" -l metrics -d 'Serve live metrics (OpenMetrics over HTTP); addresses of other hosts need --insecure' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l repeat -d 'Run N times, interleaving job files, and report the variation' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l section -d 'Run only this section of the job files (repeatable)' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l allow-destroy -d 'Permit writes to this device, file or export URI even if it holds data or is in use (repeatable)' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand run" -l allow-overwrite -d 'Permit writes to this existing file that Fathom did not create (repeatable)' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand run" -l seed -d 'Seed for all random choices' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l progress -d 'Show progress on standard error' -r -f -a "auto\t'A progress line on a terminal, a line every 10 s elsewhere'
plain\t'A line every 10 s'
off\t'None'"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l grace -d 'Wait this long for operations in flight after the runtime or a signal' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l allow_file_create -d 'Permit the creation of files that do not exist.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l allow_mounted_write -d 'Permit writes to a mounted device.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l apptag -d 'Application tag of protection information.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l apptag_mask -d 'Bits of the application tag to check.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l arguments -d 'Arguments of the program, separated by blanks; %r is the runtime in seconds, %n the name of the job.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l atomic -d 'Issue atomic writes (RWF_ATOMIC, Linux 6.11) with io_uring, libaio and pvsync2; implies `direct`.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l ba -d 'Alignment of offsets, by default the smallest block size.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l block_error_percentiles -d 'Report how often each block was trimmed before a trim or write of it failed.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l bs -d 'Block size; up to three values separated by commas for reads, writes and trims.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l bs_is_seq_rand -d 'Interpret the two block sizes as sequential and random instead of read and write.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l bs_unaligned -d 'Permit block sizes of any number of bytes within the range.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l bsrange -d 'Range of block sizes, in multiples of the lower bound.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l bssplit -d 'Block sizes with a percentage each: `4k/60:64k/40`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l buffer_compress_chunk -d 'Size of each compressible chunk of a buffer; 0 for the whole buffer.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l buffer_compress_percentage -d 'Percentage by which buffers can be compressed.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l buffer_pattern -d 'Fill buffers with this pattern.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l buffered -d 'Use the page cache; the opposite of `direct`.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l bwavgtime -d 'Window of bandwidth samples and log entries, in milliseconds; by default `log_avg_msec` if it is logged.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l cgroup -d 'Put the workers into this control group of the `blkio` controller, created if it is missing.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l cgroup_nodelete -d 'Keep the control group after the job.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l cgroup_weight -d 'Weight of that control group for block I/O.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l clat_percentiles -d 'Report percentiles of completion latency.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l cmd_type -d 'Kind of passthrough command.' -r -f -a "nvme\t''
bsg\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l cmdprio -d 'I/O priority level of those operations; 0 is the highest.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l cmdprio_bssplit -d 'Percentages with a priority for each block size: `4k/50:64k/10/1/0`, with class and level.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l cmdprio_class -d 'I/O priority class of those operations; 1, real time, by default.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l cmdprio_hint -d 'I/O priority hint of those operations.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l cmdprio_percentage -d 'Percentage of operations with a priority, for reads and writes.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l continue_on_error -d 'Continue after errors of this kind, and count them.' -r -f -a "none\t''
read\t''
write\t''
io\t''
verify\t''
all\t''
0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l cpuchunks -d 'Length of each burst of work, in microseconds.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l cpuload -d 'Percentage of the time in which the processor is busy; more than 100 is 100.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l cpumask -d 'CPUs that the workers may run on, as a bit mask.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l cpumode -d 'Work for the processor: counting or sorting.' -r -f -a "noop\t''
qsort\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l cpus_allowed -d 'CPUs that the workers may run on, such as `0-3,5`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l cpus_allowed_policy -d 'Share the CPUs among all workers, or give each worker one.' -r -f -a "shared\t''
split\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l create_fsync -d 'Flush each file after it was created with data.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l create_on_open -d 'Create files when they are opened, not before the run.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l create_only -d 'Create the files, and run nothing.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l dataplacement -d 'Directives that tell the device where data belong.' -r -f -a "none\t''
fdp\t''
streams\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l deac -d 'Let Write Zeroes deallocate (DEAC).' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l dedupe_global -d 'Duplicate buffers across jobs too, from a working set.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l dedupe_mode -d 'Source of duplicate buffers: the buffer before, or a working set.' -r -f -a "repeat\t''
working_set\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l dedupe_percentage -d 'Percentage of buffers that duplicate others.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l dedupe_working_set_percentage -d 'Size of the working set of duplicates, as a percentage of the job\'s blocks.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l description -d 'Description of the job, repeated in the results.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l direct -d 'Bypass the page cache (O_DIRECT).' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l directory -d 'Directories for relative names, separated by `:`; clones use them in turn.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l disable_bw_measurement -d 'Do not sample bandwidth.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l disable_clat -d 'Do not measure completion latency.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l disable_lat -d 'Do not measure total latency.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l disable_slat -d 'Do not measure submission latency.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l disk_util -d 'Report the disk statistics of the kernel.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l do_verify -d 'Read back and check written blocks after the writes.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l donorname -d 'File with which the files exchange extents; its data are lost.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l dp_scheme -d 'File that maps offsets to placements: lines of start, end and index.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l end_fsync -d 'Call fsync once at the end of the job.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l end_syncfs -d 'Call syncfs once at the end of the job.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l error_dump -d 'Print ignored errors.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l exec_postrun -d 'Shell command after each worker; its output goes to NAME.postrun.txt.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l exec_prerun -d 'Shell command before each worker begins; its output goes to NAME.prerun.txt.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l exit_on_io_done -d 'End when all jobs of other engines have ended.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l exit_what -d 'Jobs that `exitall` ends: those of the reporting group, those that run, or all of the run.' -r -f -a "group\t''
stonewall\t''
all\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l exitall -d 'End all other jobs when this job ends.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l exitall_on_error -d 'End other jobs, as `exit_what` says, if this job fails.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l fadvise_hint -d 'Advise the kernel of the access pattern (posix_fadvise); 1 for that of the job.' -r -f -a "0\t''
1\t''
random\t''
sequential\t''
noreuse\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l fallocate -d 'Method of preallocating a file before it is laid out.' -r -f -a "none\t''
native\t''
posix\t''
keep\t''
truncate\t''
0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l fdatasync -d 'Number of writes between calls of fdatasync; 0 for none.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l fdp -d 'Tell the device where data belong, by Flexible Data Placement (io_uring_cmd).' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l file_append -d 'Start at the present end of each file.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l file_service_type -d 'Order in which files are used.' -r -f -a "random\t''
zipf\t''
pareto\t''
normal\t''
gauss\t''
roundrobin\t''
sequential\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l filename -d 'Files or devices, separated by `:` (a colon in a name is `\\:`).' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l filename_format -d 'Template of generated file names; $jobname, $jobnum and $filenum are replaced.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l filesize -d 'Size of each file, or a range `low-high`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l fill_device -d 'Write until the device or filesystem is full.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l fixedbufs -d 'Register buffers with the kernel before the run.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l flow -d 'Weight of the job within its flow; 0 for none.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l flow_id -d 'Flow that the job belongs to.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l flow_sleep -d 'Time to sleep when ahead of the flow, in microseconds.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l force_async -d 'Let the kernel execute one of this many operations asynchronously; 0 for none.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l fsync -d 'Number of writes between calls of fsync; 0 for none.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l fsync_on_close -d 'Call fsync when a file is closed.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l gid -d 'Run the workers as this group.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l grace_time -d 'Time between SIGTERM and SIGKILL at the end of the job, in seconds.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l group_reporting -d 'Merge the results of adjacent jobs of one group.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l gtod_reduce -d 'Read the clock less often; latencies are not measured.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l hipri -d 'Poll for completions instead of waiting for interrupts.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l hipri_percentage -d 'Percentage of operations to poll.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l hostname -d 'Host to connect to, multicast group to receive from, or path of a Unix socket.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l http_host -d 'Host of the object store, with a port if it is neither 80 nor 443 (`https`).' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l http_mode -d 'Protocol of the object store.' -r -f -a "webdav\t''
s3\t''
swift\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l http_object_mode -d 'An object for each block, or ranges of one object.' -r -f -a "block\t''
range\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l http_pass -d 'Password for the basic authentication of WebDAV.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l http_s3_key -d 'Secret key of S3.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l http_s3_keyid -d 'Access key ID of S3.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l http_s3_region -d 'Region of S3.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l http_s3_security_token -d 'Token of temporary credentials of S3.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l http_s3_sse_customer_algorithm -d 'Algorithm of that encryption.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l http_s3_sse_customer_key -d 'Key of 32 bytes with which S3 encrypts the objects (SSE-C).' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l http_s3_storage_class -d 'Storage class of objects that are written to S3.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l http_swift_auth_token -d 'Token of a session of Swift.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l http_user -d 'User name for the basic authentication of WebDAV.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l http_verbose -d 'Report each request and the status of its answer (1), and its size and duration (2).' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l https -d 'Encrypt the connection; `insecure` accepts any certificate.' -r -f -a "off\t''
on\t''
insecure\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l hugepage-size -d 'Size of the huge pages of `mem=mmaphuge` and `mem=shmhuge`, a power of two.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l ignore_error -d 'Errors to ignore, by name or number: lists separated by `:`, for reads, writes and verification.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l ignore_zone_limits -d 'Permit a `max_open_zones` above the device\'s limit.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l inplace -d 'Allocate and free the donor\'s space in each operation, not once before the run.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l interface -d 'IPv4 address of the local interface of multicasts.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l invalidate -d 'Drop the page cache of each file before the run.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l io_size -d 'Bytes to transfer, if different from `size`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l io_submit_mode -d 'Submit from the worker, or from a helper thread for each operation in flight.' -r -f -a "inline\t''
offload\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l iodepth -d 'Queue depth: the number of operations kept in flight.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l iodepth_batch -d 'Number of operations to submit at once, 0 for all available; chosen automatically by default.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l iodepth_batch_complete_max -d 'Maximum number of completions to collect at once; all by default.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l iodepth_batch_complete_min -d 'Minimum number of completions to collect at once; 0 to poll.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l iodepth_low -d 'Refill the queue only when this few operations are in flight.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l ioengine -d 'I/O engine.' -r -f -a "io_uring\t''
io_uring_cmd\t''
libaio\t''
psync\t''
sync\t''
vsync\t''
pvsync\t''
pvsync2\t''
posixaio\t''
mmap\t''
splice\t''
filecreate\t''
filestat\t''
filedelete\t''
dircreate\t''
dirstat\t''
dirdelete\t''
ftruncate\t''
falloc\t''
e4defrag\t''
sg\t''
nbd\t''
net\t''
netsplice\t''
http\t''
cpuio\t''
exec\t''
null\t''
model\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l iomem_align -d 'Alignment of buffers in bytes; never below 4096 in Fathom.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l iopsavgtime -d 'Window of IOPS samples and log entries, in milliseconds; by default `log_avg_msec` if they are logged.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l ioscheduler -d 'Switch the devices to this I/O scheduler before the job.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l job_max_open_zones -d 'How many zones a worker writes at once; 0 for no limit.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l job_start_clock_id -d 'Number of the clock of `job_start` in JSON; 0 for Unix time.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l kb_base -d 'Base of units in job files and in fio\'s normal output.' -r -f -a "1024\t''
1000\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l lat_percentiles -d 'Report percentiles of total latency.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l latency_percentile -d 'Percentage of operations that must meet the target.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l latency_run -d 'Continue to adjust the depth after it was found.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l latency_target -d 'Search the highest queue depth that keeps latency below this.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l latency_window -d 'Duration of each step of that search.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l libaio_vectored -d 'Use vectored reads and writes.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l listen -d 'Accept a connection of TCP or vsock instead of opening one.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l lockfile -d 'Let one worker at a time use a file, or several if all of them read.' -r -f -a "none\t''
exclusive\t''
readwrite\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l lockmem -d 'Memory that each worker locks while it runs, so that less is left for the page cache.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l log_alternate_epoch -d 'Write the time of a clock to log entries, instead of the time since the start. In virtual time both are equal.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l log_alternate_epoch_clock_id -d 'Number of that clock in `clock_gettime`; 0 for Unix time.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l log_avg_msec -d 'Interval over which log entries are averaged, in milliseconds; 0 logs each operation.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l log_compression_cpus -d 'CPUs of the threads that write and compress logs, such as `0-3,5`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l log_hist_coarseness -d 'Resolution of logged histograms: each step merges pairs of buckets.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l log_hist_msec -d 'Interval between logged histograms, in milliseconds; 0 logs none.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l log_issue_time -d 'Add the time of submission in nanoseconds to log entries; needs `write_lat_log` and `log_offset`.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l log_offset -d 'Add the offset to log entries.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l log_prio -d 'Write the I/O priority to log entries as class and level.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l log_store_compressed -d 'Write compressed logs (`.fz`); `--inflate-log=FILE` prints them.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l log_window_value -d 'Latencies to log for each window of `log_avg_msec`: mean, maximum or both.' -r -f -a "avg\t''
max\t''
both\t''
0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l loops -d 'Number of repetitions of the job.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l max_latency -d 'Fail if an operation takes longer than this; up to three values for reads, writes and trims.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l max_open_zones -d 'How many zones all jobs write at once; 0 for the device\'s limit.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l md_per_io_size -d 'Size of the separate metadata buffer per operation, in bytes.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l mem -d 'Type of memory for buffers.' -r -f -a "malloc\t''
shm\t''
shmhuge\t''
mmap\t''
mmapshared\t''
mmaphuge\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l merge_blktrace_file -d 'Merge the traces of `read_iolog`, separated by `:`, into this binary file of blktrace, and replay that.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l merge_blktrace_iters -d 'How often the merged traces are repeated, one whole number for each, separated by `:`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l merge_blktrace_scalars -d 'Percentages by which the times of the merged traces are multiplied, one for each, separated by `:`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l mss -d 'Maximum segment size of TCP in bytes; 0 for the default.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l name -d 'Name of the job; on the command line, it starts a new job.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l new_group -d 'Start a new reporting group without waiting.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l nice -d 'CPU priority (nice value) of the workers.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l nodelay -d 'Send small packets at once (TCP_NODELAY).' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l nonvectored -d 'Use plain reads and writes instead of vectored ones; 0 for vectored ones.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l norandommap -d 'Permit a block to be accessed again before all blocks were accessed once.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l nowait -d 'Fail operations that would block, with EAGAIN (RWF_NOWAIT).' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l nrfiles -d 'Number of files of each worker; `size` is divided among them.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l num_range -d 'Number of ranges per trim command (io_uring_cmd).' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l numa_cpu_nodes -d 'NUMA nodes whose CPUs run the workers, such as `0-1` or `all`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l numa_mem_policy -d 'Policy of the workers\' memory: `default`, `local`, `prefer:NODE`, `bind:NODES` or `interleave:NODES`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l number_ios -d 'Maximum number of operations.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l numjobs -d 'Number of workers that run this job independently.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l offset -d 'Start offset within the files.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l offset_align -d 'Round start offsets given in per cent up to a multiple of this; 0 for the smallest block.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l offset_increment -d 'Added to the start offset for each clone.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l opendir -d 'Use all regular files below this directory.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l openfiles -d 'Maximum number of files open at the same time; all by default.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l overwrite -d 'Write each file in full before the run, so that writes never extend it.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l per_job_logs -d 'Write a log file for each worker; otherwise workers append to a common one.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l percentage_random -d 'Percentage of random offsets in a random pattern.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l percentile_list -d 'Percentiles to report, at most 20.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l pi_act -d 'Let the device insert and strip protection information (PRACT).' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l pi_chk -d 'Fields of protection information to check: one or more of GUARD, REFTAG and APPTAG.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l pingpong -d 'Send each block back, in both jobs.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l plid_select -d 'Order in which placements are used.' -r -f -a "random\t''
roundrobin\t''
scheme\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l plids -d 'Placements to use: indexes of placement identifiers (fdp) or stream identifiers, as in `0,2-4`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l port -d 'Port to connect to or listen on; each clone adds its number.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l pre_read -d 'Read the files into the page cache before the run.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l prio -d 'I/O priority within its class, 0 the highest.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l prioclass -d 'I/O priority class: 1 real time, 2 best effort, 3 idle.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l priohint -d 'I/O priority hint.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l program -d 'Program to run, until it ends or the job does.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l protocol -d 'Protocol of the connection.' -r -f -a "tcp\t''
tcpv6\t''
udp\t''
udpv6\t''
unix\t''
vsock\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l ramp_size -d 'Bytes to transfer before results count, by all workers of a group together with `group_reporting`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l ramp_time -d 'Warm-up time before results count; `runtime` starts after it.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l random_distribution -d 'Distribution of random offsets; up to three values separated by commas for reads, writes and trims.' -r -f -a "random\t''
zipf\t''
pareto\t''
normal\t''
zoned\t''
zoned_abs\t''
sequence\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l random_generator -d 'Generator of random offsets; `lfsr` avoids repeats without a map.' -r -f -a "tausworthe\t''
lfsr\t''
tausworthe64\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l random_sequence_stride -d 'Advance the `sequence` distribution by its length each time.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l randrepeat -d 'Use the same random sequence in every run.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l randseed -d 'Seed for all random choices of the job; overrides `randrepeat`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l rank_hosts -d 'Hosts, real or simulated, whose ranks run the job, in a run on many hosts, such as `db*,web1`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l ranks -d 'Ranks of a run on many hosts, or simulated hosts, that run the job, such as `0-3,5`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l rate -d 'Rate limit of each worker in bytes per second; up to three values for reads, writes and trims.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l rate_cycle -d 'Averaging window of the minimum rates, in milliseconds.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l rate_ignore_thinktime -d 'Do not catch up with the rate after idle time.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l rate_iops -d 'Rate limit of each worker in operations per second; up to three values for reads, writes and trims.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l rate_iops_min -d 'Fail below this many operations per second; up to three values for reads, writes and trims.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l rate_min -d 'Fail below this many bytes per second; up to three values for reads, writes and trims.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l rate_process -d 'Arrival process under a rate.' -r -f -a "linear\t''
poisson\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l read_beyond_wp -d 'Permit reads behind a zone\'s write pointer.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l read_iolog -d 'Replay the requests of this trace, in any format that `fathom trace` reads.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l read_mode -d 'Command for reads.' -r -f -a "read\t''
prefetch\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l readfua -d 'Set FUA for reads: they come from the medium.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l recover_zbd_write_error -d 'Continue at the device\'s write pointer after a failed write.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l refill_buffers -d 'Fill the buffer with new random data before every write.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l registerfiles -d 'Register files with the kernel before the run.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l replay -d 'Replay the requests of this trace; the same as `read_iolog`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l replay_align -d 'Align the offsets of the trace to this power of two, in bytes.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l replay_fit -d 'Placement of offsets on a smaller target: regions merge, or continue at its start, or turn back.' -r -f -a "scale\t''
wrap\t''
fold\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l replay_for -d 'Length of the replayed part; 0 for the rest of the trace.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l replay_loop -d 'Issue requests at their instants, or after the completion that their process waited for.' -r -f -a "open\t''
closed\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l replay_no_stall -d 'Ignore the instants of the trace.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l replay_redirect -d 'Replay the trace on this file or device.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l replay_scale -d 'Divide the offsets of the trace by this number.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l replay_skip -d 'Kinds of request to leave out, separated by `,`: read, write, trim, sync.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l replay_speed -d 'Replay speed: a factor such as `2x` or `0.5`, or `max` to ignore the instants of the trace.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l replay_start -d 'Start of the replayed part.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l replay_time_scale -d 'Replay speed as a percentage.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l runtime -d 'Maximum duration.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l rw -d 'I/O pattern: reads, writes or trims, sequential or random.' -r -f -a "read\t''
write\t''
trim\t''
randread\t''
randwrite\t''
randtrim\t''
rw\t''
readwrite\t''
randrw\t''
trimwrite\t''
randtrimwrite\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l rw_sequencer -d 'Operations between two random offsets of `rw=rand…:N`: following each other, or at the same offset.' -r -f -a "sequential\t''
identical\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l rwmixread -d 'Percentage of reads in a mix.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l rwmixwrite -d 'Percentage of writes in a mix; the later of the two options applies.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l scramble_buffers -d 'Modify each buffer slightly before every write.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l serialize_overlap -d 'Delay operations that overlap one in flight.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l sg_write_mode -d 'SCSI command for writes.' -r -f -a "write\t''
write_and_verify\t''
verify\t''
write_same\t''
same\t''
write_same_ndob\t''
verify_bytchk_00\t''
verify_bytchk_01\t''
verify_bytchk_11\t''
write_stream\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l significant_figures -d 'Significant figures in fio\'s normal output.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l size -d 'Bytes of its files that the job covers, or a percentage of existing files.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l slat_percentiles -d 'Report percentiles of submission latency.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l spr_cs -d 'Cache size of the device in bytes: `sprandom` repeats writes after those of the next region, not before.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l spr_num_regions -d 'Number of regions into which `sprandom` divides its pass.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l spr_op -d 'Overprovisioning of the device for `sprandom`, as a fraction of its size.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l sprandom -d 'Precondition a flash device in one pass: write each block once, and more of the older ones again.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l sqthread_poll -d 'Submit operations by a kernel polling thread (SQPOLL).' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l sqthread_poll_cpu -d 'CPU of the SQPOLL thread.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l startdelay -d 'Delay before the job starts; a range `low-high` draws a random delay.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l stat_type -d 'System call to measure.' -r -f -a "stat\t''
lstat\t''
statx\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l stats -d 'Keep statistics.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l std_redirect -d 'Write the output of the program to NAME.stdout and NAME.stderr.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l steadystate -d 'End when the deviation or slope of IOPS, bandwidth or latency is below a limit: `iops:5%`, `bw_slope:0.3%`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l steadystate_check_interval -d 'Interval between samples.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l steadystate_duration -d 'Duration for which it must be steady; 0 for no steady state.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l steadystate_ramp_time -d 'Time to wait before the first sample.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l stonewall -d 'Start after all preceding jobs have finished.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l stream_id -d 'Stream of SCSI stream writes; 0 opens one for the run.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l sync -d 'Open files with O_SYNC or O_DSYNC.' -r -f -a "none\t''
0\t''
sync\t''
1\t''
dsync\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l sync_file_range -d 'Phases of sync_file_range, separated by commas, and after `:` the number of writes between two calls.' -r -f -a "wait_before\t''
write\t''
wait_after\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l thinkcycles -d 'Processor cycles to spend after each operation, before the idle time.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l thinktime -d 'Idle time after each `thinktime_blocks` operations.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l thinktime_blocks -d 'Number of operations between idle times.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l thinktime_blocks_type -d 'Count operations on completion or on issue.' -r -f -a "complete\t''
issue\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l thinktime_iotime -d 'Idle after each interval of this length instead.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l thinktime_spin -d 'Part of the idle time to spend spinning.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l thp -d 'Use transparent huge pages for the mapping (MADV_HUGEPAGE).' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l thread -d 'Use threads instead of processes; Fathom always does.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l time_based -d 'Repeat the workload until `runtime` has passed.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l trim_backlog -d 'Number of written blocks after which `trim_percentage` of them are trimmed; 0 for no trims.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l trim_percentage -d 'Percentage of written blocks to trim before they are verified.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l trim_verify_zero -d 'Verify that trimmed blocks read as zeroes, instead of not reading them.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l ttl -d 'Time to live of multicasts.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l uid -d 'Run the workers as this user.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l uncached -d 'Do not keep data in the page cache (RWF_DONTCACHE, Linux 6.14).' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l unified_rw_reporting -d 'Report reads, writes and trims as one in fio\'s outputs.' -r -f -a "none\t''
mixed\t''
both\t''
0\t''
1\t''
2\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l unit_base -d 'Unit of rates: bytes (8), bits (1) or automatic (0).' -r -f -a "0\t''
8\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l unlink -d 'Remove the files after the job.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l unlink_each_loop -d 'Remove the files after each loop but the last; the next one begins with none.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l uri -d 'URI of the export: nbd://HOST[:PORT]/EXPORT or nbd+unix:///EXPORT?socket=PATH; `size` defaults to its size.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l verify -d 'Method of verification: the checksum or content of written blocks.' -r -f -a "0\t''
md5\t''
crc64\t''
crc32\t''
crc32c-intel\t''
crc32c\t''
crc16\t''
crc7\t''
sha1\t''
sha256\t''
sha512\t''
sha3-224\t''
sha3-256\t''
sha3-384\t''
sha3-512\t''
xxhash\t''
meta\t''
pattern\t''
pattern_hdr\t''
null\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l verify_backlog -d 'Number of written blocks after which they are verified, instead of at the end.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l verify_dump -d 'Write the expected and the received block to files on a mismatch.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l verify_fatal -d 'Stop at the first mismatch.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l verify_format -d 'Layout of block headers: Fathom\'s, or that of fio 3.33 to exchange data with it.' -r -f -a "fathom\t''
fio\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l verify_header_seed -d 'Check the seed in the header of each block.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l verify_interval -d 'Distance in bytes between block headers.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l verify_mode -d 'Command for verification: Read, or Compare with `verify=pattern`.' -r -f -a "read\t''
compare\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l verify_nonce -d 'Number in block headers that identifies the run, drawn by default; 0 for the same bytes in all runs.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l verify_offset -d 'Offset of the header within a block.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l verify_only -d 'Verify the data of an earlier run of the job, without writing.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l verify_pattern -d 'Pattern to write and to expect; `%o` stands for the offset.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l verify_pattern_interval -d 'Restart the pattern after this many bytes, 0 for never.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l verify_policy -d 'Writes that `verify_state_load` checks: all completed ones, or those before the last sync.' -r -f -a "completed\t''
fsynced\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l verify_state_load -d 'Verify only what an earlier run had written, by its saved state.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l verify_state_save -d 'Save the state of the writes; in `fathom run` only if given.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l verify_write_sequence -d 'Check which write each block is of.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l wait_for -d 'Start after all workers of the preceding job of this name have finished.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l window_size -d 'Size of the socket buffer in bytes, of the end that connects or listens; 0 for the default.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l write_bw_log -d 'Write bandwidth logs with this prefix.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l write_hint -d 'Expected lifetime of the data (F_SET_RW_HINT).' -r -f -a "none\t''
short\t''
medium\t''
long\t''
extreme\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l write_hist_log -d 'Write logs of completion latency histograms with this prefix; `log_hist_msec` sets their interval.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l write_iolog -d 'Write a log of all operations to this file, which `read_iolog` replays.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l write_iops_log -d 'Write IOPS logs with this prefix.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l write_lat_log -d 'Write latency logs with this prefix.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l write_mode -d 'Commands for writes (write, uncor, zeroes, verify), with percentages: `write/60:zeroes/40`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l write_zone_remainder -d 'Write the short ends of zones instead of finishing the zones.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l writefua -d 'Set FUA for writes: they are on the medium when they complete.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l zero_buffers -d 'Write zeroes.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l zone_reset_frequency -d 'Zone resets per write above `zone_reset_threshold`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l zone_reset_threshold -d 'Fraction of the region\'s bytes that are written, from which on zones are reset.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l zonecapacity -d 'Bytes of each zone that can be written, where the device has no zones.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l zonemode -d 'How the file is divided into zones: not, at regular distances, or as a zoned device is.' -r -f -a "none\t''
strided\t''
zbd\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l zonerange -d 'Length of a zone; `zonesize` by default.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l zonesize -d 'Bytes to transfer in each zone before the next one.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l zoneskip -d 'Bytes from the end of a zone to the next one.' -r
complete -c fathom -n "__fish_fathom_using_subcommand run" -l on -d 'Use this modelled volume instead of the jobs\' files' -r -f -a "gcp/pd-standard\t''
gcp/pd-standard-regional\t''
gcp/pd-balanced\t''
gcp/pd-balanced-regional\t''
gcp/pd-ssd\t''
gcp/pd-ssd-regional\t''
gcp/pd-extreme\t''
gcp/hyperdisk-balanced\t''
gcp/hyperdisk-balanced-high-availability\t''
gcp/hyperdisk-balanced-high-availability@2026-03\t''
gcp/hyperdisk-extreme\t''
gcp/hyperdisk-ml\t''
gcp/hyperdisk-ml@2026-03\t''
gcp/hyperdisk-throughput\t''
gcp/local-ssd-nvme\t''
gcp/titanium-ssd-c4n\t''
gcp/titanium-ssd-z3\t''
gcp/pd-standard@2019\t''
gcp/pd-standard-regional@2019\t''
gcp/pd-ssd@2019\t''
gcp/pd-ssd-regional@2019\t''
gcp/local-ssd-scsi@2019\t''
gcp/local-ssd-nvme@2019\t''
aws/gp3\t''
aws/gp3@2023\t''
aws/gp2\t''
aws/io1\t''
aws/io2\t''
aws/io2@2023\t''
aws/st1\t''
aws/sc1\t''
aws/standard\t''
azure/premium-ssd\t''
azure/premium-ssd-v2\t''
azure/ultra\t''
azure/standard-ssd\t''
azure/standard-hdd\t''
vultr/hdd-block\t''
vultr/nvme-block\t''
digitalocean/volume\t''
digitalocean/volume@2018\t''
oci/block-volume\t''
akamai/nvme-block\t''
hetzner/volume\t''
nutanix/ahv-4node\t''
hdd/7200rpm\t''
custom\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l volume -d 'Modelled volume to use instead of files; `fathom catalog` lists all volumes.' -r -f -a "gcp/pd-standard\t''
gcp/pd-standard-regional\t''
gcp/pd-balanced\t''
gcp/pd-balanced-regional\t''
gcp/pd-ssd\t''
gcp/pd-ssd-regional\t''
gcp/pd-extreme\t''
gcp/hyperdisk-balanced\t''
gcp/hyperdisk-balanced-high-availability\t''
gcp/hyperdisk-balanced-high-availability@2026-03\t''
gcp/hyperdisk-extreme\t''
gcp/hyperdisk-ml\t''
gcp/hyperdisk-ml@2026-03\t''
gcp/hyperdisk-throughput\t''
gcp/local-ssd-nvme\t''
gcp/titanium-ssd-c4n\t''
gcp/titanium-ssd-z3\t''
gcp/pd-standard@2019\t''
gcp/pd-standard-regional@2019\t''
gcp/pd-ssd@2019\t''
gcp/pd-ssd-regional@2019\t''
gcp/local-ssd-scsi@2019\t''
gcp/local-ssd-nvme@2019\t''
aws/gp3\t''
aws/gp3@2023\t''
aws/gp2\t''
aws/io1\t''
aws/io2\t''
aws/io2@2023\t''
aws/st1\t''
aws/sc1\t''
aws/standard\t''
azure/premium-ssd\t''
azure/premium-ssd-v2\t''
azure/ultra\t''
azure/standard-ssd\t''
azure/standard-hdd\t''
vultr/hdd-block\t''
vultr/nvme-block\t''
digitalocean/volume\t''
digitalocean/volume@2018\t''
oci/block-volume\t''
akamai/nvme-block\t''
hetzner/volume\t''
nutanix/ahv-4node\t''
hdd/7200rpm\t''
custom\t''"
complete -c fathom -n "__fish_fathom_using_subcommand run" -l live -d 'Show live graphs instead of progress (press ? for keys)'
complete -c fathom -n "__fish_fathom_using_subcommand run" -l insecure -d 'Permit a --metrics address that other hosts can reach'
complete -c fathom -n "__fish_fathom_using_subcommand run" -l probe -d 'Find out whether the queue depth or the device is the limit: run for 1 s at twice the depth'
complete -c fathom -n "__fish_fathom_using_subcommand run" -l show-jobs -d 'Print the resolved jobs, and do nothing'
complete -c fathom -n "__fish_fathom_using_subcommand run" -l dry-run -d 'Print what would be touched, how much and for how long, and do nothing'
complete -c fathom -n "__fish_fathom_using_subcommand run" -l no-record -d 'Do not save this run'
complete -c fathom -n "__fish_fathom_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l format -d 'Format of standard output' -r -f -a "text\t'Text, with a verdict at the end'
json\t'Fathom\'s JSON'
fio\t'fio\'s text'
fio-json\t'fio\'s JSON'
fio-json+\t'fio\'s JSON with histograms'
fio-terse\t'fio\'s terse format'"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -s o -l output -d 'Write additional output to FILE: .json .html .csv .md .txt .prom .fio.json (repeatable)' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l events -d 'Write progress to FILE as JSON lines' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l metrics -d 'Serve live metrics (OpenMetrics over HTTP); addresses of other hosts need --insecure' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l repeat -d 'Run N times, interleaving job files, and report the variation' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l section -d 'Run only this section of the job files (repeatable)' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l allow-destroy -d 'Permit writes to this device, file or export URI even if it holds data or is in use (repeatable)' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l allow-overwrite -d 'Permit writes to this existing file that Fathom did not create (repeatable)' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l seed -d 'Seed for all random choices' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l progress -d 'Show progress on standard error' -r -f -a "auto\t'A progress line on a terminal, a line every 10 s elsewhere'
plain\t'A line every 10 s'
off\t'None'"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l grace -d 'Wait this long for operations in flight after the runtime or a signal' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l hosts -d 'Simulate N hosts that run the same jobs and share the volumes' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l split -d 'Divide the work of each job among the hosts that run it' -r -f -a "size\t'The amounts size and io_size'
files\t'The files'
offsets\t'The region of each file or device'"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l vary -d 'Repeat for each value of a job option or a key of the volume: KEY=A..B, A..BxF, A..B/STEP, V,V,V' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l shard -d 'Simulate each Nth point only, from the Kth on: K/N, or auto in a job array; `fathom report` merges the shards' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l allow_file_create -d 'Permit the creation of files that do not exist.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l allow_mounted_write -d 'Permit writes to a mounted device.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l apptag -d 'Application tag of protection information.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l apptag_mask -d 'Bits of the application tag to check.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l arguments -d 'Arguments of the program, separated by blanks; %r is the runtime in seconds, %n the name of the job.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l atomic -d 'Issue atomic writes (RWF_ATOMIC, Linux 6.11) with io_uring, libaio and pvsync2; implies `direct`.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l ba -d 'Alignment of offsets, by default the smallest block size.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l block_error_percentiles -d 'Report how often each block was trimmed before a trim or write of it failed.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l bs -d 'Block size; up to three values separated by commas for reads, writes and trims.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l bs_is_seq_rand -d 'Interpret the two block sizes as sequential and random instead of read and write.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l bs_unaligned -d 'Permit block sizes of any number of bytes within the range.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l bsrange -d 'Range of block sizes, in multiples of the lower bound.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l bssplit -d 'Block sizes with a percentage each: `4k/60:64k/40`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l buffer_compress_chunk -d 'Size of each compressible chunk of a buffer; 0 for the whole buffer.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l buffer_compress_percentage -d 'Percentage by which buffers can be compressed.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l buffer_pattern -d 'Fill buffers with this pattern.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l buffered -d 'Use the page cache; the opposite of `direct`.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l bwavgtime -d 'Window of bandwidth samples and log entries, in milliseconds; by default `log_avg_msec` if it is logged.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l cgroup -d 'Put the workers into this control group of the `blkio` controller, created if it is missing.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l cgroup_nodelete -d 'Keep the control group after the job.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l cgroup_weight -d 'Weight of that control group for block I/O.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l clat_percentiles -d 'Report percentiles of completion latency.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l cmd_type -d 'Kind of passthrough command.' -r -f -a "nvme\t''
bsg\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l cmdprio -d 'I/O priority level of those operations; 0 is the highest.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l cmdprio_bssplit -d 'Percentages with a priority for each block size: `4k/50:64k/10/1/0`, with class and level.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l cmdprio_class -d 'I/O priority class of those operations; 1, real time, by default.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l cmdprio_hint -d 'I/O priority hint of those operations.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l cmdprio_percentage -d 'Percentage of operations with a priority, for reads and writes.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l continue_on_error -d 'Continue after errors of this kind, and count them.' -r -f -a "none\t''
read\t''
write\t''
io\t''
verify\t''
all\t''
0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l cpuchunks -d 'Length of each burst of work, in microseconds.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l cpuload -d 'Percentage of the time in which the processor is busy; more than 100 is 100.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l cpumask -d 'CPUs that the workers may run on, as a bit mask.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l cpumode -d 'Work for the processor: counting or sorting.' -r -f -a "noop\t''
qsort\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l cpus_allowed -d 'CPUs that the workers may run on, such as `0-3,5`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l cpus_allowed_policy -d 'Share the CPUs among all workers, or give each worker one.' -r -f -a "shared\t''
split\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l create_fsync -d 'Flush each file after it was created with data.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l create_on_open -d 'Create files when they are opened, not before the run.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l create_only -d 'Create the files, and run nothing.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l dataplacement -d 'Directives that tell the device where data belong.' -r -f -a "none\t''
fdp\t''
streams\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l deac -d 'Let Write Zeroes deallocate (DEAC).' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l dedupe_global -d 'Duplicate buffers across jobs too, from a working set.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l dedupe_mode -d 'Source of duplicate buffers: the buffer before, or a working set.' -r -f -a "repeat\t''
working_set\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l dedupe_percentage -d 'Percentage of buffers that duplicate others.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l dedupe_working_set_percentage -d 'Size of the working set of duplicates, as a percentage of the job\'s blocks.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l description -d 'Description of the job, repeated in the results.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l direct -d 'Bypass the page cache (O_DIRECT).' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l directory -d 'Directories for relative names, separated by `:`; clones use them in turn.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l disable_bw_measurement -d 'Do not sample bandwidth.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l disable_clat -d 'Do not measure completion latency.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l disable_lat -d 'Do not measure total latency.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l disable_slat -d 'Do not measure submission latency.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l disk_util -d 'Report the disk statistics of the kernel.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l do_verify -d 'Read back and check written blocks after the writes.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l donorname -d 'File with which the files exchange extents; its data are lost.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l dp_scheme -d 'File that maps offsets to placements: lines of start, end and index.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l end_fsync -d 'Call fsync once at the end of the job.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l end_syncfs -d 'Call syncfs once at the end of the job.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l error_dump -d 'Print ignored errors.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l exec_postrun -d 'Shell command after each worker; its output goes to NAME.postrun.txt.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l exec_prerun -d 'Shell command before each worker begins; its output goes to NAME.prerun.txt.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l exit_on_io_done -d 'End when all jobs of other engines have ended.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l exit_what -d 'Jobs that `exitall` ends: those of the reporting group, those that run, or all of the run.' -r -f -a "group\t''
stonewall\t''
all\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l exitall -d 'End all other jobs when this job ends.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l exitall_on_error -d 'End other jobs, as `exit_what` says, if this job fails.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l fadvise_hint -d 'Advise the kernel of the access pattern (posix_fadvise); 1 for that of the job.' -r -f -a "0\t''
1\t''
random\t''
sequential\t''
noreuse\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l fallocate -d 'Method of preallocating a file before it is laid out.' -r -f -a "none\t''
native\t''
posix\t''
keep\t''
truncate\t''
0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l fdatasync -d 'Number of writes between calls of fdatasync; 0 for none.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l fdp -d 'Tell the device where data belong, by Flexible Data Placement (io_uring_cmd).' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l file_append -d 'Start at the present end of each file.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l file_service_type -d 'Order in which files are used.' -r -f -a "random\t''
zipf\t''
pareto\t''
normal\t''
gauss\t''
roundrobin\t''
sequential\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l filename -d 'Files or devices, separated by `:` (a colon in a name is `\\:`).' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l filename_format -d 'Template of generated file names; $jobname, $jobnum and $filenum are replaced.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l filesize -d 'Size of each file, or a range `low-high`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l fill_device -d 'Write until the device or filesystem is full.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l fixedbufs -d 'Register buffers with the kernel before the run.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l flow -d 'Weight of the job within its flow; 0 for none.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l flow_id -d 'Flow that the job belongs to.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l flow_sleep -d 'Time to sleep when ahead of the flow, in microseconds.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l force_async -d 'Let the kernel execute one of this many operations asynchronously; 0 for none.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l fsync -d 'Number of writes between calls of fsync; 0 for none.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l fsync_on_close -d 'Call fsync when a file is closed.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l gid -d 'Run the workers as this group.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l grace_time -d 'Time between SIGTERM and SIGKILL at the end of the job, in seconds.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l group_reporting -d 'Merge the results of adjacent jobs of one group.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l gtod_reduce -d 'Read the clock less often; latencies are not measured.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l hipri -d 'Poll for completions instead of waiting for interrupts.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l hipri_percentage -d 'Percentage of operations to poll.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l hostname -d 'Host to connect to, multicast group to receive from, or path of a Unix socket.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l http_host -d 'Host of the object store, with a port if it is neither 80 nor 443 (`https`).' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l http_mode -d 'Protocol of the object store.' -r -f -a "webdav\t''
s3\t''
swift\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l http_object_mode -d 'An object for each block, or ranges of one object.' -r -f -a "block\t''
range\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l http_pass -d 'Password for the basic authentication of WebDAV.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l http_s3_key -d 'Secret key of S3.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l http_s3_keyid -d 'Access key ID of S3.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l http_s3_region -d 'Region of S3.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l http_s3_security_token -d 'Token of temporary credentials of S3.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l http_s3_sse_customer_algorithm -d 'Algorithm of that encryption.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l http_s3_sse_customer_key -d 'Key of 32 bytes with which S3 encrypts the objects (SSE-C).' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l http_s3_storage_class -d 'Storage class of objects that are written to S3.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l http_swift_auth_token -d 'Token of a session of Swift.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l http_user -d 'User name for the basic authentication of WebDAV.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l http_verbose -d 'Report each request and the status of its answer (1), and its size and duration (2).' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l https -d 'Encrypt the connection; `insecure` accepts any certificate.' -r -f -a "off\t''
on\t''
insecure\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l hugepage-size -d 'Size of the huge pages of `mem=mmaphuge` and `mem=shmhuge`, a power of two.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l ignore_error -d 'Errors to ignore, by name or number: lists separated by `:`, for reads, writes and verification.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l ignore_zone_limits -d 'Permit a `max_open_zones` above the device\'s limit.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l inplace -d 'Allocate and free the donor\'s space in each operation, not once before the run.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l interface -d 'IPv4 address of the local interface of multicasts.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l invalidate -d 'Drop the page cache of each file before the run.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l io_size -d 'Bytes to transfer, if different from `size`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l io_submit_mode -d 'Submit from the worker, or from a helper thread for each operation in flight.' -r -f -a "inline\t''
offload\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l iodepth -d 'Queue depth: the number of operations kept in flight.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l iodepth_batch -d 'Number of operations to submit at once, 0 for all available; chosen automatically by default.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l iodepth_batch_complete_max -d 'Maximum number of completions to collect at once; all by default.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l iodepth_batch_complete_min -d 'Minimum number of completions to collect at once; 0 to poll.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l iodepth_low -d 'Refill the queue only when this few operations are in flight.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l ioengine -d 'I/O engine.' -r -f -a "io_uring\t''
io_uring_cmd\t''
libaio\t''
psync\t''
sync\t''
vsync\t''
pvsync\t''
pvsync2\t''
posixaio\t''
mmap\t''
splice\t''
filecreate\t''
filestat\t''
filedelete\t''
dircreate\t''
dirstat\t''
dirdelete\t''
ftruncate\t''
falloc\t''
e4defrag\t''
sg\t''
nbd\t''
net\t''
netsplice\t''
http\t''
cpuio\t''
exec\t''
null\t''
model\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l iomem_align -d 'Alignment of buffers in bytes; never below 4096 in Fathom.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l iopsavgtime -d 'Window of IOPS samples and log entries, in milliseconds; by default `log_avg_msec` if they are logged.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l ioscheduler -d 'Switch the devices to this I/O scheduler before the job.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l job_max_open_zones -d 'How many zones a worker writes at once; 0 for no limit.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l job_start_clock_id -d 'Number of the clock of `job_start` in JSON; 0 for Unix time.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l kb_base -d 'Base of units in job files and in fio\'s normal output.' -r -f -a "1024\t''
1000\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l lat_percentiles -d 'Report percentiles of total latency.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l latency_percentile -d 'Percentage of operations that must meet the target.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l latency_run -d 'Continue to adjust the depth after it was found.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l latency_target -d 'Search the highest queue depth that keeps latency below this.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l latency_window -d 'Duration of each step of that search.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l libaio_vectored -d 'Use vectored reads and writes.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l listen -d 'Accept a connection of TCP or vsock instead of opening one.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l lockfile -d 'Let one worker at a time use a file, or several if all of them read.' -r -f -a "none\t''
exclusive\t''
readwrite\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l lockmem -d 'Memory that each worker locks while it runs, so that less is left for the page cache.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l log_alternate_epoch -d 'Write the time of a clock to log entries, instead of the time since the start. In virtual time both are equal.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l log_alternate_epoch_clock_id -d 'Number of that clock in `clock_gettime`; 0 for Unix time.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l log_avg_msec -d 'Interval over which log entries are averaged, in milliseconds; 0 logs each operation.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l log_compression_cpus -d 'CPUs of the threads that write and compress logs, such as `0-3,5`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l log_hist_coarseness -d 'Resolution of logged histograms: each step merges pairs of buckets.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l log_hist_msec -d 'Interval between logged histograms, in milliseconds; 0 logs none.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l log_issue_time -d 'Add the time of submission in nanoseconds to log entries; needs `write_lat_log` and `log_offset`.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l log_offset -d 'Add the offset to log entries.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l log_prio -d 'Write the I/O priority to log entries as class and level.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l log_store_compressed -d 'Write compressed logs (`.fz`); `--inflate-log=FILE` prints them.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l log_window_value -d 'Latencies to log for each window of `log_avg_msec`: mean, maximum or both.' -r -f -a "avg\t''
max\t''
both\t''
0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l loops -d 'Number of repetitions of the job.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l max_latency -d 'Fail if an operation takes longer than this; up to three values for reads, writes and trims.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l max_open_zones -d 'How many zones all jobs write at once; 0 for the device\'s limit.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l md_per_io_size -d 'Size of the separate metadata buffer per operation, in bytes.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l mem -d 'Type of memory for buffers.' -r -f -a "malloc\t''
shm\t''
shmhuge\t''
mmap\t''
mmapshared\t''
mmaphuge\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l merge_blktrace_file -d 'Merge the traces of `read_iolog`, separated by `:`, into this binary file of blktrace, and replay that.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l merge_blktrace_iters -d 'How often the merged traces are repeated, one whole number for each, separated by `:`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l merge_blktrace_scalars -d 'Percentages by which the times of the merged traces are multiplied, one for each, separated by `:`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l mss -d 'Maximum segment size of TCP in bytes; 0 for the default.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l name -d 'Name of the job; on the command line, it starts a new job.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l new_group -d 'Start a new reporting group without waiting.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l nice -d 'CPU priority (nice value) of the workers.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l nodelay -d 'Send small packets at once (TCP_NODELAY).' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l nonvectored -d 'Use plain reads and writes instead of vectored ones; 0 for vectored ones.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l norandommap -d 'Permit a block to be accessed again before all blocks were accessed once.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l nowait -d 'Fail operations that would block, with EAGAIN (RWF_NOWAIT).' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l nrfiles -d 'Number of files of each worker; `size` is divided among them.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l num_range -d 'Number of ranges per trim command (io_uring_cmd).' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l numa_cpu_nodes -d 'NUMA nodes whose CPUs run the workers, such as `0-1` or `all`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l numa_mem_policy -d 'Policy of the workers\' memory: `default`, `local`, `prefer:NODE`, `bind:NODES` or `interleave:NODES`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l number_ios -d 'Maximum number of operations.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l numjobs -d 'Number of workers that run this job independently.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l offset -d 'Start offset within the files.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l offset_align -d 'Round start offsets given in per cent up to a multiple of this; 0 for the smallest block.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l offset_increment -d 'Added to the start offset for each clone.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l opendir -d 'Use all regular files below this directory.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l openfiles -d 'Maximum number of files open at the same time; all by default.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l overwrite -d 'Write each file in full before the run, so that writes never extend it.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l per_job_logs -d 'Write a log file for each worker; otherwise workers append to a common one.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l percentage_random -d 'Percentage of random offsets in a random pattern.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l percentile_list -d 'Percentiles to report, at most 20.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l pi_act -d 'Let the device insert and strip protection information (PRACT).' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l pi_chk -d 'Fields of protection information to check: one or more of GUARD, REFTAG and APPTAG.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l pingpong -d 'Send each block back, in both jobs.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l plid_select -d 'Order in which placements are used.' -r -f -a "random\t''
roundrobin\t''
scheme\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l plids -d 'Placements to use: indexes of placement identifiers (fdp) or stream identifiers, as in `0,2-4`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l port -d 'Port to connect to or listen on; each clone adds its number.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l pre_read -d 'Read the files into the page cache before the run.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l prio -d 'I/O priority within its class, 0 the highest.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l prioclass -d 'I/O priority class: 1 real time, 2 best effort, 3 idle.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l priohint -d 'I/O priority hint.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l program -d 'Program to run, until it ends or the job does.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l protocol -d 'Protocol of the connection.' -r -f -a "tcp\t''
tcpv6\t''
udp\t''
udpv6\t''
unix\t''
vsock\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l ramp_size -d 'Bytes to transfer before results count, by all workers of a group together with `group_reporting`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l ramp_time -d 'Warm-up time before results count; `runtime` starts after it.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l random_distribution -d 'Distribution of random offsets; up to three values separated by commas for reads, writes and trims.' -r -f -a "random\t''
zipf\t''
pareto\t''
normal\t''
zoned\t''
zoned_abs\t''
sequence\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l random_generator -d 'Generator of random offsets; `lfsr` avoids repeats without a map.' -r -f -a "tausworthe\t''
lfsr\t''
tausworthe64\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l random_sequence_stride -d 'Advance the `sequence` distribution by its length each time.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l randrepeat -d 'Use the same random sequence in every run.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l randseed -d 'Seed for all random choices of the job; overrides `randrepeat`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l rank_hosts -d 'Hosts, real or simulated, whose ranks run the job, in a run on many hosts, such as `db*,web1`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l ranks -d 'Ranks of a run on many hosts, or simulated hosts, that run the job, such as `0-3,5`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l rate -d 'Rate limit of each worker in bytes per second; up to three values for reads, writes and trims.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l rate_cycle -d 'Averaging window of the minimum rates, in milliseconds.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l rate_ignore_thinktime -d 'Do not catch up with the rate after idle time.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l rate_iops -d 'Rate limit of each worker in operations per second; up to three values for reads, writes and trims.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l rate_iops_min -d 'Fail below this many operations per second; up to three values for reads, writes and trims.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l rate_min -d 'Fail below this many bytes per second; up to three values for reads, writes and trims.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l rate_process -d 'Arrival process under a rate.' -r -f -a "linear\t''
poisson\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l read_beyond_wp -d 'Permit reads behind a zone\'s write pointer.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l read_iolog -d 'Replay the requests of this trace, in any format that `fathom trace` reads.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l read_mode -d 'Command for reads.' -r -f -a "read\t''
prefetch\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l readfua -d 'Set FUA for reads: they come from the medium.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l recover_zbd_write_error -d 'Continue at the device\'s write pointer after a failed write.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l refill_buffers -d 'Fill the buffer with new random data before every write.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l registerfiles -d 'Register files with the kernel before the run.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l replay -d 'Replay the requests of this trace; the same as `read_iolog`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l replay_align -d 'Align the offsets of the trace to this power of two, in bytes.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l replay_fit -d 'Placement of offsets on a smaller target: regions merge, or continue at its start, or turn back.' -r -f -a "scale\t''
wrap\t''
fold\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l replay_for -d 'Length of the replayed part; 0 for the rest of the trace.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l replay_loop -d 'Issue requests at their instants, or after the completion that their process waited for.' -r -f -a "open\t''
closed\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l replay_no_stall -d 'Ignore the instants of the trace.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l replay_redirect -d 'Replay the trace on this file or device.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l replay_scale -d 'Divide the offsets of the trace by this number.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l replay_skip -d 'Kinds of request to leave out, separated by `,`: read, write, trim, sync.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l replay_speed -d 'Replay speed: a factor such as `2x` or `0.5`, or `max` to ignore the instants of the trace.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l replay_start -d 'Start of the replayed part.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l replay_time_scale -d 'Replay speed as a percentage.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l runtime -d 'Maximum duration.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l rw -d 'I/O pattern: reads, writes or trims, sequential or random.' -r -f -a "read\t''
write\t''
trim\t''
randread\t''
randwrite\t''
randtrim\t''
rw\t''
readwrite\t''
randrw\t''
trimwrite\t''
randtrimwrite\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l rw_sequencer -d 'Operations between two random offsets of `rw=rand…:N`: following each other, or at the same offset.' -r -f -a "sequential\t''
identical\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l rwmixread -d 'Percentage of reads in a mix.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l rwmixwrite -d 'Percentage of writes in a mix; the later of the two options applies.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l scramble_buffers -d 'Modify each buffer slightly before every write.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l serialize_overlap -d 'Delay operations that overlap one in flight.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l sg_write_mode -d 'SCSI command for writes.' -r -f -a "write\t''
write_and_verify\t''
verify\t''
write_same\t''
same\t''
write_same_ndob\t''
verify_bytchk_00\t''
verify_bytchk_01\t''
verify_bytchk_11\t''
write_stream\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l significant_figures -d 'Significant figures in fio\'s normal output.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l size -d 'Bytes of its files that the job covers, or a percentage of existing files.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l slat_percentiles -d 'Report percentiles of submission latency.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l spr_cs -d 'Cache size of the device in bytes: `sprandom` repeats writes after those of the next region, not before.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l spr_num_regions -d 'Number of regions into which `sprandom` divides its pass.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l spr_op -d 'Overprovisioning of the device for `sprandom`, as a fraction of its size.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l sprandom -d 'Precondition a flash device in one pass: write each block once, and more of the older ones again.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l sqthread_poll -d 'Submit operations by a kernel polling thread (SQPOLL).' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l sqthread_poll_cpu -d 'CPU of the SQPOLL thread.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l startdelay -d 'Delay before the job starts; a range `low-high` draws a random delay.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l stat_type -d 'System call to measure.' -r -f -a "stat\t''
lstat\t''
statx\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l stats -d 'Keep statistics.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l std_redirect -d 'Write the output of the program to NAME.stdout and NAME.stderr.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l steadystate -d 'End when the deviation or slope of IOPS, bandwidth or latency is below a limit: `iops:5%`, `bw_slope:0.3%`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l steadystate_check_interval -d 'Interval between samples.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l steadystate_duration -d 'Duration for which it must be steady; 0 for no steady state.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l steadystate_ramp_time -d 'Time to wait before the first sample.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l stonewall -d 'Start after all preceding jobs have finished.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l stream_id -d 'Stream of SCSI stream writes; 0 opens one for the run.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l sync -d 'Open files with O_SYNC or O_DSYNC.' -r -f -a "none\t''
0\t''
sync\t''
1\t''
dsync\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l sync_file_range -d 'Phases of sync_file_range, separated by commas, and after `:` the number of writes between two calls.' -r -f -a "wait_before\t''
write\t''
wait_after\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l thinkcycles -d 'Processor cycles to spend after each operation, before the idle time.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l thinktime -d 'Idle time after each `thinktime_blocks` operations.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l thinktime_blocks -d 'Number of operations between idle times.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l thinktime_blocks_type -d 'Count operations on completion or on issue.' -r -f -a "complete\t''
issue\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l thinktime_iotime -d 'Idle after each interval of this length instead.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l thinktime_spin -d 'Part of the idle time to spend spinning.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l thp -d 'Use transparent huge pages for the mapping (MADV_HUGEPAGE).' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l thread -d 'Use threads instead of processes; Fathom always does.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l time_based -d 'Repeat the workload until `runtime` has passed.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l trim_backlog -d 'Number of written blocks after which `trim_percentage` of them are trimmed; 0 for no trims.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l trim_percentage -d 'Percentage of written blocks to trim before they are verified.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l trim_verify_zero -d 'Verify that trimmed blocks read as zeroes, instead of not reading them.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l ttl -d 'Time to live of multicasts.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l uid -d 'Run the workers as this user.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l uncached -d 'Do not keep data in the page cache (RWF_DONTCACHE, Linux 6.14).' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l unified_rw_reporting -d 'Report reads, writes and trims as one in fio\'s outputs.' -r -f -a "none\t''
mixed\t''
both\t''
0\t''
1\t''
2\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l unit_base -d 'Unit of rates: bytes (8), bits (1) or automatic (0).' -r -f -a "0\t''
8\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l unlink -d 'Remove the files after the job.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l unlink_each_loop -d 'Remove the files after each loop but the last; the next one begins with none.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l uri -d 'URI of the export: nbd://HOST[:PORT]/EXPORT or nbd+unix:///EXPORT?socket=PATH; `size` defaults to its size.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l verify -d 'Method of verification: the checksum or content of written blocks.' -r -f -a "0\t''
md5\t''
crc64\t''
crc32\t''
crc32c-intel\t''
crc32c\t''
crc16\t''
crc7\t''
sha1\t''
sha256\t''
sha512\t''
sha3-224\t''
sha3-256\t''
sha3-384\t''
sha3-512\t''
xxhash\t''
meta\t''
pattern\t''
pattern_hdr\t''
null\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l verify_backlog -d 'Number of written blocks after which they are verified, instead of at the end.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l verify_dump -d 'Write the expected and the received block to files on a mismatch.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l verify_fatal -d 'Stop at the first mismatch.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l verify_format -d 'Layout of block headers: Fathom\'s, or that of fio 3.33 to exchange data with it.' -r -f -a "fathom\t''
fio\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l verify_header_seed -d 'Check the seed in the header of each block.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l verify_interval -d 'Distance in bytes between block headers.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l verify_mode -d 'Command for verification: Read, or Compare with `verify=pattern`.' -r -f -a "read\t''
compare\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l verify_nonce -d 'Number in block headers that identifies the run, drawn by default; 0 for the same bytes in all runs.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l verify_offset -d 'Offset of the header within a block.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l verify_only -d 'Verify the data of an earlier run of the job, without writing.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l verify_pattern -d 'Pattern to write and to expect; `%o` stands for the offset.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l verify_pattern_interval -d 'Restart the pattern after this many bytes, 0 for never.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l verify_policy -d 'Writes that `verify_state_load` checks: all completed ones, or those before the last sync.' -r -f -a "completed\t''
fsynced\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l verify_state_load -d 'Verify only what an earlier run had written, by its saved state.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l verify_state_save -d 'Save the state of the writes; in `fathom run` only if given.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l verify_write_sequence -d 'Check which write each block is of.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l wait_for -d 'Start after all workers of the preceding job of this name have finished.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l window_size -d 'Size of the socket buffer in bytes, of the end that connects or listens; 0 for the default.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l write_bw_log -d 'Write bandwidth logs with this prefix.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l write_hint -d 'Expected lifetime of the data (F_SET_RW_HINT).' -r -f -a "none\t''
short\t''
medium\t''
long\t''
extreme\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l write_hist_log -d 'Write logs of completion latency histograms with this prefix; `log_hist_msec` sets their interval.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l write_iolog -d 'Write a log of all operations to this file, which `read_iolog` replays.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l write_iops_log -d 'Write IOPS logs with this prefix.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l write_lat_log -d 'Write latency logs with this prefix.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l write_mode -d 'Commands for writes (write, uncor, zeroes, verify), with percentages: `write/60:zeroes/40`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l write_zone_remainder -d 'Write the short ends of zones instead of finishing the zones.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l writefua -d 'Set FUA for writes: they are on the medium when they complete.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l zero_buffers -d 'Write zeroes.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l zone_reset_frequency -d 'Zone resets per write above `zone_reset_threshold`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l zone_reset_threshold -d 'Fraction of the region\'s bytes that are written, from which on zones are reset.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l zonecapacity -d 'Bytes of each zone that can be written, where the device has no zones.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l zonemode -d 'How the file is divided into zones: not, at regular distances, or as a zoned device is.' -r -f -a "none\t''
strided\t''
zbd\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l zonerange -d 'Length of a zone; `zonesize` by default.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l zonesize -d 'Bytes to transfer in each zone before the next one.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l zoneskip -d 'Bytes from the end of a zone to the next one.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l on -d 'Use this modelled volume instead of the jobs\' files' -r -f -a "gcp/pd-standard\t''
gcp/pd-standard-regional\t''
gcp/pd-balanced\t''
gcp/pd-balanced-regional\t''
gcp/pd-ssd\t''
gcp/pd-ssd-regional\t''
gcp/pd-extreme\t''
gcp/hyperdisk-balanced\t''
gcp/hyperdisk-balanced-high-availability\t''
gcp/hyperdisk-balanced-high-availability@2026-03\t''
gcp/hyperdisk-extreme\t''
gcp/hyperdisk-ml\t''
gcp/hyperdisk-ml@2026-03\t''
gcp/hyperdisk-throughput\t''
gcp/local-ssd-nvme\t''
gcp/titanium-ssd-c4n\t''
gcp/titanium-ssd-z3\t''
gcp/pd-standard@2019\t''
gcp/pd-standard-regional@2019\t''
gcp/pd-ssd@2019\t''
gcp/pd-ssd-regional@2019\t''
gcp/local-ssd-scsi@2019\t''
gcp/local-ssd-nvme@2019\t''
aws/gp3\t''
aws/gp3@2023\t''
aws/gp2\t''
aws/io1\t''
aws/io2\t''
aws/io2@2023\t''
aws/st1\t''
aws/sc1\t''
aws/standard\t''
azure/premium-ssd\t''
azure/premium-ssd-v2\t''
azure/ultra\t''
azure/standard-ssd\t''
azure/standard-hdd\t''
vultr/hdd-block\t''
vultr/nvme-block\t''
digitalocean/volume\t''
digitalocean/volume@2018\t''
oci/block-volume\t''
akamai/nvme-block\t''
hetzner/volume\t''
nutanix/ahv-4node\t''
hdd/7200rpm\t''
custom\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l volume -d 'Modelled volume to use instead of files; `fathom catalog` lists all volumes.' -r -f -a "gcp/pd-standard\t''
gcp/pd-standard-regional\t''
gcp/pd-balanced\t''
gcp/pd-balanced-regional\t''
gcp/pd-ssd\t''
gcp/pd-ssd-regional\t''
gcp/pd-extreme\t''
gcp/hyperdisk-balanced\t''
gcp/hyperdisk-balanced-high-availability\t''
gcp/hyperdisk-balanced-high-availability@2026-03\t''
gcp/hyperdisk-extreme\t''
gcp/hyperdisk-ml\t''
gcp/hyperdisk-ml@2026-03\t''
gcp/hyperdisk-throughput\t''
gcp/local-ssd-nvme\t''
gcp/titanium-ssd-c4n\t''
gcp/titanium-ssd-z3\t''
gcp/pd-standard@2019\t''
gcp/pd-standard-regional@2019\t''
gcp/pd-ssd@2019\t''
gcp/pd-ssd-regional@2019\t''
gcp/local-ssd-scsi@2019\t''
gcp/local-ssd-nvme@2019\t''
aws/gp3\t''
aws/gp3@2023\t''
aws/gp2\t''
aws/io1\t''
aws/io2\t''
aws/io2@2023\t''
aws/st1\t''
aws/sc1\t''
aws/standard\t''
azure/premium-ssd\t''
azure/premium-ssd-v2\t''
azure/ultra\t''
azure/standard-ssd\t''
azure/standard-hdd\t''
vultr/hdd-block\t''
vultr/nvme-block\t''
digitalocean/volume\t''
digitalocean/volume@2018\t''
oci/block-volume\t''
akamai/nvme-block\t''
hetzner/volume\t''
nutanix/ahv-4node\t''
hdd/7200rpm\t''
custom\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l live -d 'Show live graphs instead of progress (press ? for keys)'
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l insecure -d 'Permit a --metrics address that other hosts can reach'
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l probe -d 'Find out whether the queue depth or the device is the limit: run for 1 s at twice the depth'
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l show-jobs -d 'Print the resolved jobs, and do nothing'
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l dry-run -d 'Print what would be touched, how much and for how long, and do nothing'
complete -c fathom -n "__fish_fathom_using_subcommand sim" -l no-record -d 'Do not save this run'
complete -c fathom -n "__fish_fathom_using_subcommand sim" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l depth-max -d 'Highest queue depth [default: 1024, in virtual time 4096]' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l precision -d 'Target precision of the knee (half-width of its interval)' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l time-limit -d 'Time limit of all probes of one search [default: 60s; none in virtual time]' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l vary -d 'Search once for each value of a job option or a key of the volume: KEY=V,V,V or A..B (repeatable)' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l shard -d 'Search for each Nth value only, from the Kth on: K/N, or auto in a job array; `fathom report` merges the shards' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l format -d 'Format of standard output' -r -f -a "text\t'Text'
json\t'JSON'"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -s o -l output -d 'Write additional output to FILE: .json .html .svg .csv .txt (repeatable)' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l metrics -d 'Serve live metrics (OpenMetrics over HTTP); addresses of other hosts need --insecure' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l allow-destroy -d 'Permit writes to this device, file or export URI even if it holds data or is in use (repeatable)' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l allow-overwrite -d 'Permit writes to this existing file that Fathom did not create (repeatable)' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l seed -d 'Seed for all random choices' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l progress -d 'Show progress on standard error' -r -f -a "auto\t'A progress line on a terminal, a line every 10 s elsewhere'
plain\t'A line every 10 s'
off\t'None'"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l grace -d 'Wait this long for operations in flight after the runtime or a signal' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l section -d 'Use this section of a job file' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l allow_file_create -d 'Permit the creation of files that do not exist.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l allow_mounted_write -d 'Permit writes to a mounted device.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l apptag -d 'Application tag of protection information.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l apptag_mask -d 'Bits of the application tag to check.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l arguments -d 'Arguments of the program, separated by blanks; %r is the runtime in seconds, %n the name of the job.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l atomic -d 'Issue atomic writes (RWF_ATOMIC, Linux 6.11) with io_uring, libaio and pvsync2; implies `direct`.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l ba -d 'Alignment of offsets, by default the smallest block size.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l block_error_percentiles -d 'Report how often each block was trimmed before a trim or write of it failed.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l bs -d 'Block size; up to three values separated by commas for reads, writes and trims.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l bs_is_seq_rand -d 'Interpret the two block sizes as sequential and random instead of read and write.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l bs_unaligned -d 'Permit block sizes of any number of bytes within the range.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l bsrange -d 'Range of block sizes, in multiples of the lower bound.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l bssplit -d 'Block sizes with a percentage each: `4k/60:64k/40`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l buffer_compress_chunk -d 'Size of each compressible chunk of a buffer; 0 for the whole buffer.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l buffer_compress_percentage -d 'Percentage by which buffers can be compressed.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l buffer_pattern -d 'Fill buffers with this pattern.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l buffered -d 'Use the page cache; the opposite of `direct`.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l bwavgtime -d 'Window of bandwidth samples and log entries, in milliseconds; by default `log_avg_msec` if it is logged.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l cgroup -d 'Put the workers into this control group of the `blkio` controller, created if it is missing.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l cgroup_nodelete -d 'Keep the control group after the job.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l cgroup_weight -d 'Weight of that control group for block I/O.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l clat_percentiles -d 'Report percentiles of completion latency.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l cmd_type -d 'Kind of passthrough command.' -r -f -a "nvme\t''
bsg\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l cmdprio -d 'I/O priority level of those operations; 0 is the highest.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l cmdprio_bssplit -d 'Percentages with a priority for each block size: `4k/50:64k/10/1/0`, with class and level.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l cmdprio_class -d 'I/O priority class of those operations; 1, real time, by default.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l cmdprio_hint -d 'I/O priority hint of those operations.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l cmdprio_percentage -d 'Percentage of operations with a priority, for reads and writes.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l continue_on_error -d 'Continue after errors of this kind, and count them.' -r -f -a "none\t''
read\t''
write\t''
io\t''
verify\t''
all\t''
0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l cpuchunks -d 'Length of each burst of work, in microseconds.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l cpuload -d 'Percentage of the time in which the processor is busy; more than 100 is 100.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l cpumask -d 'CPUs that the workers may run on, as a bit mask.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l cpumode -d 'Work for the processor: counting or sorting.' -r -f -a "noop\t''
qsort\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l cpus_allowed -d 'CPUs that the workers may run on, such as `0-3,5`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l cpus_allowed_policy -d 'Share the CPUs among all workers, or give each worker one.' -r -f -a "shared\t''
split\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l create_fsync -d 'Flush each file after it was created with data.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l create_on_open -d 'Create files when they are opened, not before the run.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l create_only -d 'Create the files, and run nothing.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l dataplacement -d 'Directives that tell the device where data belong.' -r -f -a "none\t''
fdp\t''
streams\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l deac -d 'Let Write Zeroes deallocate (DEAC).' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l dedupe_global -d 'Duplicate buffers across jobs too, from a working set.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l dedupe_mode -d 'Source of duplicate buffers: the buffer before, or a working set.' -r -f -a "repeat\t''
working_set\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l dedupe_percentage -d 'Percentage of buffers that duplicate others.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l dedupe_working_set_percentage -d 'Size of the working set of duplicates, as a percentage of the job\'s blocks.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l description -d 'Description of the job, repeated in the results.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l direct -d 'Bypass the page cache (O_DIRECT).' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l directory -d 'Directories for relative names, separated by `:`; clones use them in turn.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l disable_bw_measurement -d 'Do not sample bandwidth.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l disable_clat -d 'Do not measure completion latency.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l disable_lat -d 'Do not measure total latency.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l disable_slat -d 'Do not measure submission latency.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l disk_util -d 'Report the disk statistics of the kernel.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l do_verify -d 'Read back and check written blocks after the writes.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l donorname -d 'File with which the files exchange extents; its data are lost.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l dp_scheme -d 'File that maps offsets to placements: lines of start, end and index.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l end_fsync -d 'Call fsync once at the end of the job.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l end_syncfs -d 'Call syncfs once at the end of the job.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l error_dump -d 'Print ignored errors.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l exec_postrun -d 'Shell command after each worker; its output goes to NAME.postrun.txt.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l exec_prerun -d 'Shell command before each worker begins; its output goes to NAME.prerun.txt.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l exit_on_io_done -d 'End when all jobs of other engines have ended.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l exit_what -d 'Jobs that `exitall` ends: those of the reporting group, those that run, or all of the run.' -r -f -a "group\t''
stonewall\t''
all\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l exitall -d 'End all other jobs when this job ends.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l exitall_on_error -d 'End other jobs, as `exit_what` says, if this job fails.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l fadvise_hint -d 'Advise the kernel of the access pattern (posix_fadvise); 1 for that of the job.' -r -f -a "0\t''
1\t''
random\t''
sequential\t''
noreuse\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l fallocate -d 'Method of preallocating a file before it is laid out.' -r -f -a "none\t''
native\t''
posix\t''
keep\t''
truncate\t''
0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l fdatasync -d 'Number of writes between calls of fdatasync; 0 for none.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l fdp -d 'Tell the device where data belong, by Flexible Data Placement (io_uring_cmd).' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l file_append -d 'Start at the present end of each file.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l file_service_type -d 'Order in which files are used.' -r -f -a "random\t''
zipf\t''
pareto\t''
normal\t''
gauss\t''
roundrobin\t''
sequential\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l filename -d 'Files or devices, separated by `:` (a colon in a name is `\\:`).' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l filename_format -d 'Template of generated file names; $jobname, $jobnum and $filenum are replaced.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l filesize -d 'Size of each file, or a range `low-high`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l fill_device -d 'Write until the device or filesystem is full.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l fixedbufs -d 'Register buffers with the kernel before the run.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l flow -d 'Weight of the job within its flow; 0 for none.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l flow_id -d 'Flow that the job belongs to.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l flow_sleep -d 'Time to sleep when ahead of the flow, in microseconds.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l force_async -d 'Let the kernel execute one of this many operations asynchronously; 0 for none.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l fsync -d 'Number of writes between calls of fsync; 0 for none.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l fsync_on_close -d 'Call fsync when a file is closed.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l gid -d 'Run the workers as this group.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l grace_time -d 'Time between SIGTERM and SIGKILL at the end of the job, in seconds.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l group_reporting -d 'Merge the results of adjacent jobs of one group.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l gtod_reduce -d 'Read the clock less often; latencies are not measured.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l hipri -d 'Poll for completions instead of waiting for interrupts.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l hipri_percentage -d 'Percentage of operations to poll.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l hostname -d 'Host to connect to, multicast group to receive from, or path of a Unix socket.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l http_host -d 'Host of the object store, with a port if it is neither 80 nor 443 (`https`).' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l http_mode -d 'Protocol of the object store.' -r -f -a "webdav\t''
s3\t''
swift\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l http_object_mode -d 'An object for each block, or ranges of one object.' -r -f -a "block\t''
range\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l http_pass -d 'Password for the basic authentication of WebDAV.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l http_s3_key -d 'Secret key of S3.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l http_s3_keyid -d 'Access key ID of S3.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l http_s3_region -d 'Region of S3.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l http_s3_security_token -d 'Token of temporary credentials of S3.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l http_s3_sse_customer_algorithm -d 'Algorithm of that encryption.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l http_s3_sse_customer_key -d 'Key of 32 bytes with which S3 encrypts the objects (SSE-C).' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l http_s3_storage_class -d 'Storage class of objects that are written to S3.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l http_swift_auth_token -d 'Token of a session of Swift.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l http_user -d 'User name for the basic authentication of WebDAV.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l http_verbose -d 'Report each request and the status of its answer (1), and its size and duration (2).' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l https -d 'Encrypt the connection; `insecure` accepts any certificate.' -r -f -a "off\t''
on\t''
insecure\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l hugepage-size -d 'Size of the huge pages of `mem=mmaphuge` and `mem=shmhuge`, a power of two.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l ignore_error -d 'Errors to ignore, by name or number: lists separated by `:`, for reads, writes and verification.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l ignore_zone_limits -d 'Permit a `max_open_zones` above the device\'s limit.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l inplace -d 'Allocate and free the donor\'s space in each operation, not once before the run.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l interface -d 'IPv4 address of the local interface of multicasts.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l invalidate -d 'Drop the page cache of each file before the run.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l io_size -d 'Bytes to transfer, if different from `size`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l io_submit_mode -d 'Submit from the worker, or from a helper thread for each operation in flight.' -r -f -a "inline\t''
offload\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l iodepth -d 'Queue depth: the number of operations kept in flight.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l iodepth_batch -d 'Number of operations to submit at once, 0 for all available; chosen automatically by default.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l iodepth_batch_complete_max -d 'Maximum number of completions to collect at once; all by default.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l iodepth_batch_complete_min -d 'Minimum number of completions to collect at once; 0 to poll.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l iodepth_low -d 'Refill the queue only when this few operations are in flight.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l ioengine -d 'I/O engine.' -r -f -a "io_uring\t''
io_uring_cmd\t''
libaio\t''
psync\t''
sync\t''
vsync\t''
pvsync\t''
pvsync2\t''
posixaio\t''
mmap\t''
splice\t''
filecreate\t''
filestat\t''
filedelete\t''
dircreate\t''
dirstat\t''
dirdelete\t''
ftruncate\t''
falloc\t''
e4defrag\t''
sg\t''
nbd\t''
net\t''
netsplice\t''
http\t''
cpuio\t''
exec\t''
null\t''
model\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l iomem_align -d 'Alignment of buffers in bytes; never below 4096 in Fathom.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l iopsavgtime -d 'Window of IOPS samples and log entries, in milliseconds; by default `log_avg_msec` if they are logged.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l ioscheduler -d 'Switch the devices to this I/O scheduler before the job.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l job_max_open_zones -d 'How many zones a worker writes at once; 0 for no limit.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l job_start_clock_id -d 'Number of the clock of `job_start` in JSON; 0 for Unix time.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l kb_base -d 'Base of units in job files and in fio\'s normal output.' -r -f -a "1024\t''
1000\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l lat_percentiles -d 'Report percentiles of total latency.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l latency_percentile -d 'Percentage of operations that must meet the target.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l latency_run -d 'Continue to adjust the depth after it was found.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l latency_target -d 'Search the highest queue depth that keeps latency below this.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l latency_window -d 'Duration of each step of that search.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l libaio_vectored -d 'Use vectored reads and writes.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l listen -d 'Accept a connection of TCP or vsock instead of opening one.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l lockfile -d 'Let one worker at a time use a file, or several if all of them read.' -r -f -a "none\t''
exclusive\t''
readwrite\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l lockmem -d 'Memory that each worker locks while it runs, so that less is left for the page cache.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l log_alternate_epoch -d 'Write the time of a clock to log entries, instead of the time since the start. In virtual time both are equal.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l log_alternate_epoch_clock_id -d 'Number of that clock in `clock_gettime`; 0 for Unix time.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l log_avg_msec -d 'Interval over which log entries are averaged, in milliseconds; 0 logs each operation.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l log_compression_cpus -d 'CPUs of the threads that write and compress logs, such as `0-3,5`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l log_hist_coarseness -d 'Resolution of logged histograms: each step merges pairs of buckets.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l log_hist_msec -d 'Interval between logged histograms, in milliseconds; 0 logs none.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l log_issue_time -d 'Add the time of submission in nanoseconds to log entries; needs `write_lat_log` and `log_offset`.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l log_offset -d 'Add the offset to log entries.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l log_prio -d 'Write the I/O priority to log entries as class and level.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l log_store_compressed -d 'Write compressed logs (`.fz`); `--inflate-log=FILE` prints them.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l log_window_value -d 'Latencies to log for each window of `log_avg_msec`: mean, maximum or both.' -r -f -a "avg\t''
max\t''
both\t''
0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l loops -d 'Number of repetitions of the job.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l max_latency -d 'Fail if an operation takes longer than this; up to three values for reads, writes and trims.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l max_open_zones -d 'How many zones all jobs write at once; 0 for the device\'s limit.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l md_per_io_size -d 'Size of the separate metadata buffer per operation, in bytes.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l mem -d 'Type of memory for buffers.' -r -f -a "malloc\t''
shm\t''
shmhuge\t''
mmap\t''
mmapshared\t''
mmaphuge\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l merge_blktrace_file -d 'Merge the traces of `read_iolog`, separated by `:`, into this binary file of blktrace, and replay that.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l merge_blktrace_iters -d 'How often the merged traces are repeated, one whole number for each, separated by `:`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l merge_blktrace_scalars -d 'Percentages by which the times of the merged traces are multiplied, one for each, separated by `:`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l mss -d 'Maximum segment size of TCP in bytes; 0 for the default.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l name -d 'Name of the job; on the command line, it starts a new job.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l new_group -d 'Start a new reporting group without waiting.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l nice -d 'CPU priority (nice value) of the workers.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l nodelay -d 'Send small packets at once (TCP_NODELAY).' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l nonvectored -d 'Use plain reads and writes instead of vectored ones; 0 for vectored ones.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l norandommap -d 'Permit a block to be accessed again before all blocks were accessed once.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l nowait -d 'Fail operations that would block, with EAGAIN (RWF_NOWAIT).' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l nrfiles -d 'Number of files of each worker; `size` is divided among them.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l num_range -d 'Number of ranges per trim command (io_uring_cmd).' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l numa_cpu_nodes -d 'NUMA nodes whose CPUs run the workers, such as `0-1` or `all`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l numa_mem_policy -d 'Policy of the workers\' memory: `default`, `local`, `prefer:NODE`, `bind:NODES` or `interleave:NODES`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l number_ios -d 'Maximum number of operations.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l numjobs -d 'Number of workers that run this job independently.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l offset -d 'Start offset within the files.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l offset_align -d 'Round start offsets given in per cent up to a multiple of this; 0 for the smallest block.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l offset_increment -d 'Added to the start offset for each clone.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l opendir -d 'Use all regular files below this directory.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l openfiles -d 'Maximum number of files open at the same time; all by default.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l overwrite -d 'Write each file in full before the run, so that writes never extend it.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l per_job_logs -d 'Write a log file for each worker; otherwise workers append to a common one.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l percentage_random -d 'Percentage of random offsets in a random pattern.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l percentile_list -d 'Percentiles to report, at most 20.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l pi_act -d 'Let the device insert and strip protection information (PRACT).' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l pi_chk -d 'Fields of protection information to check: one or more of GUARD, REFTAG and APPTAG.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l pingpong -d 'Send each block back, in both jobs.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l plid_select -d 'Order in which placements are used.' -r -f -a "random\t''
roundrobin\t''
scheme\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l plids -d 'Placements to use: indexes of placement identifiers (fdp) or stream identifiers, as in `0,2-4`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l port -d 'Port to connect to or listen on; each clone adds its number.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l pre_read -d 'Read the files into the page cache before the run.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l prio -d 'I/O priority within its class, 0 the highest.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l prioclass -d 'I/O priority class: 1 real time, 2 best effort, 3 idle.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l priohint -d 'I/O priority hint.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l program -d 'Program to run, until it ends or the job does.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l protocol -d 'Protocol of the connection.' -r -f -a "tcp\t''
tcpv6\t''
udp\t''
udpv6\t''
unix\t''
vsock\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l ramp_size -d 'Bytes to transfer before results count, by all workers of a group together with `group_reporting`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l ramp_time -d 'Warm-up time before results count; `runtime` starts after it.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l random_distribution -d 'Distribution of random offsets; up to three values separated by commas for reads, writes and trims.' -r -f -a "random\t''
zipf\t''
pareto\t''
normal\t''
zoned\t''
zoned_abs\t''
sequence\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l random_generator -d 'Generator of random offsets; `lfsr` avoids repeats without a map.' -r -f -a "tausworthe\t''
lfsr\t''
tausworthe64\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l random_sequence_stride -d 'Advance the `sequence` distribution by its length each time.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l randrepeat -d 'Use the same random sequence in every run.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l randseed -d 'Seed for all random choices of the job; overrides `randrepeat`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l rank_hosts -d 'Hosts, real or simulated, whose ranks run the job, in a run on many hosts, such as `db*,web1`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l ranks -d 'Ranks of a run on many hosts, or simulated hosts, that run the job, such as `0-3,5`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l rate -d 'Rate limit of each worker in bytes per second; up to three values for reads, writes and trims.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l rate_cycle -d 'Averaging window of the minimum rates, in milliseconds.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l rate_ignore_thinktime -d 'Do not catch up with the rate after idle time.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l rate_iops -d 'Rate limit of each worker in operations per second; up to three values for reads, writes and trims.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l rate_iops_min -d 'Fail below this many operations per second; up to three values for reads, writes and trims.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l rate_min -d 'Fail below this many bytes per second; up to three values for reads, writes and trims.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l rate_process -d 'Arrival process under a rate.' -r -f -a "linear\t''
poisson\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l read_beyond_wp -d 'Permit reads behind a zone\'s write pointer.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l read_iolog -d 'Replay the requests of this trace, in any format that `fathom trace` reads.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l read_mode -d 'Command for reads.' -r -f -a "read\t''
prefetch\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l readfua -d 'Set FUA for reads: they come from the medium.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l recover_zbd_write_error -d 'Continue at the device\'s write pointer after a failed write.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l refill_buffers -d 'Fill the buffer with new random data before every write.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l registerfiles -d 'Register files with the kernel before the run.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l replay -d 'Replay the requests of this trace; the same as `read_iolog`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l replay_align -d 'Align the offsets of the trace to this power of two, in bytes.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l replay_fit -d 'Placement of offsets on a smaller target: regions merge, or continue at its start, or turn back.' -r -f -a "scale\t''
wrap\t''
fold\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l replay_for -d 'Length of the replayed part; 0 for the rest of the trace.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l replay_loop -d 'Issue requests at their instants, or after the completion that their process waited for.' -r -f -a "open\t''
closed\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l replay_no_stall -d 'Ignore the instants of the trace.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l replay_redirect -d 'Replay the trace on this file or device.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l replay_scale -d 'Divide the offsets of the trace by this number.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l replay_skip -d 'Kinds of request to leave out, separated by `,`: read, write, trim, sync.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l replay_speed -d 'Replay speed: a factor such as `2x` or `0.5`, or `max` to ignore the instants of the trace.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l replay_start -d 'Start of the replayed part.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l replay_time_scale -d 'Replay speed as a percentage.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l runtime -d 'Maximum duration.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l rw -d 'I/O pattern: reads, writes or trims, sequential or random.' -r -f -a "read\t''
write\t''
trim\t''
randread\t''
randwrite\t''
randtrim\t''
rw\t''
readwrite\t''
randrw\t''
trimwrite\t''
randtrimwrite\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l rw_sequencer -d 'Operations between two random offsets of `rw=rand…:N`: following each other, or at the same offset.' -r -f -a "sequential\t''
identical\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l rwmixread -d 'Percentage of reads in a mix.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l rwmixwrite -d 'Percentage of writes in a mix; the later of the two options applies.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l scramble_buffers -d 'Modify each buffer slightly before every write.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l serialize_overlap -d 'Delay operations that overlap one in flight.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l sg_write_mode -d 'SCSI command for writes.' -r -f -a "write\t''
write_and_verify\t''
verify\t''
write_same\t''
same\t''
write_same_ndob\t''
verify_bytchk_00\t''
verify_bytchk_01\t''
verify_bytchk_11\t''
write_stream\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l significant_figures -d 'Significant figures in fio\'s normal output.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l size -d 'Bytes of its files that the job covers, or a percentage of existing files.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l slat_percentiles -d 'Report percentiles of submission latency.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l spr_cs -d 'Cache size of the device in bytes: `sprandom` repeats writes after those of the next region, not before.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l spr_num_regions -d 'Number of regions into which `sprandom` divides its pass.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l spr_op -d 'Overprovisioning of the device for `sprandom`, as a fraction of its size.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l sprandom -d 'Precondition a flash device in one pass: write each block once, and more of the older ones again.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l sqthread_poll -d 'Submit operations by a kernel polling thread (SQPOLL).' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l sqthread_poll_cpu -d 'CPU of the SQPOLL thread.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l startdelay -d 'Delay before the job starts; a range `low-high` draws a random delay.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l stat_type -d 'System call to measure.' -r -f -a "stat\t''
lstat\t''
statx\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l stats -d 'Keep statistics.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l std_redirect -d 'Write the output of the program to NAME.stdout and NAME.stderr.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l steadystate -d 'End when the deviation or slope of IOPS, bandwidth or latency is below a limit: `iops:5%`, `bw_slope:0.3%`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l steadystate_check_interval -d 'Interval between samples.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l steadystate_duration -d 'Duration for which it must be steady; 0 for no steady state.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l steadystate_ramp_time -d 'Time to wait before the first sample.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l stonewall -d 'Start after all preceding jobs have finished.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l stream_id -d 'Stream of SCSI stream writes; 0 opens one for the run.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l sync -d 'Open files with O_SYNC or O_DSYNC.' -r -f -a "none\t''
0\t''
sync\t''
1\t''
dsync\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l sync_file_range -d 'Phases of sync_file_range, separated by commas, and after `:` the number of writes between two calls.' -r -f -a "wait_before\t''
write\t''
wait_after\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l thinkcycles -d 'Processor cycles to spend after each operation, before the idle time.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l thinktime -d 'Idle time after each `thinktime_blocks` operations.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l thinktime_blocks -d 'Number of operations between idle times.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l thinktime_blocks_type -d 'Count operations on completion or on issue.' -r -f -a "complete\t''
issue\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l thinktime_iotime -d 'Idle after each interval of this length instead.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l thinktime_spin -d 'Part of the idle time to spend spinning.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l thp -d 'Use transparent huge pages for the mapping (MADV_HUGEPAGE).' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l thread -d 'Use threads instead of processes; Fathom always does.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l time_based -d 'Repeat the workload until `runtime` has passed.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l trim_backlog -d 'Number of written blocks after which `trim_percentage` of them are trimmed; 0 for no trims.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l trim_percentage -d 'Percentage of written blocks to trim before they are verified.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l trim_verify_zero -d 'Verify that trimmed blocks read as zeroes, instead of not reading them.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l ttl -d 'Time to live of multicasts.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l uid -d 'Run the workers as this user.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l uncached -d 'Do not keep data in the page cache (RWF_DONTCACHE, Linux 6.14).' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l unified_rw_reporting -d 'Report reads, writes and trims as one in fio\'s outputs.' -r -f -a "none\t''
mixed\t''
both\t''
0\t''
1\t''
2\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l unit_base -d 'Unit of rates: bytes (8), bits (1) or automatic (0).' -r -f -a "0\t''
8\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l unlink -d 'Remove the files after the job.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l unlink_each_loop -d 'Remove the files after each loop but the last; the next one begins with none.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l uri -d 'URI of the export: nbd://HOST[:PORT]/EXPORT or nbd+unix:///EXPORT?socket=PATH; `size` defaults to its size.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l verify -d 'Method of verification: the checksum or content of written blocks.' -r -f -a "0\t''
md5\t''
crc64\t''
crc32\t''
crc32c-intel\t''
crc32c\t''
crc16\t''
crc7\t''
sha1\t''
sha256\t''
sha512\t''
sha3-224\t''
sha3-256\t''
sha3-384\t''
sha3-512\t''
xxhash\t''
meta\t''
pattern\t''
pattern_hdr\t''
null\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l verify_backlog -d 'Number of written blocks after which they are verified, instead of at the end.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l verify_dump -d 'Write the expected and the received block to files on a mismatch.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l verify_fatal -d 'Stop at the first mismatch.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l verify_format -d 'Layout of block headers: Fathom\'s, or that of fio 3.33 to exchange data with it.' -r -f -a "fathom\t''
fio\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l verify_header_seed -d 'Check the seed in the header of each block.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l verify_interval -d 'Distance in bytes between block headers.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l verify_mode -d 'Command for verification: Read, or Compare with `verify=pattern`.' -r -f -a "read\t''
compare\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l verify_nonce -d 'Number in block headers that identifies the run, drawn by default; 0 for the same bytes in all runs.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l verify_offset -d 'Offset of the header within a block.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l verify_only -d 'Verify the data of an earlier run of the job, without writing.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l verify_pattern -d 'Pattern to write and to expect; `%o` stands for the offset.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l verify_pattern_interval -d 'Restart the pattern after this many bytes, 0 for never.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l verify_policy -d 'Writes that `verify_state_load` checks: all completed ones, or those before the last sync.' -r -f -a "completed\t''
fsynced\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l verify_state_load -d 'Verify only what an earlier run had written, by its saved state.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l verify_state_save -d 'Save the state of the writes; in `fathom run` only if given.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l verify_write_sequence -d 'Check which write each block is of.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l wait_for -d 'Start after all workers of the preceding job of this name have finished.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l window_size -d 'Size of the socket buffer in bytes, of the end that connects or listens; 0 for the default.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l write_bw_log -d 'Write bandwidth logs with this prefix.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l write_hint -d 'Expected lifetime of the data (F_SET_RW_HINT).' -r -f -a "none\t''
short\t''
medium\t''
long\t''
extreme\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l write_hist_log -d 'Write logs of completion latency histograms with this prefix; `log_hist_msec` sets their interval.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l write_iolog -d 'Write a log of all operations to this file, which `read_iolog` replays.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l write_iops_log -d 'Write IOPS logs with this prefix.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l write_lat_log -d 'Write latency logs with this prefix.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l write_mode -d 'Commands for writes (write, uncor, zeroes, verify), with percentages: `write/60:zeroes/40`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l write_zone_remainder -d 'Write the short ends of zones instead of finishing the zones.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l writefua -d 'Set FUA for writes: they are on the medium when they complete.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l zero_buffers -d 'Write zeroes.' -r -f -a "0\t''
1\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l zone_reset_frequency -d 'Zone resets per write above `zone_reset_threshold`.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l zone_reset_threshold -d 'Fraction of the region\'s bytes that are written, from which on zones are reset.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l zonecapacity -d 'Bytes of each zone that can be written, where the device has no zones.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l zonemode -d 'How the file is divided into zones: not, at regular distances, or as a zoned device is.' -r -f -a "none\t''
strided\t''
zbd\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l zonerange -d 'Length of a zone; `zonesize` by default.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l zonesize -d 'Bytes to transfer in each zone before the next one.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l zoneskip -d 'Bytes from the end of a zone to the next one.' -r
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l on -d 'Use this modelled volume instead of the job\'s files' -r -f -a "gcp/pd-standard\t''
gcp/pd-standard-regional\t''
gcp/pd-balanced\t''
gcp/pd-balanced-regional\t''
gcp/pd-ssd\t''
gcp/pd-ssd-regional\t''
gcp/pd-extreme\t''
gcp/hyperdisk-balanced\t''
gcp/hyperdisk-balanced-high-availability\t''
gcp/hyperdisk-balanced-high-availability@2026-03\t''
gcp/hyperdisk-extreme\t''
gcp/hyperdisk-ml\t''
gcp/hyperdisk-ml@2026-03\t''
gcp/hyperdisk-throughput\t''
gcp/local-ssd-nvme\t''
gcp/titanium-ssd-c4n\t''
gcp/titanium-ssd-z3\t''
gcp/pd-standard@2019\t''
gcp/pd-standard-regional@2019\t''
gcp/pd-ssd@2019\t''
gcp/pd-ssd-regional@2019\t''
gcp/local-ssd-scsi@2019\t''
gcp/local-ssd-nvme@2019\t''
aws/gp3\t''
aws/gp3@2023\t''
aws/gp2\t''
aws/io1\t''
aws/io2\t''
aws/io2@2023\t''
aws/st1\t''
aws/sc1\t''
aws/standard\t''
azure/premium-ssd\t''
azure/premium-ssd-v2\t''
azure/ultra\t''
azure/standard-ssd\t''
azure/standard-hdd\t''
vultr/hdd-block\t''
vultr/nvme-block\t''
digitalocean/volume\t''
digitalocean/volume@2018\t''
oci/block-volume\t''
akamai/nvme-block\t''
hetzner/volume\t''
nutanix/ahv-4node\t''
hdd/7200rpm\t''
custom\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l volume -d 'Modelled volume to use instead of files; `fathom catalog` lists all volumes.' -r -f -a "gcp/pd-standard\t''
gcp/pd-standard-regional\t''
gcp/pd-balanced\t''
gcp/pd-balanced-regional\t''
gcp/pd-ssd\t''
gcp/pd-ssd-regional\t''
gcp/pd-extreme\t''
gcp/hyperdisk-balanced\t''
gcp/hyperdisk-balanced-high-availability\t''
gcp/hyperdisk-balanced-high-availability@2026-03\t''
gcp/hyperdisk-extreme\t''
gcp/hyperdisk-ml\t''
gcp/hyperdisk-ml@2026-03\t''
gcp/hyperdisk-throughput\t''
gcp/local-ssd-nvme\t''
gcp/titanium-ssd-c4n\t''
gcp/titanium-ssd-z3\t''
gcp/pd-standard@2019\t''
gcp/pd-standard-regional@2019\t''
gcp/pd-ssd@2019\t''
gcp/pd-ssd-regional@2019\t''
gcp/local-ssd-scsi@2019\t''
gcp/local-ssd-nvme@2019\t''
aws/gp3\t''
aws/gp3@2023\t''
aws/gp2\t''
aws/io1\t''
aws/io2\t''
aws/io2@2023\t''
aws/st1\t''
aws/sc1\t''
aws/standard\t''
azure/premium-ssd\t''
azure/premium-ssd-v2\t''
azure/ultra\t''
azure/standard-ssd\t''
azure/standard-hdd\t''
vultr/hdd-block\t''
vultr/nvme-block\t''
digitalocean/volume\t''
digitalocean/volume@2018\t''
oci/block-volume\t''
akamai/nvme-block\t''
hetzner/volume\t''
nutanix/ahv-4node\t''
hdd/7200rpm\t''
custom\t''"
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l insecure -d 'Permit a --metrics address that other hosts can reach'
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l no-record -d 'Do not save this run'
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l real-time -d 'Run a model in real time, as if it were a device'
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l show-jobs -d 'Print the resolved job, and do nothing'
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -l dry-run -d 'Print what would be touched and for how long, and do nothing'
complete -c fathom -n "__fish_fathom_using_subcommand sweep" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fathom -n "__fish_fathom_using_subcommand fio" -s h -l help -d 'Print help'
complete -c fathom -n "__fish_fathom_using_subcommand compare" -l baseline -d 'Baseline runs, separated by commas (repeatable)' -r
complete -c fathom -n "__fish_fathom_using_subcommand compare" -l candidate -d 'Candidate runs, separated by commas (repeatable)' -r
complete -c fathom -n "__fish_fathom_using_subcommand compare" -l threshold -d 'Ignore changes smaller than this' -r
complete -c fathom -n "__fish_fathom_using_subcommand compare" -l fail-on -d 'Exit with 1 if the verdict of any figure is this or worse' -r -f -a "worse\t'A figure became worse'
undecided\t'A figure became worse, or the data cannot tell'"
complete -c fathom -n "__fish_fathom_using_subcommand compare" -l format -d 'Format of standard output' -r -f -a "text\t'Text'
json\t'JSON'
md\t'Markdown'"
complete -c fathom -n "__fish_fathom_using_subcommand compare" -s o -l output -d 'Write additional output to FILE: .json .md .csv .txt, .html with the charts of both (repeatable)' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand compare" -l force -d 'Compare runs of different workloads or devices too'
complete -c fathom -n "__fish_fathom_using_subcommand compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fathom -n "__fish_fathom_using_subcommand gate" -l assert -d 'Require this: read.iops>=150k (repeatable)' -r
complete -c fathom -n "__fish_fathom_using_subcommand gate" -l assert-file -d 'Read expectations from FILE, one per line, with comments after # (repeatable)' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand gate" -l baseline -d 'Baseline for percentage expectations: a run, or repeats separated by commas' -r
complete -c fathom -n "__fish_fathom_using_subcommand gate" -l junit -d 'Write JUnit XML to FILE' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand gate" -l format -d 'Format of standard output' -r -f -a "text\t'Text'
json\t'JSON'
md\t'Markdown'"
complete -c fathom -n "__fish_fathom_using_subcommand gate" -s o -l output -d 'Write additional output to FILE: .json .md .txt (repeatable)' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand gate" -l force -d 'Compare with a baseline of another workload or device too'
complete -c fathom -n "__fish_fathom_using_subcommand gate" -l strict -d 'Fail where noise leaves the answer open'
complete -c fathom -n "__fish_fathom_using_subcommand gate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fathom -n "__fish_fathom_using_subcommand doctor" -l for -d 'Check for this purpose only [default: both]' -r -f -a "iops\t'Many small operations'
throughput\t'Large and sequential ones'"
complete -c fathom -n "__fish_fathom_using_subcommand doctor" -l root -d 'Read /sys, /proc and /dev below this directory, and nothing outside of it' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand doctor" -l format -d 'Format of standard output' -r -f -a "text\t'Text'
json\t'JSON'
md\t'Markdown'"
complete -c fathom -n "__fish_fathom_using_subcommand doctor" -s o -l output -d 'Write additional output to FILE: .json .md .txt (repeatable)' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand doctor" -s v -l all -l verbose -d 'Report passed checks too'
complete -c fathom -n "__fish_fathom_using_subcommand doctor" -l checks -d 'Describe all checks in Markdown'
complete -c fathom -n "__fish_fathom_using_subcommand doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fathom -n "__fish_fathom_using_subcommand capture" -s o -l output -d 'Write the trace to FILE, with --sample the series of counters; an existing one is replaced' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand capture" -l for -d 'Capture for this long [default: until SIGINT or SIGTERM]' -r
complete -c fathom -n "__fish_fathom_using_subcommand capture" -l sample -d 'Sample the kernel\'s counters instead, without privileges: means of intervals only [default: 1s]' -r
complete -c fathom -n "__fish_fathom_using_subcommand capture" -l pid -d 'Capture only requests that this process issues; writeback is issued by kernel threads' -r
complete -c fathom -n "__fish_fathom_using_subcommand capture" -l max-size -d 'Stop when the file has this size' -r
complete -c fathom -n "__fish_fathom_using_subcommand capture" -l keep-last -d 'Keep the last requests only: of this time, or as many as fit into this size' -r
complete -c fathom -n "__fish_fathom_using_subcommand capture" -l buffer -d 'Buffer of the kernel per processor [default: 16MiB, less with over 16 processors]' -r
complete -c fathom -n "__fish_fathom_using_subcommand capture" -l source -d 'Where requests come from: bpf (programs in the kernel) or tracefs (events) [default: bpf where possible]' -r
complete -c fathom -n "__fish_fathom_using_subcommand capture" -l format -d 'Format of standard output' -r -f -a "text\t'Text'
json\t'JSON'"
complete -c fathom -n "__fish_fathom_using_subcommand capture" -l progress -d 'Show progress on standard error' -r -f -a "auto\t'A progress line on a terminal, a line every 10 s elsewhere'
plain\t'A line every 10 s'
off\t'None'"
complete -c fathom -n "__fish_fathom_using_subcommand capture" -l summary-only -d 'Print the summary and write no file'
complete -c fathom -n "__fish_fathom_using_subcommand capture" -l anonymize -d 'Drop process names and scramble positions, in regions of 1 MiB'
complete -c fathom -n "__fish_fathom_using_subcommand capture" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fathom -n "__fish_fathom_using_subcommand explain" -l claim -d 'Figures from another source: iops=10000,lat=3ms,qd=4,jobs=4,bs=4k, or iostat\'s columns: r/s=3500,r_await=1.00,aqu-sz=3.5 (repeatable)' -r
complete -c fathom -n "__fish_fathom_using_subcommand explain" -l from -d 'Replay this trace on the volume, in virtual time' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand explain" -l database -d 'Print the settings of this database that determine its queue depth' -r -f -a "postgresql\t''
mysql\t''
rocksdb\t''
etcd\t''"
complete -c fathom -n "__fish_fathom_using_subcommand explain" -l format -d 'Format of standard output' -r -f -a "text\t'Text'
json\t'JSON'
md\t'Markdown'"
complete -c fathom -n "__fish_fathom_using_subcommand explain" -s o -l output -d 'Write additional output to FILE: .json .md .txt (repeatable)' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand explain" -l volume -d 'Volume that was measured: PROVIDER/TYPE[@EDITION][,key=value]...' -r -f -a "gcp/pd-standard\t''
gcp/pd-standard-regional\t''
gcp/pd-balanced\t''
gcp/pd-balanced-regional\t''
gcp/pd-ssd\t''
gcp/pd-ssd-regional\t''
gcp/pd-extreme\t''
gcp/hyperdisk-balanced\t''
gcp/hyperdisk-balanced-high-availability\t''
gcp/hyperdisk-balanced-high-availability@2026-03\t''
gcp/hyperdisk-extreme\t''
gcp/hyperdisk-ml\t''
gcp/hyperdisk-ml@2026-03\t''
gcp/hyperdisk-throughput\t''
gcp/local-ssd-nvme\t''
gcp/titanium-ssd-c4n\t''
gcp/titanium-ssd-z3\t''
gcp/pd-standard@2019\t''
gcp/pd-standard-regional@2019\t''
gcp/pd-ssd@2019\t''
gcp/pd-ssd-regional@2019\t''
gcp/local-ssd-scsi@2019\t''
gcp/local-ssd-nvme@2019\t''
aws/gp3\t''
aws/gp3@2023\t''
aws/gp2\t''
aws/io1\t''
aws/io2\t''
aws/io2@2023\t''
aws/st1\t''
aws/sc1\t''
aws/standard\t''
azure/premium-ssd\t''
azure/premium-ssd-v2\t''
azure/ultra\t''
azure/standard-ssd\t''
azure/standard-hdd\t''
vultr/hdd-block\t''
vultr/nvme-block\t''
digitalocean/volume\t''
digitalocean/volume@2018\t''
oci/block-volume\t''
akamai/nvme-block\t''
hetzner/volume\t''
nutanix/ahv-4node\t''
hdd/7200rpm\t''
custom\t''"
complete -c fathom -n "__fish_fathom_using_subcommand explain" -l findings -d 'Describe all findings in Markdown'
complete -c fathom -n "__fish_fathom_using_subcommand explain" -l full -d 'Replay all of the trace instead of its busiest hour'
complete -c fathom -n "__fish_fathom_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fathom -n "__fish_fathom_using_subcommand trace" -l trace-format -d 'Read the trace in this format [default: detected]' -r -f -a "fathom\t''
iolog2\t''
iolog3\t''
blktrace\t''
blkparse\t''
msr\t''
systor\t''
alibaba\t''
tencent\t''
cloudphysics\t''
vscsi\t''
vscsi-seconds\t''"
complete -c fathom -n "__fish_fathom_using_subcommand trace" -l from -d 'Begin at this time after the start of the trace' -r
complete -c fathom -n "__fish_fathom_using_subcommand trace" -l for -d 'Read this much of the trace' -r
complete -c fathom -n "__fish_fathom_using_subcommand trace" -l memory -d 'Memory that a cache may use, for findings' -r
complete -c fathom -n "__fish_fathom_using_subcommand trace" -l format -d 'Format of standard output' -r -f -a "text\t'Text'
json\t'JSON'
md\t'Markdown'"
complete -c fathom -n "__fish_fathom_using_subcommand trace" -l export -d 'Format of copies of the trace' -r -f -a "fathom\t''
iolog2\t''
iolog3\t''
blktrace\t''
blkparse\t''
msr\t''
systor\t''
alibaba\t''
tencent\t''
cloudphysics\t''
vscsi\t''
vscsi-seconds\t''"
complete -c fathom -n "__fish_fathom_using_subcommand trace" -l to-job -d 'Write a fio job that behaves like the trace to FILE, and report how far it differs' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand trace" -s o -l output -d 'Write additional output to FILE: .json .html .md .txt; .trace is a copy of the trace (repeatable)' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand trace" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fathom -n "__fish_fathom_using_subcommand plan" -l iops -d 'Operations per second: 15000, 15k' -r
complete -c fathom -n "__fish_fathom_using_subcommand plan" -l throughput -d 'Throughput: 400MiB/s, 2GB/s' -r
complete -c fathom -n "__fish_fathom_using_subcommand plan" -l bs -d 'Size of the operations [default: 4k for IOPS, 1m for throughput]' -r
complete -c fathom -n "__fish_fathom_using_subcommand plan" -l read -d 'Percentage of reads [default: 100%]' -r
complete -c fathom -n "__fish_fathom_using_subcommand plan" -l pattern -d 'Access pattern [default: random]' -r -f -a "random\t'Random offsets'
sequential\t'Each operation starts where the last one ended'"
complete -c fathom -n "__fish_fathom_using_subcommand plan" -l capacity -d 'Capacity: 2TiB, 500GB' -r
complete -c fathom -n "__fish_fathom_using_subcommand plan" -l latency -d 'Upper bound on mean latency: 1ms' -r
complete -c fathom -n "__fish_fathom_using_subcommand plan" -l p50 -d 'Upper bound on the median of latency, for a trace' -r
complete -c fathom -n "__fish_fathom_using_subcommand plan" -l p99 -d 'Upper bound on the 99th percentile of latency' -r
complete -c fathom -n "__fish_fathom_using_subcommand plan" -l p999 -d 'Upper bound on the 99.9th percentile of latency' -r
complete -c fathom -n "__fish_fathom_using_subcommand plan" -l machines -d 'Number of machines, each with its own volume' -r
complete -c fathom -n "__fish_fathom_using_subcommand plan" -l vcpus -d 'Number of vCPUs of the machine' -r
complete -c fathom -n "__fish_fathom_using_subcommand plan" -l machine -d 'Machine type, by its provider\'s name: n2-standard-8' -r
complete -c fathom -n "__fish_fathom_using_subcommand plan" -l provider -d 'Consider only these providers or volumes, separated by commas: aws,gcp or aws/gp3,iops=8000 (repeatable)' -r
complete -c fathom -n "__fish_fathom_using_subcommand plan" -l region -d 'Use the prices of this region: us-east-1, us-central1, eastus' -r
complete -c fathom -n "__fish_fathom_using_subcommand plan" -l budget -d 'Upper bound on the price of all machines, in US dollars per month' -r
complete -c fathom -n "__fish_fathom_using_subcommand plan" -l headroom -d 'Spare IOPS, throughput and latency to plan for [default: 20%]' -r
complete -c fathom -n "__fish_fathom_using_subcommand plan" -l eur-usd -d 'US dollars for one euro [default: the ECB\'s reference rate in the catalogue]' -r
complete -c fathom -n "__fish_fathom_using_subcommand plan" -l growth -d 'Growth of rates and capacity to plan for: 20%/year' -r
complete -c fathom -n "__fish_fathom_using_subcommand plan" -l workload -d 'Named workload: NAME[,key=value]...' -r
complete -c fathom -n "__fish_fathom_using_subcommand plan" -l from -d 'Take the load from a trace, a record, fio\'s or iostat\'s output, sampled counters, or a job file' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand plan" -l replay-loop -d 'Issue requests of a trace at their instants, or after the completion that their process waited for' -r -f -a "open\t'At its instant in the trace'
closed\t'After the completion that its process waited for'"
complete -c fathom -n "__fish_fathom_using_subcommand plan" -l seed -d 'Seed for all random choices [default: 1]' -r
complete -c fathom -n "__fish_fathom_using_subcommand plan" -l format -d 'Format of standard output' -r -f -a "text\t'Text for a terminal'
md\t'Markdown'
csv\t'One line for each volume'
json\t'One JSON document'"
complete -c fathom -n "__fish_fathom_using_subcommand plan" -s o -l output -d 'Write additional output to FILE: .html .json .csv .md .txt .svg (repeatable)' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand plan" -l read-only -d 'Have all machines read one shared volume'
complete -c fathom -n "__fish_fathom_using_subcommand plan" -l scratch -d 'Accept volumes whose data is lost with the machine (local disks)'
complete -c fathom -n "__fish_fathom_using_subcommand plan" -l full -d 'Replay all of a trace instead of its busiest hour'
complete -c fathom -n "__fish_fathom_using_subcommand plan" -l show-math -d 'Show the arithmetic and its sources'
complete -c fathom -n "__fish_fathom_using_subcommand plan" -l no-simulation -d 'Do not simulate: rely on the closed form'
complete -c fathom -n "__fish_fathom_using_subcommand plan" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fathom -n "__fish_fathom_using_subcommand catalog" -l bs -d 'Block size' -r
complete -c fathom -n "__fish_fathom_using_subcommand catalog" -l rw -d 'I/O pattern: read, write, randread, randwrite, rw, randrw' -r
complete -c fathom -n "__fish_fathom_using_subcommand catalog" -l rwmixread -d 'Percentage of reads in a mix' -r
complete -c fathom -n "__fish_fathom_using_subcommand catalog" -l format -d 'Format of standard output' -r -f -a "text\t'Text'
json\t'JSON'"
complete -c fathom -n "__fish_fathom_using_subcommand catalog" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fathom -n "__fish_fathom_using_subcommand suite; and not __fish_seen_subcommand_from list show run help" -s h -l help -d 'Print help'
complete -c fathom -n "__fish_fathom_using_subcommand suite; and not __fish_seen_subcommand_from list show run help" -f -a "list" -d 'List all suites'
complete -c fathom -n "__fish_fathom_using_subcommand suite; and not __fish_seen_subcommand_from list show run help" -f -a "show" -d 'Show the steps, options, meaning and published figures of a suite'
complete -c fathom -n "__fish_fathom_using_subcommand suite; and not __fish_seen_subcommand_from list show run help" -f -a "run" -d 'Run a suite, or continue an interrupted run'
complete -c fathom -n "__fish_fathom_using_subcommand suite; and not __fish_seen_subcommand_from list show run help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c fathom -n "__fish_fathom_using_subcommand suite; and __fish_seen_subcommand_from list" -l format -d 'Format of standard output; md describes all suites' -r -f -a "text\t'Text'
json\t'JSON'
md\t'Markdown'"
complete -c fathom -n "__fish_fathom_using_subcommand suite; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fathom -n "__fish_fathom_using_subcommand suite; and __fish_seen_subcommand_from show" -l format -d 'Format of standard output' -r -f -a "text\t'Text'
json\t'JSON'
md\t'Markdown'"
complete -c fathom -n "__fish_fathom_using_subcommand suite; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fathom -n "__fish_fathom_using_subcommand suite; and __fish_seen_subcommand_from run" -l target -d 'File or device to measure' -r
complete -c fathom -n "__fish_fathom_using_subcommand suite; and __fish_seen_subcommand_from run" -l size -d 'How much of the target to use, not scaled [default: as in the suite, scaled]' -r
complete -c fathom -n "__fish_fathom_using_subcommand suite; and __fish_seen_subcommand_from run" -l scale -d 'Scale times and sizes by this factor' -r
complete -c fathom -n "__fish_fathom_using_subcommand suite; and __fish_seen_subcommand_from run" -l state -d 'Save finished steps in FILE [default: in $XDG_STATE_HOME/fathom/suites, or ~/.local/state/fathom/suites]' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand suite; and __fish_seen_subcommand_from run" -l format -d 'Format of standard output' -r -f -a "text\t'Text'
json\t'JSON'
md\t'Markdown'"
complete -c fathom -n "__fish_fathom_using_subcommand suite; and __fish_seen_subcommand_from run" -s o -l output -d 'Write additional output to FILE: .json .html .md .txt (repeatable)' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand suite; and __fish_seen_subcommand_from run" -l metrics -d 'Serve live metrics (OpenMetrics over HTTP); addresses of other hosts need --insecure' -r
complete -c fathom -n "__fish_fathom_using_subcommand suite; and __fish_seen_subcommand_from run" -l allow-destroy -d 'Permit writes to this device, file or export URI even if it holds data or is in use (repeatable)' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand suite; and __fish_seen_subcommand_from run" -l allow-overwrite -d 'Permit writes to this existing file that Fathom did not create (repeatable)' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand suite; and __fish_seen_subcommand_from run" -l seed -d 'Seed for all random choices' -r
complete -c fathom -n "__fish_fathom_using_subcommand suite; and __fish_seen_subcommand_from run" -l progress -d 'Show progress on standard error' -r -f -a "auto\t'A progress line on a terminal, a line every 10 s elsewhere'
plain\t'A line every 10 s'
off\t'None'"
complete -c fathom -n "__fish_fathom_using_subcommand suite; and __fish_seen_subcommand_from run" -l grace -d 'Wait this long for operations in flight after the runtime or a signal' -r
complete -c fathom -n "__fish_fathom_using_subcommand suite; and __fish_seen_subcommand_from run" -l on -d 'Modelled volume, beside the target or instead of it' -r -f -a "gcp/pd-standard\t''
gcp/pd-standard-regional\t''
gcp/pd-balanced\t''
gcp/pd-balanced-regional\t''
gcp/pd-ssd\t''
gcp/pd-ssd-regional\t''
gcp/pd-extreme\t''
gcp/hyperdisk-balanced\t''
gcp/hyperdisk-balanced-high-availability\t''
gcp/hyperdisk-balanced-high-availability@2026-03\t''
gcp/hyperdisk-extreme\t''
gcp/hyperdisk-ml\t''
gcp/hyperdisk-ml@2026-03\t''
gcp/hyperdisk-throughput\t''
gcp/local-ssd-nvme\t''
gcp/titanium-ssd-c4n\t''
gcp/titanium-ssd-z3\t''
gcp/pd-standard@2019\t''
gcp/pd-standard-regional@2019\t''
gcp/pd-ssd@2019\t''
gcp/pd-ssd-regional@2019\t''
gcp/local-ssd-scsi@2019\t''
gcp/local-ssd-nvme@2019\t''
aws/gp3\t''
aws/gp3@2023\t''
aws/gp2\t''
aws/io1\t''
aws/io2\t''
aws/io2@2023\t''
aws/st1\t''
aws/sc1\t''
aws/standard\t''
azure/premium-ssd\t''
azure/premium-ssd-v2\t''
azure/ultra\t''
azure/standard-ssd\t''
azure/standard-hdd\t''
vultr/hdd-block\t''
vultr/nvme-block\t''
digitalocean/volume\t''
digitalocean/volume@2018\t''
oci/block-volume\t''
akamai/nvme-block\t''
hetzner/volume\t''
nutanix/ahv-4node\t''
hdd/7200rpm\t''
custom\t''"
complete -c fathom -n "__fish_fathom_using_subcommand suite; and __fish_seen_subcommand_from run" -l restart -d 'Start again from the first step'
complete -c fathom -n "__fish_fathom_using_subcommand suite; and __fish_seen_subcommand_from run" -l insecure -d 'Permit a --metrics address that other hosts can reach'
complete -c fathom -n "__fish_fathom_using_subcommand suite; and __fish_seen_subcommand_from run" -l dry-run -d 'Print what would be touched, how much and for how long, and do nothing'
complete -c fathom -n "__fish_fathom_using_subcommand suite; and __fish_seen_subcommand_from run" -l no-record -d 'Do not save this run'
complete -c fathom -n "__fish_fathom_using_subcommand suite; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fathom -n "__fish_fathom_using_subcommand suite; and __fish_seen_subcommand_from help" -f -a "list" -d 'List all suites'
complete -c fathom -n "__fish_fathom_using_subcommand suite; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show the steps, options, meaning and published figures of a suite'
complete -c fathom -n "__fish_fathom_using_subcommand suite; and __fish_seen_subcommand_from help" -f -a "run" -d 'Run a suite, or continue an interrupted run'
complete -c fathom -n "__fish_fathom_using_subcommand suite; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c fathom -n "__fish_fathom_using_subcommand runs; and not __fish_seen_subcommand_from list show rm import keep prune help" -s h -l help -d 'Print help'
complete -c fathom -n "__fish_fathom_using_subcommand runs; and not __fish_seen_subcommand_from list show rm import keep prune help" -f -a "list" -d 'List saved runs, the latest last'
complete -c fathom -n "__fish_fathom_using_subcommand runs; and not __fish_seen_subcommand_from list show rm import keep prune help" -f -a "show" -d 'Show a run: its output, host, job, and the command that repeats it'
complete -c fathom -n "__fish_fathom_using_subcommand runs; and not __fish_seen_subcommand_from list show rm import keep prune help" -f -a "rm" -d 'Remove runs'
complete -c fathom -n "__fish_fathom_using_subcommand runs; and not __fish_seen_subcommand_from list show rm import keep prune help" -f -a "import" -d 'Save fio\'s output, or records from other hosts'
complete -c fathom -n "__fish_fathom_using_subcommand runs; and not __fish_seen_subcommand_from list show rm import keep prune help" -f -a "keep" -d 'Exempt runs from retention'
complete -c fathom -n "__fish_fathom_using_subcommand runs; and not __fish_seen_subcommand_from list show rm import keep prune help" -f -a "prune" -d 'Remove runs by age or total size'
complete -c fathom -n "__fish_fathom_using_subcommand runs; and not __fish_seen_subcommand_from list show rm import keep prune help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c fathom -n "__fish_fathom_using_subcommand runs; and __fish_seen_subcommand_from list" -l kind -d 'Only runs of this kind' -r -f -a "run\t'A measurement'
sim\t'A simulation'
sweep\t'A search for the knee, or a grid'
suite\t'A published benchmark'"
complete -c fathom -n "__fish_fathom_using_subcommand runs; and __fish_seen_subcommand_from list" -l name -d 'Only runs whose name, ID or job matches' -r
complete -c fathom -n "__fish_fathom_using_subcommand runs; and __fish_seen_subcommand_from list" -l target -d 'Only runs whose file, device or volume matches' -r
complete -c fathom -n "__fish_fathom_using_subcommand runs; and __fish_seen_subcommand_from list" -l host -d 'Only runs whose host matches' -r
complete -c fathom -n "__fish_fathom_using_subcommand runs; and __fish_seen_subcommand_from list" -l tool -d 'Only runs whose program matches: fathom, fio-3.*' -r
complete -c fathom -n "__fish_fathom_using_subcommand runs; and __fish_seen_subcommand_from list" -l since -d 'Only runs that started at this time or later' -r
complete -c fathom -n "__fish_fathom_using_subcommand runs; and __fish_seen_subcommand_from list" -l until -d 'Only runs that started before this time' -r
complete -c fathom -n "__fish_fathom_using_subcommand runs; and __fish_seen_subcommand_from list" -l format -d 'Format of standard output' -r -f -a "text\t'Text'
json\t'JSON'"
complete -c fathom -n "__fish_fathom_using_subcommand runs; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fathom -n "__fish_fathom_using_subcommand runs; and __fish_seen_subcommand_from show" -l format -d 'Format of standard output' -r -f -a "text\t'Text'
json\t'JSON'"
complete -c fathom -n "__fish_fathom_using_subcommand runs; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fathom -n "__fish_fathom_using_subcommand runs; and __fish_seen_subcommand_from rm" -s h -l help -d 'Print help'
complete -c fathom -n "__fish_fathom_using_subcommand runs; and __fish_seen_subcommand_from import" -s h -l help -d 'Print help'
complete -c fathom -n "__fish_fathom_using_subcommand runs; and __fish_seen_subcommand_from keep" -l release -d 'Make them subject to retention again'
complete -c fathom -n "__fish_fathom_using_subcommand runs; and __fish_seen_subcommand_from keep" -s h -l help -d 'Print help'
complete -c fathom -n "__fish_fathom_using_subcommand runs; and __fish_seen_subcommand_from prune" -l older-than -d 'Remove runs older than this [default: FATHOM_KEEP_FOR, or a year]' -r
complete -c fathom -n "__fish_fathom_using_subcommand runs; and __fish_seen_subcommand_from prune" -l larger-than -d 'Remove the oldest until no more than this is left [default: FATHOM_KEEP_SIZE, or 4GiB]' -r
complete -c fathom -n "__fish_fathom_using_subcommand runs; and __fish_seen_subcommand_from prune" -l dry-run -d 'Print what would be removed, and do nothing'
complete -c fathom -n "__fish_fathom_using_subcommand runs; and __fish_seen_subcommand_from prune" -s h -l help -d 'Print help'
complete -c fathom -n "__fish_fathom_using_subcommand runs; and __fish_seen_subcommand_from help" -f -a "list" -d 'List saved runs, the latest last'
complete -c fathom -n "__fish_fathom_using_subcommand runs; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show a run: its output, host, job, and the command that repeats it'
complete -c fathom -n "__fish_fathom_using_subcommand runs; and __fish_seen_subcommand_from help" -f -a "rm" -d 'Remove runs'
complete -c fathom -n "__fish_fathom_using_subcommand runs; and __fish_seen_subcommand_from help" -f -a "import" -d 'Save fio\'s output, or records from other hosts'
complete -c fathom -n "__fish_fathom_using_subcommand runs; and __fish_seen_subcommand_from help" -f -a "keep" -d 'Exempt runs from retention'
complete -c fathom -n "__fish_fathom_using_subcommand runs; and __fish_seen_subcommand_from help" -f -a "prune" -d 'Remove runs by age or total size'
complete -c fathom -n "__fish_fathom_using_subcommand runs; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c fathom -n "__fish_fathom_using_subcommand serve; and not __fish_seen_subcommand_from control" -l export -d 'Serve VOLUME as the export NAME (repeatable)' -r
complete -c fathom -n "__fish_fathom_using_subcommand serve; and not __fish_seen_subcommand_from control" -l backing -d 'Backing of one export or of all: memory, zero, pattern, random, file:PATH, copy:PATH [default: memory]' -r
complete -c fathom -n "__fish_fathom_using_subcommand serve; and not __fish_seen_subcommand_from control" -l size -d 'Size of exports whose volume has none' -r
complete -c fathom -n "__fish_fathom_using_subcommand serve; and not __fish_seen_subcommand_from control" -l memory-limit -d 'Memory limit of all exports and clients together [default: half of the free memory]' -r
complete -c fathom -n "__fish_fathom_using_subcommand serve; and not __fish_seen_subcommand_from control" -l allow-destroy -d 'Permit writes of clients to this device or file even if it holds data or is in use (repeatable)' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand serve; and not __fish_seen_subcommand_from control" -l faults -d 'Inject faults with these probabilities: eio=0.1%,flush_eio=1%,stall=0.01%:2s' -r
complete -c fathom -n "__fish_fathom_using_subcommand serve; and not __fish_seen_subcommand_from control" -l control -d 'Accept changes of limits and faults at this unix socket (`fathom serve control SOCKET`)' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand serve; and not __fish_seen_subcommand_from control" -l socket -d 'Listen on this unix socket [default: a private one, unless --listen is given]' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand serve; and not __fish_seen_subcommand_from control" -l listen -d 'Listen on TCP; addresses that other hosts can reach need --tls-clients or --insecure (repeatable)' -r
complete -c fathom -n "__fish_fathom_using_subcommand serve; and not __fish_seen_subcommand_from control" -l tls-certificate -d 'Encrypt connections: certificate chain of the server, in PEM' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand serve; and not __fish_seen_subcommand_from control" -l tls-key -d 'Private key of the certificate, in PEM' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand serve; and not __fish_seen_subcommand_from control" -l tls-clients -d 'Accept only clients with a certificate from one of these authorities, in PEM' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand serve; and not __fish_seen_subcommand_from control" -l run -d 'Run CMD with sh, and stop when it ends' -r
complete -c fathom -n "__fish_fathom_using_subcommand serve; and not __fish_seen_subcommand_from control" -l stats -d 'Print the statistics of the running server at this socket or address' -r
complete -c fathom -n "__fish_fathom_using_subcommand serve; and not __fish_seen_subcommand_from control" -l metrics -d 'Serve live metrics (OpenMetrics over HTTP); addresses of other hosts need --insecure' -r
complete -c fathom -n "__fish_fathom_using_subcommand serve; and not __fish_seen_subcommand_from control" -l round-trip -d 'Subtract this round-trip time from modelled latencies [default: as measured for each client]' -r
complete -c fathom -n "__fish_fathom_using_subcommand serve; and not __fish_seen_subcommand_from control" -l seed -d 'Seed for all random choices' -r
complete -c fathom -n "__fish_fathom_using_subcommand serve; and not __fish_seen_subcommand_from control" -l format -d 'Format of the final statistics [default: text; with --run on standard error]' -r -f -a "text\t'Text'
json\t'JSON'
openmetrics\t'OpenMetrics, for Prometheus'"
complete -c fathom -n "__fish_fathom_using_subcommand serve; and not __fish_seen_subcommand_from control" -s o -l output -d 'Write additional output to FILE: .json .txt .prom (repeatable)' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand serve; and not __fish_seen_subcommand_from control" -l progress -d 'Show progress on standard error' -r -f -a "auto\t'A progress line on a terminal, a line every 10 s elsewhere'
plain\t'A line every 10 s'
off\t'None'"
complete -c fathom -n "__fish_fathom_using_subcommand serve; and not __fish_seen_subcommand_from control" -l direct -d 'Bypass the page cache for files'
complete -c fathom -n "__fish_fathom_using_subcommand serve; and not __fish_seen_subcommand_from control" -l read-only -d 'Refuse writes'
complete -c fathom -n "__fish_fathom_using_subcommand serve; and not __fish_seen_subcommand_from control" -l insecure -d 'Permit addresses that other hosts can reach without client certificates'
complete -c fathom -n "__fish_fathom_using_subcommand serve; and not __fish_seen_subcommand_from control" -l device -d 'Create a block device for each export, with the nbd driver or with FUSE and a loop device'
complete -c fathom -n "__fish_fathom_using_subcommand serve; and not __fish_seen_subcommand_from control" -l cleanup -d 'Remove block devices that killed servers have left, and do nothing else'
complete -c fathom -n "__fish_fathom_using_subcommand serve; and not __fish_seen_subcommand_from control" -l spin -d 'Spin shortly before replies are due, so that they are less late'
complete -c fathom -n "__fish_fathom_using_subcommand serve; and not __fish_seen_subcommand_from control" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fathom -n "__fish_fathom_using_subcommand serve; and not __fish_seen_subcommand_from control" -a "control" -d 'Change limits and faults of a running server, and count the faults it injected'
complete -c fathom -n "__fish_fathom_using_subcommand serve; and __fish_seen_subcommand_from control" -l format -d 'Format of standard output' -r -f -a "text\t'Text'
json\t'JSON'"
complete -c fathom -n "__fish_fathom_using_subcommand serve; and __fish_seen_subcommand_from control" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fathom -n "__fish_fathom_using_subcommand report" -s o -l output -d 'Write output to FILE: .html .csv .md .txt .prom .json .fio.json .svg (repeatable)' -r -F
complete -c fathom -n "__fish_fathom_using_subcommand report" -s h -l help -d 'Print help'
complete -c fathom -n "__fish_fathom_using_subcommand options" -s h -l help -d 'Print help'
complete -c fathom -n "__fish_fathom_using_subcommand completions" -s h -l help -d 'Print help'
complete -c fathom -n "__fish_fathom_using_subcommand man" -l into -d 'Write all pages below this directory, in man1/ and man5/' -r -f -a "(__fish_complete_directories)"
complete -c fathom -n "__fish_fathom_using_subcommand man" -s h -l help -d 'Print help'
complete -c fathom -n "__fish_fathom_using_subcommand help; and not __fish_seen_subcommand_from run sim sweep fio compare gate doctor capture explain trace plan catalog suite runs serve report options completions man help" -f -a "run" -d 'Measure real devices and files'
complete -c fathom -n "__fish_fathom_using_subcommand help; and not __fish_seen_subcommand_from run sim sweep fio compare gate doctor capture explain trace plan catalog suite runs serve report options completions man help" -f -a "sim" -d 'Run the same jobs on a modelled volume, in virtual time'
complete -c fathom -n "__fish_fathom_using_subcommand help; and not __fish_seen_subcommand_from run sim sweep fio compare gate doctor capture explain trace plan catalog suite runs serve report options completions man help" -f -a "sweep" -d 'Measure latency and IOPS against queue depth, and find the knee'
complete -c fathom -n "__fish_fathom_using_subcommand help; and not __fish_seen_subcommand_from run sim sweep fio compare gate doctor capture explain trace plan catalog suite runs serve report options completions man help" -f -a "fio" -d 'Accept fio\'s own command line, with fio\'s output and exit codes'
complete -c fathom -n "__fish_fathom_using_subcommand help; and not __fish_seen_subcommand_from run sim sweep fio compare gate doctor capture explain trace plan catalog suite runs serve report options completions man help" -f -a "compare" -d 'Compare two runs, with confidence intervals'
complete -c fathom -n "__fish_fathom_using_subcommand help; and not __fish_seen_subcommand_from run sim sweep fio compare gate doctor capture explain trace plan catalog suite runs serve report options completions man help" -f -a "gate" -d 'Check a run against expectations, for CI'
complete -c fathom -n "__fish_fathom_using_subcommand help; and not __fish_seen_subcommand_from run sim sweep fio compare gate doctor capture explain trace plan catalog suite runs serve report options completions man help" -f -a "doctor" -d 'Find host settings that limit a device'
complete -c fathom -n "__fish_fathom_using_subcommand help; and not __fish_seen_subcommand_from run sim sweep fio compare gate doctor capture explain trace plan catalog suite runs serve report options completions man help" -f -a "capture" -d 'Record the requests of a live device, touching nothing'
complete -c fathom -n "__fish_fathom_using_subcommand help; and not __fish_seen_subcommand_from run sim sweep fio compare gate doctor capture explain trace plan catalog suite runs serve report options completions man help" -f -a "explain" -d 'Explain what limited a result from any source, and what to change'
complete -c fathom -n "__fish_fathom_using_subcommand help; and not __fish_seen_subcommand_from run sim sweep fio compare gate doctor capture explain trace plan catalog suite runs serve report options completions man help" -f -a "trace" -d 'Describe the load that a trace shows, and convert traces'
complete -c fathom -n "__fish_fathom_using_subcommand help; and not __fish_seen_subcommand_from run sim sweep fio compare gate doctor capture explain trace plan catalog suite runs serve report options completions man help" -f -a "plan" -d 'Find the volume, size and machine for a load, by price'
complete -c fathom -n "__fish_fathom_using_subcommand help; and not __fish_seen_subcommand_from run sim sweep fio compare gate doctor capture explain trace plan catalog suite runs serve report options completions man help" -f -a "catalog" -d 'List modelled volumes: limits, prices, sources, dates'
complete -c fathom -n "__fish_fathom_using_subcommand help; and not __fish_seen_subcommand_from run sim sweep fio compare gate doctor capture explain trace plan catalog suite runs serve report options completions man help" -f -a "suite" -d 'Run published benchmark procedures'
complete -c fathom -n "__fish_fathom_using_subcommand help; and not __fish_seen_subcommand_from run sim sweep fio compare gate doctor capture explain trace plan catalog suite runs serve report options completions man help" -f -a "runs" -d 'List, show, import and remove saved runs'
complete -c fathom -n "__fish_fathom_using_subcommand help; and not __fish_seen_subcommand_from run sim sweep fio compare gate doctor capture explain trace plan catalog suite runs serve report options completions man help" -f -a "serve" -d 'Serve a modelled volume as a disk, over NBD'
complete -c fathom -n "__fish_fathom_using_subcommand help; and not __fish_seen_subcommand_from run sim sweep fio compare gate doctor capture explain trace plan catalog suite runs serve report options completions man help" -f -a "report" -d 'Write saved runs as a page with charts, or as tables and text'
complete -c fathom -n "__fish_fathom_using_subcommand help; and not __fish_seen_subcommand_from run sim sweep fio compare gate doctor capture explain trace plan catalog suite runs serve report options completions man help" -f -a "options" -d 'Describe all job options, or one'
complete -c fathom -n "__fish_fathom_using_subcommand help; and not __fish_seen_subcommand_from run sim sweep fio compare gate doctor capture explain trace plan catalog suite runs serve report options completions man help" -f -a "completions" -d 'Print completions for a shell'
complete -c fathom -n "__fish_fathom_using_subcommand help; and not __fish_seen_subcommand_from run sim sweep fio compare gate doctor capture explain trace plan catalog suite runs serve report options completions man help" -f -a "man" -d 'Show the manual: program, commands, job options'
complete -c fathom -n "__fish_fathom_using_subcommand help; and not __fish_seen_subcommand_from run sim sweep fio compare gate doctor capture explain trace plan catalog suite runs serve report options completions man help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c fathom -n "__fish_fathom_using_subcommand help; and __fish_seen_subcommand_from suite" -f -a "list" -d 'List all suites'
complete -c fathom -n "__fish_fathom_using_subcommand help; and __fish_seen_subcommand_from suite" -f -a "show" -d 'Show the steps, options, meaning and published figures of a suite'
complete -c fathom -n "__fish_fathom_using_subcommand help; and __fish_seen_subcommand_from suite" -f -a "run" -d 'Run a suite, or continue an interrupted run'
complete -c fathom -n "__fish_fathom_using_subcommand help; and __fish_seen_subcommand_from runs" -f -a "list" -d 'List saved runs, the latest last'
complete -c fathom -n "__fish_fathom_using_subcommand help; and __fish_seen_subcommand_from runs" -f -a "show" -d 'Show a run: its output, host, job, and the command that repeats it'
complete -c fathom -n "__fish_fathom_using_subcommand help; and __fish_seen_subcommand_from runs" -f -a "rm" -d 'Remove runs'
complete -c fathom -n "__fish_fathom_using_subcommand help; and __fish_seen_subcommand_from runs" -f -a "import" -d 'Save fio\'s output, or records from other hosts'
complete -c fathom -n "__fish_fathom_using_subcommand help; and __fish_seen_subcommand_from runs" -f -a "keep" -d 'Exempt runs from retention'
complete -c fathom -n "__fish_fathom_using_subcommand help; and __fish_seen_subcommand_from runs" -f -a "prune" -d 'Remove runs by age or total size'
complete -c fathom -n "__fish_fathom_using_subcommand help; and __fish_seen_subcommand_from serve" -f -a "control" -d 'Change limits and faults of a running server, and count the faults it injected'
complete -c fathom -n "__fish_fathom_using_subcommand catalog" -a "gcp/pd-standard gcp/pd-standard-regional gcp/pd-balanced gcp/pd-balanced-regional gcp/pd-ssd gcp/pd-ssd-regional gcp/pd-extreme gcp/hyperdisk-balanced gcp/hyperdisk-balanced-high-availability gcp/hyperdisk-balanced-high-availability@2026-03 gcp/hyperdisk-extreme gcp/hyperdisk-ml gcp/hyperdisk-ml@2026-03 gcp/hyperdisk-throughput gcp/local-ssd-nvme gcp/titanium-ssd-c4n gcp/titanium-ssd-z3 gcp/pd-standard@2019 gcp/pd-standard-regional@2019 gcp/pd-ssd@2019 gcp/pd-ssd-regional@2019 gcp/local-ssd-scsi@2019 gcp/local-ssd-nvme@2019 aws/gp3 aws/gp3@2023 aws/gp2 aws/io1 aws/io2 aws/io2@2023 aws/st1 aws/sc1 aws/standard azure/premium-ssd azure/premium-ssd-v2 azure/ultra azure/standard-ssd azure/standard-hdd vultr/hdd-block vultr/nvme-block digitalocean/volume digitalocean/volume@2018 oci/block-volume akamai/nvme-block hetzner/volume nutanix/ahv-4node hdd/7200rpm custom"
complete -c fathom -n "__fish_fathom_using_subcommand suite; and __fish_seen_subcommand_from show" -a "gcp-pd gcp-local-ssd hyperdisk vultr nutanix-2m snia-iops ai-training ai-inference"
complete -c fathom -n "__fish_fathom_using_subcommand suite; and __fish_seen_subcommand_from run" -a "gcp-pd gcp-local-ssd hyperdisk vultr nutanix-2m snia-iops ai-training ai-inference"
complete -c fathom -n "__fish_fathom_using_subcommand serve" -a "gcp/pd-standard gcp/pd-standard-regional gcp/pd-balanced gcp/pd-balanced-regional gcp/pd-ssd gcp/pd-ssd-regional gcp/pd-extreme gcp/hyperdisk-balanced gcp/hyperdisk-balanced-high-availability gcp/hyperdisk-balanced-high-availability@2026-03 gcp/hyperdisk-extreme gcp/hyperdisk-ml gcp/hyperdisk-ml@2026-03 gcp/hyperdisk-throughput gcp/local-ssd-nvme gcp/titanium-ssd-c4n gcp/titanium-ssd-z3 gcp/pd-standard@2019 gcp/pd-standard-regional@2019 gcp/pd-ssd@2019 gcp/pd-ssd-regional@2019 gcp/local-ssd-scsi@2019 gcp/local-ssd-nvme@2019 aws/gp3 aws/gp3@2023 aws/gp2 aws/io1 aws/io2 aws/io2@2023 aws/st1 aws/sc1 aws/standard azure/premium-ssd azure/premium-ssd-v2 azure/ultra azure/standard-ssd azure/standard-hdd vultr/hdd-block vultr/nvme-block digitalocean/volume digitalocean/volume@2018 oci/block-volume akamai/nvme-block hetzner/volume nutanix/ahv-4node hdd/7200rpm custom"
complete -c fathom -n "__fish_fathom_using_subcommand options" -a "allow_file_create allow_mounted_write apptag apptag_mask arguments atomic ba block_error_percentiles bs bs_is_seq_rand bs_unaligned bsrange bssplit buffer_compress_chunk buffer_compress_percentage buffer_pattern buffered bwavgtime cgroup cgroup_nodelete cgroup_weight clat_percentiles cmd_type cmdprio cmdprio_bssplit cmdprio_class cmdprio_hint cmdprio_percentage continue_on_error cpuchunks cpuload cpumask cpumode cpus_allowed cpus_allowed_policy create_fsync create_on_open create_only dataplacement deac dedupe_global dedupe_mode dedupe_percentage dedupe_working_set_percentage description direct directory disable_bw_measurement disable_clat disable_lat disable_slat disk_util do_verify donorname dp_scheme end_fsync end_syncfs error_dump exec_postrun exec_prerun exit_on_io_done exit_what exitall exitall_on_error fadvise_hint fallocate fdatasync fdp file_append file_service_type filename filename_format filesize fill_device fixedbufs flow flow_id flow_sleep force_async fsync fsync_on_close gid grace_time group_reporting gtod_reduce hipri hipri_percentage hostname http_host http_mode http_object_mode http_pass http_s3_key http_s3_keyid http_s3_region http_s3_security_token http_s3_sse_customer_algorithm http_s3_sse_customer_key http_s3_storage_class http_swift_auth_token http_user http_verbose https hugepage-size ignore_error ignore_zone_limits inplace interface invalidate io_size io_submit_mode iodepth iodepth_batch iodepth_batch_complete_max iodepth_batch_complete_min iodepth_low ioengine iomem_align iopsavgtime ioscheduler job_max_open_zones job_start_clock_id kb_base lat_percentiles latency_percentile latency_run latency_target latency_window libaio_vectored listen lockfile lockmem log_alternate_epoch log_alternate_epoch_clock_id log_avg_msec log_compression_cpus log_hist_coarseness log_hist_msec log_issue_time log_offset log_prio log_store_compressed log_window_value loops max_latency max_open_zones md_per_io_size mem merge_blktrace_file merge_blktrace_iters merge_blktrace_scalars mss name new_group nice nodelay nonvectored norandommap nowait nrfiles num_range numa_cpu_nodes numa_mem_policy number_ios numjobs offset offset_align offset_increment opendir openfiles overwrite per_job_logs percentage_random percentile_list pi_act pi_chk pingpong plid_select plids port pre_read prio prioclass priohint program protocol ramp_size ramp_time random_distribution random_generator random_sequence_stride randrepeat randseed rank_hosts ranks rate rate_cycle rate_ignore_thinktime rate_iops rate_iops_min rate_min rate_process read_beyond_wp read_iolog read_mode readfua recover_zbd_write_error refill_buffers registerfiles replay replay_align replay_fit replay_for replay_loop replay_no_stall replay_redirect replay_scale replay_skip replay_speed replay_start replay_time_scale runtime rw rw_sequencer rwmixread rwmixwrite scramble_buffers serialize_overlap sg_write_mode significant_figures size slat_percentiles spr_cs spr_num_regions spr_op sprandom sqthread_poll sqthread_poll_cpu startdelay stat_type stats std_redirect steadystate steadystate_check_interval steadystate_duration steadystate_ramp_time stonewall stream_id sync sync_file_range thinkcycles thinktime thinktime_blocks thinktime_blocks_type thinktime_iotime thinktime_spin thp thread time_based trim_backlog trim_percentage trim_verify_zero ttl uid uncached unified_rw_reporting unit_base unlink unlink_each_loop uri verify verify_backlog verify_dump verify_fatal verify_format verify_header_seed verify_interval verify_mode verify_nonce verify_offset verify_only verify_pattern verify_pattern_interval verify_policy verify_state_load verify_state_save verify_write_sequence volume wait_for window_size write_bw_log write_hint write_hist_log write_iolog write_iops_log write_lat_log write_mode write_zone_remainder writefua zero_buffers zone_reset_frequency zone_reset_threshold zonecapacity zonemode zonerange zonesize zoneskip"
complete -c fathom -n "__fish_fathom_using_subcommand completions" -a "bash elvish fish powershell zsh fathom fathom-fleet"
complete -c fathom -n "__fish_fathom_using_subcommand man" -a "run sim sweep fio compare gate doctor capture explain trace plan catalog suite runs serve report options completions man fleet options.5"
