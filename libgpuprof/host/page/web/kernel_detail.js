// All that is known of a line of the table: figures, findings, durations, geometry, where from, beside what, readings.

const kernelDetail = (() => {
  const {element, byId, time, rate, share, count, number, known} = words;
  let readings = new Map(), details = null, lines = new Map();

  const fact = (name, value, source) => (value === '' || value === null || value === undefined ? null :
    element('div', source ? {title: source} : {}, element('dt', {}, name), element('dd', {}, value), source ? element('dd', {class: 'source'}, source) : ''));

  function timesOf(row) {
    const timed = row.timed;
    if (!timed) return [fact('launches', count(row.launches)), fact('total', time(row.total))];
    return [fact('launches', count(timed['Instances'])), fact('total', time(timed['Total Time (ns)'])), fact('average', time(timed['Avg (ns)'])),
      fact('median', time(timed['Med (ns)'])), fact('shortest', time(timed['Min (ns)'])), fact('longest', time(timed['Max (ns)'])),
      fact('standard deviation', time(timed['StdDev (ns)'])), fact('grid', row.grid), fact('block', row.block)];
  }

  function ratesOf(row, by) {
    const line = row.counted;
    if (!line) return [];
    const from = (field) => kernelRows.rateSource(field, line);
    return [fact('FLOP/s', rate(line.flops, 'FLOP/s'), from('flops')),
      ...Object.entries(line.flops_by_precision || {}).filter(([, flops]) => flops > 0).map(([name, flops]) => fact('of these ' + name, rate(flops, 'FLOP/s'))),
      fact('DRAM', rate(line.dram_bytes_per_second, 'B/s'), from('dram')), fact('L2', rate(line.l2_bytes_per_second, 'B/s'), from('l2')),
      fact('FLOP per DRAM byte', words.figure(line.flop_per_dram_byte)),
      fact('FLOP per L2 byte', words.figure(line.flop_per_l2_byte)),
      fact('bound by', line.bound_by), fact('of its roof', share(line.of_roof), kernelRows.sourceOf('roof', row, by)),
      fact('a launch would be shorter at its roof by', time(line.to_roof_ns)),
      fact('occupancy', share(line.occupancy), from('occupancy')), fact('tensor cores active', share(line.tensor_active), from('tensor')),
      fact('SM clock', rate(line.sm_clock_hz, 'Hz'), from('clock'))];
  }

  function findingsOf(row) {
    if (row.findings.length === 0) return '';
    const items = row.findings.map((one) => element('li', {}, element('b', {}, kernelRows.findingGain(one)),
      (one.condition ? ' if ' + one.condition : '') + ' (' + one.rule + '): ' + one.what + '. ' + one.to_do));
    return part('What fixing it would save', element('ul', {}, ...items));
  }

  function part(title, ...content) {
    return element('section', {class: 'part'}, element('h3', {}, title), ...content);
  }

  // Rows of texts below their titles. A hint behind a title says what it is.
  function tableOf(titles, rows) {
    const head = element('tr', {}, ...titles.map((title) => element('th', {scope: 'col'}, title)));
    const body = rows.map((row) => element('tr', {}, ...row.map((cell) => element('td', {}, cell))));
    return element('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': titles[0]}, element('table', {}, element('thead', {}, head), element('tbody', {}, ...body)));
  }

  const bytes = (number) => (number === 0 ? '0' : known(number) ? count(number) + ' B' : '');
  function geometryOf(line, row, by) {
    const all = (line.geometries || []).filter((one) => by !== 'signatures' || (one.grid === row.grid && one.block === row.block));
    if (all.length === 0) return '';
    const several = all.some((one) => one.device !== all[0].device);
    const titles = ['Grid', 'Block', 'Registers a thread', 'Shared memory, static', 'dynamic', 'Local a thread', 'Theoretical occupancy', 'Limited by', 'Blocks an SM', 'Waves', 'Launches', 'Total'];
    const rows = all.map((one) => [one.grid + (one.cluster ? ', clusters of ' + one.cluster : '') + (several ? ', GPU ' + one.device : ''), one.block, count(one.registers),
      bytes(one.static_shared), bytes(one.dynamic_shared), bytes(one.local), share(one.occupancy), (one.limited_by || []).join(', '), count(one.blocks_per_sm),
      words.figure(one.waves), count(one.launches), time(one.total_ns)]);
    return part('Launch geometry', tableOf(titles, rows), element('p', {class: 'note'},
      'Occupancy is what the launch allows with no other kernel on the SM, by the limits of this GPU.' + (line.geometries.length === 12 ? ' The 12 with most time are shown.' : '')));
  }

  // `kernel`: its line with all launches, whatever the grid and block.
  function placesOf(kernel) {
    const rows = [];
    for (const kind of ['ranges', 'graphs'])
      for (const place of details[kind]) {
        const found = place.kernels.find(([at]) => details.names[at] === kernel.name);
        if (found) rows.push([words.shortened(place.name) + (place.start_end ? ' (start/end)' : ''), count(found[1]), time(found[2]), share(found[2] / kernel.total)]);
      }
    if (rows.length === 0) return part('Launched from', element('p', {class: 'note'}, 'No NVTX range and no CUDA graph was around its launches.'));
    const overlap = details.ranges.some((place) => place.start_end) ? ' Start/end ranges were open at the launch, on any thread, and overlap.' : '';
    return part('Launched from', tableOf(['Range or graph', 'Launches', 'Time', 'Of its time'], rows.slice(0, 20)), rows.length > 20 ?
      element('p', {class: 'note'}, 'Twenty of ' + rows.length + '.') : '', element('p', {class: 'note'}, 'Ranges lie inside of each other: a launch counts in each around it.' + overlap));
  }

  function listOf(title, list, launches) {
    const items = list.map(([kernel, times]) => {
      const name = details.names[kernel];
      const link = element('button', {type: 'button', class: 'name', title: words.shortened(name)}, words.shortened(words.kernelName(name)));
      link.addEventListener('click', () => kernels.show(name));
      return element('li', {}, link, ' ' + number(times, 'time') + ', ' + share(times / launches));
    });
    return element('div', {}, element('h4', {}, title), items.length > 0 ? element('ol', {}, ...items) : element('p', {class: 'note'}, 'nothing'));
  }

  function neighborsOf(line, {launches}) {
    return part('Neighbors on its stream', element('div', {class: 'two'}, listOf('Just before it', line.before, launches), listOf('Just after it', line.after, launches)));
  }

  const figure = (value) => (known(value) ? (Math.abs(value) >= 1000 ? count(value) : String(+value.toPrecision(4))) : '');
  function readingsOf(row) {
    const rows = readings.get(row.name) || [];
    if (rows.length === 0) return '';
    const hasSources = rows.some((one) => one['Source'] !== undefined);
    const titles = ['Metric', 'A launch', 'Standard deviation', ...(hasSources ? ['Standard error', 'Source'] : []), 'Readings'];
    const lines = rows.map((one) => [one['Metric'], figure(one['Avg']), figure(one['StdDev']),
      ...(hasSources ? [figure(one['Error']), (one['Source'] || '') + (one['Shared'] === 'yes' ? ', shared' : '')] : []), count(one['Samples'])]);
    return part('Readings', tableOf(titles, lines), hasSources ? '' : element('p', {class: 'note'}, 'All were counted around launches.'));
  }

  function buttonsFor(row, by) {
    const make = (text, act) => {
      const button = element('button', {type: 'button'}, text);
      button.addEventListener('click', act);
      return button;
    };
    return element('p', {class: 'tools'}, roofline.has(row) ? make('Show in the roofline', () => roofline.go()) : '',
      by === 'ranges' ? '' : make('Show in the timeline', () => timeline.find(row.name)), make('Close', () => kernels.close()));
  }

  const lineOf = (row, by) => lines.get(kernelRows.keyOf(row.name, by === 'signatures' ? row.grid : '', by === 'signatures' ? row.block : ''));

  // Takes the focus that a reader without a mouse needs to read on.
  function titleOf(row) {
    const name = words.shortened(row.name);
    return [element('h2', {tabindex: -1}, name), name === row.name ? '' : element('p', {class: 'note'}, 'The name is cut off here; the table has all of it where one points at it.')];
  }

  // `kernel`: the line of the same kernel with all its launches.
  function show(row, by, kernel) {
    detailCharts.forget();
    detailSamples.forget();
    const box = byId('kernel-detail');
    const isKernel = by === 'kernels' || by === 'signatures';
    const line = isKernel ? lineOf(row, by) : undefined;
    const whole = isKernel && kernel !== undefined ? lines.get(kernelRows.keyOf(row.name, '', '')) : undefined;
    const parts = [...titleOf(row), buttonsFor(row, by), element('dl', {}, ...timesOf(row), ...ratesOf(row, by)), findingsOf(row)];
    if (line === undefined && isKernel)
      parts.push(element('p', {class: 'note'}, 'Durations over time are kept for the ' + count(details.kernels.length) + ' kernels and ' + count(details.signatures.length) + ' geometries with most time.'));
    const charts = line === undefined ? null : detailCharts.places();
    if (charts) parts.push(part('Durations', charts.both));
    if (by === 'signatures' && whole) parts.push(element('p', {class: 'note'}, 'What follows is of all launches of this kernel, but for its geometry.'));
    if (whole) parts.push(geometryOf(whole, row, by), detailSamples.part(whole), placesOf(kernel), neighborsOf(whole, kernel));
    if (isKernel) parts.push(readingsOf(row));
    box.replaceChildren(...parts.filter((one) => one !== ''));
    box.hidden = false;
    if (charts) detailCharts.draw(charts, line, row);
    detailSamples.draw();
  }

  function hide() {
    detailCharts.forget();
    detailSamples.forget();
    byId('kernel-detail').hidden = true;
    byId('kernel-detail').replaceChildren();
  }

  function take(stats, known_) {
    details = known_;
    for (const one of details.kernels) lines.set(kernelRows.keyOf(one.name, '', ''), one);
    for (const one of details.signatures) lines.set(kernelRows.keyOf(one.name, one.grid, one.block), one);
    for (const row of (stats.gpu_metrics_sum && stats.gpu_metrics_sum.rows) || []) readings.set(row['Name'], [...(readings.get(row['Name']) || []), row]);
  }

  const focus = () => byId('kernel-detail').querySelector('h2').focus();

  return {show, hide, take, focus};
})();
