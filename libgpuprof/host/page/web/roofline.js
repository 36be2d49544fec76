// FLOP per byte against FLOP per second, under the roofs that this GPU was measured to have.

const roofline = (() => {
  const {element, byId, time, rate, share, count, number, figure, known} = words;
  const maxPoints = 1000;  // those with most time: a browser draws so many at once
  const whole = [{start: 0, end: 100}, {start: 0, end: 100}];
  let chart = null, all = null, chosen = null, zoomed = whole;  // of each axis, in percent

  const perByte = {dram: (line) => line.flop_per_dram_byte, l2: (line) => line.flop_per_l2_byte};
  const memories = () => (byId('roofline-memory').value === 'both' ? ['dram', 'l2'] : [byId('roofline-memory').value]);
  const by = () => byId('roofline-by').value;

  const withSource = (text, field, line) => (text === '' ? '' : text + ' (' + kernelRows.rateSource(field, line) + ')');
  function tipOf(line) {
    const extents = line.grid ? kernelRows.extentOf(line.grid) + ' blocks of ' + kernelRows.extentOf(line.block) + ' threads' : '';
    const rows = [['', words.shortened(line.name)], ['launch', extents], ['arguments', line.arguments || ''], ['time', time(line.time_ns) + ', ' + share(line.time_share)],
      ['launches', count(line.launches) + (known(line.avg_ns) ? ' of ' + time(line.avg_ns) : '')],
      ['FLOP/s', withSource(rate(line.flops, 'FLOP/s'), 'flops', line)],
      ...Object.entries(line.flops_by_precision || {}).filter(([, flops]) => flops > 0).map(([name, flops]) => [name, rate(flops, 'FLOP/s')]),
      ['DRAM', withSource(rate(line.dram_bytes_per_second, 'B/s'), 'dram', line)], ['L2', withSource(rate(line.l2_bytes_per_second, 'B/s'), 'l2', line)],
      ['FLOP per byte of DRAM', figure(line.flop_per_dram_byte)], ['FLOP per byte of L2', figure(line.flop_per_l2_byte)], ['bound by', line.bound_by || ''],
      ['of its roof', share(line.of_roof)], ['a launch would be shorter there by', time(line.to_roof_ns)], ['occupancy', share(line.occupancy)],
      ['tensor cores active', share(line.tensor_active)], ['SM clock', rate(line.sm_clock_hz, 'Hz')]];
    const box = element('div', {class: 'tip'});
    for (const [name, value] of rows) if (value) box.append(element('div', {}, name ? name + ': ' + value : value));
    return box;
  }

  function pointsOf(lines) {
    const points = [];
    for (const line of lines)
      for (const memory of memories())
        if (perByte[memory](line) > 0 && line.flops > 0) points.push({line, memory, x: perByte[memory](line)});
    return points.sort((a, b) => b.line.time_ns - a.line.time_ns);
  }

  // Larger ones first, or they would cover the smaller.
  function dataOf(points) {
    return points.slice(0, maxPoints).map(({line, memory, x}) => {
      const is = line === chosen;
      return {
        value: [x, line.flops], line, symbol: memory === 'l2' ? 'diamond' : 'circle', symbolSize: 6 + 40 * Math.sqrt(Math.max(0, line.time_share || 0)),
        itemStyle: {color: line.flops_are_upper_limit ? 'transparent' : theme.color(is ? 'mark' : 'accent'), opacity: is ? 1 : 0.75, borderColor: theme.color(is ? 'mark' : 'text'), borderWidth: is ? 3 : 1,
          borderType: line.flops_are_upper_limit ? 'dashed' : 'solid'}
      };
    });
  }

  function axesOf(points) {
    const xs = points.map(({x}) => x), ys = points.map(({line}) => line.flops);
    const left = Math.min(0.1, ...xs) / 2, right = Math.max(1000, ...xs) * 2;
    return {left, right, bottom: ys.length > 0 ? Math.pow(10, Math.floor(Math.log10(Math.min(...ys) / 2))) : 'dataMin'};
  }

  function option(lines, points) {
    const {left, right, bottom} = axesOf(points);
    const drawn = roofs.linesOf(all[by()].roofs || {}, lines, memories(), left, right);
    byId('roofline-legend').replaceChildren(...roofs.legendOf(drawn));
    const style = theme.chart(), axis = {...style.axis, type: 'log', nameLocation: 'middle'}, narrow = window.innerWidth < 700;
    const shown = zoomed.map((axis_, at) => ({type: 'inside', [at === 0 ? 'xAxisIndex' : 'yAxisIndex']: 0, filterMode: 'none', ...axis_}));
    const of = memories().map((memory) => memory.toUpperCase()).join(' or ');
    return {
      aria: {enabled: true, label: {description: 'Roofline: ' + count(points.length) + ' points by FLOP per byte of ' + of + ' and FLOP per second; the table above has their figures.'}},
      ...style.common, grid: {left: narrow ? 62 : 78, right: 24, top: 20, bottom: 60},
      xAxis: {...axis, name: 'FLOP per byte of ' + of, nameGap: 32, min: left, max: right,
        axisLabel: {...axis.axisLabel, formatter: (v) => (v >= 1 ? count(v) : String(+v.toPrecision(1)))}},
      yAxis: {...axis, name: narrow ? '' : 'FLOP/s', nameGap: 60, min: bottom, axisLabel: {...axis.axisLabel, formatter: (v) => rate(v, '')}},
      tooltip: {...style.tooltip, trigger: 'item', formatter: (at) => (at.data.line ? tipOf(at.data.line) : '')},
      dataZoom: shown,
      series: [...roofs.seriesOf(drawn), {type: 'scatter', animation: false, name: 'points', z: 3, data: dataOf(points)}]
    };
  }

  function draw() {
    if (all === null || all.missing) return;
    const of = all[by()];
    const lines = of[by()], points = pointsOf(lines), each = memories().length, leftOut = all.left_out[by()];
    const places = each > 1 ? ' points' : ' lines';
    byId('roofline-count').textContent = count(Math.min(points.length, maxPoints)) + ' of ' + count(each * (lines.length + leftOut)) + places +
      (points.length > maxPoints ? ', those with most time' : '') + (leftOut > 0 ? '; ' + number(leftOut, 'line') + ' with least time left out of this page, gpuprof roofline has all' : '') +
      (points.length < each * lines.length ? '; the others have no FLOP or no bytes' : '');
    chart.setOption(option(lines, points), true);
    showChosen();
  }

  // What is marked, and the way back to the table, for those who do not click on points.
  function showChosen() {
    const place = byId('roofline-chosen');
    place.replaceChildren();
    if (chosen === null) return;
    const back = element('button', {type: 'button'}, 'Show its line in the table');
    const line = chosen;
    back.addEventListener('click', () => kernels.show(line.name, by(), line));
    place.append(element('span', {}, 'Marked: ' + words.shortened(words.kernelName(chosen.name))), back);
  }

  // Each axis about its own middle.
  function zoom(factor) {
    zoomed.map(({start, end}) => {
      const middle = (start + end) / 2, half = Math.min(50, (end - start) / 2 * factor);
      const from = Math.max(0, Math.min(100 - 2 * half, middle - half));
      return {start: from, end: from + 2 * half};
    }).forEach((axis, dataZoomIndex) => chart.dispatchAction({type: 'dataZoom', dataZoomIndex, ...axis}));
  }
  // By buttons or by hand; it stays until there are other axes.
  function keepZoom() {
    zoomed = chart.getOption().dataZoom.map(({start, end}) => ({start, end}));
  }
  function showWhole() {
    zoomed = whole;
    draw();
  }

  function listen() {
    chart = theme.chartIn(byId('roofline-chart'));
    chart.on('click', (at) => {
      if (at.data && at.data.line) kernels.show(at.data.line.name, by(), at.data.line);
    });
    chart.on('datazoom', keepZoom);
    window.addEventListener('resize', () => chart.resize(), {signal});
    for (const id of ['roofline-by', 'roofline-memory']) byId(id).addEventListener('change', () => {
      if (id === 'roofline-by') chosen = null;
      showWhole();
    });
    byId('roofline-in').addEventListener('click', () => zoom(0.6));
    byId('roofline-out').addEventListener('click', () => zoom(1 / 0.6));
    byId('roofline-all').addEventListener('click', showWhole);
    theme.onChange(draw);
    kernels.onChoice(choose);
  }

  // The line that is chosen in the table.
  function choose(row, newBy) {
    chosen = row !== null && row.counted ? row.counted : null;
    if (chosen === null || by() === newBy || !all[newBy]) return draw();
    byId('roofline-by').value = newBy;
    showWhole();
  }

  function show(roof) {
    all = roof;
    if (roof.missing) {
      for (const id of ['roofline-chart', 'roofline-tools', 'roofline-chosen']) byId(id).remove();
      words.note('roofline-notes', 'There is no roofline: this capture ' + roof.missing);
      return;
    }
    for (const name of ['ranges', 'graphs']) if (roof[name][name].length === 0) byId('roofline-by').querySelector('[value=' + name + ']').remove();
    for (const line of roof.kernels.summary) words.note('roofline-notes', line);
    words.note('roofline-notes', 'Solid: measured on this GPU. Dashed: what its clocks and widths allow. The area of a point grows with its share of the time; circles: by bytes of DRAM, diamonds of L2; hollow: the FLOP are an upper limit.');
    listen();
    draw();
  }

  const has = (row) => all !== null && !all.missing && row.counted !== undefined && ['dram', 'l2'].some((memory) => perByte[memory](row.counted) > 0) && row.counted.flops > 0;

  // Why a line of the table may have no rates although it was counted; else nothing.
  const leftOut = (lines) => (all !== null && !all.missing && all.left_out[lines] > 0 ? 'not counted, or one of the ' + count(all.left_out[lines]) + ' lines of the roofline that are left out of this page: gpuprof roofline' : '');

  return {show, has, leftOut, go: () => byId('roofline').scrollIntoView()};
})();
