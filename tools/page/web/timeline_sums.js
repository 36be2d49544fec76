// What lies between two moments, added up: work by kind of lane, idle time by its cause, means of counters.

const timelineSums = (() => {
  const {element, time, count} = words;
  const {firstEndingAfter, valueOf} = timelineData;

  // Busy time and pieces; of a bar that is partly inside its part.
  function sumOf(lane, begin, end) {
    let busy = 0, pieces = 0;
    for (let i = firstEndingAfter(lane, begin); i < lane.size && lane.start[i] < end; ++i) {
      const inside = Math.min(lane.end[i], end) - Math.max(lane.start[i], begin), whole = lane.end[i] - lane.start[i];
      busy += whole > 0 ? lane.busy[i] * inside / whole : 0;
      pieces += lane.count[i];
    }
    return {busy, pieces};
  }

  function ofGroups(known, begin, end) {
    const sums = new Map();
    for (const lane of known.lanes) {
      const sum = sums.get(lane.group) || {busy: 0, pieces: 0}, {busy, pieces} = sumOf(lane, begin, end);
      sums.set(lane.group, {busy: sum.busy + busy, pieces: sum.pieces + pieces});
    }
    return [...sums].map(([group, {busy, pieces}]) => group + ': ' + time(busy) + ' in ' + count(pieces) + (pieces === 1 ? ' piece' : ' pieces'));
  }

  function ofIdle(known, begin, end) {
    const lines = [];
    for (const device of new Set(known.idle.map((lane) => lane.device))) {
      const causes = known.idle.filter((lane) => lane.device === device).map((lane) => ({cause: lane.cause, ns: sumOf(lane, begin, end).busy})).filter((one) => one.ns > 0);
      causes.sort((a, b) => b.ns - a.ns);
      const all = causes.reduce((sum, one) => sum + one.ns, 0);
      lines.push('GPU ' + device + ' did nothing for ' + time(all) + (causes.length === 0 ? '' : ': ' + causes.map((one) => theme.bucketName(one.cause) + ' ' + time(one.ns)).join(', ')));
    }
    return lines;
  }

  function meanOf(track, begin, end) {
    let sum = 0, weight = 0;
    for (let i = firstEndingAfter(track, begin); i < track.size && track.start[i] < end; ++i) {
      const value = valueOf(track, i), inside = Math.min(track.end[i], end) - Math.max(track.start[i], begin);
      if (value === null) continue;
      sum += value.mean * inside;
      weight += inside;
    }
    return weight > 0 ? sum / weight : null;
  }

  function ofCounters(known, begin, end) {
    return known.counters.map((of) => {
      const means = of.tracks.filter((track) => track.main).map((track) => [track, meanOf(track, begin, end)]).filter(([, mean]) => mean !== null);
      return means.length === 0 ? null : 'GPU ' + of.device + ' on average: ' + means.map(([track, mean]) => track.name + ' ' + timelineTips.valueText(track, mean)).join(', ');
    }).filter((line) => line !== null);
  }

  function show(place, known, begin, end) {
    const lines = [...ofGroups(known, begin, end), ...ofIdle(known, begin, end), ...ofCounters(known, begin, end)];
    place.replaceChildren(element('strong', {}, time(end - begin) + ' from ' + timelineTips.momentText(begin) + ' to ' + timelineTips.momentText(end)),
      element('ul', {}, ...lines.map((line) => element('li', {}, line))));
  }

  return {show};
})();
