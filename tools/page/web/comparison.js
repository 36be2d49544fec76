// What changed between two sides, as `gpuprof compare` says it: the table of differences, and columns for the table of kernels.

const comparison = (() => {
  const {element, byId, time, share, known} = words;
  const kinds = {ranges: ['step', 'gpu', 'range'], kernels: ['kernel'], buckets: ['bucket'], findings: ['finding']};
  let all = null, table = null;

  const signed = (text, value) => (known(value) && value > 0 ? '+' : '') + text(value);
  // Sums are of a step, of the whole run where nothing repeats.
  const sumOf = (line, what) => line[what + (all.compare.step === null ? '_per_run' : '_per_step')];
  const lines = () => (all === null || all.missing ? [] : all.compare.lines);

  // A mark and a word beside the colour: not all eyes tell colours apart.
  function verdictCell(cell) {
    const verdict = cell.getValue() || '';
    const mark = {worse: '\u25b2 ', better: '\u25bc '}[verdict] || '';
    return element('span', {class: 'verdict ' + verdict}, mark + verdict);
  }

  const verdictOf = (line) => line.verdict || (line.match === 'new' || line.match === 'gone' ? line.match : null);

  function nameOf(line) {
    const name = words.kernelName(line.name) + (line.geometry ? ' <' + line.geometry + '>' : '');
    return line.was ? line.match + ': ' + words.kernelName(line.was) + ' \u2192 ' + name : name;
  }

  // Buckets and findings are shares of the run; all others are times of one call.
  function rowOf(line) {
    const isShare = known(line.base_window_share) || known(line.new_window_share);
    const text = (ns, part) => (isShare ? share(part) : time(ns));
    return {
      line, kind: line.kind, name: nameOf(line), cost: isShare ? null : sumOf(line, 'cost_ns'), change: line.change, clock: line.by_clock, shared: line.shared, verdict: verdictOf(line),
      left: known(line.left_low) ? signed(share, line.left_low) + ' to ' + signed(share, line.left_high) : '',
      before: isShare ? line.base_window_share : line.base_call_ns, after: isShare ? line.new_window_share : line.new_call_ns,
      before_text: text(line.base_call_ns, line.base_window_share), after_text: text(line.new_call_ns, line.new_window_share),
      before_roof: line.base_of_roof, after_roof: line.new_of_roof, calls: sumOf(line, 'new_calls'), calls_before: sumOf(line, 'base_calls')
    };
  }

  const numeric = {hozAlign: 'right', sorter: 'number', headerSortStartingDir: 'desc'};
  const plain = (title, field, text, width) => ({title, field, width, ...numeric, formatter: (cell) => document.createTextNode(text(cell.getValue()))});
  const per = () => (all.compare.step === null ? ' of the run' : ' of a step');
  const byAmount = (a, b) => Math.abs(a || 0) - Math.abs(b || 0);

  function columns() {
    const calls = (value) => (known(value) ? String(+value.toPrecision(4)) : '');
    return [
      {title: 'Name', field: 'name', minWidth: 260, widthGrow: 3, formatter: (cell) => document.createTextNode(cell.getValue()), tooltip: (event, cell) => element('div', {}, cell.getValue())},
      {...plain('Cost' + per(), 'cost', (v) => (known(v) ? signed(time, v) : ''), 140), sorter: byAmount}, plain('Change', 'change', (v) => (known(v) ? signed(share, v) : ''), 92),
      {title: 'What is left', field: 'left', width: 160, headerSort: false, headerTooltip: 'of the change without the clock, with its noise: the verdict holds for this'}, plain('Clock', 'clock', (v) => (known(v) ? signed(share, v) : ''), 84),
      plain('Shared', 'shared', (v) => (known(v) ? signed(share, v) : ''), 88), {title: 'Verdict', field: 'verdict', width: 110, formatter: verdictCell},
      {title: 'Base', field: 'before', width: 96, ...numeric, formatter: (cell) => document.createTextNode(cell.getRow().getData().before_text)},
      {title: 'New', field: 'after', width: 96, ...numeric, formatter: (cell) => document.createTextNode(cell.getRow().getData().after_text)},
      plain('Base calls', 'calls_before', calls, 104), plain('New calls', 'calls', calls, 100), plain('Base of roof', 'before_roof', share, 118), plain('New of roof', 'after_roof', share, 112)
    ];
  }

  function filter() {
    const chosen = kinds[byId('comparison-kind').value];
    table.setFilter((row) => chosen === undefined || chosen.includes(row.kind));
  }

  function showTable() {
    const rows = lines().map(rowOf);
    table = new Tabulator('#comparison-table', {
      data: rows, columns: columns(), layout: 'fitColumns', height: rows.length > 14 ? '460px' : false, initialSort: [{column: 'cost', dir: 'desc'}], placeholder: 'Nothing differs',
      rowFormatter: (row) => row.getElement().classList.add(...['difference', row.getData().verdict].filter(Boolean))
    });
    table.on('rowClick', (event, row) => { if (row.getData().kind === 'kernel') document.dispatchEvent(new CustomEvent('gpuprof-kernel', {detail: row.getData().line.name})); });
    byId('comparison-kind').addEventListener('change', filter);
  }

  function show(document_) {
    all = document_;
    byId('comparison').hidden = false;
    byId('to-comparison').hidden = false;
    if (all.missing) {
      byId('comparison-facts').append(element('p', {class: 'lost'}, all.missing));
      byId('comparison-lines').remove();
      return;
    }
    const [base, fresh, ...said] = all.headlines;
    byId('comparison-facts').append(...said.map((line) => element('p', {class: 'holds'}, line)), ...[base, fresh].map((line) => element('p', {class: 'facts'}, line)),
      ...all.compare.notes.map((line) => element('p', {class: 'note'}, line)));
    showTable();
  }

  // Of the lines of a kernel, one for each grid and block: what all of them take.
  function joined(of) {
    const sum = (what) => (of.some((line) => known(sumOf(line, what))) ? of.reduce((total, line) => total + (sumOf(line, what) || 0), 0) : null);
    const verdicts = new Set(of.map(verdictOf).filter((verdict) => verdict !== null && verdict !== 'same'));
    const verdict = verdicts.size > 1 ? 'mixed' : verdicts.size === 1 ? [...verdicts][0] : of.some((line) => line.verdict === 'same') ? 'same' : null;
    return {before: sum('base_total_ns'), after: sum('new_total_ns'), difference: sum('cost_ns'), verdict};
  }

  // Adds to lines of the table of kernels what the comparison has of them: by name, or by name, grid and block.
  function addTo(rows) {
    if (lines().length === 0) return rows;
    const known_ = new Map();
    for (const line of lines().filter((one) => one.kind === 'kernel'))
      for (const name of new Set([line.name, line.was || line.name]))
        for (const key of [name, name + ' <' + line.geometry + '>']) known_.set(key, [...(known_.get(key) || []), line]);
    const extent = (text) => text.trim().split(/\s+/).join(',');
    for (const row of rows) {
      const {timed} = row;
      const isSignature = timed && timed['GridXYZ'] !== undefined;
      const of = known_.get(isSignature ? row.name + ' <' + extent(timed['GridXYZ']) + ' x ' + extent(timed['BlockXYZ']) + '>' : row.name);
      if (of !== undefined) Object.assign(row, joined(of));
    }
    return rows;
  }

  // None without a comparison.
  function kernelColumns() {
    if (lines().length === 0) return [];
    const headerTooltip = 'what all its launches take' + per();
    return [{...plain('Before', 'before', time, 92), headerTooltip}, {...plain('After', 'after', time, 88), headerTooltip},
      {...plain('Difference', 'difference', (v) => (known(v) ? signed(time, v) : ''), 118), sorter: byAmount, headerTooltip,
        formatter: (cell) => element('span', {class: 'verdict ' + (cell.getRow().getData().verdict || '')}, known(cell.getValue()) ? signed(time, cell.getValue()) : '')},
      {title: 'Verdict', field: 'verdict', width: 100, formatter: verdictCell}];
  }

  return {show, addTo, kernelColumns};
})();
