// Streams, ranges and calls over time, on a canvas: of each lane the bars in view, those of one pixel as one.

const timeline = (() => {
  const {element, byId, time, count} = words;
  const laneHeight = 20, headHeight = 24, labelWidth = 132, groupGap = 8;
  let lanes = [], names = [], head = null, steps = [];
  let from = 0, to = 1;  // ns since head.begin_ns
  let found = null, hover = null, selected = null, queued = false;

  const view = byId('timeline-view'), canvas = byId('timeline-canvas'), tip = byId('timeline-tip');
  const width = () => view.clientWidth - labelWidth;
  const xOf = (ns) => labelWidth + (ns - from) / (to - from) * width();
  const nsAt = (x) => from + (x - labelWidth) / width() * (to - from);

  async function read() {
    head = await data.document('timeline');
    names = head.names.map(words.callName);
    const [start, length, pause, name, pieces, longest] = await Promise.all(
      ['start', 'length', 'pause', 'name', 'count', 'longest'].map((column) => data.numbers('timeline-' + column)));
    let at = 0, y = headHeight, group = null;
    // A column of zeros alone holds nothing.
    const of = (column, i) => (column.length === 0 ? 0 : column[i]);
    for (const known of head.lanes) {
      const lane = {group: known.group, label: known.name, first: at, size: known.bars, start: new Float64Array(known.bars), end: new Float64Array(known.bars),
        name: new Uint32Array(known.bars), count: new Uint32Array(known.bars), busy: new Float64Array(known.bars), longest: new Float64Array(known.bars)};
      for (let i = 0, before = 0; i < known.bars; ++i, ++at) {
        before += of(start, at);
        lane.start[i] = before;
        lane.end[i] = before + of(length, at);
        lane.busy[i] = of(length, at) - of(pause, at);
        lane.name[i] = of(name, at);
        lane.count[i] = of(pieces, at);
        lane.longest[i] = of(length, at) - of(longest, at);
      }
      if (group !== null && group !== known.group) y += groupGap;
      lane.isFirst = group !== known.group;
      group = known.group;
      if (lane.isFirst) y += 16;
      lane.y = y;
      y += laneHeight;
      lanes.push(lane);
    }
    return y + 6;
  }

  // The first bar of the lane that ends after this moment.
  function firstEndingAfter(lane, ns) {
    let low = 0, high = lane.size;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lane.end[middle] > ns) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  const hue = (name) => {
    let sum = 0;
    const text = names[name];
    for (let i = 0; i < text.length; ++i) sum = (sum * 31 + text.charCodeAt(i)) >>> 0;
    return theme.series[sum % theme.series.length];
  };
  const hues = [];
  const colourOf = (name) => hues[name] || (hues[name] = hue(name));

  function drawLane(pen, lane) {
    const wide = width();
    for (let i = firstEndingAfter(lane, from); i < lane.size && lane.start[i] < to;) {
      let left = Math.max(labelWidth, xOf(lane.start[i])), right = xOf(lane.end[i]), best = i;
      let next = i + 1;
      while (next < lane.size && xOf(lane.end[next]) < left + 1) {
        if (lane.end[next] - lane.start[next] > lane.end[best] - lane.start[best]) best = next;
        right = xOf(lane.end[next]);
        ++next;
      }
      right = Math.min(labelWidth + wide, Math.max(right, left + 1));
      const isFound = found === null || found.has(lane.name[best]);
      pen.globalAlpha = isFound ? 1 : 0.15;
      pen.fillStyle = colourOf(lane.name[best]);
      pen.fillRect(left, lane.y, right - left, laneHeight - 2);
      if (right - left > 34) label(pen, lane, best, left, right);
      i = next;
    }
    pen.globalAlpha = 1;
  }

  function label(pen, lane, i, left, right) {
    const text = textOf(lane, i);
    const letters = Math.floor((right - left - 6) / 6.4);
    if (letters < 3) return;
    pen.fillStyle = '#10151b';
    pen.fillText(text.length > letters ? text.slice(0, letters - 1) + '\u2026' : text, left + 3, lane.y + 13);
  }
  const textOf = (lane, i) => (lane.count[i] > 1 ? count(lane.count[i]) + ' x ' : '') + names[lane.name[i]];

  function drawAxis(pen) {
    const wanted = (to - from) / Math.max(2, width() / 110);
    const power = Math.pow(10, Math.floor(Math.log10(wanted)));
    const step = power * [1, 2, 5, 10].find((factor) => factor * power >= wanted);
    pen.fillStyle = theme.colour('faint');
    pen.strokeStyle = theme.colour('line');
    pen.beginPath();
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
      pen.moveTo(xOf(at), headHeight - 6);
      pen.lineTo(xOf(at), canvas.clientHeight);
      pen.fillText(axisText(at, step), xOf(at) + 3, 13);
    }
    pen.stroke();
  }
  function axisText(ns, step) {
    const [unit, size] = step >= 1e9 ? ['s', 1e9] : step >= 1e6 ? ['ms', 1e6] : step >= 1e3 ? ['us', 1e3] : ['ns', 1];
    return (ns / size).toLocaleString('en-US', {maximumFractionDigits: 0}) + ' ' + unit;
  }

  function draw() {
    queued = false;
    const scale = window.devicePixelRatio || 1;
    const tall = canvas.height / scale;
    if (canvas.width !== Math.round(view.clientWidth * scale)) canvas.width = Math.round(view.clientWidth * scale);
    const pen = canvas.getContext('2d');
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, view.clientWidth, tall);
    pen.font = '11px system-ui, "DejaVu Sans", sans-serif';
    drawAxis(pen);
    for (const lane of lanes) drawLane(pen, lane);
    if (selected !== null) {
      pen.fillStyle = theme.colour('accent');
      pen.globalAlpha = 0.2;
      pen.fillRect(xOf(selected[0]), headHeight - 6, xOf(selected[1]) - xOf(selected[0]), tall);
      pen.globalAlpha = 1;
    }
    pen.fillStyle = theme.colour('page');
    pen.fillRect(0, headHeight - 6, labelWidth - 2, tall);
    for (const lane of lanes) {
      pen.fillStyle = theme.colour('text');
      if (lane.isFirst) {
        pen.font = 'bold 11px system-ui, "DejaVu Sans", sans-serif';
        pen.fillText(lane.group, 6, lane.y - 4);
        pen.font = '11px system-ui, "DejaVu Sans", sans-serif';
      }
      pen.fillStyle = theme.colour('faint');
      pen.fillText(lane.label.slice(0, 20), 12, lane.y + 13);
    }
  }
  function redraw() {
    if (queued) return;
    queued = true;
    requestAnimationFrame(draw);
  }

  function look(newFrom, newTo) {
    const whole = head.end_ns - head.begin_ns || 1;
    const span = Math.min(whole, Math.max(100, newTo - newFrom));
    from = Math.min(Math.max(0, newFrom), whole - span);
    to = from + span;
    redraw();
  }
  const zoom = (factor, x) => {
    const at = nsAt(x);
    look(at - (at - from) * factor, at + (to - at) * factor);
  };
  const move = (part) => look(from + part * (to - from), to + part * (to - from));

  function barAt(x, y) {
    const lane = lanes.find((one) => y >= one.y && y < one.y + laneHeight);
    if (lane === undefined || x < labelWidth) return null;
    const i = firstEndingAfter(lane, nsAt(x - 1));
    return i < lane.size && lane.start[i] <= nsAt(x + 1) ? {lane, i} : null;
  }

  function showTip(x, y) {
    hover = barAt(x, y);
    tip.hidden = hover === null;
    if (hover === null) return;
    const {lane, i} = hover;
    const length = lane.end[i] - lane.start[i];
    tip.replaceChildren(element('div', {}, textOf(lane, i)),
      element('div', {}, lane.count[i] > 1 ? 'together ' + time(lane.busy[i]) + ' of ' + time(length) + ', the longest ' + time(lane.longest[i]) : time(length)),
      element('div', {}, 'at ' + (lane.start[i] / 1e6).toFixed(3) + ' ms, ' + lane.group + ' ' + lane.label));
    tip.style.left = Math.min(x + 12, view.clientWidth - tip.offsetWidth - 4) + 'px';
    tip.style.top = y + 16 + 'px';
  }

  // Busy time and number of pieces between two moments, by kind of lane.
  function sumUp(begin, end) {
    const sums = new Map();
    for (const lane of lanes) {
      const sum = sums.get(lane.group) || {busy: 0, pieces: 0};
      for (let i = firstEndingAfter(lane, begin); i < lane.size && lane.start[i] < end; ++i) {
        const inside = Math.min(lane.end[i], end) - Math.max(lane.start[i], begin);
        const whole = lane.end[i] - lane.start[i];
        sum.busy += whole > 0 ? lane.busy[i] * inside / whole : 0;
        sum.pieces += lane.count[i];
      }
      sums.set(lane.group, sum);
    }
    return 'Selected ' + time(end - begin) + ': ' + [...sums].map(([group, {busy, pieces}]) => group + ' ' + time(busy) + ' in ' + count(pieces) + ' pieces').join('; ');
  }

  function listen() {
    let drag = null;
    canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) move((event.deltaX || event.deltaY) / 1000);
      else zoom(Math.exp(event.deltaY / 500), event.offsetX);
    }, {passive: false});
    canvas.addEventListener('pointerdown', (event) => {
      drag = {x: event.offsetX, from, to, sums: event.shiftKey};
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => {
      if (drag === null) return showTip(event.offsetX, event.offsetY);
      tip.hidden = true;
      if (drag.sums) {
        selected = [nsAt(drag.x), nsAt(event.offsetX)].sort((a, b) => a - b);
        redraw();
      } else {
        const shift = (drag.x - event.offsetX) / width() * (drag.to - drag.from);
        look(drag.from + shift, drag.to + shift);
      }
    });
    canvas.addEventListener('pointerup', () => {
      if (drag !== null && drag.sums && selected !== null) byId('timeline-sum').textContent = sumUp(...selected);
      drag = null;
    });
    canvas.addEventListener('pointerleave', () => { tip.hidden = true; });
    view.addEventListener('keydown', (event) => {
      const middle = labelWidth + width() / 2;
      const act = {w: () => zoom(0.7, middle), s: () => zoom(1 / 0.7, middle), a: () => move(-0.2), d: () => move(0.2), ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2)}[event.key];
      if (act === undefined || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      act();
    });
    byId('timeline-all').addEventListener('click', () => look(0, head.end_ns - head.begin_ns));
    byId('timeline-search').addEventListener('input', (event) => search(event.target.value));
    window.addEventListener('resize', redraw, {signal});
    theme.onChange(redraw);
  }

  function search(part) {
    found = null;
    if (part !== '') {
      found = new Set();
      names.forEach((name, at) => { if (name.toLowerCase().includes(part.toLowerCase())) found.add(at); });
    }
    redraw();
  }

  // From the table of kernels, which has full names; bars have the names without arguments.
  function find(fullName) {
    const base = names.filter((name) => name !== '' && fullName.includes(name)).sort((a, b) => b.length - a.length)[0] || fullName;
    byId('timeline-search').value = base;
    search(base);
    byId('timeline').scrollIntoView();
  }

  // The longest range that is a step: "step 12" is one of the ranges "step".
  function slowestStep() {
    const name = steps.length < 2 ? null : names.indexOf(steps[0].step.replace(/ \d+$/, ''));
    let slowest = null;
    for (const lane of lanes.filter((one) => one.group === 'NVTX'))
      for (let i = 0; i < lane.size; ++i) {
        if (lane.name[i] !== name || lane.count[i] > 1) continue;
        if (slowest === null || lane.end[i] - lane.start[i] > slowest.end - slowest.start) slowest = {start: lane.start[i], end: lane.end[i]};
      }
    return slowest;
  }

  function offerSlowest() {
    const slowest = slowestStep();
    if (slowest === null) return;
    const edge = (slowest.end - slowest.start) * 0.05;
    byId('timeline-slowest').hidden = false;
    byId('timeline-slowest').addEventListener('click', () => look(slowest.start - edge, slowest.end + edge));
  }

  async function show(knownSteps) {
    steps = knownSteps;
    const tall = await read();
    canvas.style.height = tall + 'px';
    canvas.height = Math.round(tall * (window.devicePixelRatio || 1));
    if (lanes.length === 0) {
      words.note('timeline-notes', 'This capture holds no GPU work, range or call to draw.');
      view.hidden = true;
      return;
    }
    if (head.joined_below_ns > 0) words.note('timeline-notes', 'Where many short pieces of work stand within ' + time(head.joined_below_ns) + ' they are one bar; it says how many they are.');
    if (head.lanes_left_out > 0) words.note('timeline-notes', count(head.lanes_left_out) + ' more rows are left out.');
    listen();
    offerSlowest();
    look(0, head.end_ns - head.begin_ns);
  }

  return {show, find};
})();
