// What changed between two sides, as `gpuprof compare` says it: the table of differences, and columns for the table of kernels.

const comparison = (() => {
  const {element, byId, time, share, known} = words;
  const kinds = {ranges: ['run', 'step', 'gpu', 'range'], kernels: ['kernel'], buckets: ['bucket'], findings: ['finding']};
  let all = null, table = null;

  const signed = (text, value) => (known(value) && value > 0 ? '+' : '') + text(value);
  // Sums are of a step, of the whole run where nothing repeats.
  const sumOf = (line, what) => line[what + (all.compare.step === null ? '_per_run' : '_per_step')];
  const lines = () => (all === null || all.missing ? [] : all.compare.lines);

  // A mark and a word beside the color: not all eyes tell colors apart.
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
    const text = (ns, part) => (isShare ? share(part) + (known(ns) ? ' (' + time(ns) + ')' : '') : time(ns));
    return {
      line, kind: line.kind, name: nameOf(line), cost: line.kind === 'finding' ? null : sumOf(line, 'cost_ns'), change: line.change, clock: line.by_clock, shared: line.shared, verdict: verdictOf(line),
      left: known(line.left_low) ? signed(share, line.left_low) + ' to ' + signed(share, line.left_high) : '',
      before: isShare ? line.base_window_share : line.base_call_ns, after: isShare ? line.new_window_share : line.new_call_ns,
      before_text: text(line.base_call_ns, line.base_window_share), after_text: text(line.new_call_ns, line.new_window_share),
      before_roof: line.base_of_roof, after_roof: line.new_of_roof, calls: sumOf(line, 'new_calls'), calls_before: sumOf(line, 'base_calls')
    };
  }

  const plain = (title, field, text, width, extra) => tables.figures(title, field, text, {width, ...extra});
  const plus = (text) => (value) => (known(value) ? signed(text, value) : '');
  const per = () => (all.compare.step === null ? ' of the run' : ' of a step');
  const byAmount = (a, b) => Math.abs(a || 0) - Math.abs(b || 0);

  function nameCell(cell) {
    const name = words.shortened(cell.getValue());
    return cell.getRow().getData().kind === 'kernel' ? tables.nameButton(name) : document.createTextNode(name);
  }

  function columns() {
    const calls = (value) => (known(value) ? String(+value.toPrecision(4)) : '');
    return [
      {title: 'Name', field: 'name', minWidth: 260, widthGrow: 3, formatter: nameCell, tooltip: (event, cell) => element('div', {}, cell.getValue())},
      plain('Cost' + per(), 'cost', plus(time), 140, {sorter: byAmount}), plain('Change', 'change', plus(share), 92),
      {title: 'What is left', field: 'left', width: 160, headerSort: false, headerTooltip: 'of the change without the clock, with its noise: the verdict holds for this'}, plain('Clock', 'clock', plus(share), 84),
      plain('Shared', 'shared', plus(share), 88), {title: 'Verdict', field: 'verdict', width: 110, formatter: verdictCell},
      plain('Base', 'before', (v, row) => row.before_text, 96), plain('New', 'after', (v, row) => row.after_text, 96),
      plain('Base calls', 'calls_before', calls, 114), plain('New calls', 'calls', calls, 110), plain('Base of roof', 'before_roof', share, 118), plain('New of roof', 'after_roof', share, 112)
    ];
  }

  function filter() {
    const chosen = kinds[byId('comparison-kind').value];
    table.setFilter((row) => chosen === undefined || chosen.includes(row.kind));
  }

  const say = (text) => { byId('comparison-said').textContent = text; };

  // To the kernel in the table below; where that of the capture shown has none of this name, to that of another side.
  async function openKernel(line) {
    // A kernel that was split has its parts as its name, and one that was joined as what it was.
    const names = [line.name, line.was].filter(Boolean).flatMap((name) => [name, ...name.split(' + ')]);
    const isShown = () => !document.dispatchEvent(new CustomEvent('gpuprof-kernel', {detail: names, cancelable: true}));
    say('');
    if (isShown()) return;
    const shown = captures.shown();
    for (const at of captures.list().keys()) {
      if (at === shown || !(await captures.hasKernel(at, names))) continue;
      await captures.choose(at);
      if (isShown()) return say(captures.nameOf(captures.list()[at]) + ' is shown now: the other side has no ' + words.shortened(words.kernelName(line.name)));
    }
    say('No table of this page has a line of ' + words.shortened(words.kernelName(line.name)) + '; gpuprof stats has all.');
  }

  function showTable() {
    const rows = lines().map(rowOf);
    table = tables.create('#comparison-table', 'What changed', {
      data: rows, columns: columns(), height: '460px', initialSort: [{column: 'cost', dir: 'desc'}], placeholder: 'Nothing differs',
      rowFormatter: (row) => row.getElement().classList.add(...['difference', row.getData().verdict].filter(Boolean))
    });
    table.on('rowClick', (event, row) => { if (row.getData().kind === 'kernel') openKernel(row.getData().line); });
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
    const costCell = (cell) => element('span', {class: 'verdict ' + (cell.getRow().getData().verdict || '')}, plus(time)(cell.getValue()));
    return [plain('Before', 'before', time, 92, {headerTooltip}), plain('After', 'after', time, 88, {headerTooltip}),
      plain('Difference', 'difference', null, 118, {sorter: byAmount, headerTooltip, formatter: costCell}),
      {title: 'Verdict', field: 'verdict', width: 100, formatter: verdictCell}];
  }

  return {show, addTo, kernelColumns};
})();
