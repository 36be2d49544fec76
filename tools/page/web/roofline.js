// FLOP per byte against FLOP per second, under the roofs that this GPU was measured to have.

const roofline = (() => {
  const {element, byId, time, rate, share, known} = words;
  let chart = null, all = null, marked = null;

  const perByte = (line) => (byId('roofline-memory').value === 'l2' ? line.flop_per_l2_byte : line.flop_per_dram_byte);
  const precisionOf = (name) => name.replace('tensor_', 'tensor ').toUpperCase().replace('TENSOR', 'tensor');

  function slopesOf(roofs) {
    return byId('roofline-memory').value === 'l2' ? [['L2', roofs.l2_read]] : [['DRAM', roofs.dram_read || roofs.dram_copy]];
  }

  // A roof is worth drawing where a point may stand below it: its precision does work.
  function ceilingsOf(roofs, lines) {
    const used = new Set(['fp32']);
    for (const line of lines)
      for (const [name, flops] of Object.entries(line.flops_by_precision || {})) if (flops > 0) used.add(name);
    return Object.entries(roofs).filter(([name]) => used.has(name)).map(([name, roof]) => [precisionOf(name), roof]);
  }

  function roofLines(roofs, lines, left, right) {
    const made = [];
    const [slope] = slopesOf(roofs);
    if (!slope[1]) return made;
    ceilingsOf(roofs, lines).forEach(([name, roof], at) => {
      for (const [kind, type] of [['burst', 'solid'], ['theory', 'dashed']]) {
        if (!roof[kind] || !slope[1][kind]) continue;
        const knee = roof[kind] / slope[1][kind];
        made.push({
          type: 'line', symbol: 'none', silent: true, animation: false,
          name: name + (kind === 'theory' ? ' in theory' : ' measured'),
          lineStyle: {color: theme.series[at % theme.series.length], width: kind === 'burst' ? 2 : 1, type},
          data: [[left, left * slope[1][kind]], [knee, roof[kind]], [right, roof[kind]]].filter(([x]) => x >= left && x <= right),
          endLabel: {show: kind === 'burst' && window.innerWidth >= 700, formatter: name + ' ' + rate(roof.burst, 'FLOP/s'), color: theme.colour('text'), fontSize: 11}
        });
      }
    });
    return made;
  }

  function tipOf(line) {
    const rows = [[line.name || line.range, ''], ['time', time(line.time_ns) + ', ' + share(line.time_share)], ['FLOP/s', rate(line.flops, 'FLOP/s') + ' (' + line.flop_source + ')'],
      ['DRAM', rate(line.dram_bytes_per_second, 'B/s')], ['L2', rate(line.l2_bytes_per_second, 'B/s')], ['bound by', line.bound_by || ''], ['of its roof', share(line.of_roof)]];
    const box = element('div');
    box.style.maxWidth = '26rem';
    box.style.whiteSpace = 'normal';
    for (const [name, value] of rows) if (name && (value || name === rows[0][0])) box.append(element('div', {}, value ? name + ': ' + value : name));
    return box;
  }

  function option(roofs, lines) {
    const points = lines.filter((line) => perByte(line) > 0 && line.flops > 0);
    const xs = points.map(perByte);
    const left = Math.min(0.1, ...xs) / 2, right = Math.max(1000, ...xs) * 2;
    const narrow = window.innerWidth < 700;
    const text = theme.colour('text'), faint = theme.colour('line');
    const axis = {type: 'log', nameLocation: 'middle', nameTextStyle: {color: text}, axisLabel: {color: text}, axisLine: {lineStyle: {color: text}}, splitLine: {lineStyle: {color: faint}}};
    return {
      aria: {enabled: true}, animation: false, backgroundColor: 'transparent', grid: {left: 78, right: narrow ? 20 : 190, top: 20, bottom: 60},
      xAxis: {...axis, name: 'FLOP per byte of ' + byId('roofline-memory').value.toUpperCase(), nameGap: 32, min: left, max: right,
        axisLabel: {color: text, formatter: (v) => (v >= 1 ? words.count(v) : String(+v.toPrecision(1)))}},
      yAxis: {...axis, name: 'FLOP/s', nameGap: 60, axisLabel: {color: text, formatter: (v) => rate(v, '')}},
      tooltip: {trigger: 'item', confine: true, backgroundColor: theme.colour('panel'), borderColor: faint, textStyle: {color: text, fontSize: 12}, formatter: (at) => (at.data.line ? tipOf(at.data.line) : '')},
      dataZoom: [{type: 'inside', xAxisIndex: 0, filterMode: 'none'}, {type: 'inside', yAxisIndex: 0, filterMode: 'none'}],
      series: [...roofLines(roofs, lines, left, right), {
        type: 'scatter', animation: false, name: 'points',
        data: points.map((line) => ({
          value: [perByte(line), line.flops], line, symbolSize: 6 + 40 * Math.sqrt(Math.max(0, line.time_share || 0)),
          itemStyle: {color: (line.name || line.range) === marked ? theme.colour('mark') : theme.colour('accent'), opacity: 0.75, borderColor: text}
        }))
      }]
    };
  }

  function draw() {
    if (all === null || all.missing) return;
    const by = byId('roofline-by').value;
    const of = all[by];
    if (chart === null) {
      chart = echarts.init(byId('roofline-chart'), null, {renderer: 'svg'});
      chart.on('click', (at) => {
        if (at.data && at.data.line && byId('roofline-by').value === 'kernels') kernels.show(at.data.line.name);
      });
      window.addEventListener('resize', () => chart.resize(), {signal});
    }
    chart.setOption(option(of.roofs || {}, of[by]), true);
  }

  function show(roof) {
    all = roof;
    if (roof.missing) {
      byId('roofline-chart').remove();
      words.note('roofline-notes', 'There is no roofline: this capture ' + roof.missing);
      return;
    }
    for (const by of ['ranges', 'graphs']) if (roof[by][by].length === 0) byId('roofline-by').querySelector('[value=' + by + ']').remove();
    for (const line of roof.kernels.summary) words.note('roofline-notes', line);
    words.note('roofline-notes', 'Solid: measured on this GPU. Dashed: what its clocks and widths allow.');
    for (const id of ['roofline-by', 'roofline-memory']) byId(id).addEventListener('change', draw);
    theme.onChange(draw);
    draw();
  }

  function mark(name) {
    marked = name;
    byId('roofline-by').value = 'kernels';
    draw();
    byId('roofline').scrollIntoView();
  }

  return {show, mark};
})();
