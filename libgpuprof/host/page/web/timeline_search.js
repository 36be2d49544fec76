// Bars by a part of their name, one hit after the other in order of time.

const timelineSearch = (() => {
  let known = null, found = null, hit = null;

  // All hits, and how many are not later than the one shown.
  function counted() {
    let all = 0, until = 0;
    each((lane, i) => {
      ++all;
      if (hit !== null && compare({lane, i}, hit) <= 0) ++until;
    });
    return {all, until};
  }

  function each(tell) {
    if (found === null || found.size === 0) return;
    for (const lane of known.lanes)
      for (let i = 0; i < lane.size; ++i) if (found.has(lane.name[i])) tell(lane, i);
  }

  // By time, then from top to bottom.
  const compare = (a, b) => a.lane.start[a.i] - b.lane.start[b.i] || a.lane.order - b.lane.order || a.i - b.i;

  // The nearest beyond the one shown; none is shown: beyond this moment. At the end it begins anew.
  function step(direction, moment) {
    let next = null, outermost = null;
    const isBeyond = (one) => direction * (hit !== null ? compare(one, hit) : one.lane.start[one.i] - moment) > 0;
    each((lane, i) => {
      const one = {lane, i};
      if (isBeyond(one) && (next === null || direction * compare(one, next) < 0)) next = one;
      if (outermost === null || direction * compare(one, outermost) < 0) outermost = one;
    });
    hit = next || outermost;
    return hit;
  }

  function search(part) {
    hit = null;
    found = part === '' ? null : new Set();
    if (found !== null) known.names.forEach((name, at) => { if (name.toLowerCase().includes(part.toLowerCase())) found.add(at); });
  }

  return {
    start: (of) => {
      known = of;
      known.lanes.forEach((lane, at) => { lane.order = at; });
    },
    search, step, counted,
    found: () => found,
    hit: () => hit
  };
})();
