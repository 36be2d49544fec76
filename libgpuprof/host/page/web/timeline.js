// The timeline: brings its parts together, and says what is left out of it.

const timeline = (() => {
  const {byId, time, count} = words;
  const {state, look, zoom, all} = timelineView;
  const view = byId('timeline-view'), canvas = byId('timeline-canvas'), axis = byId('timeline-axis'), tip = byId('timeline-tip');
  let known = null, selected = null, step = -1, isSelecting = false, hasPath = false, queued = false;

  function draw() {
    queued = false;
    byId('timeline-space').style.height = timelineRows.height() + 'px';
    const height = Math.min(timelineRows.height(), view.clientHeight);
    canvas.style.height = height + 'px';
    timelineView.resize(view.clientWidth);
    byId('timeline-groups').style.width = state.labels + 'px';
    timelineDraw.draw(known, canvas, axis, view.scrollTop, height, {found: timelineSearch.found(), hit: timelineSearch.hit(), selected, step, hasPath});
  }
  function redraw() {
    if (queued || known === null) return;
    queued = true;
    requestAnimationFrame(draw);
  }

  function hover(x, y) {
    const lines = x < 0 ? null : timelineTips.linesAt(timelineRows.at(y + view.scrollTop), x);
    timelineTips.show(tip, lines, x, y + axis.clientHeight, view.clientWidth, axis.clientHeight + view.clientHeight);
    return lines;
  }
  // A finger does not hover.
  function tap(x, y) {
    const lines = hover(x, y);
    if (lines !== null) say(lines.join('; '));
  }
  const say = (text) => { byId('timeline-at').textContent = text; };

  function select(a, b, isDone) {
    selected = [Math.max(0, Math.min(a, b)), Math.min(state.whole, Math.max(a, b))];
    redraw();
    if (isDone) timelineSums.show(byId('timeline-sum'), known, ...selected);
  }
  function unselect() {
    selected = null;
    byId('timeline-sum').replaceChildren();
    redraw();
  }

  function showStep(number) {
    const {steps} = known;
    step = Math.min(Math.max(0, number), steps.count - 1);
    const edge = Math.max(100, (steps.end[step] - steps.begin[step]) * 0.05);
    look(steps.begin[step] - edge, steps.end[step] + edge);
    const apart = (step + 1 < steps.count ? steps.begin[step + 1] : steps.end[step]) - steps.begin[step];
    const known_ = steps.period[step] > 0, isLast = step + 1 === steps.count && steps.left_out === 0;
    const length = known_ ? time(steps.period[step]) + (isLast ? '' : ' to the beginning of the next') + (apart > steps.period[step] + 1 ? ', without what this profiler took' : '')
      : 'its time is not known';
    say(steps.name + ' ' + step + ' of ' + count(steps.count) + ', ' + length);
  }
  // From the step last shown, as long as it is in view; else from the middle.
  function otherStep(by) {
    const isInView = step >= 0 && known.steps.end[step] > state.from && known.steps.begin[step] < state.to;
    showStep(isInView ? step + by : timelineData.stepAt(known.steps, (state.from + state.to) / 2) + (by < 0 ? 0 : 1));
  }
  // None of the warm-up, unless there is no other.
  const slowestStep = () => known.steps.period.reduce((best, period, i, of) => (i >= known.steps.warm_up && period > of[best] ? i : best), Math.min(known.steps.warm_up, known.steps.count - 1));

  // "", "median" or "slowest": both paths are drawn, and this one is shown.
  function showPath(which) {
    const {steps} = known, path = known.paths.find(({slowest}) => which === (slowest ? 'slowest' : 'median'));
    hasPath = path !== undefined;
    redraw();
    if (!hasPath) return;
    const edge = Math.max(100, (path.end_ns - path.begin_ns) * 0.05);
    look(path.begin_ns - edge, path.end_ns + edge);
    say('The critical path of the ' + which + ' of ' + count(path.steps) + ' steps "' + steps.name + '" that were replayed, ' + time(path.end_ns - path.begin_ns));
  }

  function search(part) {
    timelineSearch.search(part);
    const {all: hits} = timelineSearch.counted();
    byId('timeline-hits').textContent = part === '' ? '' : count(hits) + (hits === 1 ? ' hit' : ' hits');
    byId('timeline-next').disabled = byId('timeline-previous').disabled = hits === 0;
    redraw();
  }
  function showHit(direction) {
    const hit = timelineSearch.step(direction, direction > 0 ? state.from : state.to);
    if (hit === null) return;
    const {lane, i} = hit, begin = lane.start[i], length = lane.end[i] - begin, span = state.to - state.from;
    const wanted = length > 0.8 * span ? 1.3 * length : length < span / 200 ? Math.max(100, 40 * length) : span;
    const row = timelineRows.show(lane);
    if (row.y < view.scrollTop || row.y + row.height > view.scrollTop + view.clientHeight) view.scrollTop = row.y - view.clientHeight / 2;
    look(begin + length / 2 - wanted / 2, begin + length / 2 + wanted / 2);
    const {all: hits, until} = timelineSearch.counted();
    byId('timeline-hits').textContent = count(until) + ' of ' + count(hits) + (hits === 1 ? ' hit' : ' hits');
    say(timelineDraw.textOf(lane, i) + ', ' + time(length) + ', at ' + timelineTips.momentText(begin) + ', ' + lane.group + ' ' + lane.label);
  }

  function listen() {
    const onClick = (id, does) => byId(id).addEventListener('click', does);
    const keys = {',': () => otherStep(-1), '.': () => otherStep(1), n: (event) => showHit(event.shiftKey ? -1 : 1), Escape: unselect, '0': all};
    if (known.steps.count === 0) ['.', ','].forEach((key) => delete keys[key]);
    timelineInput.listen(canvas, view, {hover, tap, select, isSelecting: () => isSelecting, keys});
    onClick('timeline-all', all);
    onClick('timeline-in', () => zoom(0.5));
    onClick('timeline-out', () => zoom(2));
    onClick('timeline-add', () => select(state.from, state.to, true));
    onClick('timeline-select', (event) => {
      isSelecting = !isSelecting;
      event.currentTarget.setAttribute('aria-pressed', String(isSelecting));
    });
    onClick('timeline-next', () => showHit(1));
    onClick('timeline-previous', () => showHit(-1));
    onClick('timeline-slowest', () => showStep(slowestStep()));
    onClick('timeline-step-next', () => otherStep(1));
    onClick('timeline-step-previous', () => otherStep(-1));
    byId('timeline-path').addEventListener('change', (event) => showPath(event.target.value));
    byId('timeline-search').addEventListener('input', (event) => search(event.target.value));
    byId('timeline-search').addEventListener('keydown', (event) => { if (event.key === 'Enter') showHit(event.shiftKey ? -1 : 1); });
    view.addEventListener('scroll', () => {
      hover(-1, -1);
      redraw();
    });
    window.addEventListener('resize', redraw, {signal});
    theme.onChange(redraw);
  }

  // From the table of kernels, whose names have arguments, and from ranges, whose names have domains: bars have neither.
  // "aten::mm #" stands for the name with any number.
  function find(fullName) {
    const base = fullName.endsWith(' #') ? fullName.slice(0, -2)
      : known.names.filter((name) => name !== '' && fullName.includes(words.uncut(name))).sort((a, b) => b.length - a.length)[0] || fullName;
    byId('timeline-search').value = base;
    search(base);
    byId('timeline').scrollIntoView();
  }

  // Colors of the causes in order of their time.
  function showLegend() {
    const sums = new Map();
    for (const lane of known.idle) sums.set(lane.cause, (sums.get(lane.cause) || 0) + lane.busy.reduce((sum, ns) => sum + ns, 0));
    const causes = [...sums].sort((a, b) => b[1] - a[1]).map(([cause, ns]) => ({bucket: cause, text: theme.bucketName(cause) + ' ' + time(ns)}));
    byId('timeline-legend').append(...ledger.lines(causes));
  }

  function showNotes() {
    const {head, steps} = known;
    const downTo = (ns) => (ns > 0 ? ', down to ' + time(ns) : '');
    const note = (text) => words.note('timeline-notes', text);
    if (head.joined_below_ns > 0) note('Summarized: pieces of work shorter than ' + time(head.joined_below_ns) + ' that stand within such a stretch of one row are one bar. It says how many they are, and has the name of the longest, by which it is found.');
    if (head.finer.length > 0) {
      const where = steps.count === 0 ? 'In the middle of the capture' : head.finer.length === 1 ? 'In the slowest step' : 'In the slowest steps and in one of median length, ' + count(head.finer.length) + ' stretches of time,';
      note(where + ' each piece is a bar of its own' + downTo(head.finer_joined_below_ns) + '.');
    }
    if (head.idle_joined_below_ns > 0) note('Summarized: gaps of one cause that stand within ' + time(head.idle_joined_below_ns) + ' are one; their time is as it was.' + (head.idle_is_finer ? ' In the slowest steps each stands alone' + downTo(head.idle_finer_joined_below_ns) + '.' : ''));
    for (const of of known.counters) {
      if (of.joined_below_ns > 0) note('Summarized: ' + (of.from === 'nvml' ? 'power and clocks' : 'samples') + ' of GPU ' + of.device + ' that lie within ' + time(of.joined_below_ns) + ' are one value with mean, least and greatest.');
      if (of.left_out > 0) note(count(of.left_out) + ' more counters of GPU ' + of.device + ' are left out.');
    }
    if (head.lanes_left_out > 0) note(count(head.lanes_left_out) + ' more streams and threads are left out.');
    if (head.pieces_left_out > 0) note(count(head.pieces_left_out) + ' pieces are left out: of rows beyond the most that a page shows, or with too many others at the same time on one stream or thread.');
    if (steps.left_out > 0) note(count(steps.left_out) + ' more steps are not marked.');
  }

  async function show() {
    known = await timelineData.read();
    timelineSearch.start(known);
    timelineRows.make(known, redraw);
    timelineView.start(known.whole, redraw);
    timelinePath.start(known);
    showNotes();
    if (timelineRows.groups().length === 0) {
      words.note('timeline-notes', 'This capture holds no GPU work, range, call or sample to draw.');
      for (const id of ['timeline-tools', 'timeline-frame']) byId(id).hidden = true;
      return;
    }
    byId('timeline-steps').hidden = byId('timeline-step-hint').hidden = known.steps.count === 0;
    byId('timeline-path-label').hidden = known.paths.length === 0;
    byId('timeline-path').options[2].disabled = known.paths.length < 2;
    axis.style.height = (known.steps.count > 0 ? 40 : 20) + 'px';
    showLegend();
    listen();
    search('');
    state.to = known.whole;
    draw();
    if (known.steps.shown_first !== undefined) {
      showStep(known.steps.shown_first);
      byId('timeline').scrollIntoView();
    }
    performance.mark('timeline');
  }

  return {show, find};
})();
