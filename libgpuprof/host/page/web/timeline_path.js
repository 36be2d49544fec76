// The critical path of a step as a line from bar to bar: along what held the step, and across where one waited for the other.

const timelinePath = (() => {
  const {state, xOf} = timelineView;
  let paths = [];

  // Lanes below the first have no label. Ranges may stand in rows of domains, or a thread may have calls only.
  function rowsOf({group, name}) {
    const all = timelineRows.groups();
    const isOf = (row) => row.kind === 'bars' && (row.label === name || row.label.startsWith(name + ','));
    for (const title of [group, 'NVTX', 'CUDA calls']) {
      const place = all.find((one) => one.title === title), first = place === undefined ? -1 : place.rows.findIndex(isOf);
      if (first >= 0) {
        let end = first + 1;
        while (end < place.rows.length && place.rows[end].label === '') ++end;
        return {place, rows: place.rows.slice(first, end)};
      }
      if (group.startsWith('GPU')) break;
    }
    return null;
  }

  const holds = (lane, ns) => {
    const i = timelineData.firstEndingAfter(lane, ns);
    return i < lane.size && lane.start[i] <= ns;
  };

  function start(known) {
    const places = known.head.path_rows.map(rowsOf);
    paths = known.paths.map((path) => ({...path, links: path.links.flatMap(({begin, end, row}) => {
      if (places[row] === null) return [];
      const {place, rows} = places[row], middle = (begin + end) / 2;
      return [{begin, end, place, row: rows.reduce((lowest, one) => (holds(one.lane, middle) ? one : lowest), rows[0])}];
    })}));
  }

  function lineOf(path, top) {
    const line = new Path2D();
    let isAfter = false;
    for (const {begin, end, place, row} of path.links) {
      if (!place.isOpen) continue;
      const y = row.y + row.height - 3 - top;
      if (isAfter) line.lineTo(xOf(begin), y);
      else line.moveTo(xOf(begin), y);
      line.lineTo(xOf(end), y);
      isAfter = true;
    }
    return line;
  }

  function draw(pen, top, height) {
    pen.save();
    pen.beginPath();
    pen.rect(state.labels, 0, state.width, height);
    pen.clip();
    pen.lineJoin = 'round';
    for (const path of paths) {
      if (path.end_ns < state.from || path.begin_ns > state.to) continue;
      const line = lineOf(path, top);
      for (const [color, width] of [['page', 4], ['text', 2]]) {
        pen.strokeStyle = theme.color(color);
        pen.lineWidth = width;
        pen.stroke(line);
      }
    }
    pen.restore();
  }

  return {start, draw, all: () => paths};
})();
