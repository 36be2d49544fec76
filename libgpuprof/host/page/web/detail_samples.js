// How a counter of the whole GPU went over the launches of a kernel, from their beginning to their end.

const detailSamples = (() => {
  const {element, count, number} = words;
  let chart = null, courses = [], place = null, select = null;

  const axisNumber = (value) => (Math.abs(value) >= 1e4 ? words.rate(value, '').trim() : String(+value.toPrecision(4)));

  function option(course) {
    const {axis, common, tooltip} = theme.chart();
    const places = course.means.length;
    return {
      ...common, grid: {left: 66, right: 16, top: 20, bottom: 44},
      xAxis: {type: 'value', min: 0, max: 100, name: 'of a launch', nameLocation: 'middle', nameGap: 24, ...axis, splitLine: {show: false}, axisLabel: {...axis.axisLabel, formatter: '{value} %'}},
      yAxis: {type: 'value', min: 0, ...axis, axisLabel: {...axis.axisLabel, formatter: axisNumber}},
      tooltip: {...tooltip, trigger: 'axis',
        formatter: ([at]) => element('div', {}, at.value[1] === null ? 'no sample' : axisNumber(at.value[1]) + ', the mean of ' + number(course.samples[at.dataIndex], 'sample'))},
      series: [{type: 'line', symbolSize: 5, itemStyle: {color: theme.color('accent')}, lineStyle: {color: theme.color('accent')}, data: course.means.map((mean, at) => [100 * (at + 0.5) / places, mean])}]
    };
  }

  // Nothing where the kernel has no samples. draw() once it is in the page.
  function part(line) {
    courses = line.samples || [];
    if (courses.length === 0) return '';
    select = element('select', {id: 'detail-metric'}, ...courses.map((course, at) => element('option', {value: at}, course.metric)));
    place = element('div', {class: 'chart low', id: 'detail-samples', role: 'img'});
    const samples = courses[0].samples.reduce((sum, one) => sum + one, 0);
    return element('section', {class: 'part'}, element('h3', {}, 'Samples over its time'), element('p', {class: 'tools'}, element('label', {}, 'Metric ', select)), place,
      element('p', {class: 'note'}, 'Means of ' + count(samples) + ' samples of the whole GPU that lay inside of a launch while nothing else ran. Amounts (.sum) are rates per second; others are as counted in one sample.'));
  }

  function redraw() {
    if (chart === null) return;
    const course = courses[Number(select.value)];
    place.setAttribute('aria-label', course.metric + ' over the launches of this kernel');
    chart.setOption(option(course), true);
  }

  function draw() {
    if (courses.length === 0) return;
    chart = theme.chartIn(place);
    select.addEventListener('change', redraw);
    redraw();
  }

  function forget() {
    if (chart !== null) chart.dispose();
    chart = null;
    courses = [];
  }

  window.addEventListener('resize', () => { if (chart !== null) chart.resize(); }, {signal});
  theme.onChange(redraw);

  return {part, draw, forget};
})();
