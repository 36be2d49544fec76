// What the timeline shows, as arrays: bars of lanes, idle time by cause, counters over time, steps. Moments are ns since the first one.

const timelineData = (() => {
  // A column of zeros alone holds nothing.
  async function columns(prefix, names, size) {
    const read = await Promise.all(names.map((name) => data.numbers('timeline-' + prefix + name)));
    return Object.fromEntries(names.map((name, i) => [name, read[i].length === size ? read[i] : new Float64Array(size)]));
  }

  const sumOf = (list, field) => list.reduce((sum, one) => sum + one[field], 0);

  // In place: starts become moments, lengths ends, pauses busy times.
  function lanesOf(heads, of) {
    let at = 0;
    return heads.map((head) => {
      const to = at + head.bars;
      for (let i = at, before = 0; i < to; ++i) {
        before += of.start[i];
        of.start[i] = before;
        of.pause[i] = of.length[i] - of.pause[i];
        if (of.longest) of.longest[i] = of.length[i] - of.longest[i];
        of.length[i] += before;
      }
      const part = (column) => (column === undefined ? undefined : column.subarray(at, to));
      const lane = {...head, label: head.name, size: head.bars, start: part(of.start), end: part(of.length), busy: part(of.pause), count: part(of.count), name: part(of.name), place: part(of.place), longest: part(of.longest)};
      at = to;
      return lane;
    });
  }

  async function bars(heads, prefix, names) {
    return lanesOf(heads, await columns(prefix, ['start', 'length', 'pause', 'count', ...names], sumOf(heads, 'bars')));
  }

  const levels = 65534;
  async function counters(heads) {
    const points = await columns('counter-', ['start', 'length'], sumOf(heads, 'points'));
    const size = heads.reduce((sum, head) => sum + head.points * head.tracks.length, 0);
    const values = await columns('counter-', ['mean', 'below', 'above'], size);
    let at = 0, place = 0;
    return heads.map((head) => {
      const start = points.start.subarray(at, at + head.points), end = points.length.subarray(at, at + head.points);
      for (let i = 0, before = 0; i < head.points; ++i) {
        before += start[i];
        start[i] = before;
        end[i] += before;
      }
      at += head.points;
      const tracks = head.tracks.map((track) => {
        const part = (column) => column.subarray(place, place + head.points);
        const made = {...track, device: head.device, from: head.from, joinedBelow: head.joined_below_ns, size: head.points, start, end, mean: part(values.mean), below: part(values.below), above: part(values.above)};
        place += head.points;
        return made;
      });
      return {...head, tracks};
    });
  }

  // {mean, least, greatest} of a track at its point i; null: none.
  function valueOf(track, i) {
    if (track.mean[i] === 0) return null;
    const step = (track.greatest > track.least ? track.greatest - track.least : 1) / levels, mean = track.mean[i] - 1;
    return {mean: track.least + step * mean, least: track.least + step * (mean - track.below[i]), greatest: track.least + step * (mean + track.above[i])};
  }

  async function steps(head) {
    const of = await columns('step-', ['begin', 'length', 'period'], head.count);
    for (let i = 0, before = 0; i < head.count; ++i) {
      before += of.begin[i];
      of.begin[i] = before;
      of.length[i] += before;
    }
    return {...head, begin: of.begin, end: of.length, period: of.period};
  }

  // Links of one path after the other: {begin, end, row}, the row an index into path_rows.
  async function paths(heads) {
    const of = await columns('path-', ['start', 'length', 'row'], sumOf(heads, 'links'));
    let at = 0;
    return heads.map((head) => {
      const links = [];
      for (const to = at + head.links; at < to; ++at) {
        const begin = of.start[at] + (links.length > 0 ? links[links.length - 1].begin : 0);
        links.push({begin, end: begin + of.length[at], row: of.row[at]});
      }
      return {...head, links};
    });
  }

  async function read() {
    const head = await data.document('timeline');
    const [lanes, idle, samples, numbered, chains] = await Promise.all([bars(head.lanes, '', ['name', 'place', 'longest']), bars(head.idle, 'idle-', []), counters(head.counters), steps(head.steps), paths(head.paths)]);
    for (const lane of lanes) lane.places = head.places;
    return {head, names: head.names.map(words.callName), lanes, idle, counters: samples, steps: numbered, paths: chains, whole: Math.max(1, head.end_ns - head.begin_ns)};
  }

  // The first that ends after this moment, of what is in order of time.
  function firstEndingAfter(of, ns) {
    let low = 0, high = of.size;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (of.end[middle] > ns) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  // The last step that has begun; -1: none has.
  function stepAt(of, ns) {
    let low = 0, high = of.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (of.begin[middle] > ns) high = middle;
      else low = middle + 1;
    }
    return low - 1;
  }

  return {read, valueOf, firstEndingAfter, stepAt};
})();
