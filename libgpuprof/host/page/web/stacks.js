// Which lines and modules of a Python program the time belongs to: a flame graph, and the source beside it.

const stacks = (() => {
  const {element, byId, time, share, count} = words;
  let all = {}, sought = '', view = 'lines', picked = null;
  const colors = {kernel: '#009e73', call: '#d55e00', other: '#a9a294'};

  // Lines of the program itself have strong colors, those of libraries a gray.
  const flame = icicleIn('flame', {
    color: (place) => colors[place.kind] || (place.kind === 'line' && !place.is_own ? '#c9cfd6' : theme.hueOf(place.file || place.name)),
    hasHit: (place) => sought !== '' && (place.name + ' ' + (place.file || '')).toLowerCase().includes(sought)
  });

  // The time of each line of a file: of all places that stand for it, without those inside of another one.
  function linesOf(file, value) {
    const lines = new Map();
    all.lines.forEach((place, at) => {
      if (place.file !== file) return;
      const known = lines.get(place.line) || {whole: 0, launches: 0};
      const around = flame.pathOf(at).slice(0, -1).map((one) => all.lines[one]);
      if (!around.some((one) => one.file === file && one.line === place.line)) {
        known.whole += place[value];
        known.launches += place.instances;
      }
      lines.set(place.line, known);
    });
    return [...lines].sort((a, b) => a[0] - b[0]);
  }

  function showSource() {
    const place = picked === null ? null : all[view][picked];
    const box = byId('flame-source');
    box.replaceChildren();
    if (place === null || !place.file) return;
    const value = flame.valueName();
    const whole = all.lines.filter((one) => one.parent === null).reduce((sum, one) => sum + one[value], 0);
    const rows = linesOf(place.file, value).map(([line, {whole: ns, launches}]) => element('tr', line === place.line ? {class: 'chosen'} : {},
      element('td', {}, String(line)), element('td', {}, time(ns)), element('td', {}, whole > 0 ? share(ns / whole) : ''), element('td', {}, count(launches)),
      element('td', {}, element('code', {}, (all.source[place.file] || {})[line] || ''))));
    const titles = ['Line', 'Time', 'Share', 'Launches', 'Source'].map((title) => element('th', {}, title));
    box.append(element('h2', {}, place.file), element('div', {class: 'scroll source'}, element('table', {}, element('thead', {}, element('tr', {}, ...titles)), element('tbody', {}, ...rows))));
  }

  function sumHits() {
    const {found, whole} = flame.hits();
    byId('flame-hits').textContent = sought === '' ? '' : time(found) + (whole > 0 ? ', ' + share(found / whole) : '');
  }

  function draw() {
    picked = null;
    flame.show(all[view], (at) => { picked = at; showSource(); });
    showSource();
    sumHits();
  }

  function show(document_) {
    all = document_;
    if (!all.lines || all.lines.length === 0) {
      byId('stacks').hidden = true;  // another capture of the page may have some
      byId('to-stacks').hidden = true;
      return;
    }
    byId('to-stacks').hidden = false;
    if (!all.modules) byId('flame-by-label').remove();
    else byId('flame-by').addEventListener('change', (event) => { view = event.target.value; draw(); });
    byId('flame-search').addEventListener('input', (event) => {
      sought = event.target.value.toLowerCase();
      flame.draw();
      sumHits();
    });
    draw();
    byId('flame-value').addEventListener('change', () => { showSource(); sumHits(); });
    for (const line of all.notes) words.note('flame-notes', line);
  }

  return {show};
})();
