# bash completion for gpuprof

# Words of a list that commas part: what stands before the last comma stays.
_gpuprof_list() {
  local before=""
  [[ $current == *,* ]] && before="${current%,*},"
  COMPREPLY=($(compgen -P "$before" -W "$1" -- "${current##*,}"))
}

# The words before the program being profiled belong to gpuprof, those after it to the program.
_gpuprof_profile() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD - 1]}" i
  for ((i = 2; i < COMP_CWORD; ++i)); do
    case "${COMP_WORDS[i]}" in
      --) ((++i)) ; break ;;
      -o | -t | -c | -p | -y | -d | --output | --trace | --capture-range | --capture-range-end | \
        --nvtx-capture | --delay | --duration | --schedule | --step-range | --cuda-graph-trace | \
        --kernel-name | --launch-skip | --launch-count | --metrics | --set | --overhead-budget | \
        --overhead-once | --peaks | --pm-sampling-interval | --metrics-skip | --log-level | --flush-interval-ms | \
        --flush-timeout-ms | --buffer-limit-mib | --share-cupti) ((++i)) ;;
      -*) ;;
      *) break ;;
    esac
  done
  if ((i < COMP_CWORD)) && declare -F _command_offset >/dev/null; then
    _command_offset "$i"
    return
  fi
  case "$previous" in
    -t | --trace) _gpuprof_list 'cuda nvtx cuda-api cuda-memory sync um none' ;;
    -c | --capture-range) COMPREPLY=($(compgen -W 'none cudaProfilerApi nvtx' -- "$current")) ;;
    --capture-range-end)
      COMPREPLY=($(compgen -W 'none stop stop-shutdown repeat repeat: repeat-shutdown:' -- "$current"))
      ;;
    --cuda-graph-trace) COMPREPLY=($(compgen -W 'graph node' -- "$current")) ;;
    --metrics)
      _gpuprof_list 'none auto sampled exact basic roofline memory full'
      ;;
    --set) COMPREPLY=($(compgen -W 'basic roofline memory full' -- "$current")) ;;
    --peaks) COMPREPLY=($(compgen -W 'auto on off' -- "$current")) ;;
    --share-cupti) COMPREPLY=($(compgen -W 'yes no' -- "$current")) ;;
    --log-level) COMPREPLY=($(compgen -W 'debug info warning error off' -- "$current")) ;;
    -o | --output) COMPREPLY=($(compgen -f -- "$current")) ;;
    -p | -y | -d | --nvtx-capture | --delay | --duration | --schedule | --step-range | \
      --kernel-name | --launch-skip | --launch-count | --overhead-budget | --overhead-once | \
      --pm-sampling-interval | --metrics-skip | \
      --flush-interval-ms | --flush-timeout-ms | --buffer-limit-mib) COMPREPLY=() ;;
    *)
      if [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W '--output --force-overwrite --trace --capture-range
          --capture-range-end --nvtx-capture --delay --duration --schedule --step-range
          --cuda-graph-trace --kernel-name --launch-skip --launch-count --metrics --set
          --overhead-budget --overhead-once --pm-sampling-interval --metrics-skip --share-cupti --stats --log-level --flush-interval-ms --flush-timeout-ms --buffer-limit-mib --peaks --help' -- "$current"))
      else
        COMPREPLY=($(compgen -c -f -- "$current"))
      fi
      ;;
  esac
}

