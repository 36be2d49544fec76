// What lies between two moments, added up: work by kind of lane, idle time by its cause, means of counters.

const timelineSums = (() => {
  const {element, time, number} = words;
  const {firstEndingAfter, valueOf} = timelineData;

  // Busy time and pieces; of a bar that is partly inside its part, of one that stands for several pieces about so many.
  function sumOf(lane, begin, end) {
    let busy = 0, pieces = 0, isAbout = false;
    for (let i = firstEndingAfter(lane, begin); i < lane.size && lane.start[i] < end; ++i) {
      const inside = Math.min(lane.end[i], end) - Math.max(lane.start[i], begin), whole = lane.end[i] - lane.start[i];
      busy += whole > 0 ? lane.busy[i] * inside / whole : 0;
      const isCut = lane.count[i] > 1 && inside < whole;
      pieces += isCut ? Math.max(1, lane.count[i] * inside / whole) : lane.count[i];
      isAbout = isAbout || isCut;
    }
    return {busy, pieces, isAbout};
  }

  // Of ranges and calls the outermost row of each thread: what lies inside of another is in its time already.
  function ofGroups(known, begin, end) {
    const sums = new Map();
    for (const lane of known.lanes) {
      const isOnGpu = lane.group.startsWith('GPU ');
      if (!isOnGpu && lane.label === '') continue;
      const sum = sums.get(lane.group) || {busy: 0, pieces: 0, isAbout: false, what: isOnGpu ? 'piece' : 'outermost piece'}, one = sumOf(lane, begin, end);
      sums.set(lane.group, {...sum, busy: sum.busy + one.busy, pieces: sum.pieces + one.pieces, isAbout: sum.isAbout || one.isAbout});
    }
    return [...sums].map(([group, {busy, pieces, isAbout, what}]) => group + ': ' + time(busy) + ' in ' + (isAbout ? 'about ' : '') + number(Math.round(pieces), what));
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

  // One line for each GPU, whatever its tracks are from.
  function ofCounters(known, begin, end) {
    const means = new Map();
    for (const {device, tracks} of known.counters)
      for (const track of tracks) {
        const mean = track.main ? meanOf(track, begin, end) : null;
        if (mean !== null) means.set(device, [...(means.get(device) || []), track.name + ' ' + timelineTips.valueText(track, mean)]);
      }
    return [...means].sort(([a], [b]) => a - b).map(([device, texts]) => 'GPU ' + device + ' on average: ' + texts.join(', '));
  }

  function show(place, known, begin, end) {
    const lines = [...ofGroups(known, begin, end), ...ofIdle(known, begin, end), ...ofCounters(known, begin, end)];
    place.replaceChildren(element('strong', {}, time(end - begin) + ' from ' + timelineTips.momentText(begin) + ' to ' + timelineTips.momentText(end)),
      element('ul', {}, ...lines.map((line) => element('li', {}, line))));
  }

  return {show};
})();
