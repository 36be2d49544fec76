// The table of kernels, its filters, and which line is chosen.

const kernels = (() => {
  const {element, byId, time, share, count} = words;
  const listeners = [];
  let table = null, by = 'kernels', chosen = null;
  let of = {};  // rows by what a line is

  const sortedBy = (title, field, text, extra) => tables.figures(title, field, text, {width: 88, tooltip: tipOf(field), ...extra});
  const tipOf = (field) => (event, cell) => element('div', {}, kernelRows.sourceOf(field, cell.getRow().getData(), by));

  const nameCell = (cell) => tables.nameButton(words.kernelName(cell.getValue()));

  const columns = () => [
    {title: 'Kernel', field: 'name', minWidth: 300, widthGrow: 3, formatter: nameCell, tooltip: (event, cell) => element('div', {}, cell.getValue())},
    ...comparison.kernelColumns(), sortedBy('Time (%)', 'share', share, {width: 84}), sortedBy('Total', 'total', kernelRows.totalText),
    sortedBy('Potential gain', 'gain', (v, row) => kernelRows.gainText(row), {width: 130}), {title: 'Bound by', field: 'bound', width: 92, tooltip: tipOf('bound')},
    sortedBy('Of roof', 'roof', share, {width: 74}), sortedBy('Launches', 'launches', count, {width: 98}),
    sortedBy('Median', 'median', time), sortedBy('FLOP/s', 'flops', (v, row) => kernelRows.flopsText(v, row.counted || {}), {width: 158}),
    sortedBy('DRAM', 'dram', (v, row) => kernelRows.unsureRate(v, 'B/s', (row.counted || {}).dram_bytes_per_second_error), {width: 128}),
    sortedBy('Occupancy', 'occupancy', share, {width: 112}),
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

  const rowOf = (names) => of.kernels.find((row) => names.includes(row.name));

  // The chosen line: shown below, marked in the roofline.
  function choose(row) {
    chosen = row;
    if (row === null) kernelDetail.hide();
    else kernelDetail.show(row, by, rowOf([row.name]));
    for (const listener of listeners) listener(chosen, by);
  }

  const lineOf = (data) => table.getRows('active').find((one) => one.getData() === data);

  function select(data, scroll) {
    const row = lineOf(data);
    table.deselectRow();
    if (row === undefined) return;
    row.select();
    if (scroll) table.scrollToRow(row, 'center', false).catch(() => {});
  }

  // The focus goes back to where the details were opened.
  async function close() {
    const row = chosen === null ? undefined : lineOf(chosen);
    table.deselectRow();
    choose(null);
    if (row === undefined) return byId('kernel-search').focus();
    if (!row.getElement().isConnected) await table.scrollToRow(row, 'center', false).catch(() => {});
    row.getElement().querySelector('button.name').focus();
  }

  // A line, and what is known of it. Filters stay where they keep it.
  async function open(row, newBy) {
    if (!kernelFilters.keeps(row, newBy)) kernelFilters.clear();
    if (newBy !== by) await showRows(newBy);
    else filter();
    select(row, true);
    choose(row);
    byId('kernels').scrollIntoView();
    kernelDetail.focus();
  }

  // From findings, charts, neighbors: the line of that kernel. `line`: of the roofline.
  async function show(name, newBy = 'kernels', line = null) {
    const row = of[newBy].find((one) => line !== null && one.counted === line) || of[newBy].find((one) => one.name === name);
    if (row !== undefined) await open(row, newBy);
  }

  // From the comparison, which knows by this whether the capture has the kernel.
  function showNamed(event) {
    const row = rowOf(event.detail);
    if (row === undefined) return;
    event.preventDefault();
    open(row, 'kernels');
  }

  function showNotes(stats, roof, details) {
    const report = stats.cuda_gpu_kern_sum;
    if (report.missing) words.note('kernel-notes', report.missing);
    if (report.left_out > 0) words.note('kernel-notes', count(report.left_out) + ' more kernels are left out of this page; gpuprof stats has all.');
    for (const line of report.notes || []) words.note('kernel-notes', line);
    if (roof.missing) words.note('kernel-notes', 'No rates: this capture ' + roof.missing);
    if (details.more_kernels > 0) words.note('kernel-notes', count(details.more_kernels) + ' more kernels, of less time, have no details but their figures.');
    if (details.more_signatures > 0) words.note('kernel-notes', count(details.more_signatures) + ' more lines of a kernel with its grid and block have no details but their figures.');
  }

  function collect(stats, roof, advice) {
    const lines = (name) => (roof[name] ? roof[name][name] : []);
    of = {
      kernels: stats.cuda_gpu_kern_sum.missing ? [] : comparison.addTo(kernelRows.joined(stats.cuda_gpu_kern_sum, lines('kernels'))),
      signatures: stats.cuda_gpu_kern_gb_sum.missing ? [] : comparison.addTo(kernelRows.joined(stats.cuda_gpu_kern_gb_sum, lines('signatures'))),
      ranges: lines('ranges').map((line) => kernelRows.rowOf(null, line)),
      graphs: lines('graphs').map((line) => kernelRows.rowOf(null, line))
    };
    kernelRows.addFindings(of, advice.findings || []);
    for (const name of ['ranges', 'graphs']) if (of[name].length === 0) byId('kernel-by').querySelector('[value=' + name + ']').remove();
  }

  function show_(stats, roof, advice, details) {
    collect(stats, roof, advice);
    table = tables.create('#kernel-table', 'Kernels', {
      data: of.kernels, columns: columns(), height: '460px', selectableRows: 1, initialSort: [{column: 'total', dir: 'desc'}], placeholder: 'No kernels',
      columnDefaults: {headerWordWrap: true}
    }, signal);
    table.on('dataFiltered', () => setTimeout(showCount, 0));
    table.on('dataLoaded', () => setTimeout(showCount, 0));
    table.on('tableBuilt', showCount);
    table.on('rowClick', (event, row) => {
      select(row.getData(), false);
      choose(row.getData());
      if (event.detail === 0) kernelDetail.focus();  // no press of a mouse: the button, by a key
    });
    kernelDetail.take(stats, details);
    kernelFilters.offer(of, details, filter);
    document.addEventListener('gpuprof-kernel', showNamed, {signal});
    byId('kernel-by').addEventListener('change', (event) => showRows(event.target.value));
    showNotes(stats, roof, details);
  }

  return {show, show_, close, onChoice: (listener) => listeners.push(listener)};
})();
