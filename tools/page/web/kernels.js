// The table of kernels: times as `gpuprof stats` has them, rates and shares of the roof as `gpuprof roofline` has them.

const kernels = (() => {
  const {element, byId, time, rate, share, count, known} = words;
  let table = null;
  let of = {};  // rows by what a line is

  const keyOf = (name, grid, block) => [name, grid, block].join('\u0000').replace(/\s+/g, ' ').trim();

  function rowOf(timed, counted) {
    const row = {
      name: counted ? counted.name : timed['Name'],
      share: timed ? timed['Time (%)'] / 100 : counted.time_share,
      total: timed ? timed['Total Time (ns)'] : counted.time_ns,
      launches: timed ? timed['Instances'] : counted.launches,
      median: timed ? timed['Med (ns)'] : null,
      timed, counted
    };
    if (timed && timed['GridXYZ'] !== undefined) {
      row.grid = timed['GridXYZ'].trim().replace(/\s+/g, ' x ');
      row.block = timed['BlockXYZ'].trim().replace(/\s+/g, ' x ');
    }
    if (counted) {
      Object.assign(row, {
        flops: counted.flops, dram: counted.dram_bytes_per_second, roof: counted.of_roof, bound: counted.bound_by,
        gain: known(counted.potential_gain) ? counted.potential_gain * counted.time_ns : null, occupancy: counted.occupancy
      });
    }
    return row;
  }

  function joined(report, lines) {
    const byName = new Map((lines || []).map((line) => [keyOf(line.name, line.grid || '', line.block || ''), line]));
    return comparison.addTo(report.rows.map((row) => rowOf(row, byName.get(keyOf(row['Name'], row['GridXYZ'] || '', row['BlockXYZ'] || '')))));
  }

  function sortedBy(title, field, text, extra) {
    return Object.assign({
      title, field, hozAlign: 'right', headerSortStartingDir: 'desc', sorter: 'number', width: 88,
      formatter: (cell) => document.createTextNode(text(cell.getValue())), tooltip: (event, cell) => sourceOf(field, cell.getRow().getData())
    }, extra);
  }

  // What a figure is and how sure, where it is known.
  function sourceOf(field, row) {
    const line = row.counted;
    if (['share', 'total', 'launches', 'median'].includes(field)) return 'traced: all launches';
    if (!line) return 'not counted: gpuprof profile --metrics auto';
    const source = {flops: line.flop_source, dram: line.sources.dram, occupancy: line.sources.occupancy}[field];
    const wrong = {flops: line.flops_error, dram: line.dram_bytes_per_second_error, occupancy: line.occupancy_error}[field];
    const value = {flops: line.flops, dram: line.dram_bytes_per_second, occupancy: line.occupancy}[field];
    if (source === undefined) return 'from the rates of this kernel and the measured peaks';
    return source + (known(wrong) && value > 0 ? ', standard error ' + (100 * wrong / value).toFixed(1) + ' %' : '');
  }

  const columns = () => [
    {title: 'Kernel', field: 'name', minWidth: 300, widthGrow: 3, formatter: (cell) => document.createTextNode(words.kernelName(cell.getValue())),
      tooltip: (event, cell) => element('div', {}, cell.getValue())},
    ...comparison.kernelColumns(), sortedBy('Time (%)', 'share', share), sortedBy('Total', 'total', time), sortedBy('Launches', 'launches', count),
    sortedBy('Median', 'median', time), sortedBy('FLOP/s', 'flops', (v) => rate(v, 'FLOP/s'), {width: 118}),
    sortedBy('DRAM', 'dram', (v) => rate(v, 'B/s')), sortedBy('Of roof', 'roof', share, {width: 82}),
    {title: 'Bound by', field: 'bound', width: 92}, sortedBy('Potential gain', 'gain', time, {width: 112}),
    sortedBy('Occupancy', 'occupancy', share, {width: 100}),
    {title: 'Grid', field: 'grid', width: 120, visible: false}, {title: 'Block', field: 'block', width: 110, visible: false}
  ];

  function showCount() {
    byId('kernel-count').textContent = count(table.getDataCount('active')) + ' of ' + count(table.getDataCount()) + ' lines';
  }

  function showRows(by) {
    const withExtents = by === 'signatures';
    for (const name of ['grid', 'block']) withExtents ? table.showColumn(name) : table.hideColumn(name);
    byId('kernel-detail').hidden = true;
    table.setData(of[by] || []);
  }

  function filter() {
    const part = byId('kernel-search').value.toLowerCase();
    table.setFilter((row) => (row.name || '').toLowerCase().includes(part));
  }

  const fact = (name, value) => (value === '' || value === null || value === undefined ? null : element('div', {}, element('dt', {}, name), element('dd', {}, value)));

  function showDetail(row) {
    const {timed, counted} = row;
    const facts = [];
    if (timed)
      facts.push(fact('launches', count(timed['Instances'])), fact('total', time(timed['Total Time (ns)'])), fact('average', time(timed['Avg (ns)'])),
        fact('median', time(timed['Med (ns)'])), fact('shortest', time(timed['Min (ns)'])), fact('longest', time(timed['Max (ns)'])),
        fact('standard deviation', time(timed['StdDev (ns)'])), fact('grid', row.grid), fact('block', row.block));
    if (counted) {
      facts.push(fact('FLOP/s', rate(counted.flops, 'FLOP/s') + ' (' + sourceOf('flops', row) + ')'),
        fact('DRAM', rate(counted.dram_bytes_per_second, 'B/s')), fact('L2', rate(counted.l2_bytes_per_second, 'B/s')),
        fact('FLOP per DRAM byte', known(counted.flop_per_dram_byte) ? counted.flop_per_dram_byte.toPrecision(3) : ''),
        fact('bound by', counted.bound_by), fact('of its roof', share(counted.of_roof)), fact('time at its roof', time(counted.to_roof_ns)),
        fact('occupancy', share(counted.occupancy)), fact('tensor cores active', share(counted.tensor_active)),
        fact('SM clock', rate(counted.sm_clock_hz, 'Hz')), fact('launches read', count(counted.samples)));
      for (const [roof, part] of Object.entries(counted.roof_shares || {})) if (part > 0) facts.push(fact('of the ' + roof + ' roof', share(part)));
    }
    const toChart = element('button', {type: 'button'}, 'Show in the roofline');
    toChart.addEventListener('click', () => roofline.mark(row.name));
    const toTime = element('button', {type: 'button'}, 'Show in the timeline');
    toTime.addEventListener('click', () => timeline.find(row.name));
    byId('kernel-detail').replaceChildren(element('h2', {}, row.name), element('dl', {}, ...facts), element('p', {class: 'tools'}, counted ? toChart : '', toTime));
    byId('kernel-detail').hidden = false;
  }

  // From findings and charts: the line of that kernel, and what is known of it.
  function show(name) {
    byId('kernel-search').value = '';
    filter();
    const row = table.getRows().find((one) => one.getData().name === name);
    if (row === undefined) return;
    table.deselectRow();
    row.select();
    table.scrollToRow(row, 'center', false).catch(() => {});
    showDetail(row.getData());
    byId('kernels').scrollIntoView();
  }

  function showNotes(stats, roof) {
    const report = stats.cuda_gpu_kern_sum;
    if (report.missing) words.note('kernel-notes', report.missing);
    if (report.left_out > 0) words.note('kernel-notes', count(report.left_out) + ' more kernels are left out of this page; gpuprof stats has all.');
    for (const line of report.notes || []) words.note('kernel-notes', line);
    if (roof.missing) words.note('kernel-notes', 'No rates: this capture ' + roof.missing);
  }

  function show_(stats, roof) {
    const lines = (name) => (roof[name] ? roof[name][name] : []);
    of = {
      kernels: stats.cuda_gpu_kern_sum.missing ? [] : joined(stats.cuda_gpu_kern_sum, lines('kernels')),
      signatures: stats.cuda_gpu_kern_gb_sum.missing ? [] : joined(stats.cuda_gpu_kern_gb_sum, []),
      graphs: lines('graphs').map((line) => rowOf(null, line))
    };
    if (of.graphs.length === 0) byId('kernel-by').querySelector('[value=graphs]').remove();
    table = new Tabulator('#kernel-table', {
      data: of.kernels, columns: columns(), layout: 'fitColumns', height: of.kernels.length > 14 ? '460px' : false, selectableRows: 1,
      initialSort: [{column: 'total', dir: 'desc'}], placeholder: 'No kernels', columnDefaults: {tooltip: true}
    });
    table.on('dataFiltered', () => setTimeout(showCount, 0));
    table.on('dataLoaded', () => setTimeout(showCount, 0));
    table.on('tableBuilt', showCount);
    table.on('rowClick', (event, row) => showDetail(row.getData()));
    document.addEventListener('gpuprof-kernel', (event) => show(event.detail), {signal});
    byId('kernel-search').addEventListener('input', filter);
    byId('kernel-by').addEventListener('change', (event) => showRows(event.target.value));
    showNotes(stats, roof);
  }

  return {show, show_};
})();
