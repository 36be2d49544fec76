// The length of each step over time, the slow ones marked.

const steps = (() => {
  const {byId, time, count} = words;
  let chart = null, lengths = [], first = 0, more = 0, slow = new Set(), slowBeyond = 0, zoomed = {start: 0, end: 100};

  // One long step, often the first, must not make all others look alike: what is longer than four times nearly all leaves the picture.
  function highest() {
    const sorted = [...lengths].sort((a, b) => a - b);
    const most = sorted[Math.floor(sorted.length * 0.95)], longest = sorted[sorted.length - 1];
    return longest > 4 * most ? {top: 4 * most, beyond: longest} : {top: longest, beyond: 0};
  }

  function titleOf(beyond) {
    const of = (more > 0 ? 'Length of the first ' + count(lengths.length) + ' of ' + count(lengths.length + more) + ' steps' : 'Length of each step') +
      (first > 0 ? ' after ' + count(first) + ' of warm-up' : '') + ', from its start to that of the next, without the time of the profiler';
    const marked = slow.size > 0 ? '; ' + count(slow.size) + ' of ' + count(lengths.length) + ' are longer than ' + time(slowBeyond) + ', 1.2 times the median' : '';
    return of + marked + (beyond > 0 ? '; the longest, ' + time(beyond) + ', is cut off' : '');
  }

  function draw() {
    const {top, beyond} = highest();
    const {axis, common, tooltip} = theme.chart();
    byId('steps-title').textContent = titleOf(beyond);
    chart.setOption({
      ...common, aria: {enabled: true}, grid: {left: 80, right: 20, top: 14, bottom: 40},
      xAxis: {type: 'value', name: 'step', nameLocation: 'middle', nameGap: 24, min: first, max: first + Math.max(1, lengths.length - 1), ...axis},
      yAxis: {type: 'value', max: top, ...axis, axisLabel: {...axis.axisLabel, formatter: time}},
      tooltip: {...tooltip, trigger: 'axis',
        formatter: (at) => words.element('div', {}, 'step ' + at[0].value[0] + ': ' + time(lengths[at[0].value[0] - first]) + (slow.has(at[0].value[0] - first) ? ', slow' : ''))},
      dataZoom: [{type: 'inside', filterMode: 'none', ...zoomed}],
      series: [
        {type: 'line', symbol: 'none', sampling: 'lttb', lineStyle: {color: theme.color('accent'), width: 1.5}, data: lengths.map((ns, at) => [first + at, ns])},
        {type: 'scatter', name: 'slow', z: 3, symbol: 'triangle', symbolSize: 9, itemStyle: {color: theme.color('warn'), opacity: 1}, data: [...slow].map((at) => [first + at, Math.min(lengths[at], top)])}
      ]
    }, true);
  }

  // A step whose next one is not known is as long as its work.
  function show(advice, places) {
    const known = advice.steps || [];
    lengths = known.map((step) => (words.known(step.period_ns) ? step.period_ns : step.total_ns));
    more = advice.more_steps || 0;
    first = advice.part ? advice.part.first_step : 0;
    slow = new Set(places.slow_steps);
    slowBeyond = places.slow_beyond_ns;
    if (lengths.length < 2) {
      byId('steps-chart').remove();
      byId('steps-hint').remove();
      return;
    }
    if (more > 0) words.note('range-notes', 'Steps beyond the first ' + count(lengths.length) + ' are left out of the picture of their lengths; those in the timeline are said there.');
    chart = theme.chartIn(byId('steps-chart'));
    chart.on('datazoom', () => {
      const [{start, end}] = chart.getOption().dataZoom;
      zoomed = {start, end};
    });
    window.addEventListener('resize', () => chart.resize(), {signal});
    theme.onChange(draw);
    draw();
  }

  return {show};
})();
