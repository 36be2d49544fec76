// Which moments are in view, and where on the canvas they are.

const timelineView = (() => {
  const state = {from: 0, to: 1, whole: 1, labels: 132, width: 1};
  const shortest = 100;  // ns
  let changed = () => {};

  const xOf = (ns) => state.labels + (ns - state.from) / (state.to - state.from) * state.width;
  const nsAt = (x) => state.from + (x - state.labels) / state.width * (state.to - state.from);

  function look(from, to) {
    const span = Math.min(state.whole, Math.max(shortest, to - from));
    state.from = Math.min(Math.max(0, from), state.whole - span);
    state.to = state.from + span;
    changed();
  }
  function zoom(factor, x) {
    const at = nsAt(x === undefined ? state.labels + state.width / 2 : x);
    // At the closest the moment below the pointer stays there.
    const by = Math.max(factor, shortest / (state.to - state.from));
    look(at - (at - state.from) * by, at + (state.to - at) * by);
  }
  const move = (part) => look(state.from + part * (state.to - state.from), state.to + part * (state.to - state.from));
  const all = () => look(0, state.whole);

  function resize(width) {
    state.labels = width < 560 ? 92 : 150;
    state.width = Math.max(1, width - state.labels);
  }

  return {
    state, xOf, nsAt, look, zoom, move, all, resize,
    start: (whole, onChange) => {
      state.whole = whole;
      changed = onChange;
    }
  };
})();
