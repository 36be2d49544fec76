# fish completion for gpuprof

function __gpuprof_is
    set --local words (commandline -opc)
    test (count $words) -ge 2; and test $words[2] = $argv[1]
end

complete -c gpuprof -n __fish_use_subcommand -f -a profile -d 'Run a program and record what it does'
complete -c gpuprof -n __fish_use_subcommand -f -a stats -d 'Print reports of a capture'
complete -c gpuprof -n __fish_use_subcommand -f -a status -d 'Say what works on this machine'

complete -c gpuprof -n '__gpuprof_is profile' -s o -l output -r -d 'Where the capture goes'
complete -c gpuprof -n '__gpuprof_is profile' -s f -l force-overwrite -d 'Replace a capture that is already there'
complete -c gpuprof -n '__gpuprof_is profile' -s t -l trace -x -a 'cuda nvtx cuda-api cuda-memory sync um none' -d 'What to record'
complete -c gpuprof -n '__gpuprof_is profile' -s c -l capture-range -x -a 'none cudaProfilerApi nvtx' -d 'Record only inside a range'
complete -c gpuprof -n '__gpuprof_is profile' -l capture-range-end -x -a 'none stop stop-shutdown repeat repeat: repeat-shutdown:' -d 'What the end of the range does'
complete -c gpuprof -n '__gpuprof_is profile' -s p -l nvtx-capture -x -d 'NVTX range to wait for'
complete -c gpuprof -n '__gpuprof_is profile' -s y -l delay -x -d 'Begin to record later (seconds)'
complete -c gpuprof -n '__gpuprof_is profile' -s d -l duration -x -d 'End a capture after this long (seconds)'
complete -c gpuprof -n '__gpuprof_is profile' -l schedule -x -d 'wait,warmup,active,repeat[,skip_first]'
complete -c gpuprof -n '__gpuprof_is profile' -l step-range -x -d 'NVTX range that is a step'
complete -c gpuprof -n '__gpuprof_is profile' -l cuda-graph-trace -x -a 'graph node' -d 'Detail of CUDA graphs'
complete -c gpuprof -n '__gpuprof_is profile' -l kernel-name -x -d 'Record only these kernels'
complete -c gpuprof -n '__gpuprof_is profile' -l launch-skip -x -d 'Leave out the first launches'
complete -c gpuprof -n '__gpuprof_is profile' -l launch-count -x -d 'Record at most so many launches'
complete -c gpuprof -n '__gpuprof_is profile' -l stats -d 'Print a summary when the program ends'
complete -c gpuprof -n '__gpuprof_is profile' -l log-level -x -a 'debug info warning error off' -d 'Lines written to stderr'
complete -c gpuprof -n '__gpuprof_is profile' -l flush-interval-ms -x -d 'The file is never further behind'
complete -c gpuprof -n '__gpuprof_is profile' -l flush-timeout-ms -x -d 'Longest wait at the end'
complete -c gpuprof -n '__gpuprof_is profile' -l buffer-limit-mib -x -d 'Most host memory for records'

complete -c gpuprof -n '__gpuprof_is stats' -s r -l report -x -a 'cuda_gpu_kern_sum cuda_gpu_kern_gb_sum cuda_gpu_mem_time_sum cuda_gpu_mem_size_sum cuda_api_sum cuda_gpu_trace cuda_kern_exec_sum nvtx_sum nvtx_kern_sum nvtx_gpu_proj_sum' -d 'Which report'
complete -c gpuprof -n '__gpuprof_is stats' -s f -l format -x -a 'column csv json' -d 'How to print'
complete -c gpuprof -n '__gpuprof_is stats' -s o -l output -r -d 'Where to write'
complete -c gpuprof -n '__gpuprof_is stats' -l force-overwrite -d 'Replace existing output files'
complete -c gpuprof -n '__gpuprof_is stats' -l timeunit -x -a 'ns us ms s' -d 'Unit of times'
complete -c gpuprof -n '__gpuprof_is stats' -l filter-nvtx -x -d 'Only inside this range'
complete -c gpuprof -n '__gpuprof_is stats' -l filter-time -x -d 'Only this part of time'
complete -c gpuprof -n '__gpuprof_is status' -l json -f -d 'As JSON'
