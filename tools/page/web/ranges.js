// NVTX ranges with the GPU work launched inside of them, and steps over time.

const ranges = (() => {
  const {byId, time, rate, share, count} = words;
  let chart = null, steps = [];

  function rowsOf(stats, roof) {
    const lines = new Map((roof.ranges ? roof.ranges.ranges : []).map((line) => [line.name || line.range, line]));
    const report = stats.nvtx_gpu_proj_sum;
    if (report.missing) {
      words.note('range-notes', report.missing);
      return [];
    }
    if (report.left_out > 0) words.note('range-notes', count(report.left_out) + ' more ranges are left out of this page; gpuprof stats has all.');
    return report.rows.map((row) => {
      const line = lines.get(row['Range']) || {};
      return {
        name: row['Range'], on_gpu: row['Total Proj Time (ns)'], on_cpu: row['Total Range Time (ns)'], instances: row['Range Instances'],
        median: row['Proj Med (ns)'], work: row['Total GPU Ops'], flops: line.flops, dram: line.dram_bytes_per_second, roof: line.of_roof
      };
    });
  }

  function column(title, field, text, width) {
    return {title, field, width, hozAlign: 'right', sorter: 'number', headerSortStartingDir: 'desc', formatter: (cell) => document.createTextNode(text(cell.getValue()))};
  }

  function showTable(rows) {
    new Tabulator('#range-table', {
      data: rows, layout: 'fitColumns', height: rows.length > 14 ? '420px' : false, placeholder: 'No NVTX ranges that launched work',
      initialSort: [{column: 'on_gpu', dir: 'desc'}],
      columns: [{title: 'Range', field: 'name', minWidth: 220, widthGrow: 3}, column('On the GPU', 'on_gpu', time, 120), column('On the CPU', 'on_cpu', time, 120),
        column('Instances', 'instances', count, 110), column('Median on the GPU', 'median', time, 160), column('GPU operations', 'work', count, 140),
        column('FLOP/s', 'flops', (v) => rate(v, 'FLOP/s'), 130), column('DRAM', 'dram', (v) => rate(v, 'B/s'), 110), column('Of roof', 'roof', share, 100)]
    });
  }

  // One long step, often the first, must not make all others look alike: what is longer than four times nearly all leaves the picture.
  function highest() {
    const lengths = steps.map((step) => step.total_ns).sort((a, b) => a - b);
    const most = lengths[Math.floor(lengths.length * 0.95)], longest = lengths[lengths.length - 1];
    return longest > 4 * most ? {top: 4 * most, beyond: longest} : {top: longest, beyond: 0};
  }

  function draw() {
    const {top, beyond} = highest();
    const title = 'Length of each step' + (beyond > 0 ? '; the longest, ' + time(beyond) + ', is cut off' : '');
    const text = theme.colour('text');
    const axis = {axisLabel: {color: text}, axisLine: {lineStyle: {color: text}}, splitLine: {lineStyle: {color: theme.colour('line')}}, nameTextStyle: {color: text}};
    chart.setOption({
      aria: {enabled: true}, animation: false, backgroundColor: 'transparent', grid: {left: 80, right: 20, top: 30, bottom: 40},
      title: {text: title, textStyle: {color: text, fontSize: 13}},
      xAxis: {type: 'value', name: 'step', nameLocation: 'middle', nameGap: 24, min: 0, max: Math.max(1, steps.length - 1), ...axis},
      yAxis: {type: 'value', max: top, ...axis, axisLabel: {color: text, formatter: time}},
      tooltip: {trigger: 'axis', confine: true, backgroundColor: theme.colour('panel'), textStyle: {color: text},
        formatter: (at) => words.element('div', {}, steps[at[0].dataIndex].step + ': ' + time(at[0].value[1]))},
      dataZoom: [{type: 'inside', filterMode: 'none'}],
      series: [{type: 'line', symbol: 'none', sampling: 'lttb', lineStyle: {color: theme.colour('accent'), width: 1.5}, data: steps.map((step, at) => [at, step.total_ns])}]
    }, true);
  }

  function show(stats, roof, advice) {
    showTable(rowsOf(stats, roof));
    steps = advice.steps || [];
    if (steps.length < 2) {
      byId('steps-chart').remove();
      return;
    }
    chart = echarts.init(byId('steps-chart'));
    window.addEventListener('resize', () => chart.resize(), {signal});
    theme.onChange(draw);
    draw();
  }

  return {show};
})();
