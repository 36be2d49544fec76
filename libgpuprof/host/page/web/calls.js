// Copies and fills by their kind, and calls of CUDA by their name, as `gpuprof stats` has them.

const calls = (() => {
  const {element, byId} = words;
  const reports = [['cuda_gpu_mem_time_sum', 'Copies and fills: time'], ['cuda_gpu_mem_size_sum', 'Copies and fills: bytes'], ['cuda_api_sum', 'Calls of CUDA']];

  function add(report, name, title) {
    const table = element('div', {id: name});
    const rows = report.missing ? 0 : report.rows.length;
    const lines = tables.notesOf(report).map((line) => element('p', {class: 'note'}, line));
    byId('calls-tables').append(element('details', {}, element('summary', {}, title + (rows > 0 ? ', ' + words.number(rows, 'line') : ', none')), rows > 0 ? table : '', ...lines));
    if (rows > 0) tables.make(table, {...report, title}, {}, signal);
  }

  return {show: (stats) => reports.forEach(([name, title]) => add(stats[name], name, title))};
})();
