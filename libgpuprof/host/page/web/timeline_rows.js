// The rows of the timeline from top to bottom, in groups that open and close: of a GPU its idle time and streams, then its counters; ranges; calls.

const timelineRows = (() => {
  const {element, byId, count} = words;
  const laneHeight = 20, counterHeight = 40, titleHeight = 26;
  let groups = [], shown = [], height = 0, changed = () => {};

  const idleOf = (known, device) => known.idle.filter((lane) => lane.device === device);
  const deviceOf = (title) => (title.startsWith('GPU ') ? Number(title.slice(4)) : null);

  function addCounters(known, device) {
    for (const of of known.counters) if (of.device === device) addTracks(of, 'GPU ' + device);
  }

  function addTracks(of, gpu) {
    const rows = (isMain) => of.tracks.filter((track) => track.main === isMain).map((track) => ({kind: 'counter', label: track.name, height: counterHeight, track}));
    const main = rows(true), others = rows(false);
    if (main.length > 0) groups.push({title: gpu + (of.from === 'nvml' ? ' power and clock' : ' counters'), rows: main, isOpen: true});
    if (others.length > 0) groups.push({title: gpu + ' other counters', rows: others, isOpen: main.length === 0});
  }

  function addGpu(known, device, lanes) {
    const causes = idleOf(known, device);
    const rows = causes.length === 0 ? [] : [{kind: 'idle', label: 'idle, by cause', height: laneHeight, device, causes}];
    rows.push(...lanes.map(rowOf));
    if (rows.length > 0) groups.push({title: 'GPU ' + device, rows, isOpen: true});
    addCounters(known, device);
  }
  const rowOf = (lane) => ({kind: 'bars', label: lane.label, height: laneHeight, lane});

  function make(known, onChange) {
    changed = onChange;
    const byTitle = new Map();
    for (const lane of known.lanes) {
      if (!byTitle.has(lane.group)) byTitle.set(lane.group, []);
      byTitle.get(lane.group).push(lane);
    }
    const devices = new Set([...byTitle.keys()].map(deviceOf).filter((device) => device !== null));
    for (const one of [...known.idle, ...known.counters]) devices.add(one.device);
    for (const device of [...devices].sort((a, b) => a - b)) addGpu(known, device, byTitle.get('GPU ' + device) || []);
    for (const [title, lanes] of byTitle) if (deviceOf(title) === null) groups.push({title, rows: lanes.map(rowOf), isOpen: true});
    for (const group of groups) {
      group.button = element('button', {type: 'button', class: 'timeline-group'});
      group.button.addEventListener('click', () => open(group, !group.isOpen));
      byId('timeline-groups').append(group.button);
    }
    place();
  }

  function place() {
    let y = 0;
    shown = [];
    for (const group of groups) {
      group.y = y;
      y += titleHeight;
      group.button.style.top = group.y + 'px';
      group.button.setAttribute('aria-expanded', String(group.isOpen));
      group.button.replaceChildren(element('span', {'aria-hidden': 'true'}, group.isOpen ? '\u25be ' : '\u25b8 '), group.title,
        element('small', {}, ' ' + count(group.rows.length) + (group.rows.length === 1 ? ' row' : ' rows')));
      if (!group.isOpen) continue;
      for (const row of group.rows) {
        row.y = y;
        shown.push(row);
        y += row.height;
      }
      y += 4;
    }
    height = y;
  }

  function open(group, isOpen) {
    if (group.isOpen === isOpen) return;
    group.isOpen = isOpen;
    place();
    changed();
  }

  // Rows that are at least partly between these heights.
  function between(top, bottom) {
    let low = 0, high = shown.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (shown[middle].y + shown[middle].height > top) high = middle;
      else low = middle + 1;
    }
    let end = low;
    while (end < shown.length && shown[end].y < bottom) ++end;
    return shown.slice(low, end);
  }
  const at = (y) => between(y, y + 1)[0] || null;

  // Opens the group of the lane.
  function show(lane) {
    const group = groups.find((one) => one.rows.some((row) => row.lane === lane));
    open(group, true);
    return group.rows.find((row) => row.lane === lane);
  }

  return {make, between, at, show, height: () => height, groups: () => groups};
})();
