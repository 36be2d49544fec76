// What is below the pointer, in words.

const timelineTips = (() => {
  const {element, time, rate, count} = words;
  const {nsAt, state} = timelineView;
  const {firstEndingAfter, valueOf} = timelineData;

  function valueText(track, value) {
    if (track.unit === '%') return value.toFixed(1) + ' %';
    if (track.unit === '') return words.figure(value);
    return rate(value, track.unit);
  }
  const momentText = (ns) => (ns / 1e6).toFixed(3) + ' ms';

  function barAt(lane, x) {
    const i = firstEndingAfter(lane, nsAt(x - 1));
    return i < lane.size && lane.start[i] <= nsAt(x + 1) ? i : -1;
  }

  function ofBar(row, x) {
    const {lane} = row, i = barAt(lane, x);
    if (i < 0) return null;
    const length = lane.end[i] - lane.start[i];
    const place = lane.place[i] > 0 ? lane.places[lane.place[i] - 1] : '';
    return [timelineDraw.textOf(lane, i),
      lane.count[i] > 1 ? 'together ' + time(lane.busy[i]) + ' of ' + time(length) + ', the longest ' + time(lane.longest[i]) : time(length),
      'at ' + momentText(lane.start[i]) + ', ' + lane.group + ' ' + lane.label,
      ...(place === '' ? [] : [(lane.group === 'CUDA calls' ? 'called by ' : 'launched by ') + place])];
  }

  function ofIdle(row, x) {
    const lines = [];
    for (const lane of row.causes) {
      const i = barAt(lane, x);
      if (i < 0) continue;
      const length = lane.end[i] - lane.start[i];
      lines.push(theme.bucketName(lane.cause) + ', ' + (lane.count[i] > 1 ? count(lane.count[i]) + ' gaps, together ' + time(lane.busy[i]) + ' of ' + time(length) : time(length)) + ', at ' + momentText(lane.start[i]));
    }
    return lines.length === 0 ? null : [...lines, 'GPU ' + row.device + '; causes as gpuprof analyze tells them'];
  }

  function ofCounter(row, x) {
    const {track} = row, i = barAt(track, x);
    const value = i < 0 ? null : valueOf(track, i);
    if (value === null) return null;
    const length = track.end[i] - track.start[i];
    const isJoined = value.least !== value.greatest, span = (track.from === 'nvml' && !isJoined ? 'for ' : 'mean of ') + time(length);
    return [track.name + ' ' + valueText(track, value.mean),
      isJoined ? span + '; from ' + valueText(track, value.least) + ' to ' + valueText(track, value.greatest) : span,
      'at ' + momentText(track.start[i]) + ', GPU ' + track.device, (track.from === 'nvml' ? 'read: ' : 'sampled: ') + track.source];
  }

  const makers = {bars: ofBar, idle: ofIdle, counter: ofCounter};
  // Lines of text; null: there is nothing.
  const linesAt = (row, x) => (row === null || x < state.labels ? null : makers[row.kind](row, x));

  function show(tip, lines, x, y, width, bottom) {
    tip.hidden = lines === null;
    if (lines === null) return;
    tip.replaceChildren(...lines.map((line) => element('div', {}, line)));
    tip.style.left = Math.max(4, Math.min(x + 12, width - tip.offsetWidth - 4)) + 'px';
    tip.style.top = (y + 16 + tip.offsetHeight > bottom ? Math.max(0, y - 8 - tip.offsetHeight) : y + 16) + 'px';
  }

  return {linesAt, show, valueText, momentText};
})();
