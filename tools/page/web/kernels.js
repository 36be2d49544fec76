// The table of kernels, its filters, and which line is chosen.

const kernels = (() => {
  const {element, byId, time, rate, share, count} = words;
  const listeners = [];
  let table = null, by = 'kernels', chosen = null;
  let of = {};  // rows by what a line is

  function sortedBy(title, field, text, extra) {
    return Object.assign({
      title, field, hozAlign: 'right', headerSortStartingDir: 'desc', sorter: 'number', width: 88,
      formatter: (cell) => document.createTextNode(text(cell.getValue(), cell.getRow().getData())), tooltip: tipOf(field)
    }, extra);
  }
  const tipOf = (field) => (event, cell) => element('div', {}, kernelRows.sourceOf(field, cell.getRow().getData()));

  // A button, so that a line can be opened without a mouse.
  const nameCell = (cell) => element('button', {type: 'button', class: 'name'}, words.kernelName(cell.getValue()));

  const columns = () => [
    {title: 'Kernel', field: 'name', minWidth: 300, widthGrow: 3, formatter: nameCell, tooltip: (event, cell) => element('div', {}, cell.getValue())},
    ...comparison.kernelColumns(), sortedBy('Time (%)', 'share', share), sortedBy('Total', 'total', time), sortedBy('Launches', 'launches', count),
    sortedBy('Median', 'median', time), sortedBy('FLOP/s', 'flops', (v) => rate(v, 'FLOP/s'), {width: 118}),
    sortedBy('DRAM', 'dram', (v) => rate(v, 'B/s')), sortedBy('Of roof', 'roof', share, {width: 82}),
    {title: 'Bound by', field: 'bound', width: 92, tooltip: tipOf('bound')},
    sortedBy('Potential gain', 'gain', (v, row) => kernelRows.gainText(row), {width: 130}),
    sortedBy('Occupancy', 'occupancy', share, {width: 100}),
    {title: 'Grid', field: 'grid', width: 120, visible: false}, {title: 'Block', field: 'block', width: 110, visible: false},
    sortedBy('In it', 'inside', (v, row) => time(kernelFilters.inside(row)), {visible: false,
      sorter: (a, b, aRow, bRow) => (kernelFilters.inside(aRow.getData()) || 0) - (kernelFilters.inside(bRow.getData()) || 0)})
  ];

  function showCount() {
    byId('kernel-count').textContent = count(table.getDataCount('active')) + ' of ' + count(table.getDataCount()) + ' lines';
  }

  const showColumn = (name, is) => (is ? table.showColumn(name) : table.hideColumn(name));

  async function showRows(newBy) {
    by = newBy;
    byId('kernel-by').value = by;
    for (const name of ['grid', 'block']) showColumn(name, by === 'signatures');
    choose(null);
    await table.setData(of[by] || []);
    filter();
  }

  function filter() {
    table.setFilter((row) => kernelFilters.keeps(row, by));
    showColumn('inside', kernelFilters.place() !== null && by === 'kernels');
    if (kernelFilters.place() !== null) for (const row of table.getRows('active')) row.reformat();
  }

  // The chosen line: shown below, marked in the roofline.
  function choose(row) {
    chosen = row;
    if (row === null) kernelDetail.hide();
    else kernelDetail.show(row, by);
    for (const listener of listeners) listener(chosen, by);
  }

  function select(data, scroll) {
    const row = table.getRows().find((one) => one.getData() === data);
    table.deselectRow();
    if (row === undefined) return;
    row.select();
    if (scroll) table.scrollToRow(row, 'center', false).catch(() => {});
  }

  // From findings, charts, neighbours: the line of that kernel, and what is known of it. `line`: of the roofline.
  async function show(name, newBy = 'kernels', line = null) {
    kernelFilters.clear();
    if (newBy !== by) await showRows(newBy);
    filter();
    const row = of[by].find((one) => (line === null ? one.name === name : one.counted === line)) || of[by].find((one) => one.name === name);
    if (row === undefined) return;
    select(row, true);
    choose(row);
    byId('kernels').scrollIntoView();
  }

  function showNotes(stats, roof) {
    const report = stats.cuda_gpu_kern_sum;
    if (report.missing) words.note('kernel-notes', report.missing);
    if (report.left_out > 0) words.note('kernel-notes', count(report.left_out) + ' more kernels are left out of this page; gpuprof stats has all.');
    for (const line of report.notes || []) words.note('kernel-notes', line);
    if (roof.missing) words.note('kernel-notes', 'No rates: this capture ' + roof.missing);
  }

  function collect(stats, roof, advice) {
    const lines = (name) => (roof[name] ? roof[name][name] : []);
    of = {
      kernels: stats.cuda_gpu_kern_sum.missing ? [] : comparison.addTo(kernelRows.joined(stats.cuda_gpu_kern_sum, lines('kernels'))),
      signatures: stats.cuda_gpu_kern_gb_sum.missing ? [] : comparison.addTo(kernelRows.joined(stats.cuda_gpu_kern_gb_sum, lines('signatures'))),
      ranges: lines('ranges').map((line) => kernelRows.rowOf(null, line)),
      graphs: lines('graphs').map((line) => kernelRows.rowOf(null, line))
    };
    kernelRows.addFindings(of.kernels, advice.findings || []);
    for (const name of ['ranges', 'graphs']) if (of[name].length === 0) byId('kernel-by').querySelector('[value=' + name + ']').remove();
  }

  function show_(stats, roof, advice, details) {
    collect(stats, roof, advice);
    table = new Tabulator('#kernel-table', {
      data: of.kernels, columns: columns(), layout: 'fitColumns', height: of.kernels.length > 14 ? '460px' : false, selectableRows: 1,
      initialSort: [{column: 'total', dir: 'desc'}], placeholder: 'No kernels', columnDefaults: {tooltip: true, headerWordWrap: true}
    });
    table.on('dataFiltered', () => setTimeout(showCount, 0));
    table.on('dataLoaded', () => setTimeout(showCount, 0));
    table.on('tableBuilt', showCount);
    table.on('rowClick', (event, row) => {
      select(row.getData(), false);
      choose(row.getData());
    });
    kernelDetail.take(stats, details);
    kernelFilters.offer(of, details, filter);
    document.addEventListener('gpuprof-kernel', (event) => show(event.detail), {signal});
    byId('kernel-by').addEventListener('change', (event) => showRows(event.target.value));
    showNotes(stats, roof);
  }

  return {show, show_, close: () => { table.deselectRow(); choose(null); }, onChoice: (listener) => listeners.push(listener)};
})();
