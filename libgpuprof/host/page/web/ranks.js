// The ranks of a job beside each other: what the job waits for, tables over ranks, each step of each rank.

const ranks = (() => {
  const {element, byId, time, share, count} = words;
  const maxRows = 64;  // of one step
  const maxPaths = 5000;  // cells that are drawn as paths, sharp on paper; more are one image
  let all = null, map = null, table = null;

  const list = (texts, name) => texts.map((line) => element('p', {class: name}, line));

  // Those that the others wait for, as `gpuprof analyze` says it.
  function showSlowest() {
    const advice = all.analyze;
    const late = advice.missing ? [] : [...advice.findings, ...advice.below_threshold].filter((one) => one.rule === 'late_rank');
    const place = byId('ranks-slowest');
    for (const one of late)
      place.append(element('p', {'data-rule': one.rule}, element('strong', {}, one.what), '. At most ' + share(one.of_window.high) + ' of the run. ' + one.to_do));
    const open = advice.missing ? undefined : advice.not_looked_at.find((one) => one.rule === 'late_rank');
    if (advice.missing) place.append(element('p', {class: 'note'}, advice.missing));
    else if (open) place.append(element('p', {class: 'note'}, 'Late ranks were not looked for; needs: ' + (open.how || open.needs || 'more data')));
    else if (late.length === 0) place.append(element('p', {}, 'No rank comes last to the collectives of more than half of the steps.'));
  }

  function showTable() {
    const report = all.reports[byId('ranks-report').value];
    if (table !== null) table.destroy();
    table = null;
    byId('ranks-table-notes').replaceChildren(...list(tables.notesOf(report), 'note'));
    if (report.missing) return;
    const isOfRanks = byId('ranks-report').value === 'ranks_sum';
    table = tables.make('#ranks-table', report, {selectableRows: isOfRanks ? 1 : false, ...(isOfRanks ? {initialSort: [{column: 'Work Time (ns)', dir: 'desc'}]} : {})});
    if (isOfRanks) table.on('rowClick', (event, row) => open(captures.list().findIndex((one) => one.label === row.getData()['Rank'])));
  }

  function open(at) {
    if (at < 0 || !captures.list()[at].has_parts) return;
    captures.choose(at).then(() => byId('summary').scrollIntoView());
  }

  // What a cell may show: the time of a step, waiting, or one part of the time ledger.
  function valuesOf(rank, what) {
    const of = all.steps.of[rank];
    if (what === 'period_ns') return of.period_ns;
    return (what === 'wait_ns' || what === 'held_ns' ? of[what] : of.ns[what]) || [];
  }

  function offerValues() {
    const offered = [['period_ns', 'the time of a step']];
    if (all.steps.of.some((of) => of.wait_ns)) offered.push(['wait_ns', 'waiting for the rank that begins a collective last']);
    if (all.steps.of.some((of) => of.held_ns)) offered.push(['held_ns', 'waiting for a rank that this profiler held, which counts as its time']);
    const buckets = new Set(all.steps.of.flatMap((of) => Object.keys(of.ns)));
    for (const bucket of buckets) offered.push([bucket, theme.bucketName(bucket)]);
    byId('ranks-value').append(...offered.map(([value, text]) => element('option', {value}, text)));
  }

  // Colors begin at the smallest. One cell that is far beyond nearly all others must not make those look alike.
  function scaleOf(values) {
    const sorted = [...values].sort((a, b) => a - b);
    const most = sorted[Math.floor(sorted.length * 0.98)] || 0, top = sorted[sorted.length - 1] || 1, least = sorted[0] || 0;
    const max = top > 4 * most && most > 0 ? 4 * most : top;
    return {min: least < max ? least : 0, max, isCut: max < top};
  }

  function draw() {
    const what = byId('ranks-value').value;
    const labels = captures.list().map((one) => one.label);
    const cells = [];
    labels.forEach((label, rank) => valuesOf(rank, what).forEach((value, step) => { if (words.known(value)) cells.push([step, rank, value]); }));
    const {min, max, isCut} = scaleOf(cells.map((cell) => cell[2]));
    const {text, axis, common, tooltip} = theme.chart();
    const narrow = window.innerWidth < 700;
    map.setOption({
      aria: {enabled: true, label: {description: 'Heat map of ' + labels.length + ' ranks by ' + all.steps.shown + ' steps; the step below is shown as numbers, too.'}},
      ...common, grid: {left: narrow ? 60 : 90, right: narrow ? 16 : 120, top: 12, bottom: narrow ? 90 : 50},
      xAxis: {type: 'category', name: 'step', nameLocation: 'middle', nameGap: 26, data: Array.from({length: all.steps.shown}, (_, step) => String(step)), ...axis},
      yAxis: {type: 'category', inverse: true, data: labels, ...axis, axisLabel: {...axis.axisLabel, width: narrow ? 50 : 80, overflow: 'truncate'}},
      visualMap: {min, max, text: [(isCut ? 'from ' : '') + time(max), time(min)], textStyle: {color: text}, inRange: {color: theme.heat()},
        ...(narrow ? {orient: 'horizontal', left: 'center', bottom: 0} : {orient: 'vertical', right: 0, top: 'middle'})},
      tooltip: {...tooltip,
        formatter: (at) => element('div', {}, captures.nameOf(captures.list()[at.value[1]]) + ', step ' + at.value[0] + ': ' + time(valuesOf(at.value[1], what)[at.value[0]]))},
      series: [{type: 'heatmap', data: cells.map(([step, rank, value]) => [step, rank, Math.min(value, max)]), progressive: 20000, emphasis: {itemStyle: {borderColor: text}}}]
    }, true);
  }

  function barOf(ns, widest) {
    const parts = Object.entries(ns).filter(([, value]) => value > 0);
    const total = parts.reduce((sum, [, value]) => sum + value, 0);
    const bar = ledger.bar(parts.map(([bucket, value]) => ({bucket, size: value, text: theme.bucketName(bucket) + ' ' + time(value)})));
    bar.style.width = (widest > 0 ? 100 * total / widest : 0) + '%';
    return bar;
  }
  const legendOf = (buckets) => ledger.legend([...buckets].map((bucket) => ({bucket, text: theme.bucketName(bucket)})));

  function nameButton(at) {
    const one = captures.list()[at];
    const button = element('button', {type: 'button'}, captures.nameOf(one));
    button.disabled = !one.has_parts;
    button.addEventListener('click', () => open(at));
    return button;
  }

  // All bars have one scale: the longest fills the page.
  function showStep(step) {
    const lines = all.steps.of.map((of, at) => ({
      at, period: of.period_ns[step], wait: of.wait_ns ? of.wait_ns[step] : undefined,
      ns: Object.fromEntries(Object.entries(of.ns).map(([bucket, values]) => [bucket, values[step] || 0]))
    })).filter((line) => words.known(line.period));
    const totals = lines.map((line) => Object.values(line.ns).reduce((sum, value) => sum + value, 0));
    const widest = Math.max(0, ...totals);
    const shown = lines.slice(0, maxRows);
    const rows = shown.map((line) => element('div', {class: 'rank-row'}, nameButton(line.at), barOf(line.ns, widest),
      element('span', {class: 'facts'}, time(line.period) + (words.known(line.wait) ? ', waits ' + time(line.wait) : ''))));
    const used = new Set(shown.flatMap((line) => Object.entries(line.ns).filter(([, value]) => value > 0).map(([bucket]) => bucket)));
    byId('ranks-side').replaceChildren(...rows, legendOf(used));
    if (lines.length > shown.length) byId('ranks-side').append(element('p', {class: 'note'}, count(lines.length - shown.length) + ' more ranks are left out.'));
    byId('ranks-step').value = String(step);
    byId('ranks-step-title').textContent = 'Step ' + step + ' on each rank';
  }

  // Of the steps that all ranks have, if there are any: one may leave out more of them as warm-up.
  function longestStep() {
    let step = 0, longest = -1;
    const isOfAll = (at) => all.steps.of.every((of) => words.known(of.period_ns[at]));
    const anyOfAll = all.steps.of.some((of) => of.period_ns.some((ns, at) => isOfAll(at)));
    for (const of of all.steps.of) of.period_ns.forEach((ns, at) => { if (ns > longest && (isOfAll(at) || !anyOfAll)) [step, longest] = [at, ns]; });
    return step;
  }

  function showSteps() {
    if (all.steps.shown === 0) {
      byId('ranks-steps').replaceChildren(element('p', {class: 'note'}, 'No range repeats as a step does; --step NAME names one.'));
      return;
    }
    const {shown, left_out} = all.steps;
    if (left_out > 0) byId('ranks-notes').append(element('p', {class: 'note'}, 'The first ' + count(shown) + ' steps of each rank are here; ' + count(left_out) + ' more are left out.'));
    offerValues();
    byId('ranks-chart').style.height = Math.min(620, Math.max(190, 120 + 22 * all.steps.of.length)) + 'px';
    map = theme.chartIn(byId('ranks-chart'), shown * all.steps.of.length <= maxPaths ? 'svg' : 'canvas');
    map.on('click', (at) => showStep(at.value[0]));
    window.addEventListener('resize', () => { map.resize(); draw(); });
    theme.onChange(draw);
    byId('ranks-value').addEventListener('change', draw);
    byId('ranks-step').max = String(shown - 1);
    byId('ranks-step').addEventListener('change', (event) => showStep(Math.min(shown - 1, Math.max(0, Math.floor(Number(event.target.value) || 0)))));
    byId('ranks-longest').addEventListener('click', () => showStep(longestStep()));
    draw();
    showStep(longestStep());
  }

  function show(document_) {
    all = document_;
    byId('ranks').hidden = false;
    byId('to-ranks').hidden = false;
    if (!all.analyze.missing) byId('ranks-facts').append(element('p', {class: 'holds'}, all.analyze.holds.sentence));
    byId('ranks-facts').append(...list(all.heading, 'facts'), ...list([...new Set([...all.remarks, ...(all.analyze.remarks || [])])], 'note'));
    showSlowest();
    byId('ranks-report').addEventListener('change', showTable);
    showTable();
    showSteps();
  }

  return {show};
})();
