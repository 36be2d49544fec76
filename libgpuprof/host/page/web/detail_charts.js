// How long the launches of a kernel took: how many took how long, and when.

const detailCharts = (() => {
  const {element, time, timeTo, number, count} = words;
  let charts = [], redraw = null;

  function places() {
    const histogram = element('div', {class: 'chart low', id: 'detail-histogram'}), series = element('div', {class: 'chart low', id: 'detail-series'});
    const notes = element('div', {id: 'detail-notes'});
    return {histogram, series, notes, both: element('div', {}, element('div', {class: 'two'}, histogram, series), notes)};
  }

  const titled = (text, color) => ({text, textStyle: {color: color, fontSize: 13, fontWeight: 'normal'}, top: 0, left: 0});

  // A bar a bin, as wide as the bin: a series of their own shape, for the bars of ECharts are all of one width.
  function histogramOption(histogram) {
    const {text, axis, common, tooltip} = theme.chart();
    const {edges, counts} = histogram;
    const exact = timeTo((edges[edges.length - 1] - edges[0]) / 40);
    const bar = (params, api) => {
      const [left, top] = api.coord([api.value(0), api.value(2)]);
      const [right, bottom] = api.coord([api.value(1), 0]);
      return {type: 'rect', shape: {x: left, y: top, width: Math.max(1, right - left - 1), height: bottom - top}, style: {fill: theme.color('accent')}};
    };
    return {
      ...common, grid: {left: 58, right: 16, top: 30, bottom: 44},
      title: titled('Launches by duration' + (histogram.logarithmic ? ', logarithmic' : ''), text),
      xAxis: {type: histogram.logarithmic ? 'log' : 'value', min: edges[0], max: edges[edges.length - 1], ...axis, splitNumber: 4, axisLabel: {...axis.axisLabel, formatter: exact, showMinLabel: false, showMaxLabel: false}, splitLine: {show: false}},
      yAxis: {type: 'value', minInterval: 1, ...axis, axisLabel: {...axis.axisLabel, formatter: count}},
      tooltip: {...tooltip, formatter: (at) => element('div', {}, exact(at.value[0]) + ' to ' + exact(at.value[1]) + ': ' + number(at.value[2], 'launch'))},
      series: [{type: 'custom', renderItem: bar, encode: {x: [0, 1], y: 2}, data: counts.map((number, at) => [edges[at], edges[at + 1], number])}]
    };
  }

  function pointsOf(line) {
    let start = 0;
    return line.points.map(([after, launches, shortest, total, longest]) => [(start += after), total / launches, shortest, longest, launches]);
  }

  function pointText([start, mean, shortest, longest, launches]) {
    const when = 'at ' + (start / 1e6).toFixed(3) + ' ms: ';
    return when + (launches === 1 ? time(mean) : count(launches) + ' launches, on average ' + time(mean) + ', from ' + time(shortest) + ' to ' + time(longest));
  }

  // How far from each other labels of this axis stand, about.
  function stepOf(line) {
    const lengths = line.points.flatMap(([, , shortest, , longest]) => [shortest, longest]);
    return Math.max((Math.max(...lengths) - Math.min(...lengths)) / 10, Math.max(...lengths) / 1000);
  }

  // Points where each is a launch; a line with a band from the shortest to the longest where they are joined.
  function seriesOption(line) {
    const {text, axis, common, tooltip} = theme.chart();
    const points = pointsOf(line), joined = line.joined_within_ns > 0, color = theme.color('accent');
    const shape = (params, api) => {
      const [x, top] = api.coord([api.value(0), api.value(3)]), [, bottom] = api.coord([api.value(0), api.value(2)]);
      return {type: 'line', shape: {x1: x, x2: x, y1: top, y2: bottom}, style: {stroke: color, opacity: 0.4, lineWidth: 2}};
    };
    return {
      ...common, grid: {left: 66, right: 16, top: 30, bottom: 44},
      title: titled('Duration over time' + (joined ? ', mean and range' : ''), text),
      xAxis: {type: 'value', name: 'time of the run', nameLocation: 'middle', nameGap: 24, min: 'dataMin', max: 'dataMax', ...axis, splitLine: {show: false},
        axisLabel: {...axis.axisLabel, formatter: time}},
      yAxis: {type: 'value', scale: true, ...axis, splitNumber: 4, axisLabel: {...axis.axisLabel, formatter: timeTo(stepOf(line))}},
      tooltip: {...tooltip, formatter: (at) => element('div', {}, pointText(at.value))},
      dataZoom: [{type: 'inside', filterMode: 'none'}],
      series: [...(joined ? [{type: 'custom', renderItem: shape, encode: {x: 0, y: [2, 3]}, data: points}] : []),
        {type: 'scatter', symbolSize: joined ? 4 : 5, itemStyle: {color: color}, data: points}]
    };
  }

  function notesOf(line) {
    const {shorter, longer, edges} = line.histogram, notes = [], exact = timeTo((edges[edges.length - 1] - edges[0]) / 40);
    if (shorter > 0) notes.push('Not in the bars: ' + number(shorter, 'launch') + ' shorter than ' + exact(edges[0]) + '.');
    if (longer > 0) notes.push('Not in the bars: ' + number(longer, 'launch') + ' of ' + exact(edges[edges.length - 1]) + ' or longer.');
    if (line.joined_within_ns > 0) notes.push('Over time, launches that began within ' + time(line.joined_within_ns) + ' are one point.');
    if (line.left_out > 0) notes.push('In neither: ' + number(line.left_out, 'launch') + ' that reading counters slowed.');
    return notes.map((text) => element('p', {class: 'note'}, text));
  }

  function draw(where, line, row) {
    forget();
    where.notes.replaceChildren(...notesOf(line));
    charts = [where.histogram, where.series].map((place) => theme.chartIn(place));
    for (const place of [where.histogram, where.series]) place.setAttribute('role', 'img');
    where.histogram.setAttribute('aria-label', 'How long the launches took: ' + count(row.launches) + ' from ' + time(row.timed['Min (ns)']) + ' to ' + time(row.timed['Max (ns)']));
    where.series.setAttribute('aria-label', 'How long launches took over the time of the run');
    redraw = () => {
      charts[0].setOption(histogramOption(line.histogram), true);
      charts[1].setOption(seriesOption(line), true);
    };
    redraw();
  }

  function forget() {
    for (const chart of charts) chart.dispose();
    charts = [];
    redraw = null;
  }

  window.addEventListener('resize', () => charts.forEach((chart) => chart.resize()), {signal});
  theme.onChange(() => { if (redraw !== null) redraw(); });

  return {places, draw, forget};
})();