_gpuprof() {
  local current="${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W 'profile stats roofline peaks metrics status --help --version' -- "$current"))
    return
  fi
  case "${COMP_WORDS[1]}" in
    profile) _gpuprof_profile ;;
    roofline)
      case "${COMP_WORDS[COMP_CWORD - 1]}" in
        --range-scope) COMPREPLY=($(compgen -W 'process thread' -- "$current")) ;;
        --by) COMPREPLY=($(compgen -W 'kernel signature range graph' -- "$current")) ;;
        -f | --format) COMPREPLY=($(compgen -W 'table csv tsv json svg' -- "$current")) ;;
        -o | --output) COMPREPLY=($(compgen -f -- "$current")) ;;
        --limit | --device | --stream | --kernel | --filter-nvtx | --filter-time | --memory-limit) COMPREPLY=() ;;
        *)
          if [[ $current == -* ]]; then
            COMPREPLY=($(compgen -W '--by --range-scope --format --output --force-overwrite --limit
              --filter-nvtx --filter-time --kernel --device --stream --memory-limit --wide --help' -- "$current"))
          else
            COMPREPLY=($(compgen -f -X '!*.gpuprof' -- "$current") $(compgen -d -- "$current"))
          fi
          ;;
      esac
      ;;
    peaks)
      case "${COMP_WORDS[COMP_CWORD - 1]}" in
        --only)
          _gpuprof_list 'fp64 fp32 fp16 bf16 int32 special tensor_fp64 tensor_tf32 tensor_fp16 tensor_fp16_acc16
            tensor_bf16 tensor_fp8 tensor_int8 tensor_fp6 tensor_fp4 dram_read dram_write dram_copy
            dram_triad l2_read l2_write shared_read shared_write l1_read h2d d2h h2d_d2h
            h2d_pageable d2h_pageable p2p launch_latency launch_throughput graph_node synchronize
            cuda_cores tensor_cores memory links latency'
          ;;
        --from | -o | --output) COMPREPLY=($(compgen -f -- "$current")) ;;
        -f | --format) COMPREPLY=($(compgen -W 'table csv tsv json' -- "$current")) ;;
        --device) COMPREPLY=() ;;
        *)
          COMPREPLY=($(compgen -W '--quick --only --refresh --force --sustained --zeros --device
            --from --format --output --force-overwrite --json --csv --list --help' -- "$current"))
          ;;
      esac
      ;;
    metrics)
      case "${COMP_WORDS[COMP_CWORD - 1]}" in
        --set) _gpuprof_list 'basic roofline memory full' ;;
        --chip)
          COMPREPLY=($(compgen -W 'GV100 TU102 TU104 TU106 TU116 TU117 GA100 GA102 GA103 GA104 GA106 GA107 GA10B
            GH100 AD102 AD103 AD104 AD106 AD107 GB100 GB102 GB110 GB10B GB202 GB203 GB205 GB206 GB207
            GB20B' -- "$current"))
          ;;
        -o | --output) COMPREPLY=($(compgen -f -- "$current")) ;;
        -f | --format) COMPREPLY=($(compgen -W 'table csv tsv json' -- "$current")) ;;
        --query) COMPREPLY=() ;;
        *)
          COMPREPLY=($(compgen -W '--chip --query --set --passes --format --output
            --force-overwrite --json --csv --help' -- "$current"))
          ;;
      esac
      ;;
    status) COMPREPLY=($(compgen -W '--json --help' -- "$current")) ;;
    stats)
      case "${COMP_WORDS[COMP_CWORD - 1]}" in
        -r | --report)
          _gpuprof_list 'cuda_gpu_kern_sum cuda_gpu_kern_gb_sum cuda_gpu_mem_time_sum
            cuda_gpu_mem_size_sum cuda_api_sum cuda_gpu_trace cuda_kern_exec_sum nvtx_sum
            nvtx_kern_sum nvtx_gpu_proj_sum nvtx_pushpop_sum nvtx_pushpop_trace nvtx_startend_sum cuda_gpu_sum cuda_api_gpu_sum gpu_metrics_sum nvtx_metrics_sum um_sum um_total_sum'
          ;;
        -f | --format) COMPREPLY=($(compgen -W 'table csv tsv json' -- "$current")) ;;
        --range-scope) COMPREPLY=($(compgen -W 'process thread' -- "$current")) ;;
        --timeunit) COMPREPLY=($(compgen -W 'ns us ms s' -- "$current")) ;;
        *)
          if [[ $current == -* ]]; then
            COMPREPLY=($(compgen -W '--report --format --output --force-overwrite --timeunit --limit
              --filter-nvtx --filter-time --kernel --device --stream --range-scope --memory-limit --wide --help' -- "$current"))
          else
            COMPREPLY=($(compgen -f -X '!*.gpuprof' -- "$current") $(compgen -d -- "$current"))
          fi
          ;;
      esac
      ;;
  esac
}
complete -o filenames -F _gpuprof gpuprof
