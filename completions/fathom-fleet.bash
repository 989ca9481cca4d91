_fathom__fleet() {
    local i cur prev opts cmd
    COMPREPLY=()
    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        cur="$2"
    else
        cur="${COMP_WORDS[COMP_CWORD]}"
    fi
    prev="$3"
    if [[ "${prev}" == "=" ]] ; then
        prev="${COMP_WORDS[COMP_CWORD-2]}"
    elif [[ "${COMP_WORDS[COMP_CWORD]}" == "=" ]] ; then
        cur=""
        prev="${COMP_WORDS[COMP_CWORD-1]}"
    fi
    cmd=""
    opts=""

    for i in "${COMP_WORDS[@]:0:COMP_CWORD}"
    do
        case "${cmd},${i}" in
            ",$1")
                cmd="fathom__fleet"
                ;;
            fathom__fleet,help)
                cmd="fathom__fleet__subcmd__help"
                ;;
            fathom__fleet,plan)
                cmd="fathom__fleet__subcmd__plan"
                ;;
            fathom__fleet,run)
                cmd="fathom__fleet__subcmd__run"
                ;;
            fathom__fleet,sim)
                cmd="fathom__fleet__subcmd__sim"
                ;;
            fathom__fleet,suite)
                cmd="fathom__fleet__subcmd__suite"
                ;;
            fathom__fleet,sweep)
                cmd="fathom__fleet__subcmd__sweep"
                ;;
            fathom__fleet__subcmd__help,help)
                cmd="fathom__fleet__subcmd__help__subcmd__help"
                ;;
            fathom__fleet__subcmd__help,plan)
                cmd="fathom__fleet__subcmd__help__subcmd__plan"
                ;;
            fathom__fleet__subcmd__help,run)
                cmd="fathom__fleet__subcmd__help__subcmd__run"
                ;;
            fathom__fleet__subcmd__help,sim)
                cmd="fathom__fleet__subcmd__help__subcmd__sim"
                ;;
            fathom__fleet__subcmd__help,suite)
                cmd="fathom__fleet__subcmd__help__subcmd__suite"
                ;;
            fathom__fleet__subcmd__help,sweep)
                cmd="fathom__fleet__subcmd__help__subcmd__sweep"
                ;;
            fathom__fleet__subcmd__help__subcmd__suite,list)
                cmd="fathom__fleet__subcmd__help__subcmd__suite__subcmd__list"
                ;;
            fathom__fleet__subcmd__help__subcmd__suite,run)
                cmd="fathom__fleet__subcmd__help__subcmd__suite__subcmd__run"
                ;;
            fathom__fleet__subcmd__help__subcmd__suite,show)
                cmd="fathom__fleet__subcmd__help__subcmd__suite__subcmd__show"
                ;;
            fathom__fleet__subcmd__suite,help)
                cmd="fathom__fleet__subcmd__suite__subcmd__help"
                ;;
            fathom__fleet__subcmd__suite,list)
                cmd="fathom__fleet__subcmd__suite__subcmd__list"
                ;;
            fathom__fleet__subcmd__suite,run)
                cmd="fathom__fleet__subcmd__suite__subcmd__run"
                ;;
            fathom__fleet__subcmd__suite,show)
                cmd="fathom__fleet__subcmd__suite__subcmd__show"
                ;;
            fathom__fleet__subcmd__suite__subcmd__help,help)
                cmd="fathom__fleet__subcmd__suite__subcmd__help__subcmd__help"
                ;;
            fathom__fleet__subcmd__suite__subcmd__help,list)
                cmd="fathom__fleet__subcmd__suite__subcmd__help__subcmd__list"
                ;;
            fathom__fleet__subcmd__suite__subcmd__help,run)
                cmd="fathom__fleet__subcmd__suite__subcmd__help__subcmd__run"
                ;;
            fathom__fleet__subcmd__suite__subcmd__help,show)
                cmd="fathom__fleet__subcmd__suite__subcmd__help__subcmd__show"
                ;;
            *)
                ;;
        esac
    done

    case "${cmd}" in
        fathom__fleet)
            opts="-h -V --records --rank-timeout --split --help --version run sweep sim plan suite help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 1 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --records)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rank-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --split)
                    COMPREPLY=($(compgen -W "size files offsets" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        fathom__fleet__subcmd__help)
            opts="run sweep sim plan suite help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        fathom__fleet__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        fathom__fleet__subcmd__help__subcmd__plan)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        fathom__fleet__subcmd__help__subcmd__run)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        fathom__fleet__subcmd__help__subcmd__sim)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        fathom__fleet__subcmd__help__subcmd__suite)
            opts="list show run"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        fathom__fleet__subcmd__help__subcmd__suite__subcmd__list)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        fathom__fleet__subcmd__help__subcmd__suite__subcmd__run)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        fathom__fleet__subcmd__help__subcmd__suite__subcmd__show)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        fathom__fleet__subcmd__help__subcmd__sweep)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        fathom__fleet__subcmd__plan)
            opts="-o -h --iops --throughput --bs --read --pattern --capacity --latency --p50 --p99 --p999 --machines --read-only --scratch --vcpus --machine --provider --region --budget --headroom --eur-usd --growth --workload --from --full --replay-loop --show-math --no-simulation --seed --format --output --records --rank-timeout --split --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --iops)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --throughput)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --read)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pattern)
                    COMPREPLY=($(compgen -W "random sequential" -- "${cur}"))
                    return 0
                    ;;
                --capacity)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --latency)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --p50)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --p99)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --p999)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --machines)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --vcpus)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --machine)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --provider)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --region)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --budget)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --headroom)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --eur-usd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --growth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --workload)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay-loop)
                    COMPREPLY=($(compgen -W "open closed" -- "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "text md csv json" -- "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --records)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rank-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --split)
                    COMPREPLY=($(compgen -W "size files offsets" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        fathom__fleet__subcmd__run)
            opts="-o -h --format --output --events --live --metrics --insecure --repeat --probe --section --show-jobs --dry-run --allow-destroy --allow-overwrite --seed --progress --grace --no-record --allow_file_create --allow_mounted_write --apptag --apptag_mask --arguments --atomic --ba --block_error_percentiles --bs --bs_is_seq_rand --bs_unaligned --bsrange --bssplit --buffer_compress_chunk --buffer_compress_percentage --buffer_pattern --buffered --bwavgtime --cgroup --cgroup_nodelete --cgroup_weight --clat_percentiles --cmd_type --cmdprio --cmdprio_bssplit --cmdprio_class --cmdprio_hint --cmdprio_percentage --continue_on_error --cpuchunks --cpuload --cpumask --cpumode --cpus_allowed --cpus_allowed_policy --create_fsync --create_on_open --create_only --dataplacement --deac --dedupe_global --dedupe_mode --dedupe_percentage --dedupe_working_set_percentage --description --direct --directory --disable_bw_measurement --disable_clat --disable_lat --disable_slat --disk_util --do_verify --donorname --dp_scheme --end_fsync --end_syncfs --error_dump --exec_postrun --exec_prerun --exit_on_io_done --exit_what --exitall --exitall_on_error --fadvise_hint --fallocate --fdatasync --fdp --file_append --file_service_type --filename --filename_format --filesize --fill_device --fixedbufs --flow --flow_id --flow_sleep --force_async --fsync --fsync_on_close --gid --grace_time --group_reporting --gtod_reduce --hipri --hipri_percentage --hostname --http_host --http_mode --http_object_mode --http_pass --http_s3_key --http_s3_keyid --http_s3_region --http_s3_security_token --http_s3_sse_customer_algorithm --http_s3_sse_customer_key --http_s3_storage_class --http_swift_auth_token --http_user --http_verbose --https --hugepage-size --ignore_error --ignore_zone_limits --inplace --interface --invalidate --io_size --io_submit_mode --iodepth --iodepth_batch --iodepth_batch_complete_max --iodepth_batch_complete_min --iodepth_low --ioengine --iomem_align --iopsavgtime --ioscheduler --job_max_open_zones --job_start_clock_id --kb_base --lat_percentiles --latency_percentile --latency_run --latency_target --latency_window --libaio_vectored --listen --lockfile --lockmem --log_alternate_epoch --log_alternate_epoch_clock_id --log_avg_msec --log_compression_cpus --log_hist_coarseness --log_hist_msec --log_issue_time --log_offset --log_prio --log_store_compressed --log_window_value --loops --max_latency --max_open_zones --md_per_io_size --mem --merge_blktrace_file --merge_blktrace_iters --merge_blktrace_scalars --mss --name --new_group --nice --nodelay --nonvectored --norandommap --nowait --nrfiles --num_range --numa_cpu_nodes --numa_mem_policy --number_ios --numjobs --offset --offset_align --offset_increment --opendir --openfiles --overwrite --per_job_logs --percentage_random --percentile_list --pi_act --pi_chk --pingpong --plid_select --plids --port --pre_read --prio --prioclass --priohint --program --protocol --ramp_size --ramp_time --random_distribution --random_generator --random_sequence_stride --randrepeat --randseed --rank_hosts --ranks --rate --rate_cycle --rate_ignore_thinktime --rate_iops --rate_iops_min --rate_min --rate_process --read_beyond_wp --read_iolog --read_mode --readfua --recover_zbd_write_error --refill_buffers --registerfiles --replay --replay_align --replay_fit --replay_for --replay_loop --replay_no_stall --replay_redirect --replay_scale --replay_skip --replay_speed --replay_start --replay_time_scale --runtime --rw --rw_sequencer --rwmixread --rwmixwrite --scramble_buffers --serialize_overlap --sg_write_mode --significant_figures --size --slat_percentiles --spr_cs --spr_num_regions --spr_op --sprandom --sqthread_poll --sqthread_poll_cpu --startdelay --stat_type --stats --std_redirect --steadystate --steadystate_check_interval --steadystate_duration --steadystate_ramp_time --stonewall --stream_id --sync --sync_file_range --thinkcycles --thinktime --thinktime_blocks --thinktime_blocks_type --thinktime_iotime --thinktime_spin --thp --thread --time_based --trim_backlog --trim_percentage --trim_verify_zero --ttl --uid --uncached --unified_rw_reporting --unit_base --unlink --unlink_each_loop --uri --verify --verify_backlog --verify_dump --verify_fatal --verify_format --verify_header_seed --verify_interval --verify_mode --verify_nonce --verify_offset --verify_only --verify_pattern --verify_pattern_interval --verify_policy --verify_state_load --verify_state_save --verify_write_sequence --wait_for --window_size --write_bw_log --write_hint --write_hist_log --write_iolog --write_iops_log --write_lat_log --write_mode --write_zone_remainder --writefua --zero_buffers --zone_reset_frequency --zone_reset_threshold --zonecapacity --zonemode --zonerange --zonesize --zoneskip --on --volume --records --rank-timeout --split --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --format)
                    COMPREPLY=($(compgen -W "text json fio fio-json fio-json+ fio-terse" -- "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --events)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --metrics)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --repeat)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --section)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow-destroy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow-overwrite)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "auto plain off" -- "${cur}"))
                    return 0
                    ;;
                --grace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow_file_create)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --allow_mounted_write)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --apptag)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --apptag_mask)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arguments)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --atomic)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --ba)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --block_error_percentiles)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --bs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bs_is_seq_rand)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --bs_unaligned)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --bsrange)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bssplit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --buffer_compress_chunk)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --buffer_compress_percentage)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --buffer_pattern)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --buffered)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --bwavgtime)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cgroup)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cgroup_nodelete)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --cgroup_weight)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --clat_percentiles)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --cmd_type)
                    COMPREPLY=($(compgen -W "nvme bsg" -- "${cur}"))
                    return 0
                    ;;
                --cmdprio)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cmdprio_bssplit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cmdprio_class)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cmdprio_hint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cmdprio_percentage)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --continue_on_error)
                    COMPREPLY=($(compgen -W "none read write io verify all 0 1" -- "${cur}"))
                    return 0
                    ;;
                --cpuchunks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cpuload)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cpumask)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cpumode)
                    COMPREPLY=($(compgen -W "noop qsort" -- "${cur}"))
                    return 0
                    ;;
                --cpus_allowed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cpus_allowed_policy)
                    COMPREPLY=($(compgen -W "shared split" -- "${cur}"))
                    return 0
                    ;;
                --create_fsync)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --create_on_open)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --create_only)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --dataplacement)
                    COMPREPLY=($(compgen -W "none fdp streams" -- "${cur}"))
                    return 0
                    ;;
                --deac)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --dedupe_global)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --dedupe_mode)
                    COMPREPLY=($(compgen -W "repeat working_set" -- "${cur}"))
                    return 0
                    ;;
                --dedupe_percentage)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dedupe_working_set_percentage)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --description)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --direct)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --directory)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --disable_bw_measurement)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --disable_clat)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --disable_lat)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --disable_slat)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --disk_util)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --do_verify)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --donorname)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dp_scheme)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --end_fsync)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --end_syncfs)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --error_dump)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --exec_postrun)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exec_prerun)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exit_on_io_done)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --exit_what)
                    COMPREPLY=($(compgen -W "group stonewall all" -- "${cur}"))
                    return 0
                    ;;
                --exitall)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --exitall_on_error)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --fadvise_hint)
                    COMPREPLY=($(compgen -W "0 1 random sequential noreuse" -- "${cur}"))
                    return 0
                    ;;
                --fallocate)
                    COMPREPLY=($(compgen -W "none native posix keep truncate 0 1" -- "${cur}"))
                    return 0
                    ;;
                --fdatasync)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fdp)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --file_append)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --file_service_type)
                    COMPREPLY=($(compgen -W "random zipf pareto normal gauss roundrobin sequential" -- "${cur}"))
                    return 0
                    ;;
                --filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --filename_format)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --filesize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fill_device)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --fixedbufs)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --flow)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --flow_id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --flow_sleep)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --force_async)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fsync)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fsync_on_close)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --gid)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --grace_time)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --group_reporting)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --gtod_reduce)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --hipri)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --hipri_percentage)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hostname)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_host)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_mode)
                    COMPREPLY=($(compgen -W "webdav s3 swift" -- "${cur}"))
                    return 0
                    ;;
                --http_object_mode)
                    COMPREPLY=($(compgen -W "block range" -- "${cur}"))
                    return 0
                    ;;
                --http_pass)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_s3_key)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_s3_keyid)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_s3_region)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_s3_security_token)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_s3_sse_customer_algorithm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_s3_sse_customer_key)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_s3_storage_class)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_swift_auth_token)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_user)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_verbose)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --https)
                    COMPREPLY=($(compgen -W "off on insecure" -- "${cur}"))
                    return 0
                    ;;
                --hugepage-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ignore_error)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ignore_zone_limits)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --inplace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --interface)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --invalidate)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --io_size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --io_submit_mode)
                    COMPREPLY=($(compgen -W "inline offload" -- "${cur}"))
                    return 0
                    ;;
                --iodepth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --iodepth_batch)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --iodepth_batch_complete_max)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --iodepth_batch_complete_min)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --iodepth_low)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ioengine)
                    COMPREPLY=($(compgen -W "io_uring io_uring_cmd libaio psync sync vsync pvsync pvsync2 posixaio mmap splice filecreate filestat filedelete dircreate dirstat dirdelete ftruncate falloc e4defrag sg nbd net netsplice http cpuio exec null model" -- "${cur}"))
                    return 0
                    ;;
                --iomem_align)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --iopsavgtime)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ioscheduler)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --job_max_open_zones)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --job_start_clock_id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kb_base)
                    COMPREPLY=($(compgen -W "1024 1000" -- "${cur}"))
                    return 0
                    ;;
                --lat_percentiles)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --latency_percentile)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --latency_run)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --latency_target)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --latency_window)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --libaio_vectored)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --listen)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --lockfile)
                    COMPREPLY=($(compgen -W "none exclusive readwrite" -- "${cur}"))
                    return 0
                    ;;
                --lockmem)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_alternate_epoch)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --log_alternate_epoch_clock_id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_avg_msec)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_compression_cpus)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_hist_coarseness)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_hist_msec)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_issue_time)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --log_offset)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --log_prio)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --log_store_compressed)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --log_window_value)
                    COMPREPLY=($(compgen -W "avg max both 0 1" -- "${cur}"))
                    return 0
                    ;;
                --loops)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max_latency)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max_open_zones)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --md_per_io_size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --mem)
                    COMPREPLY=($(compgen -W "malloc shm shmhuge mmap mmapshared mmaphuge" -- "${cur}"))
                    return 0
                    ;;
                --merge_blktrace_file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --merge_blktrace_iters)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --merge_blktrace_scalars)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --mss)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --new_group)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --nice)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nodelay)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --nonvectored)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --norandommap)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --nowait)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --nrfiles)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --num_range)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --numa_cpu_nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --numa_mem_policy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --number_ios)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --numjobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --offset)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --offset_align)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --offset_increment)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --opendir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --openfiles)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --overwrite)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --per_job_logs)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --percentage_random)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --percentile_list)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pi_act)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --pi_chk)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pingpong)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --plid_select)
                    COMPREPLY=($(compgen -W "random roundrobin scheme" -- "${cur}"))
                    return 0
                    ;;
                --plids)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pre_read)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --prio)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prioclass)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --priohint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --program)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --protocol)
                    COMPREPLY=($(compgen -W "tcp tcpv6 udp udpv6 unix vsock" -- "${cur}"))
                    return 0
                    ;;
                --ramp_size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ramp_time)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --random_distribution)
                    COMPREPLY=($(compgen -W "random zipf pareto normal zoned zoned_abs sequence" -- "${cur}"))
                    return 0
                    ;;
                --random_generator)
                    COMPREPLY=($(compgen -W "tausworthe lfsr tausworthe64" -- "${cur}"))
                    return 0
                    ;;
                --random_sequence_stride)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --randrepeat)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --randseed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rank_hosts)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ranks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rate_cycle)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rate_ignore_thinktime)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --rate_iops)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rate_iops_min)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rate_min)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rate_process)
                    COMPREPLY=($(compgen -W "linear poisson" -- "${cur}"))
                    return 0
                    ;;
                --read_beyond_wp)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --read_iolog)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --read_mode)
                    COMPREPLY=($(compgen -W "read prefetch" -- "${cur}"))
                    return 0
                    ;;
                --readfua)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --recover_zbd_write_error)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --refill_buffers)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --registerfiles)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --replay)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_align)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_fit)
                    COMPREPLY=($(compgen -W "scale wrap fold" -- "${cur}"))
                    return 0
                    ;;
                --replay_for)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_loop)
                    COMPREPLY=($(compgen -W "open closed" -- "${cur}"))
                    return 0
                    ;;
                --replay_no_stall)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --replay_redirect)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_scale)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_skip)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_speed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_start)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_time_scale)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --runtime)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rw)
                    COMPREPLY=($(compgen -W "read write trim randread randwrite randtrim rw readwrite randrw trimwrite randtrimwrite" -- "${cur}"))
                    return 0
                    ;;
                --rw_sequencer)
                    COMPREPLY=($(compgen -W "sequential identical" -- "${cur}"))
                    return 0
                    ;;
                --rwmixread)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rwmixwrite)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --scramble_buffers)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --serialize_overlap)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --sg_write_mode)
                    COMPREPLY=($(compgen -W "write write_and_verify verify write_same same write_same_ndob verify_bytchk_00 verify_bytchk_01 verify_bytchk_11 write_stream" -- "${cur}"))
                    return 0
                    ;;
                --significant_figures)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --slat_percentiles)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --spr_cs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --spr_num_regions)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --spr_op)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --sprandom)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --sqthread_poll)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --sqthread_poll_cpu)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --startdelay)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --stat_type)
                    COMPREPLY=($(compgen -W "stat lstat statx" -- "${cur}"))
                    return 0
                    ;;
                --stats)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --std_redirect)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --steadystate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --steadystate_check_interval)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --steadystate_duration)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --steadystate_ramp_time)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --stonewall)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --stream_id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --sync)
                    COMPREPLY=($(compgen -W "none 0 sync 1 dsync" -- "${cur}"))
                    return 0
                    ;;
                --sync_file_range)
                    COMPREPLY=($(compgen -W "wait_before write wait_after" -- "${cur}"))
                    return 0
                    ;;
                --thinkcycles)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --thinktime)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --thinktime_blocks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --thinktime_blocks_type)
                    COMPREPLY=($(compgen -W "complete issue" -- "${cur}"))
                    return 0
                    ;;
                --thinktime_iotime)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --thinktime_spin)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --thp)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --thread)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --time_based)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --trim_backlog)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --trim_percentage)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --trim_verify_zero)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --ttl)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --uid)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --uncached)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --unified_rw_reporting)
                    COMPREPLY=($(compgen -W "none mixed both 0 1 2" -- "${cur}"))
                    return 0
                    ;;
                --unit_base)
                    COMPREPLY=($(compgen -W "0 8 1" -- "${cur}"))
                    return 0
                    ;;
                --unlink)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --unlink_each_loop)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --uri)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify)
                    COMPREPLY=($(compgen -W "0 md5 crc64 crc32 crc32c-intel crc32c crc16 crc7 sha1 sha256 sha512 sha3-224 sha3-256 sha3-384 sha3-512 xxhash meta pattern pattern_hdr null" -- "${cur}"))
                    return 0
                    ;;
                --verify_backlog)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_dump)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --verify_fatal)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --verify_format)
                    COMPREPLY=($(compgen -W "fathom fio" -- "${cur}"))
                    return 0
                    ;;
                --verify_header_seed)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --verify_interval)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_mode)
                    COMPREPLY=($(compgen -W "read compare" -- "${cur}"))
                    return 0
                    ;;
                --verify_nonce)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_offset)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_only)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --verify_pattern)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_pattern_interval)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_policy)
                    COMPREPLY=($(compgen -W "completed fsynced" -- "${cur}"))
                    return 0
                    ;;
                --verify_state_load)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --verify_state_save)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --verify_write_sequence)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --wait_for)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --window_size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_bw_log)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_hint)
                    COMPREPLY=($(compgen -W "none short medium long extreme" -- "${cur}"))
                    return 0
                    ;;
                --write_hist_log)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_iolog)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_iops_log)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_lat_log)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_mode)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_zone_remainder)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --writefua)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --zero_buffers)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --zone_reset_frequency)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --zone_reset_threshold)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --zonecapacity)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --zonemode)
                    COMPREPLY=($(compgen -W "none strided zbd" -- "${cur}"))
                    return 0
                    ;;
                --zonerange)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --zonesize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --zoneskip)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --on)
                    COMPREPLY=($(compgen -W "gcp/pd-standard gcp/pd-standard-regional gcp/pd-balanced gcp/pd-balanced-regional gcp/pd-ssd gcp/pd-ssd-regional gcp/pd-extreme gcp/hyperdisk-balanced gcp/hyperdisk-balanced-high-availability gcp/hyperdisk-balanced-high-availability@2026-03 gcp/hyperdisk-extreme gcp/hyperdisk-ml gcp/hyperdisk-ml@2026-03 gcp/hyperdisk-throughput gcp/local-ssd-nvme gcp/titanium-ssd-c4n gcp/titanium-ssd-z3 gcp/pd-standard@2019 gcp/pd-standard-regional@2019 gcp/pd-ssd@2019 gcp/pd-ssd-regional@2019 gcp/local-ssd-scsi@2019 gcp/local-ssd-nvme@2019 aws/gp3 aws/gp3@2023 aws/gp2 aws/io1 aws/io2 aws/io2@2023 aws/st1 aws/sc1 aws/standard azure/premium-ssd azure/premium-ssd-v2 azure/ultra azure/standard-ssd azure/standard-hdd vultr/hdd-block vultr/nvme-block digitalocean/volume digitalocean/volume@2018 oci/block-volume akamai/nvme-block hetzner/volume nutanix/ahv-4node hdd/7200rpm custom" -- "${cur}"))
                    return 0
                    ;;
                --volume)
                    COMPREPLY=($(compgen -W "gcp/pd-standard gcp/pd-standard-regional gcp/pd-balanced gcp/pd-balanced-regional gcp/pd-ssd gcp/pd-ssd-regional gcp/pd-extreme gcp/hyperdisk-balanced gcp/hyperdisk-balanced-high-availability gcp/hyperdisk-balanced-high-availability@2026-03 gcp/hyperdisk-extreme gcp/hyperdisk-ml gcp/hyperdisk-ml@2026-03 gcp/hyperdisk-throughput gcp/local-ssd-nvme gcp/titanium-ssd-c4n gcp/titanium-ssd-z3 gcp/pd-standard@2019 gcp/pd-standard-regional@2019 gcp/pd-ssd@2019 gcp/pd-ssd-regional@2019 gcp/local-ssd-scsi@2019 gcp/local-ssd-nvme@2019 aws/gp3 aws/gp3@2023 aws/gp2 aws/io1 aws/io2 aws/io2@2023 aws/st1 aws/sc1 aws/standard azure/premium-ssd azure/premium-ssd-v2 azure/ultra azure/standard-ssd azure/standard-hdd vultr/hdd-block vultr/nvme-block digitalocean/volume digitalocean/volume@2018 oci/block-volume akamai/nvme-block hetzner/volume nutanix/ahv-4node hdd/7200rpm custom" -- "${cur}"))
                    return 0
                    ;;
                --records)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rank-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --split)
                    COMPREPLY=($(compgen -W "size files offsets" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        fathom__fleet__subcmd__sim)
            opts="-o -h --format --output --events --live --metrics --insecure --repeat --probe --section --show-jobs --dry-run --allow-destroy --allow-overwrite --seed --progress --grace --no-record --hosts --split --vary --shard --allow_file_create --allow_mounted_write --apptag --apptag_mask --arguments --atomic --ba --block_error_percentiles --bs --bs_is_seq_rand --bs_unaligned --bsrange --bssplit --buffer_compress_chunk --buffer_compress_percentage --buffer_pattern --buffered --bwavgtime --cgroup --cgroup_nodelete --cgroup_weight --clat_percentiles --cmd_type --cmdprio --cmdprio_bssplit --cmdprio_class --cmdprio_hint --cmdprio_percentage --continue_on_error --cpuchunks --cpuload --cpumask --cpumode --cpus_allowed --cpus_allowed_policy --create_fsync --create_on_open --create_only --dataplacement --deac --dedupe_global --dedupe_mode --dedupe_percentage --dedupe_working_set_percentage --description --direct --directory --disable_bw_measurement --disable_clat --disable_lat --disable_slat --disk_util --do_verify --donorname --dp_scheme --end_fsync --end_syncfs --error_dump --exec_postrun --exec_prerun --exit_on_io_done --exit_what --exitall --exitall_on_error --fadvise_hint --fallocate --fdatasync --fdp --file_append --file_service_type --filename --filename_format --filesize --fill_device --fixedbufs --flow --flow_id --flow_sleep --force_async --fsync --fsync_on_close --gid --grace_time --group_reporting --gtod_reduce --hipri --hipri_percentage --hostname --http_host --http_mode --http_object_mode --http_pass --http_s3_key --http_s3_keyid --http_s3_region --http_s3_security_token --http_s3_sse_customer_algorithm --http_s3_sse_customer_key --http_s3_storage_class --http_swift_auth_token --http_user --http_verbose --https --hugepage-size --ignore_error --ignore_zone_limits --inplace --interface --invalidate --io_size --io_submit_mode --iodepth --iodepth_batch --iodepth_batch_complete_max --iodepth_batch_complete_min --iodepth_low --ioengine --iomem_align --iopsavgtime --ioscheduler --job_max_open_zones --job_start_clock_id --kb_base --lat_percentiles --latency_percentile --latency_run --latency_target --latency_window --libaio_vectored --listen --lockfile --lockmem --log_alternate_epoch --log_alternate_epoch_clock_id --log_avg_msec --log_compression_cpus --log_hist_coarseness --log_hist_msec --log_issue_time --log_offset --log_prio --log_store_compressed --log_window_value --loops --max_latency --max_open_zones --md_per_io_size --mem --merge_blktrace_file --merge_blktrace_iters --merge_blktrace_scalars --mss --name --new_group --nice --nodelay --nonvectored --norandommap --nowait --nrfiles --num_range --numa_cpu_nodes --numa_mem_policy --number_ios --numjobs --offset --offset_align --offset_increment --opendir --openfiles --overwrite --per_job_logs --percentage_random --percentile_list --pi_act --pi_chk --pingpong --plid_select --plids --port --pre_read --prio --prioclass --priohint --program --protocol --ramp_size --ramp_time --random_distribution --random_generator --random_sequence_stride --randrepeat --randseed --rank_hosts --ranks --rate --rate_cycle --rate_ignore_thinktime --rate_iops --rate_iops_min --rate_min --rate_process --read_beyond_wp --read_iolog --read_mode --readfua --recover_zbd_write_error --refill_buffers --registerfiles --replay --replay_align --replay_fit --replay_for --replay_loop --replay_no_stall --replay_redirect --replay_scale --replay_skip --replay_speed --replay_start --replay_time_scale --runtime --rw --rw_sequencer --rwmixread --rwmixwrite --scramble_buffers --serialize_overlap --sg_write_mode --significant_figures --size --slat_percentiles --spr_cs --spr_num_regions --spr_op --sprandom --sqthread_poll --sqthread_poll_cpu --startdelay --stat_type --stats --std_redirect --steadystate --steadystate_check_interval --steadystate_duration --steadystate_ramp_time --stonewall --stream_id --sync --sync_file_range --thinkcycles --thinktime --thinktime_blocks --thinktime_blocks_type --thinktime_iotime --thinktime_spin --thp --thread --time_based --trim_backlog --trim_percentage --trim_verify_zero --ttl --uid --uncached --unified_rw_reporting --unit_base --unlink --unlink_each_loop --uri --verify --verify_backlog --verify_dump --verify_fatal --verify_format --verify_header_seed --verify_interval --verify_mode --verify_nonce --verify_offset --verify_only --verify_pattern --verify_pattern_interval --verify_policy --verify_state_load --verify_state_save --verify_write_sequence --wait_for --window_size --write_bw_log --write_hint --write_hist_log --write_iolog --write_iops_log --write_lat_log --write_mode --write_zone_remainder --writefua --zero_buffers --zone_reset_frequency --zone_reset_threshold --zonecapacity --zonemode --zonerange --zonesize --zoneskip --on --volume --records --rank-timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --format)
                    COMPREPLY=($(compgen -W "text json fio fio-json fio-json+ fio-terse" -- "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --events)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --metrics)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --repeat)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --section)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow-destroy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow-overwrite)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "auto plain off" -- "${cur}"))
                    return 0
                    ;;
                --grace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hosts)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --split)
                    COMPREPLY=($(compgen -W "size files offsets" -- "${cur}"))
                    return 0
                    ;;
                --vary)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --shard)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow_file_create)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --allow_mounted_write)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --apptag)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --apptag_mask)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arguments)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --atomic)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --ba)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --block_error_percentiles)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --bs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bs_is_seq_rand)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --bs_unaligned)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --bsrange)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bssplit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --buffer_compress_chunk)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --buffer_compress_percentage)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --buffer_pattern)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --buffered)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --bwavgtime)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cgroup)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cgroup_nodelete)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --cgroup_weight)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --clat_percentiles)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --cmd_type)
                    COMPREPLY=($(compgen -W "nvme bsg" -- "${cur}"))
                    return 0
                    ;;
                --cmdprio)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cmdprio_bssplit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cmdprio_class)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cmdprio_hint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cmdprio_percentage)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --continue_on_error)
                    COMPREPLY=($(compgen -W "none read write io verify all 0 1" -- "${cur}"))
                    return 0
                    ;;
                --cpuchunks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cpuload)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cpumask)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cpumode)
                    COMPREPLY=($(compgen -W "noop qsort" -- "${cur}"))
                    return 0
                    ;;
                --cpus_allowed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cpus_allowed_policy)
                    COMPREPLY=($(compgen -W "shared split" -- "${cur}"))
                    return 0
                    ;;
                --create_fsync)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --create_on_open)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --create_only)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --dataplacement)
                    COMPREPLY=($(compgen -W "none fdp streams" -- "${cur}"))
                    return 0
                    ;;
                --deac)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --dedupe_global)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --dedupe_mode)
                    COMPREPLY=($(compgen -W "repeat working_set" -- "${cur}"))
                    return 0
                    ;;
                --dedupe_percentage)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dedupe_working_set_percentage)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --description)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --direct)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --directory)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --disable_bw_measurement)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --disable_clat)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --disable_lat)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --disable_slat)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --disk_util)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --do_verify)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --donorname)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dp_scheme)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --end_fsync)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --end_syncfs)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --error_dump)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --exec_postrun)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exec_prerun)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exit_on_io_done)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --exit_what)
                    COMPREPLY=($(compgen -W "group stonewall all" -- "${cur}"))
                    return 0
                    ;;
                --exitall)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --exitall_on_error)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --fadvise_hint)
                    COMPREPLY=($(compgen -W "0 1 random sequential noreuse" -- "${cur}"))
                    return 0
                    ;;
                --fallocate)
                    COMPREPLY=($(compgen -W "none native posix keep truncate 0 1" -- "${cur}"))
                    return 0
                    ;;
                --fdatasync)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fdp)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --file_append)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --file_service_type)
                    COMPREPLY=($(compgen -W "random zipf pareto normal gauss roundrobin sequential" -- "${cur}"))
                    return 0
                    ;;
                --filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --filename_format)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --filesize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fill_device)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --fixedbufs)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --flow)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --flow_id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --flow_sleep)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --force_async)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fsync)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fsync_on_close)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --gid)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --grace_time)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --group_reporting)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --gtod_reduce)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --hipri)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --hipri_percentage)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hostname)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_host)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_mode)
                    COMPREPLY=($(compgen -W "webdav s3 swift" -- "${cur}"))
                    return 0
                    ;;
                --http_object_mode)
                    COMPREPLY=($(compgen -W "block range" -- "${cur}"))
                    return 0
                    ;;
                --http_pass)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_s3_key)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_s3_keyid)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_s3_region)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_s3_security_token)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_s3_sse_customer_algorithm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_s3_sse_customer_key)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_s3_storage_class)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_swift_auth_token)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_user)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_verbose)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --https)
                    COMPREPLY=($(compgen -W "off on insecure" -- "${cur}"))
                    return 0
                    ;;
                --hugepage-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ignore_error)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ignore_zone_limits)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --inplace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --interface)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --invalidate)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --io_size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --io_submit_mode)
                    COMPREPLY=($(compgen -W "inline offload" -- "${cur}"))
                    return 0
                    ;;
                --iodepth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --iodepth_batch)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --iodepth_batch_complete_max)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --iodepth_batch_complete_min)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --iodepth_low)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ioengine)
                    COMPREPLY=($(compgen -W "io_uring io_uring_cmd libaio psync sync vsync pvsync pvsync2 posixaio mmap splice filecreate filestat filedelete dircreate dirstat dirdelete ftruncate falloc e4defrag sg nbd net netsplice http cpuio exec null model" -- "${cur}"))
                    return 0
                    ;;
                --iomem_align)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --iopsavgtime)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ioscheduler)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --job_max_open_zones)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --job_start_clock_id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kb_base)
                    COMPREPLY=($(compgen -W "1024 1000" -- "${cur}"))
                    return 0
                    ;;
                --lat_percentiles)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --latency_percentile)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --latency_run)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --latency_target)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --latency_window)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --libaio_vectored)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --listen)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --lockfile)
                    COMPREPLY=($(compgen -W "none exclusive readwrite" -- "${cur}"))
                    return 0
                    ;;
                --lockmem)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_alternate_epoch)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --log_alternate_epoch_clock_id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_avg_msec)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_compression_cpus)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_hist_coarseness)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_hist_msec)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_issue_time)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --log_offset)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --log_prio)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --log_store_compressed)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --log_window_value)
                    COMPREPLY=($(compgen -W "avg max both 0 1" -- "${cur}"))
                    return 0
                    ;;
                --loops)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max_latency)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max_open_zones)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --md_per_io_size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --mem)
                    COMPREPLY=($(compgen -W "malloc shm shmhuge mmap mmapshared mmaphuge" -- "${cur}"))
                    return 0
                    ;;
                --merge_blktrace_file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --merge_blktrace_iters)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --merge_blktrace_scalars)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --mss)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --new_group)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --nice)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nodelay)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --nonvectored)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --norandommap)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --nowait)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --nrfiles)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --num_range)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --numa_cpu_nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --numa_mem_policy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --number_ios)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --numjobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --offset)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --offset_align)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --offset_increment)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --opendir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --openfiles)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --overwrite)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --per_job_logs)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --percentage_random)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --percentile_list)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pi_act)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --pi_chk)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pingpong)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --plid_select)
                    COMPREPLY=($(compgen -W "random roundrobin scheme" -- "${cur}"))
                    return 0
                    ;;
                --plids)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pre_read)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --prio)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prioclass)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --priohint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --program)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --protocol)
                    COMPREPLY=($(compgen -W "tcp tcpv6 udp udpv6 unix vsock" -- "${cur}"))
                    return 0
                    ;;
                --ramp_size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ramp_time)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --random_distribution)
                    COMPREPLY=($(compgen -W "random zipf pareto normal zoned zoned_abs sequence" -- "${cur}"))
                    return 0
                    ;;
                --random_generator)
                    COMPREPLY=($(compgen -W "tausworthe lfsr tausworthe64" -- "${cur}"))
                    return 0
                    ;;
                --random_sequence_stride)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --randrepeat)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --randseed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rank_hosts)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ranks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rate_cycle)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rate_ignore_thinktime)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --rate_iops)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rate_iops_min)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rate_min)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rate_process)
                    COMPREPLY=($(compgen -W "linear poisson" -- "${cur}"))
                    return 0
                    ;;
                --read_beyond_wp)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --read_iolog)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --read_mode)
                    COMPREPLY=($(compgen -W "read prefetch" -- "${cur}"))
                    return 0
                    ;;
                --readfua)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --recover_zbd_write_error)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --refill_buffers)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --registerfiles)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --replay)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_align)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_fit)
                    COMPREPLY=($(compgen -W "scale wrap fold" -- "${cur}"))
                    return 0
                    ;;
                --replay_for)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_loop)
                    COMPREPLY=($(compgen -W "open closed" -- "${cur}"))
                    return 0
                    ;;
                --replay_no_stall)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --replay_redirect)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_scale)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_skip)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_speed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_start)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_time_scale)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --runtime)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rw)
                    COMPREPLY=($(compgen -W "read write trim randread randwrite randtrim rw readwrite randrw trimwrite randtrimwrite" -- "${cur}"))
                    return 0
                    ;;
                --rw_sequencer)
                    COMPREPLY=($(compgen -W "sequential identical" -- "${cur}"))
                    return 0
                    ;;
                --rwmixread)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rwmixwrite)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --scramble_buffers)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --serialize_overlap)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --sg_write_mode)
                    COMPREPLY=($(compgen -W "write write_and_verify verify write_same same write_same_ndob verify_bytchk_00 verify_bytchk_01 verify_bytchk_11 write_stream" -- "${cur}"))
                    return 0
                    ;;
                --significant_figures)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --slat_percentiles)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --spr_cs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --spr_num_regions)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --spr_op)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --sprandom)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --sqthread_poll)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --sqthread_poll_cpu)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --startdelay)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --stat_type)
                    COMPREPLY=($(compgen -W "stat lstat statx" -- "${cur}"))
                    return 0
                    ;;
                --stats)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --std_redirect)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --steadystate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --steadystate_check_interval)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --steadystate_duration)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --steadystate_ramp_time)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --stonewall)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --stream_id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --sync)
                    COMPREPLY=($(compgen -W "none 0 sync 1 dsync" -- "${cur}"))
                    return 0
                    ;;
                --sync_file_range)
                    COMPREPLY=($(compgen -W "wait_before write wait_after" -- "${cur}"))
                    return 0
                    ;;
                --thinkcycles)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --thinktime)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --thinktime_blocks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --thinktime_blocks_type)
                    COMPREPLY=($(compgen -W "complete issue" -- "${cur}"))
                    return 0
                    ;;
                --thinktime_iotime)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --thinktime_spin)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --thp)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --thread)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --time_based)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --trim_backlog)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --trim_percentage)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --trim_verify_zero)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --ttl)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --uid)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --uncached)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --unified_rw_reporting)
                    COMPREPLY=($(compgen -W "none mixed both 0 1 2" -- "${cur}"))
                    return 0
                    ;;
                --unit_base)
                    COMPREPLY=($(compgen -W "0 8 1" -- "${cur}"))
                    return 0
                    ;;
                --unlink)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --unlink_each_loop)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --uri)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify)
                    COMPREPLY=($(compgen -W "0 md5 crc64 crc32 crc32c-intel crc32c crc16 crc7 sha1 sha256 sha512 sha3-224 sha3-256 sha3-384 sha3-512 xxhash meta pattern pattern_hdr null" -- "${cur}"))
                    return 0
                    ;;
                --verify_backlog)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_dump)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --verify_fatal)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --verify_format)
                    COMPREPLY=($(compgen -W "fathom fio" -- "${cur}"))
                    return 0
                    ;;
                --verify_header_seed)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --verify_interval)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_mode)
                    COMPREPLY=($(compgen -W "read compare" -- "${cur}"))
                    return 0
                    ;;
                --verify_nonce)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_offset)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_only)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --verify_pattern)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_pattern_interval)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_policy)
                    COMPREPLY=($(compgen -W "completed fsynced" -- "${cur}"))
                    return 0
                    ;;
                --verify_state_load)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --verify_state_save)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --verify_write_sequence)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --wait_for)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --window_size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_bw_log)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_hint)
                    COMPREPLY=($(compgen -W "none short medium long extreme" -- "${cur}"))
                    return 0
                    ;;
                --write_hist_log)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_iolog)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_iops_log)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_lat_log)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_mode)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_zone_remainder)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --writefua)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --zero_buffers)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --zone_reset_frequency)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --zone_reset_threshold)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --zonecapacity)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --zonemode)
                    COMPREPLY=($(compgen -W "none strided zbd" -- "${cur}"))
                    return 0
                    ;;
                --zonerange)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --zonesize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --zoneskip)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --on)
                    COMPREPLY=($(compgen -W "gcp/pd-standard gcp/pd-standard-regional gcp/pd-balanced gcp/pd-balanced-regional gcp/pd-ssd gcp/pd-ssd-regional gcp/pd-extreme gcp/hyperdisk-balanced gcp/hyperdisk-balanced-high-availability gcp/hyperdisk-balanced-high-availability@2026-03 gcp/hyperdisk-extreme gcp/hyperdisk-ml gcp/hyperdisk-ml@2026-03 gcp/hyperdisk-throughput gcp/local-ssd-nvme gcp/titanium-ssd-c4n gcp/titanium-ssd-z3 gcp/pd-standard@2019 gcp/pd-standard-regional@2019 gcp/pd-ssd@2019 gcp/pd-ssd-regional@2019 gcp/local-ssd-scsi@2019 gcp/local-ssd-nvme@2019 aws/gp3 aws/gp3@2023 aws/gp2 aws/io1 aws/io2 aws/io2@2023 aws/st1 aws/sc1 aws/standard azure/premium-ssd azure/premium-ssd-v2 azure/ultra azure/standard-ssd azure/standard-hdd vultr/hdd-block vultr/nvme-block digitalocean/volume digitalocean/volume@2018 oci/block-volume akamai/nvme-block hetzner/volume nutanix/ahv-4node hdd/7200rpm custom" -- "${cur}"))
                    return 0
                    ;;
                --volume)
                    COMPREPLY=($(compgen -W "gcp/pd-standard gcp/pd-standard-regional gcp/pd-balanced gcp/pd-balanced-regional gcp/pd-ssd gcp/pd-ssd-regional gcp/pd-extreme gcp/hyperdisk-balanced gcp/hyperdisk-balanced-high-availability gcp/hyperdisk-balanced-high-availability@2026-03 gcp/hyperdisk-extreme gcp/hyperdisk-ml gcp/hyperdisk-ml@2026-03 gcp/hyperdisk-throughput gcp/local-ssd-nvme gcp/titanium-ssd-c4n gcp/titanium-ssd-z3 gcp/pd-standard@2019 gcp/pd-standard-regional@2019 gcp/pd-ssd@2019 gcp/pd-ssd-regional@2019 gcp/local-ssd-scsi@2019 gcp/local-ssd-nvme@2019 aws/gp3 aws/gp3@2023 aws/gp2 aws/io1 aws/io2 aws/io2@2023 aws/st1 aws/sc1 aws/standard azure/premium-ssd azure/premium-ssd-v2 azure/ultra azure/standard-ssd azure/standard-hdd vultr/hdd-block vultr/nvme-block digitalocean/volume digitalocean/volume@2018 oci/block-volume akamai/nvme-block hetzner/volume nutanix/ahv-4node hdd/7200rpm custom" -- "${cur}"))
                    return 0
                    ;;
                --records)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rank-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        fathom__fleet__subcmd__suite)
            opts="-h --records --rank-timeout --split --help list show run help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --records)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rank-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --split)
                    COMPREPLY=($(compgen -W "size files offsets" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        fathom__fleet__subcmd__suite__subcmd__help)
            opts="list show run help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        fathom__fleet__subcmd__suite__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        fathom__fleet__subcmd__suite__subcmd__help__subcmd__list)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        fathom__fleet__subcmd__suite__subcmd__help__subcmd__run)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        fathom__fleet__subcmd__suite__subcmd__help__subcmd__show)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        fathom__fleet__subcmd__suite__subcmd__list)
            opts="-h --format --records --rank-timeout --split --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --format)
                    COMPREPLY=($(compgen -W "text json md" -- "${cur}"))
                    return 0
                    ;;
                --records)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rank-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --split)
                    COMPREPLY=($(compgen -W "size files offsets" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        fathom__fleet__subcmd__suite__subcmd__run)
            opts="-o -h --target --size --scale --state --restart --format --output --metrics --insecure --dry-run --allow-destroy --allow-overwrite --seed --progress --grace --no-record --on --records --rank-timeout --split --help gcp-pd gcp-local-ssd hyperdisk vultr nutanix-2m snia-iops ai-training ai-inference"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --target)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --scale)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --state)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "text json md" -- "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --metrics)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow-destroy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow-overwrite)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "auto plain off" -- "${cur}"))
                    return 0
                    ;;
                --grace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --on)
                    COMPREPLY=($(compgen -W "gcp/pd-standard gcp/pd-standard-regional gcp/pd-balanced gcp/pd-balanced-regional gcp/pd-ssd gcp/pd-ssd-regional gcp/pd-extreme gcp/hyperdisk-balanced gcp/hyperdisk-balanced-high-availability gcp/hyperdisk-balanced-high-availability@2026-03 gcp/hyperdisk-extreme gcp/hyperdisk-ml gcp/hyperdisk-ml@2026-03 gcp/hyperdisk-throughput gcp/local-ssd-nvme gcp/titanium-ssd-c4n gcp/titanium-ssd-z3 gcp/pd-standard@2019 gcp/pd-standard-regional@2019 gcp/pd-ssd@2019 gcp/pd-ssd-regional@2019 gcp/local-ssd-scsi@2019 gcp/local-ssd-nvme@2019 aws/gp3 aws/gp3@2023 aws/gp2 aws/io1 aws/io2 aws/io2@2023 aws/st1 aws/sc1 aws/standard azure/premium-ssd azure/premium-ssd-v2 azure/ultra azure/standard-ssd azure/standard-hdd vultr/hdd-block vultr/nvme-block digitalocean/volume digitalocean/volume@2018 oci/block-volume akamai/nvme-block hetzner/volume nutanix/ahv-4node hdd/7200rpm custom" -- "${cur}"))
                    return 0
                    ;;
                --records)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rank-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --split)
                    COMPREPLY=($(compgen -W "size files offsets" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        fathom__fleet__subcmd__suite__subcmd__show)
            opts="-h --format --records --rank-timeout --split --help gcp-pd gcp-local-ssd hyperdisk vultr nutanix-2m snia-iops ai-training ai-inference"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --format)
                    COMPREPLY=($(compgen -W "text json md" -- "${cur}"))
                    return 0
                    ;;
                --records)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rank-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --split)
                    COMPREPLY=($(compgen -W "size files offsets" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        fathom__fleet__subcmd__sweep)
            opts="-o -h --depth-max --precision --time-limit --vary --shard --format --output --metrics --insecure --allow-destroy --allow-overwrite --seed --progress --grace --no-record --real-time --section --show-jobs --dry-run --allow_file_create --allow_mounted_write --apptag --apptag_mask --arguments --atomic --ba --block_error_percentiles --bs --bs_is_seq_rand --bs_unaligned --bsrange --bssplit --buffer_compress_chunk --buffer_compress_percentage --buffer_pattern --buffered --bwavgtime --cgroup --cgroup_nodelete --cgroup_weight --clat_percentiles --cmd_type --cmdprio --cmdprio_bssplit --cmdprio_class --cmdprio_hint --cmdprio_percentage --continue_on_error --cpuchunks --cpuload --cpumask --cpumode --cpus_allowed --cpus_allowed_policy --create_fsync --create_on_open --create_only --dataplacement --deac --dedupe_global --dedupe_mode --dedupe_percentage --dedupe_working_set_percentage --description --direct --directory --disable_bw_measurement --disable_clat --disable_lat --disable_slat --disk_util --do_verify --donorname --dp_scheme --end_fsync --end_syncfs --error_dump --exec_postrun --exec_prerun --exit_on_io_done --exit_what --exitall --exitall_on_error --fadvise_hint --fallocate --fdatasync --fdp --file_append --file_service_type --filename --filename_format --filesize --fill_device --fixedbufs --flow --flow_id --flow_sleep --force_async --fsync --fsync_on_close --gid --grace_time --group_reporting --gtod_reduce --hipri --hipri_percentage --hostname --http_host --http_mode --http_object_mode --http_pass --http_s3_key --http_s3_keyid --http_s3_region --http_s3_security_token --http_s3_sse_customer_algorithm --http_s3_sse_customer_key --http_s3_storage_class --http_swift_auth_token --http_user --http_verbose --https --hugepage-size --ignore_error --ignore_zone_limits --inplace --interface --invalidate --io_size --io_submit_mode --iodepth --iodepth_batch --iodepth_batch_complete_max --iodepth_batch_complete_min --iodepth_low --ioengine --iomem_align --iopsavgtime --ioscheduler --job_max_open_zones --job_start_clock_id --kb_base --lat_percentiles --latency_percentile --latency_run --latency_target --latency_window --libaio_vectored --listen --lockfile --lockmem --log_alternate_epoch --log_alternate_epoch_clock_id --log_avg_msec --log_compression_cpus --log_hist_coarseness --log_hist_msec --log_issue_time --log_offset --log_prio --log_store_compressed --log_window_value --loops --max_latency --max_open_zones --md_per_io_size --mem --merge_blktrace_file --merge_blktrace_iters --merge_blktrace_scalars --mss --name --new_group --nice --nodelay --nonvectored --norandommap --nowait --nrfiles --num_range --numa_cpu_nodes --numa_mem_policy --number_ios --numjobs --offset --offset_align --offset_increment --opendir --openfiles --overwrite --per_job_logs --percentage_random --percentile_list --pi_act --pi_chk --pingpong --plid_select --plids --port --pre_read --prio --prioclass --priohint --program --protocol --ramp_size --ramp_time --random_distribution --random_generator --random_sequence_stride --randrepeat --randseed --rank_hosts --ranks --rate --rate_cycle --rate_ignore_thinktime --rate_iops --rate_iops_min --rate_min --rate_process --read_beyond_wp --read_iolog --read_mode --readfua --recover_zbd_write_error --refill_buffers --registerfiles --replay --replay_align --replay_fit --replay_for --replay_loop --replay_no_stall --replay_redirect --replay_scale --replay_skip --replay_speed --replay_start --replay_time_scale --runtime --rw --rw_sequencer --rwmixread --rwmixwrite --scramble_buffers --serialize_overlap --sg_write_mode --significant_figures --size --slat_percentiles --spr_cs --spr_num_regions --spr_op --sprandom --sqthread_poll --sqthread_poll_cpu --startdelay --stat_type --stats --std_redirect --steadystate --steadystate_check_interval --steadystate_duration --steadystate_ramp_time --stonewall --stream_id --sync --sync_file_range --thinkcycles --thinktime --thinktime_blocks --thinktime_blocks_type --thinktime_iotime --thinktime_spin --thp --thread --time_based --trim_backlog --trim_percentage --trim_verify_zero --ttl --uid --uncached --unified_rw_reporting --unit_base --unlink --unlink_each_loop --uri --verify --verify_backlog --verify_dump --verify_fatal --verify_format --verify_header_seed --verify_interval --verify_mode --verify_nonce --verify_offset --verify_only --verify_pattern --verify_pattern_interval --verify_policy --verify_state_load --verify_state_save --verify_write_sequence --wait_for --window_size --write_bw_log --write_hint --write_hist_log --write_iolog --write_iops_log --write_lat_log --write_mode --write_zone_remainder --writefua --zero_buffers --zone_reset_frequency --zone_reset_threshold --zonecapacity --zonemode --zonerange --zonesize --zoneskip --on --volume --records --rank-timeout --split --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --depth-max)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --precision)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --time-limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --vary)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --shard)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --metrics)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow-destroy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow-overwrite)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "auto plain off" -- "${cur}"))
                    return 0
                    ;;
                --grace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --section)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow_file_create)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --allow_mounted_write)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --apptag)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --apptag_mask)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arguments)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --atomic)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --ba)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --block_error_percentiles)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --bs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bs_is_seq_rand)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --bs_unaligned)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --bsrange)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bssplit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --buffer_compress_chunk)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --buffer_compress_percentage)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --buffer_pattern)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --buffered)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --bwavgtime)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cgroup)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cgroup_nodelete)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --cgroup_weight)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --clat_percentiles)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --cmd_type)
                    COMPREPLY=($(compgen -W "nvme bsg" -- "${cur}"))
                    return 0
                    ;;
                --cmdprio)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cmdprio_bssplit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cmdprio_class)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cmdprio_hint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cmdprio_percentage)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --continue_on_error)
                    COMPREPLY=($(compgen -W "none read write io verify all 0 1" -- "${cur}"))
                    return 0
                    ;;
                --cpuchunks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cpuload)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cpumask)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cpumode)
                    COMPREPLY=($(compgen -W "noop qsort" -- "${cur}"))
                    return 0
                    ;;
                --cpus_allowed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cpus_allowed_policy)
                    COMPREPLY=($(compgen -W "shared split" -- "${cur}"))
                    return 0
                    ;;
                --create_fsync)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --create_on_open)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --create_only)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --dataplacement)
                    COMPREPLY=($(compgen -W "none fdp streams" -- "${cur}"))
                    return 0
                    ;;
                --deac)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --dedupe_global)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --dedupe_mode)
                    COMPREPLY=($(compgen -W "repeat working_set" -- "${cur}"))
                    return 0
                    ;;
                --dedupe_percentage)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dedupe_working_set_percentage)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --description)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --direct)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --directory)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --disable_bw_measurement)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --disable_clat)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --disable_lat)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --disable_slat)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --disk_util)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --do_verify)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --donorname)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dp_scheme)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --end_fsync)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --end_syncfs)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --error_dump)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --exec_postrun)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exec_prerun)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exit_on_io_done)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --exit_what)
                    COMPREPLY=($(compgen -W "group stonewall all" -- "${cur}"))
                    return 0
                    ;;
                --exitall)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --exitall_on_error)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --fadvise_hint)
                    COMPREPLY=($(compgen -W "0 1 random sequential noreuse" -- "${cur}"))
                    return 0
                    ;;
                --fallocate)
                    COMPREPLY=($(compgen -W "none native posix keep truncate 0 1" -- "${cur}"))
                    return 0
                    ;;
                --fdatasync)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fdp)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --file_append)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --file_service_type)
                    COMPREPLY=($(compgen -W "random zipf pareto normal gauss roundrobin sequential" -- "${cur}"))
                    return 0
                    ;;
                --filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --filename_format)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --filesize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fill_device)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --fixedbufs)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --flow)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --flow_id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --flow_sleep)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --force_async)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fsync)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fsync_on_close)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --gid)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --grace_time)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --group_reporting)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --gtod_reduce)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --hipri)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --hipri_percentage)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hostname)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_host)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_mode)
                    COMPREPLY=($(compgen -W "webdav s3 swift" -- "${cur}"))
                    return 0
                    ;;
                --http_object_mode)
                    COMPREPLY=($(compgen -W "block range" -- "${cur}"))
                    return 0
                    ;;
                --http_pass)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_s3_key)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_s3_keyid)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_s3_region)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_s3_security_token)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_s3_sse_customer_algorithm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_s3_sse_customer_key)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_s3_storage_class)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_swift_auth_token)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_user)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http_verbose)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --https)
                    COMPREPLY=($(compgen -W "off on insecure" -- "${cur}"))
                    return 0
                    ;;
                --hugepage-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ignore_error)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ignore_zone_limits)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --inplace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --interface)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --invalidate)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --io_size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --io_submit_mode)
                    COMPREPLY=($(compgen -W "inline offload" -- "${cur}"))
                    return 0
                    ;;
                --iodepth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --iodepth_batch)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --iodepth_batch_complete_max)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --iodepth_batch_complete_min)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --iodepth_low)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ioengine)
                    COMPREPLY=($(compgen -W "io_uring io_uring_cmd libaio psync sync vsync pvsync pvsync2 posixaio mmap splice filecreate filestat filedelete dircreate dirstat dirdelete ftruncate falloc e4defrag sg nbd net netsplice http cpuio exec null model" -- "${cur}"))
                    return 0
                    ;;
                --iomem_align)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --iopsavgtime)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ioscheduler)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --job_max_open_zones)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --job_start_clock_id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kb_base)
                    COMPREPLY=($(compgen -W "1024 1000" -- "${cur}"))
                    return 0
                    ;;
                --lat_percentiles)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --latency_percentile)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --latency_run)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --latency_target)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --latency_window)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --libaio_vectored)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --listen)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --lockfile)
                    COMPREPLY=($(compgen -W "none exclusive readwrite" -- "${cur}"))
                    return 0
                    ;;
                --lockmem)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_alternate_epoch)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --log_alternate_epoch_clock_id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_avg_msec)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_compression_cpus)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_hist_coarseness)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_hist_msec)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_issue_time)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --log_offset)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --log_prio)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --log_store_compressed)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --log_window_value)
                    COMPREPLY=($(compgen -W "avg max both 0 1" -- "${cur}"))
                    return 0
                    ;;
                --loops)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max_latency)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max_open_zones)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --md_per_io_size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --mem)
                    COMPREPLY=($(compgen -W "malloc shm shmhuge mmap mmapshared mmaphuge" -- "${cur}"))
                    return 0
                    ;;
                --merge_blktrace_file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --merge_blktrace_iters)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --merge_blktrace_scalars)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --mss)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --new_group)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --nice)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nodelay)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --nonvectored)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --norandommap)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --nowait)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --nrfiles)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --num_range)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --numa_cpu_nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --numa_mem_policy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --number_ios)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --numjobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --offset)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --offset_align)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --offset_increment)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --opendir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --openfiles)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --overwrite)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --per_job_logs)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --percentage_random)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --percentile_list)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pi_act)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --pi_chk)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pingpong)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --plid_select)
                    COMPREPLY=($(compgen -W "random roundrobin scheme" -- "${cur}"))
                    return 0
                    ;;
                --plids)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pre_read)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --prio)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prioclass)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --priohint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --program)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --protocol)
                    COMPREPLY=($(compgen -W "tcp tcpv6 udp udpv6 unix vsock" -- "${cur}"))
                    return 0
                    ;;
                --ramp_size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ramp_time)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --random_distribution)
                    COMPREPLY=($(compgen -W "random zipf pareto normal zoned zoned_abs sequence" -- "${cur}"))
                    return 0
                    ;;
                --random_generator)
                    COMPREPLY=($(compgen -W "tausworthe lfsr tausworthe64" -- "${cur}"))
                    return 0
                    ;;
                --random_sequence_stride)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --randrepeat)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --randseed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rank_hosts)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ranks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rate_cycle)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rate_ignore_thinktime)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --rate_iops)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rate_iops_min)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rate_min)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rate_process)
                    COMPREPLY=($(compgen -W "linear poisson" -- "${cur}"))
                    return 0
                    ;;
                --read_beyond_wp)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --read_iolog)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --read_mode)
                    COMPREPLY=($(compgen -W "read prefetch" -- "${cur}"))
                    return 0
                    ;;
                --readfua)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --recover_zbd_write_error)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --refill_buffers)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --registerfiles)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --replay)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_align)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_fit)
                    COMPREPLY=($(compgen -W "scale wrap fold" -- "${cur}"))
                    return 0
                    ;;
                --replay_for)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_loop)
                    COMPREPLY=($(compgen -W "open closed" -- "${cur}"))
                    return 0
                    ;;
                --replay_no_stall)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --replay_redirect)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_scale)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_skip)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_speed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_start)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_time_scale)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --runtime)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rw)
                    COMPREPLY=($(compgen -W "read write trim randread randwrite randtrim rw readwrite randrw trimwrite randtrimwrite" -- "${cur}"))
                    return 0
                    ;;
                --rw_sequencer)
                    COMPREPLY=($(compgen -W "sequential identical" -- "${cur}"))
                    return 0
                    ;;
                --rwmixread)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rwmixwrite)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --scramble_buffers)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --serialize_overlap)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --sg_write_mode)
                    COMPREPLY=($(compgen -W "write write_and_verify verify write_same same write_same_ndob verify_bytchk_00 verify_bytchk_01 verify_bytchk_11 write_stream" -- "${cur}"))
                    return 0
                    ;;
                --significant_figures)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --slat_percentiles)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --spr_cs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --spr_num_regions)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --spr_op)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --sprandom)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --sqthread_poll)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --sqthread_poll_cpu)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --startdelay)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --stat_type)
                    COMPREPLY=($(compgen -W "stat lstat statx" -- "${cur}"))
                    return 0
                    ;;
                --stats)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --std_redirect)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --steadystate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --steadystate_check_interval)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --steadystate_duration)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --steadystate_ramp_time)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --stonewall)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --stream_id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --sync)
                    COMPREPLY=($(compgen -W "none 0 sync 1 dsync" -- "${cur}"))
                    return 0
                    ;;
                --sync_file_range)
                    COMPREPLY=($(compgen -W "wait_before write wait_after" -- "${cur}"))
                    return 0
                    ;;
                --thinkcycles)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --thinktime)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --thinktime_blocks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --thinktime_blocks_type)
                    COMPREPLY=($(compgen -W "complete issue" -- "${cur}"))
                    return 0
                    ;;
                --thinktime_iotime)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --thinktime_spin)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --thp)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --thread)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --time_based)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --trim_backlog)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --trim_percentage)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --trim_verify_zero)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --ttl)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --uid)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --uncached)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --unified_rw_reporting)
                    COMPREPLY=($(compgen -W "none mixed both 0 1 2" -- "${cur}"))
                    return 0
                    ;;
                --unit_base)
                    COMPREPLY=($(compgen -W "0 8 1" -- "${cur}"))
                    return 0
                    ;;
                --unlink)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --unlink_each_loop)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --uri)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify)
                    COMPREPLY=($(compgen -W "0 md5 crc64 crc32 crc32c-intel crc32c crc16 crc7 sha1 sha256 sha512 sha3-224 sha3-256 sha3-384 sha3-512 xxhash meta pattern pattern_hdr null" -- "${cur}"))
                    return 0
                    ;;
                --verify_backlog)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_dump)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --verify_fatal)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --verify_format)
                    COMPREPLY=($(compgen -W "fathom fio" -- "${cur}"))
                    return 0
                    ;;
                --verify_header_seed)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --verify_interval)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_mode)
                    COMPREPLY=($(compgen -W "read compare" -- "${cur}"))
                    return 0
                    ;;
                --verify_nonce)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_offset)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_only)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --verify_pattern)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_pattern_interval)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_policy)
                    COMPREPLY=($(compgen -W "completed fsynced" -- "${cur}"))
                    return 0
                    ;;
                --verify_state_load)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --verify_state_save)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --verify_write_sequence)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --wait_for)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --window_size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_bw_log)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_hint)
                    COMPREPLY=($(compgen -W "none short medium long extreme" -- "${cur}"))
                    return 0
                    ;;
                --write_hist_log)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_iolog)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_iops_log)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_lat_log)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_mode)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_zone_remainder)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --writefua)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --zero_buffers)
                    COMPREPLY=($(compgen -W "0 1" -- "${cur}"))
                    return 0
                    ;;
                --zone_reset_frequency)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --zone_reset_threshold)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --zonecapacity)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --zonemode)
                    COMPREPLY=($(compgen -W "none strided zbd" -- "${cur}"))
                    return 0
                    ;;
                --zonerange)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --zonesize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --zoneskip)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --on)
                    COMPREPLY=($(compgen -W "gcp/pd-standard gcp/pd-standard-regional gcp/pd-balanced gcp/pd-balanced-regional gcp/pd-ssd gcp/pd-ssd-regional gcp/pd-extreme gcp/hyperdisk-balanced gcp/hyperdisk-balanced-high-availability gcp/hyperdisk-balanced-high-availability@2026-03 gcp/hyperdisk-extreme gcp/hyperdisk-ml gcp/hyperdisk-ml@2026-03 gcp/hyperdisk-throughput gcp/local-ssd-nvme gcp/titanium-ssd-c4n gcp/titanium-ssd-z3 gcp/pd-standard@2019 gcp/pd-standard-regional@2019 gcp/pd-ssd@2019 gcp/pd-ssd-regional@2019 gcp/local-ssd-scsi@2019 gcp/local-ssd-nvme@2019 aws/gp3 aws/gp3@2023 aws/gp2 aws/io1 aws/io2 aws/io2@2023 aws/st1 aws/sc1 aws/standard azure/premium-ssd azure/premium-ssd-v2 azure/ultra azure/standard-ssd azure/standard-hdd vultr/hdd-block vultr/nvme-block digitalocean/volume digitalocean/volume@2018 oci/block-volume akamai/nvme-block hetzner/volume nutanix/ahv-4node hdd/7200rpm custom" -- "${cur}"))
                    return 0
                    ;;
                --volume)
                    COMPREPLY=($(compgen -W "gcp/pd-standard gcp/pd-standard-regional gcp/pd-balanced gcp/pd-balanced-regional gcp/pd-ssd gcp/pd-ssd-regional gcp/pd-extreme gcp/hyperdisk-balanced gcp/hyperdisk-balanced-high-availability gcp/hyperdisk-balanced-high-availability@2026-03 gcp/hyperdisk-extreme gcp/hyperdisk-ml gcp/hyperdisk-ml@2026-03 gcp/hyperdisk-throughput gcp/local-ssd-nvme gcp/titanium-ssd-c4n gcp/titanium-ssd-z3 gcp/pd-standard@2019 gcp/pd-standard-regional@2019 gcp/pd-ssd@2019 gcp/pd-ssd-regional@2019 gcp/local-ssd-scsi@2019 gcp/local-ssd-nvme@2019 aws/gp3 aws/gp3@2023 aws/gp2 aws/io1 aws/io2 aws/io2@2023 aws/st1 aws/sc1 aws/standard azure/premium-ssd azure/premium-ssd-v2 azure/ultra azure/standard-ssd azure/standard-hdd vultr/hdd-block vultr/nvme-block digitalocean/volume digitalocean/volume@2018 oci/block-volume akamai/nvme-block hetzner/volume nutanix/ahv-4node hdd/7200rpm custom" -- "${cur}"))
                    return 0
                    ;;
                --records)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rank-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --split)
                    COMPREPLY=($(compgen -W "size files offsets" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
    esac
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _fathom__fleet -o nosort -o bashdefault -o default fathom-fleet
else
    complete -F _fathom__fleet -o bashdefault -o default fathom-fleet
fi
