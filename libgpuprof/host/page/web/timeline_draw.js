// Draws what is in view: of each lane the bars, those of one pixel as one; idle time as its share of each pixel; counters as mean and extremes of each pixel.

const timelineDraw = (() => {
  const {count} = words;
  const {state, xOf} = timelineView;
  const {firstEndingAfter, valueOf, stepAt} = timelineData;
  const font = '11px system-ui, "DejaVu Sans", sans-serif';
  let names = [];

  const hues = [];
  const colorOf = (name) => hues[name] || (hues[name] = theme.hueOf(names[name]));
  const textOf = (lane, i) => (lane.count[i] > 1 ? count(lane.count[i]) + ' x ' : '') + names[lane.name[i]];

  // Those of one pixel are one: the longest of them, or of those that a search has found.
  function bars(pen, lane, y, height, marks) {
    const isFound = (i) => marks.found === null || marks.found.has(lane.name[i]);
    const {from, to, labels, width} = state, scale = width / (to - from), end = labels + width;
    for (let i = firstEndingAfter(lane, from); i < lane.size && lane.start[i] < to;) {
      const left = Math.max(labels, labels + (lane.start[i] - from) * scale);
      let right = labels + (lane.end[i] - from) * scale, best = i, next = i + 1, isHit = isFound(i);
      for (const ns = from + (left + 1 - labels) / scale; next < lane.size && lane.end[next] < ns; ++next) {
        const isNextHit = isFound(next);
        if (isNextHit === isHit ? lane.end[next] - lane.start[next] <= lane.end[best] - lane.start[best] : isHit) continue;
        best = next;
        isHit = isNextHit;
      }
      if (next > i + 1) right = labels + (lane.end[next - 1] - from) * scale;
      right = Math.min(end, Math.max(right, left + 1));
      pen.globalAlpha = isHit ? 1 : 0.15;
      pen.fillStyle = colorOf(lane.name[best]);
      pen.fillRect(left, y + 1, right - left, height - 2);
      if (right - left > 34) label(pen, textOf(lane, best), left, right, y);
      if (marks.hit !== null && marks.hit.lane === lane && marks.hit.i >= i && marks.hit.i < next) outline(pen, left, y, right - left, height);
      i = next;
    }
    pen.globalAlpha = 1;
  }

  function label(pen, text, left, right, y) {
    const letters = Math.floor((right - left - 6) / 6.4);
    if (letters < 3) return;
    pen.fillStyle = '#10151b';
    pen.fillText(text.length > letters ? text.slice(0, letters - 1) + '\u2026' : text, left + 3, y + 14);
  }

  function outline(pen, left, y, width, height) {
    pen.globalAlpha = 1;
    pen.strokeStyle = theme.color('text');
    pen.lineWidth = 2;
    pen.strokeRect(left - 1, y + 1, width + 2, height - 2);
    pen.lineWidth = 1;
  }

  // Which part of each pixel's time lies in these bars; of joined ones what their pieces take.
  function sharesOf(lane) {
    const {from, to, width} = state, scale = width / (to - from), columns = Math.ceil(width);
    const shares = new Float64Array(columns + 1);
    for (let i = firstEndingAfter(lane, from); i < lane.size && lane.start[i] < to; ++i) {
      const length = lane.end[i] - lane.start[i], part = length > 0 ? lane.busy[i] / length : 1;
      const left = Math.max(0, (lane.start[i] - from) * scale), right = Math.min(width, (lane.end[i] - from) * scale);
      const first = Math.floor(left), last = Math.floor(right);
      if (first === last) {
        shares[first] += (right - left) * part;
        continue;
      }
      shares[first] += (first + 1 - left) * part;
      for (let x = first + 1; x < last; ++x) shares[x] += part;
      shares[last] += (right - last) * part;
    }
    return shares;
  }

  function idle(pen, row, y) {
    const columns = Math.ceil(state.width), below = new Float64Array(columns + 1), tall = row.height - 2;
    for (const lane of row.causes) {
      const shares = sharesOf(lane);
      pen.fillStyle = theme.bucketColor(lane.cause);
      for (let x = 0; x < columns;) {
        const share = shares[x], base = below[x];
        let end = x + 1;
        while (end < columns && Math.abs(shares[end] - share) < 1e-3 && Math.abs(below[end] - base) < 1e-3) ++end;
        if (share > 0) pen.fillRect(state.labels + x, y + 1 + tall * (1 - Math.min(1, base + share)), end - x, tall * share);
        for (let i = x; i < end; ++i) below[i] += shares[i];
        x = end;
      }
    }
  }

  const topOf = (track) => (track.unit === '%' ? Math.max(100, track.greatest) : track.greatest > 0 ? track.greatest : 1);

  // Of each pixel: least, greatest, sum of means by time, that time.
  function columnsOf(track) {
    const {from, to, width} = state, scale = width / (to - from), columns = Math.ceil(width);
    const least = new Float64Array(columns).fill(Infinity), greatest = new Float64Array(columns).fill(-Infinity), sum = new Float64Array(columns), weight = new Float64Array(columns);
    for (let i = firstEndingAfter(track, from); i < track.size && track.start[i] < to; ++i) {
      const value = valueOf(track, i);
      if (value === null) continue;
      const left = Math.max(0, (track.start[i] - from) * scale), right = Math.min(width, (track.end[i] - from) * scale);
      for (let x = Math.floor(left); x < columns && x < right; ++x) {
        const part = Math.max(1e-9, Math.min(right, x + 1) - Math.max(left, x));
        sum[x] += value.mean * part;
        weight[x] += part;
        if (value.least < least[x]) least[x] = value.least;
        if (value.greatest > greatest[x]) greatest[x] = value.greatest;
      }
    }
    return {columns, least, greatest, sum, weight};
  }

  function counter(pen, track, y, height) {
    const {columns, least, greatest, sum, weight} = columnsOf(track);
    const bottom = Math.min(0, track.least), tall = height - 4, top = topOf(track);
    const yOf = (value) => y + 2 + tall * (1 - (value - bottom) / (top - bottom));
    pen.fillStyle = theme.color('accent');
    for (const [alpha, low, high] of [[0.45, () => bottom, (x) => sum[x] / weight[x]], [0.3, (x) => least[x], (x) => greatest[x]], [1, (x) => sum[x] / weight[x], null]]) {
      pen.globalAlpha = alpha;
      for (let x = 0; x < columns; ++x) {
        if (weight[x] === 0) continue;
        const from = yOf(low(x)), to = high === null ? from - 1.2 : yOf(high(x));
        pen.fillRect(state.labels + x, to, 1, from - to);
      }
    }
    pen.globalAlpha = 1;
  }

  function ticks(pen, height) {
    const {from, to, width} = state;
    const wanted = (to - from) / Math.max(2, width / 110);
    const power = Math.pow(10, Math.floor(Math.log10(wanted)));
    const step = power * [1, 2, 5, 10].find((factor) => factor * power >= wanted);
    const [unit, size] = step >= 1e9 ? ['s', 1e9] : step >= 1e6 ? ['ms', 1e6] : step >= 1e3 ? ['us', 1e3] : ['ns', 1];
    pen.strokeStyle = theme.color('line');
    pen.fillStyle = theme.color('faint');
    pen.beginPath();
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
      pen.moveTo(xOf(at), height === null ? 0 : 14);
      pen.lineTo(xOf(at), height === null ? 1e4 : height);
      if (height !== null) pen.fillText((at / size).toLocaleString('en-US', {maximumFractionDigits: 0}) + ' ' + unit, xOf(at) + 3, 12);
    }
    pen.stroke();
  }

  // Pixels that a step takes on average, of those in view.
  function stepWidth(steps) {
    if (steps.count === 0) return 0;
    const first = Math.max(0, stepAt(steps, state.from)), last = Math.max(first, stepAt(steps, state.to));
    return state.width * (steps.end[last] - steps.begin[first]) / (state.to - state.from) / (last - first + 1);
  }

  function stepBands(pen, steps, y, current) {
    const {from, to, labels, width} = state, right = labels + width;
    if (stepWidth(steps) < 3) {  // too many to be told apart
      const left = Math.max(labels, xOf(steps.begin[0]));
      pen.fillStyle = theme.color('line');
      pen.fillRect(left, y, Math.min(right, xOf(steps.end[steps.count - 1])) - left, 16);
      return;
    }
    for (let i = Math.max(0, stepAt(steps, from)); i < steps.count && steps.begin[i] < to; ++i) {
      const left = Math.max(labels, xOf(steps.begin[i])), end = Math.min(right, xOf(steps.end[i]));
      if (end <= left) continue;
      pen.fillStyle = i === current ? theme.color('mark') : theme.color(i % 2 === 0 ? 'line' : 'panel');
      pen.fillRect(left, y, end - left, 16);
      pen.fillStyle = i === current ? '#10151b' : theme.color('text');
      const text = end - left > 90 ? steps.name + ' ' + i : String(i);
      if (end - left > 7 * text.length + 4) pen.fillText(text, left + 3, y + 12);
    }
  }

  function stepLines(pen, steps, height) {
    if (stepWidth(steps) < 8) return;
    pen.strokeStyle = theme.color('faint');
    pen.setLineDash([2, 3]);
    pen.beginPath();
    for (let i = Math.max(0, stepAt(steps, state.from)); i < steps.count && steps.begin[i] < state.to; ++i) {
      if (steps.begin[i] < state.from) continue;
      const x = Math.round(xOf(steps.begin[i])) + 0.5;
      pen.moveTo(x, 0);
      pen.lineTo(x, height);
    }
    pen.stroke();
    pen.setLineDash([]);
  }

  function rowLabel(pen, row, y) {
    const letters = Math.floor((state.labels - 14) / 6.2);
    pen.fillStyle = theme.color('faint');
    pen.fillText(row.label.length > letters ? row.label.slice(0, letters - 1) + '\u2026' : row.label, 12, y + 14);
    if (row.kind === 'counter') pen.fillText('to ' + timelineTips.valueText(row.track, topOf(row.track)), 12, y + 29);
  }

  function ready(canvas, width, height) {
    const scale = window.devicePixelRatio || 1, w = Math.round(width * scale), h = Math.round(height * scale);
    if (canvas.width !== w) canvas.width = w;
    if (canvas.height !== h) canvas.height = h;
    const pen = canvas.getContext('2d');
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = font;
    return pen;
  }

  // marks: {found, hit, selected, step, hasPath}
  function draw(known, canvas, axis, top, height, marks) {
    names = known.names;
    const full = state.labels + state.width;
    const head = ready(axis, full, axis.clientHeight);
    ticks(head, axis.clientHeight);
    if (known.steps.count > 0) stepBands(head, known.steps, 20, marks.step);
    const pen = ready(canvas, full, height);
    ticks(pen, null);
    const rows = timelineRows.between(top, top + height);
    for (const row of rows) {
      if (row.kind === 'bars') bars(pen, row.lane, row.y - top, row.height, marks);
      else if (row.kind === 'idle') idle(pen, row, row.y - top);
      else counter(pen, row.track, row.y - top, row.height);
    }
    if (known.steps.count > 0) stepLines(pen, known.steps, height);
    if (marks.hasPath) timelinePath.draw(pen, top, height);
    if (marks.selected !== null) {
      pen.fillStyle = theme.color('accent');
      pen.globalAlpha = 0.2;
      pen.fillRect(xOf(marks.selected[0]), 0, xOf(marks.selected[1]) - xOf(marks.selected[0]), height);
      pen.globalAlpha = 1;
    }
    pen.fillStyle = theme.color('page');
    pen.fillRect(0, 0, state.labels - 2, height);
    for (const row of rows) rowLabel(pen, row, row.y - top);
  }

  return {draw, textOf};
})();
